//! What changes the answer of `fizeau sol` beyond the system and its load.

use clap::{Args, ValueEnum};
use fizeau::roofline::Transfer;

/// What changes the answer beyond the system and its load.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "What if")]
pub(crate) struct WhatIfArgs {
    /// Speculative decoding: each sequence drafts so many tokens (0 to 64), which one pass verifies; `best`: as many as generate
    /// most tokens.
    #[arg(long, value_name = "TOKENS|best", conflicts_with_all = ["points", "curve", "context"])]
    pub(crate) draft: Option<String>,
    /// With --draft: how likely a drafted token is accepted if those before it were, from 0 to 1; one for all positions, or one
    /// for each. Measure it: the default is an assumption.
    #[arg(
        long,
        value_name = "SHARE,...",
        value_delimiter = ',',
        default_value = "0.8",
        requires = "draft"
    )]
    pub(crate) acceptance: Vec<f64>,
    /// With --draft: who drafts: mtp (the model's own module), lookup (a search that costs nothing), the share of a decode step
    /// that a drafted token takes, or the config.json of a smaller model on the same devices. By default mtp where the model
    /// has it, else lookup.
    #[arg(long, value_name = "mtp|lookup|SHARE|FILE", requires = "draft")]
    pub(crate) drafter: Option<String>,
    /// Read prompts in chunks, in the passes that decode, with at most so many tokens in a pass of an attention group.
    #[arg(long, alias = "max-num-batched-tokens", value_name = "TOKENS",
          conflicts_with_all = ["points", "curve", "context"])]
    pub(crate) chunk: Option<u64>,
    /// Prefill and decode apart, each on instances as the flags describe them, out of so many devices at the best ratio; caches
    /// go over the network that the device comes with, or else over its link.
    #[arg(long, value_name = "DEVICES", conflicts_with_all = ["points", "curve", "context"])]
    pub(crate) disaggregate: Option<u64>,
    /// With --disaggregate: when a request's cache is sent.
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        default_value = "first-token",
        requires = "disaggregate"
    )]
    pub(crate) transfer: TransferArg,
    /// What tokens cost, for so many US dollars an hour of a device; without a number at the published price of some date.
    #[arg(long, value_name = "USD", num_args = 0..=1, default_missing_value = "published",
          conflicts_with_all = ["points", "curve", "context"])]
    pub(crate) price: Option<String>,
    /// What tokens take in energy, and the figures where a device may draw no more than so many watts, or so many per cent of
    /// its own limit; without a number, that limit.
    #[arg(long, value_name = "WATTS|SHARE%", num_args = 0..=1, default_missing_value = "100%",
          conflicts_with_all = ["points", "curve", "context"])]
    pub(crate) power: Option<String>,
    /// Instead of an answer, what it takes to meet this: the largest batch and context here, and the fewest devices, with the
    /// best way to spread the model over them. ttft and tpot are in milliseconds; tps is of a user; rps, concurrency and context are
    /// at least so much.
    #[arg(long, value_name = "ttft|tpot|tps|rps|concurrency|context:NUMBER", num_args = 1..,
          conflicts_with_all = ["points", "curve", "context", "calibration", "draft", "chunk",
                                "disaggregate", "price", "power"])]
    pub(crate) goal: Vec<String>,
    /// With --goal: the most devices to try.
    #[arg(long, value_name = "N", default_value_t = 64, requires = "goal")]
    pub(crate) most_devices: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TransferArg {
    /// Before the first token, which then waits for it.
    FirstToken,
    /// After the first token; the second waits for it.
    SecondToken,
    /// Layer by layer while the prompt is read.
    Layers,
}

impl From<TransferArg> for Transfer {
    fn from(when: TransferArg) -> Self {
        match when {
            TransferArg::FirstToken => Self::BeforeFirstToken,
            TransferArg::SecondToken => Self::BeforeSecondToken,
            TransferArg::Layers => Self::LayerWise,
        }
    }
}
