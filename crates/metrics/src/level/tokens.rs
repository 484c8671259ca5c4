//! Tokens of completed requests, counted one tape at a time.

use fizeau_core::{EosRule, Finish, Tape, TokenSource, Tokens};

use super::TokenCounts;
use super::lengths::known_output;

/// Tokens of the completed requests seen so far.
#[derive(Debug, Clone, Default)]
pub(super) struct TokenTally {
    counts: TokenCounts,
    /// Prompt tokens of the requests of which they are known, and those of them that came from a cache.
    known_input: Tokens,
    known_cached: Tokens,
    input_unknown: bool,
}

impl TokenTally {
    pub(super) fn add(&mut self, tape: &Tape, finish: Finish, output: Tokens) {
        self.counts.output += output;
        self.counts.events += tape.arrivals.len() as u64;
        self.counts.source = self.counts.source.max(Some(tape.token_source));
        self.counts.output_length_differs += u64::from(length_differs(tape, finish));
        self.counts.output_limit_ignored += u64::from(is_limit_ignored(tape));
        let cached = tape.usage.and_then(|usage| usage.cached_tokens);
        match tape.input_tokens() {
            Some(input) => {
                self.known_input += input;
                self.known_cached += cached.unwrap_or_default();
            }
            None => self.input_unknown = true,
        }
        if let Some(cached) = cached {
            self.counts.cached_reported += 1;
            *self.counts.cached_input.get_or_insert_default() += cached;
        }
    }

    /// Takes in all that `other` has.
    pub(super) fn merge(&mut self, other: &Self) {
        let (ours, theirs) = (&mut self.counts, &other.counts);
        ours.output += theirs.output;
        ours.events += theirs.events;
        ours.source = ours.source.max(theirs.source);
        ours.output_length_differs += theirs.output_length_differs;
        ours.output_limit_ignored += theirs.output_limit_ignored;
        ours.cached_reported += theirs.cached_reported;
        if let Some(cached) = theirs.cached_input {
            *ours.cached_input.get_or_insert_default() += cached;
        }
        self.known_input += other.known_input;
        self.known_cached += other.known_cached;
        self.input_unknown |= other.input_unknown;
    }

    pub(super) fn counts(&self) -> TokenCounts {
        let input = (!self.input_unknown).then_some(self.known_input);
        let (known, cached) = (self.known_input.get(), self.known_cached.get());
        let is_told = self.counts.cached_input.is_some() && known > 0;
        let cached_share = is_told.then(|| cached as f64 / known as f64);
        TokenCounts { input, cached_share, ..self.counts }
    }
}

/// Whether the output is certain to have another length than was asked.
fn length_differs(tape: &Tape, finish: Finish) -> bool {
    if tape.requested.eos == EosRule::Stop || tape.token_source == TokenSource::Tokenless {
        return false;
    }
    match known_output(tape) {
        Some(length) => length != tape.requested.output_tokens,
        None => finish == Finish::Stop,
    }
}

/// Whether the output is certain to go beyond a limit that left the end to the model. Servers differ in whether thoughts count against
/// it.
fn is_limit_ignored(tape: &Tape) -> bool {
    let limit = tape.requested.output_tokens;
    if tape.requested.eos == EosRule::Ignore
        || tape.token_source == TokenSource::Tokenless
        || limit == Tokens::ZERO
    {
        return false;
    }
    let thought = tape.usage.and_then(|usage| usage.reasoning_tokens).unwrap_or_default();
    known_output(tape)
        .is_some_and(|length| length.get().saturating_sub(thought.get()) > limit.get())
}
