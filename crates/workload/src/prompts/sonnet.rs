//! Prompts of verse: text as people write it, which a server's tokenizer treats as such.

use std::sync::LazyLock;

use fizeau_core::Tokens;

use super::SymbolSource;
use super::draw::{ExactText, fit_text};
use crate::codec::{CodecError, TextCodec};
use crate::seed::{RandomStream, StreamPurpose};

impl SymbolSource {
    /// The prompt's text, as many words as tokens are asked for.
    pub(crate) fn sonnet(&self) -> String {
        self.verse(self.prefix_len, self.len)
    }

    /// The prompt's text, fitted to its exact length under `codec`.
    pub(crate) fn exact_sonnet(&self, codec: &dyn TextCodec) -> Result<ExactText, CodecError> {
        // A word is at least one token, so that this is enough to cut from.
        let mut shared = codec.encode(&lines(&mut self.prefix_draws(), self.prefix_len.get()))?;
        shared.truncate(usize::try_from(self.prefix_len.get()).unwrap_or(usize::MAX));
        let before = codec.decode(&shared)?;
        let own = codec.encode(&self.verse(Tokens::ZERO, self.len))?;
        let mut padding = self.seed.stream(StreamPurpose::Padding, self.index);
        fit_text(codec, &before, own, self.prefix_len + self.len, &mut padding)
    }

    /// `prefix` words that all prompts with this prefix share, then `own` of the prompt's own, of which the first spell its
    /// number.
    fn verse(&self, prefix: Tokens, own: Tokens) -> String {
        let distinct =
            Self { prefix_len: Tokens::ZERO, len: Tokens::new(own.get().min(8)), ..*self };
        let mut body = self.seed.stream(StreamPurpose::Body, self.index);
        let parts = [
            lines(&mut self.prefix_draws(), prefix.get()),
            distinct.words(),
            lines(&mut body, own.get() - distinct.len.get()),
        ];
        let filled: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        filled.join("\n")
    }

    fn prefix_draws(&self) -> RandomStream {
        self.seed.stream(StreamPurpose::Prefix, self.prefix)
    }
}

/// Drawn lines of `words` words in all, the last one cut.
fn lines(draws: &mut RandomStream, words: u64) -> String {
    let mut text = String::new();
    let mut missing = usize::try_from(words).unwrap_or(usize::MAX);
    while missing > 0 {
        let drawn = draws.below(SONNETS.len() as u64) as usize;
        let Some(line) = SONNETS.get(drawn) else { break };
        if !text.is_empty() {
            text.push('\n');
        }
        for (number, word) in line.split(' ').take(missing).enumerate() {
            if number > 0 {
                text.push(' ');
            }
            text.push_str(word);
        }
        missing = missing.saturating_sub(line.split(' ').count());
    }
    text
}

/// Eight of Shakespeare's sonnets, line by line: numbers 12, 18, 29, 30, 55, 73, 116 and 130, in modern spelling. They were
/// printed in 1609 and belong to everybody. Their order is part of what a seed means.
static SONNETS: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("sonnets.txt").lines().collect());
