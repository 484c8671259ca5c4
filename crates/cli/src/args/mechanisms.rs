//! What may be done besides, and what is asked of it: drafts, chunks, phases apart, prices, power, goals.

use clap::{Args, ValueEnum};

/// What may be done besides, and what is asked of it. Each adds a table, and an object of its name to the JSON.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Mechanisms and goals")]
pub(crate) struct MechanismArgs {
    /// Speculative decoding: drafts of so many tokens; 0 for the length that is expected to be best.
    #[arg(long, value_name = "TOKENS", conflicts_with = "context")]
    pub(crate) draft: Option<u32>,
    /// How likely a drafted token is accepted if those before it were; several for the first, the second and so on, the last of
    /// them for all that follow.
    #[arg(
        long,
        value_name = "SHARE",
        value_delimiter = ',',
        default_value = "0.8",
        requires = "draft"
    )]
    pub(crate) acceptance: Vec<f64>,
    /// Who drafts: mtp (the model's own module), lookup (a search in the text, which costs nothing), a share of a decode step for
    /// each token, such as 0.1, or a smaller model's config.json. By default mtp where the model has it, else lookup.
    #[arg(long, value_name = "WHO", requires = "draft")]
    pub(crate) drafter: Option<String>,
    /// Chunked prefill: passes of so many tokens at most.
    #[arg(
        long,
        alias = "max-num-batched-tokens",
        value_name = "TOKENS",
        conflicts_with = "context"
    )]
    pub(crate) chunk: Option<u64>,
    /// Prefill and decode on instances of their own, each of them as the flags above have it: so many for prefill and so many for
    /// decode, such as 2:1.
    #[arg(long, value_name = "P:D", conflicts_with = "context")]
    pub(crate) disaggregate: Option<String>,
    /// With --disaggregate: when a request's cache is sent.
    #[arg(long, value_enum, default_value_t = TransferArg::First, requires = "disaggregate")]
    pub(crate) transfer: TransferArg,
    /// What tokens cost at this price in US dollars per device and hour; `published` for a published one, with its date.
    #[arg(long, value_name = "USD", conflicts_with = "context")]
    pub(crate) price: Option<String>,
    /// Energy, and the figures where no device may draw more than this many watts; `tdp` for the device's own limit.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TransferArg {
    /// Before the first token goes out.
    First,
    /// Between the first token and the second.
    Second,
    /// Layer by layer while the prompt is read.
    Layers,
}
