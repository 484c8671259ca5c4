//! How an engine goes about it, where physics alone does not decide.

use clap::Args;
use fizeau::record::EngineChoices;
use fizeau::roofline::{ExpertExchange, Overlap, Prefix, Routing};

use super::choice::{Word, choice};

/// How an engine goes about it.
#[derive(Debug, Clone, Copy, PartialEq, Args)]
#[command(next_help_heading = "Model and devices")]
pub(crate) struct ChoiceArgs {
    /// Whose the tokens of --cached are: all prompts begin alike, and the prefix is kept once, or each has its own, as in the
    /// turns of a conversation.
    #[arg(long, value_parser = choice(&PREFIXES), default_value = "shared")]
    pub(crate) prefix: Prefix,
    /// How tokens choose experts, as expected: even (each for itself, all equally often), strict (all the same ones), or
    /// skewed:ALPHA (number i with a weight of i^-ALPHA).
    #[arg(long, value_name = "HOW", value_parser = str::parse::<Routing>, default_value = "even")]
    pub(crate) routing: Routing,
    /// Whether communication goes on under arithmetic, as expected.
    #[arg(long, value_parser = choice(&OVERLAPS), default_value = "none")]
    pub(crate) overlap: Overlap,
    /// How tokens reach the experts of other groups (--dp), as expected.
    #[arg(long, value_parser = choice(&EXCHANGES), default_value = "fastest")]
    pub(crate) exchange: ExpertExchange,
}

const PREFIXES: [Word<Prefix>; 2] = [
    ("shared", Prefix::Shared, "One prefix for all prompts"),
    ("own", Prefix::Own, "Each prompt its own"),
];

const OVERLAPS: [Word<Overlap>; 2] = [
    ("none", Overlap::None, "One after the other"),
    ("two-batches", Overlap::TwoBatches, "Half of a batch talks while the other half computes"),
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
