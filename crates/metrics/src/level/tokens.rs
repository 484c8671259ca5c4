//! Tokens of completed requests, counted one tape at a time.

use fizeau_core::{EosRule, Finish, Tape, TokenSource, Tokens};

use super::TokenCounts;

/// Tokens of the completed requests seen so far.
#[derive(Debug, Clone, Default)]
pub(super) struct TokenTally {
    counts: TokenCounts,
    input_unknown: bool,
    cached_unknown: bool,
    cached: Option<Tokens>,
    input: Tokens,
}

impl TokenTally {
    pub(super) fn add(&mut self, tape: &Tape, finish: Finish) {
        let output = tape.output_tokens();
        self.counts.output += output;
        self.counts.events += tape.arrivals.len() as u64;
        self.counts.source = self.counts.source.max(Some(tape.token_source));
        self.counts.output_length_differs += u64::from(length_differs(tape, output, finish));
        match tape.input_tokens() {
            Some(input) => self.input += input,
            None => self.input_unknown = true,
        }
        match tape.usage.and_then(|usage| usage.cached_tokens) {
            Some(cached) => *self.cached.get_or_insert_default() += cached,
            None => self.cached_unknown = true,
        }
    }

    /// Takes in all that `other` has.
    pub(super) fn merge(&mut self, other: &Self) {
        let (ours, theirs) = (&mut self.counts, &other.counts);
        ours.output += theirs.output;
        ours.events += theirs.events;
        ours.source = ours.source.max(theirs.source);
        ours.output_length_differs += theirs.output_length_differs;
        self.input += other.input;
        self.input_unknown |= other.input_unknown;
        self.cached_unknown |= other.cached_unknown;
        if let Some(cached) = other.cached {
            *self.cached.get_or_insert_default() += cached;
        }
    }

    pub(super) fn counts(&self) -> TokenCounts {
        TokenCounts {
            input: (!self.input_unknown).then_some(self.input),
            cached_input: self.cached.filter(|_| !self.cached_unknown),
            ..self.counts
        }
    }
}

/// Whether the output is certain to have another length than was asked.
fn length_differs(tape: &Tape, counted: Tokens, finish: Finish) -> bool {
    if tape.asked.eos == EosRule::Stop || tape.token_source == TokenSource::Tokenless {
        return false;
    }
    let reported = tape.usage.and_then(|usage| usage.completion_tokens);
    let sum_is_exact =
        tape.token_source.is_exact() || tape.token_source == TokenSource::FinalUsageSpread;
    match reported.or_else(|| sum_is_exact.then_some(counted)) {
        Some(length) => length != tape.asked.output_tokens,
        None => finish == Finish::Stop,
    }
}
