//! How an engine goes about it, where the roofline model leaves it open.

use clap::Args;
use fizeau::record::EngineChoices;
use fizeau::roofline::{ExpertExchange, ExpertRouting, Overlap, Prefix};

use super::choice::{Word, choice};

/// How an engine goes about it.
#[derive(Debug, Clone, Copy, PartialEq, Args)]
#[command(next_help_heading = "Model and devices")]
pub(crate) struct ChoiceArgs {
    /// Whether the tokens of --cached are the same for all prompts (shared) and are kept once, or each prompt has its own, as in the
    /// turns of a conversation.
    #[arg(long, value_parser = choice(&PREFIXES), value_name = "WHOSE", default_value = "shared")]
    pub(crate) prefix: Prefix,
    /// How tokens are expected to choose experts: even (each token for itself, all experts equally often), strict (all tokens the same
    /// ones), or skewed:ALPHA (expert number i with a weight of i^-ALPHA).
    #[arg(long, value_name = "HOW", value_parser = str::parse::<ExpertRouting>, default_value = "even")]
    pub(crate) routing: ExpertRouting,
    /// Whether communication is expected to overlap with arithmetic.
    #[arg(long, value_parser = choice(&OVERLAPS), value_name = "HOW", default_value = "none")]
    pub(crate) overlap: Overlap,
    /// How tokens are expected to reach the experts of other groups (--dp).
    #[arg(long, value_parser = choice(&EXCHANGES), value_name = "HOW", default_value = "fastest")]
    pub(crate) exchange: ExpertExchange,
}

const PREFIXES: [Word<Prefix>; 2] = [
    ("shared", Prefix::Shared, "All prompts have one prefix"),
    ("own", Prefix::Own, "Each prompt has its own"),
];

const OVERLAPS: [Word<Overlap>; 2] = [
    ("none", Overlap::None, "One after the other"),
    (
        "two-batches",
        Overlap::TwoBatches,
        "Half of a batch communicates while the other half computes",
    ),
];

const EXCHANGES: [Word<ExpertExchange>; 3] = [
    ("fastest", ExpertExchange::Fastest, "Whichever is faster"),
    ("all-to-all", ExpertExchange::AllToAll, "Each token goes to its experts' devices and back"),
    ("all-gather", ExpertExchange::AllGather, "All tokens go to all devices"),
];

impl From<ChoiceArgs> for EngineChoices {
    fn from(of: ChoiceArgs) -> Self {
        let ChoiceArgs { prefix, routing, overlap, exchange } = of;
        Self { prefix, routing, overlap, exchange }
    }
}
