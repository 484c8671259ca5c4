//! What may be done besides, and what is asked of it: drafts, chunks, phases apart, prices, power, goals.

use clap::Args;

use super::{ApartArgs, DraftArgs};

/// What may be done besides, and what is asked of it. Each adds a table, and an object of its name to the JSON.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Mechanisms and goals")]
pub(crate) struct MechanismArgs {
    #[command(flatten)]
    pub(crate) drafts: DraftArgs,
    /// Chunked prefill: passes of so many tokens at most.
    #[arg(
        long,
        alias = "max-num-batched-tokens",
        value_name = "TOKENS",
        conflicts_with = "context"
    )]
    pub(crate) chunk: Option<u64>,
    #[command(flatten)]
    pub(crate) apart: ApartArgs,
    /// What tokens cost at this price in US dollars per device and hour; `published` for a published one, with its date.
    #[arg(long, value_name = "USD", conflicts_with = "context")]
    pub(crate) price: Option<String>,
    /// Energy, and the figures where no device may draw more than this many watts; 70% is a share of the device's own limit, `tdp` that
    /// itself.
    #[arg(long, value_name = "WATTS", conflicts_with = "context")]
    pub(crate) power_limit: Option<String>,
    /// The largest batch and context within a goal, and the fewest devices that meet it: ttft:MS, tpot:MS, tps:RATE (of a user),
    /// rps:RATE, concurrency:N and context:TOKENS, those that matter.
    #[arg(long, value_name = "NAME:VALUE", num_args = 1.., conflicts_with = "context")]
    pub(crate) goal: Vec<String>,
    /// With --goal: the most devices to try.
    #[arg(long, value_name = "N", default_value_t = 64, requires = "goal")]
    pub(crate) max_devices: u64,
}
