//! Who guesses tokens ahead, and who reads prompts apart: what `fizeau sol` reckons and a simulated engine does.

use clap::Args;
use fizeau::roofline::Transfer;

use super::choice::{Word, choice};

/// Speculative decoding.
#[derive(Debug, Clone, Args)]
pub(crate) struct DraftArgs {
    /// Speculative decoding: drafts of so many tokens. For `fizeau sol`, 0 is the length that is expected to be best.
    #[arg(long, value_name = "TOKENS")]
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
}

/// Prefill and decode apart.
#[derive(Debug, Clone, Args)]
pub(crate) struct ApartArgs {
    /// Prefill and decode on instances of their own, each of them as the flags above have it: so many for prefill and so many for
    /// decode, such as 2:1.
    #[arg(long, value_name = "P:D")]
    pub(crate) disaggregate: Option<String>,
    /// With --disaggregate: when a request's cache is sent.
    #[arg(long, value_parser = choice(&TRANSFERS), default_value = "first", requires = "disaggregate")]
    pub(crate) transfer: Transfer,
}

const TRANSFERS: [Word<Transfer>; 3] = [
    ("first", Transfer::BeforeFirstToken, "Before the first token goes out"),
    ("second", Transfer::BeforeSecondToken, "Between the first token and the second"),
    ("layers", Transfer::LayerWise, "Layer by layer while the prompt is read"),
];
