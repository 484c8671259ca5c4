//! Who guesses tokens ahead, and who reads prompts apart: what `fizeau sol` computes and a simulated engine does.

use clap::Args;
use fizeau::roofline::CacheTransfer;

use super::choice::{Word, choice};

/// Speculative decoding.
#[derive(Debug, Clone, Args)]
pub(crate) struct DraftArgs {
    /// Speculative decoding: the number of tokens of a draft. For `fizeau sol`, 0 is the length that is expected to be best.
    #[arg(long, value_name = "TOKENS")]
    pub(crate) draft: Option<u32>,
    /// The probability that a drafted token is accepted if those before it were; several values are for the first, the second and so
    /// on, and the last of them for all that follow.
    #[arg(long, value_name = "SHARE", value_delimiter = ',', default_value = "0.8")]
    #[arg(requires = "draft")]
    pub(crate) acceptance: Vec<f64>,
    /// What makes the drafts: mtp (the model's own module), lookup (a search in the text, which costs nothing), a number such as 0.1 (each
    /// token costs that share of a decode step), or a smaller model's config.json. By default mtp where the model has it, else lookup.
    #[arg(long, value_name = "WHO", requires = "draft")]
    pub(crate) drafter: Option<String>,
}

/// Prefill and decode apart.
#[derive(Debug, Clone, Args)]
pub(crate) struct ApartArgs {
    /// Run prefill and decode on instances of their own, each deployed as the flags above say: the number for prefill and the number
    /// for decode, such as 2:1.
    #[arg(long, value_name = "P:D")]
    pub(crate) disaggregate: Option<String>,
    /// With --disaggregate: when the cache of a request is sent.
    #[arg(long, value_parser = choice(&TRANSFERS), value_name = "WHEN", default_value = "first", requires = "disaggregate")]
    pub(crate) transfer: CacheTransfer,
}

const TRANSFERS: [Word<CacheTransfer>; 3] = [
    ("first", CacheTransfer::BeforeFirstToken, "Before the first token is sent out"),
    ("second", CacheTransfer::BeforeSecondToken, "Between the first token and the second"),
    ("layers", CacheTransfer::LayerWise, "Layer by layer while the prompt is read"),
];
