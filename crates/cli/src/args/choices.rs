//! How an engine goes about it, where physics alone does not decide.

use clap::{Args, ValueEnum};
use fizeau::record::EngineChoices;
use fizeau::roofline::{ExpertExchange, Overlap, Prefix, Routing};

/// How an engine goes about it.
#[derive(Debug, Clone, Copy, PartialEq, Args)]
#[command(next_help_heading = "Model and devices")]
pub(crate) struct ChoiceArgs {
    /// Whose the tokens of --cached are: all prompts begin alike, and the prefix is kept once, or each has its own, as in the
    /// turns of a conversation.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) prefix: PrefixArg,
    /// How tokens choose experts, as expected: even (each for itself, all equally often), strict (all the same ones), or
    /// skewed:ALPHA (number i with a weight of i^-ALPHA).
    #[arg(long, value_name = "HOW", value_parser = str::parse::<Routing>, default_value = "even")]
    pub(crate) routing: Routing,
    /// Whether communication goes on under arithmetic, as expected.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) overlap: OverlapArg,
    /// How tokens reach the experts of other groups (--dp), as expected.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) exchange: ExchangeArg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum PrefixArg {
    /// One prefix for all prompts.
    #[default]
    Shared,
    /// Each prompt its own.
    Own,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum OverlapArg {
    /// One after the other.
    #[default]
    None,
    /// Half of a batch talks while the other half computes.
    TwoBatches,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ExchangeArg {
    /// Whichever is faster.
    #[default]
    Fastest,
    /// Each token goes to its experts' devices and back.
    AllToAll,
    /// All tokens go to all devices.
    AllGather,
}

impl Default for ChoiceArgs {
    fn default() -> Self {
        Self {
            prefix: PrefixArg::default(),
            routing: Routing::Expected,
            overlap: OverlapArg::default(),
            exchange: ExchangeArg::default(),
        }
    }
}

impl From<ChoiceArgs> for EngineChoices {
    fn from(of: ChoiceArgs) -> Self {
        Self {
            prefix: of.prefix.into(),
            routing: of.routing,
            overlap: of.overlap.into(),
            exchange: of.exchange.into(),
        }
    }
}

impl From<PrefixArg> for Prefix {
    fn from(of: PrefixArg) -> Self {
        match of {
            PrefixArg::Shared => Self::Shared,
            PrefixArg::Own => Self::Own,
        }
    }
}

impl From<OverlapArg> for Overlap {
    fn from(of: OverlapArg) -> Self {
        match of {
            OverlapArg::None => Self::None,
            OverlapArg::TwoBatches => Self::TwoBatches,
        }
    }
}

impl From<ExchangeArg> for ExpertExchange {
    fn from(of: ExchangeArg) -> Self {
        match of {
            ExchangeArg::Fastest => Self::Fastest,
            ExchangeArg::AllToAll => Self::AllToAll,
            ExchangeArg::AllGather => Self::AllGather,
        }
    }
}
