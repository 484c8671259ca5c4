//! Mechanisms beside plain serving, and questions about them: drafts, chunks, phases apart, prices, power, goals.

use clap::Args;

use super::{ApartArgs, DraftArgs};

/// Mechanisms and questions. Each adds a table, and an object of its name to the JSON.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Mechanisms and goals")]
pub(crate) struct MechanismArgs {
    #[command(flatten)]
    pub(crate) drafts: DraftArgs,
    /// Chunked prefill: read prompts in passes of at most this many tokens.
    #[arg(long, alias = "max-num-batched-tokens", value_name = "TOKENS")]
    #[arg(conflicts_with = "context")]
    pub(crate) chunk: Option<u64>,
    #[command(flatten)]
    pub(crate) apart: ApartArgs,
    /// What tokens cost at this price of one device for an hour in US dollars; with `published` at a published price, with its date.
    #[arg(long, visible_alias = "gpu-hour", value_name = "USD", conflicts_with = "context")]
    pub(crate) price: Option<String>,
    /// Energy, and the figures if no device may draw more than this many watts; 70% is a share of the device's own limit, `tdp` that
    /// limit itself.
    #[arg(long, value_name = "WATTS", conflicts_with = "context")]
    pub(crate) power_limit: Option<String>,
    /// The largest batch and context within a goal, and the fewest devices that meet it. A goal is one or more of ttft:MS, tpot:MS,
    /// tps:RATE (of one user), rps:RATE, concurrency:N and context:TOKENS.
    #[arg(long, value_name = "NAME:VALUE", num_args = 1.., conflicts_with = "context")]
    pub(crate) goal: Vec<String>,
    /// With --goal: the largest number of devices to try.
    #[arg(long, value_name = "N", default_value_t = 64, requires = "goal")]
    pub(crate) max_devices: u64,
}
