//! What a reader calls the things that files call by short names.

use fizeau_core::{StampSource, TokenSource};

/// Who stamped arrivals.
#[must_use]
pub const fn stamps(source: StampSource) -> &'static str {
    match source {
        StampSource::Kernel => "kernel",
        StampSource::Simulated => "simulated engine, virtual time",
        StampSource::User => "user (this process, after reading)",
    }
}

/// Where counts of tokens come from, and whether they are exact.
#[must_use]
pub const fn token_source(source: TokenSource) -> &'static str {
    match source {
        TokenSource::Tokenless => "none are generated (exact)",
        TokenSource::TokenIds => "token ids (exact)",
        TokenSource::ContinuousUsage => "continuous usage (exact)",
        TokenSource::Logprobs => "log-probabilities (exact)",
        TokenSource::FinalUsageSpread => "final usage, spread over chunks (estimate)",
        TokenSource::Tokenizer => "our tokenizer (estimate)",
        TokenSource::Events => "chunks (not tokens)",
    }
}

/// Names joined as in a sentence: `1, 2 and 4`.
pub fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
