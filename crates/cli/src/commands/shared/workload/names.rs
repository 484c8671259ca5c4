//! The data sets by name.

use fizeau::experiment::TraceKind;

use crate::exit::Fail;

/// Where prompts come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Random,
    VllmRandom,
    Sonnet,
    PrefixRepetition,
    Records(Records),
    Times(TraceKind),
}

/// A format of data sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Records {
    ShareGpt,
    Custom,
    OpenAiBatch,
}

/// Every name there is; two of the same source are vLLM's and ours.
const NAMES: [(&str, Source); 11] = [
    ("random", Source::Random),
    ("vllm-random", Source::VllmRandom),
    ("sonnet", Source::Sonnet),
    ("prefix_repetition", Source::PrefixRepetition),
    ("sharegpt", Source::Records(Records::ShareGpt)),
    ("custom", Source::Records(Records::Custom)),
    ("openai-batch", Source::Records(Records::OpenAiBatch)),
    ("mooncake", Source::Times(TraceKind::Mooncake)),
    ("timed_trace", Source::Times(TraceKind::TimedTrace)),
    ("azure", Source::Times(TraceKind::Azure)),
    ("burstgpt", Source::Times(TraceKind::BurstGpt)),
];

impl Source {
    /// The source that `name` names.
    pub(crate) fn named(name: &str) -> Result<Self, Fail> {
        let found = NAMES.iter().find(|(known, _)| *known == name).map(|&(_, source)| source);
        found.ok_or_else(|| {
            let known = NAMES.map(|(known, _)| known).join(", ");
            Fail::usage(format!(
                "--dataset-name {name}: not a dataset that fizeau has; it has {known}"
            ))
        })
    }

    /// Whether it is read from a file.
    pub(crate) const fn is_file(self) -> bool {
        matches!(self, Self::Records(_) | Self::Times(_))
    }
}
