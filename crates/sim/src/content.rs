//! What a job's tokens are, as far as it matters whether another has the same.

use std::fmt;
use std::num::NonZeroU64;

use fizeau_core::Tokens;
use fizeau_core::split_mix::{STEP, mixed};

use crate::serve::{Content, JobId};
use crate::text;

/// Where chains begin: digits of pi, so that the empty chain is no zero.
const SEED: u64 = 0x243F_6A88_85A3_08D3;

/// The tokens of a prompt, and then of its reply. Tokens have no codes here: ids stand for themselves, and words for their
/// letters.
#[derive(Clone)]
pub(crate) struct Chain {
    /// Has seen all so far.
    state: u64,
    tokens: u64,
    block: NonZeroU64,
    /// Of each full block, the hash of all up to its end.
    blocks: Vec<u64>,
    form: Form,
}

/// What a prompt came as, and how its reply will come back in a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Chat,
    Ids,
    Text,
}

impl Chain {
    /// Of a prompt for `model` that has no tokens yet, in blocks of `block` tokens.
    pub(crate) fn new(model: &str, form: Form, block: NonZeroU64) -> Self {
        let mut chain = Self { state: SEED, tokens: 0, block, blocks: Vec::new(), form };
        chain.text(model);
        chain.mix(form as u64);
        chain
    }

    /// Keeps what follows apart from all that has another salt, or none (`cache_salt` of vLLM).
    #[cfg(any(feature = "http", test))]
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
    pub(crate) fn content(mut self, number: JobId, tokens: Tokens) -> Content {
        if self.form == Form::Chat {
            self.role("assistant");
        }
        for index in 0..tokens.get() {
            match self.form {
                Form::Ids => self.mix(text::token_id(number, index)),
                Form::Chat | Form::Text => self.text(text::word(number, index).trim_start()),
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

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Chain({} tokens)", self.tokens)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BLOCK: NonZeroU64 = NonZeroU64::new(4).unwrap();

    fn of_ids(ids: &[u32], number: u64, output: u64) -> Content {
        let mut chain = Chain::new("m", Form::Ids, BLOCK);
        chain.ids(ids);
        chain.content(JobId(number), Tokens::new(output))
    }

    proptest! {
        /// Two chains have as many blocks in common as begin both.
        #[test]
        fn blocks_are_equal_as_long_as_all_before_them_is(
            one in prop::collection::vec(0u32..3, 1..40),
            other in prop::collection::vec(0u32..3, 1..40),
        ) {
            let shared = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
            let (one, other) = (of_ids(&one, 0, 1), of_ids(&other, 0, 1));
            let equal = one.iter().zip(other.iter()).take_while(|(a, b)| a == b).count();
            // The one token of the reply may make it one more.
            prop_assert!(equal == shared / 4 || equal == (shared + 1) / 4, "{equal} of {shared} tokens");
        }

        #[test]
        fn full_blocks_of_prompt_and_reply_count(prompt in 1usize..100, output in 1u64..100) {
            let content = of_ids(&vec![7; prompt], 1, output);
            prop_assert_eq!(content.len() as u64, (prompt as u64 + output) / 4);
        }

        /// What the model said is known again where it comes back, in each form.
        #[test]
        fn a_reply_is_found_in_the_next_prompt(words in 1u64..40, output in 1u64..40, number: u64) {
            let reply = |index| text::word(JobId(number), index);
            let text = "word ".repeat(words as usize);
            for form in [Form::Chat, Form::Text] {
                let prompt = || {
                    let mut chain = Chain::new("m", form, BLOCK);
                    chain.words(&text);
                    chain
                };
                let first = prompt().content(JobId(number), Tokens::new(output));
                let mut second = prompt();
                if form == Form::Chat {
                    second.role("assistant");
                }
                second.words(&(0..output).map(reply).collect::<String>());
                prop_assert_eq!(&second.blocks[..], &first[..]);
            }
            let ids: Vec<_> = (0..output).map(|index| text::token_id(JobId(number), index) as u32).collect();
            let history = [vec![7; words as usize], ids].concat();
            let mut second = Chain::new("m", Form::Ids, BLOCK);
            second.ids(&history);
            let first = of_ids(&vec![7; words as usize], number, output);
            prop_assert_eq!(&second.blocks[..], &first[..]);
        }
    }

    #[test]
    fn models_forms_roles_and_salts_share_nothing() {
        let of = |model, form, role, salt: Option<&str>| {
            let mut chain = Chain::new(model, form, BLOCK);
            salt.into_iter().for_each(|salt| chain.salt(salt));
            chain.role(role);
            chain.words("a b c d e");
            chain.blocks
        };
        let all = [
            of("m", Form::Chat, "user", None),
            of("n", Form::Chat, "user", None),
            of("m", Form::Text, "user", None),
            of("m", Form::Chat, "system", None),
            of("m", Form::Chat, "user", Some("salt")),
            of("m", Form::Chat, "user", Some("pepper")),
        ];
        for (index, one) in all.iter().enumerate() {
            assert!(all.iter().skip(index + 1).all(|other| one != other), "{index}");
        }
        assert_eq!(all[0], of("m", Form::Chat, "user", None));
    }
}
