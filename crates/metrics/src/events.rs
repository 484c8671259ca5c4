//! What several figures want to know of all arrivals of a tape, found in one pass.

use fizeau_core::{Tape, Tokens};

/// Sums over the arrivals of one tape: this runs for each token of a run, so no figure makes its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Events {
    /// All tokens, however the request ended.
    pub(crate) tokens: Tokens,
    /// Gaps between events, as [`inter_chunk`](crate::inter_chunk) has them: none of a request that failed.
    pub(crate) gaps: u64,
    /// Those of no length.
    pub(crate) zero_gaps: u64,
    /// Whether every event after the first is a token, so that a gap between events is one between tokens.
    pub(crate) are_tokens: bool,
}

impl Events {
    pub(crate) fn of(tape: &Tape) -> Self {
        let Some((first, later)) = tape.arrivals.split_first() else {
            return Self { tokens: Tokens::ZERO, gaps: 0, zero_gaps: 0, are_tokens: true };
        };
        let (mut tokens, mut are_tokens) = (u64::from(first.tokens), true);
        let (mut gaps, mut zero_gaps, mut last) = (0, 0, first.at);
        for event in later {
            tokens += u64::from(event.tokens);
            are_tokens &= event.tokens == 1;
            gaps += u64::from(event.at >= last);
            zero_gaps += u64::from(event.at == last);
            last = event.at;
        }
        let counts = u64::from(tape.is_success());
        let (gaps, zero_gaps) = (counts * gaps, counts * zero_gaps);
        Self { tokens: Tokens::new(tokens), gaps, zero_gaps, are_tokens }
    }
}
