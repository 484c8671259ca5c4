//! What a job's tokens are, as far as it matters whether another has the same.

use std::fmt;
use std::num::NonZeroU64;

use fizeau_core::Tokens;
use fizeau_core::split_mix::{STEP, mixed};

use crate::serve::{BlockHashes, JobId};
use crate::text;

/// Where chains begin: digits of pi, so that the empty chain is no zero.
const SEED: u64 = 0x243F_6A88_85A3_08D3;

/// The tokens of a prompt, and then of its reply. Tokens have no codes here: ids stand for themselves, and words for their
/// letters.
#[derive(Clone)]
pub(crate) struct TokenChain {
    /// Has seen all so far.
    state: u64,
    tokens: u64,
    block: NonZeroU64,
    /// Of each full block, the hash of all up to its end.
    blocks: Vec<u64>,
    form: TokenForm,
}

/// What a prompt came as, and how its reply will come back in a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenForm {
    Chat,
    Ids,
    Text,
}

impl TokenChain {
    /// Of a prompt for `model` that has no tokens yet, in blocks of `block` tokens.
    pub(crate) fn new(model: &str, form: TokenForm, block: NonZeroU64) -> Self {
        let mut chain = Self { state: SEED, tokens: 0, block, blocks: Vec::new(), form };
        chain.text(model);
        chain.mix(form as u64);
        chain
    }

    /// Keeps what follows apart from all that has another salt, or none (`cache_salt` of vLLM).
    #[cfg(feature = "http")]
    pub(crate) fn salt(&mut self, salt: &str) {
        self.text(salt);
    }

    /// Begins a message of `role`, which has no token of its own here.
    pub(crate) fn role(&mut self, role: &str) {
        self.text(role);
    }

    pub(crate) fn ids(&mut self, ids: &[u32]) {
        for id in ids {
            self.mix(u64::from(*id));
            self.count();
        }
    }

    pub(crate) fn words(&mut self, text: &str) {
        for word in text.split_whitespace() {
            self.text(word);
            self.count();
        }
    }

    /// With the reply `number` of `tokens` tokens behind it: what the job that gives it is known by.
    pub(crate) fn content(mut self, number: JobId, tokens: Tokens) -> BlockHashes {
        if self.form == TokenForm::Chat {
            self.role("assistant");
        }
        for index in 0..tokens.get() {
            match self.form {
                TokenForm::Ids => self.mix(text::token_id(number, index)),
                TokenForm::Chat | TokenForm::Text => {
                    self.text(text::word(number, index).trim_start())
                }
            }
            self.count();
        }
        self.blocks.into()
    }

    /// Takes in a text as one piece: its bytes in words of eight, then its length.
    fn text(&mut self, text: &str) {
        for bytes in text.as_bytes().chunks(8) {
            let word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            self.mix(word);
        }
        self.mix(text.len() as u64);
    }

    /// One round of Steele, Lea and Flood's splitmix64 (2014) over what was and what comes: a few nanoseconds, since the
    /// tokens of others wait meanwhile.
    const fn mix(&mut self, word: u64) {
        self.state = mixed(self.state.wrapping_add(STEP) ^ word);
    }

    /// Notes that a token is complete.
    fn count(&mut self) {
        self.tokens += 1;
        if self.tokens.is_multiple_of(self.block.get()) {
            self.blocks.push(self.state);
        }
    }
}

impl fmt::Debug for TokenChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Chain({} tokens)", self.tokens)
    }
}
