//! Which starts of prompts have been read before.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroUsize;

use fizeau_core::Tokens;

use crate::job::{Emission, JobId};
use crate::text;

/// Tokens of a block: vLLM's default.
const BLOCK: u64 = 16;

/// A cache of the key-value pairs of prompts, which spares a prompt the reading of what another began with.
///
/// As in vLLM, it works in blocks of 16 tokens, each known by all that stands before it and in it; a prompt's last token is
/// always read; and the prompt's blocks, the reply's behind them, are there once they have been computed. Requests for
/// different models share nothing, and nor do a text and token ids. The blocks' memory is apart from the engine's: a
/// running request reserves all of its own there.
///
/// ```
/// use fizeau_core::Nanos;
/// use fizeau_sim::FixedTiming;
/// use fizeau_sim::http::{PrefixCache, ServerConfig};
/// let engine = FixedTiming::new(Nanos::from_millis(20), Nanos::from_millis(5));
/// let config = ServerConfig::new(engine).with_prefix_cache(PrefixCache::default());
/// # let _ = config;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PrefixCache {
    /// The most blocks that are kept, those used last; without limit where absent.
    pub capacity_blocks: Option<NonZeroUsize>,
}

/// The tokens of a prompt, as far as it matters whether they are the same as another's.
#[derive(Clone)]
pub(super) struct Chain {
    /// Has seen all tokens so far.
    hasher: DefaultHasher,
    tokens: u64,
    /// Of each full block, the hash of all up to its end.
    blocks: Vec<u64>,
    form: Form,
}

/// What a prompt came as, and how its reply will come back in a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Form {
    Chat,
    Ids,
    Text,
}

impl Chain {
    /// Of a prompt for `model` that has no tokens yet.
    pub(super) fn new(model: &str, form: Form) -> Self {
        let mut hasher = DefaultHasher::new();
        (model, form).hash(&mut hasher);
        Self { hasher, tokens: 0, blocks: Vec::new(), form }
    }

    /// Begins a message of `role`, which has no token of its own here.
    pub(super) fn role(&mut self, role: &str) {
        role.hash(&mut self.hasher);
    }

    /// Keeps a prompt that has no tokens yet apart from those with another salt, or with none.
    pub(super) fn salt(&mut self, salt: &str) {
        ("salt", salt).hash(&mut self.hasher);
    }

    pub(super) fn ids(&mut self, ids: &[u32]) {
        for id in ids {
            self.push(u64::from(*id));
        }
    }

    pub(super) fn words(&mut self, text: &str) {
        for word in text.split_whitespace() {
            self.push(word);
        }
    }

    fn push(&mut self, token: impl Hash) {
        token.hash(&mut self.hasher);
        self.tokens += 1;
        if self.tokens.is_multiple_of(BLOCK) {
            self.blocks.push(self.hasher.finish());
        }
    }

    /// Adds the first `tokens` tokens of reply `number`.
    fn reply(&mut self, number: JobId, tokens: u64) {
        if self.form == Form::Chat {
            self.role("assistant");
        }
        for index in 0..tokens {
            match self.form {
                Form::Ids => self.push(text::token_id(number, index)),
                Form::Chat | Form::Text => self.words(text::word(number, index)),
            }
        }
    }
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Chain({} tokens)", self.tokens)
    }
}

/// The cache, and whose prompts are under way.
pub(super) struct Prefixes {
    blocks: Blocks,
    live: HashMap<JobId, Live>,
}

struct Live {
    chain: Chain,
    /// The reply's number, which chooses its words.
    number: JobId,
}

impl Prefixes {
    pub(super) fn new(config: PrefixCache) -> Self {
        Self { blocks: Blocks::new(config.capacity_blocks), live: HashMap::new() }
    }

    /// How many tokens of `prompt` need not be read.
    pub(super) fn cached(&mut self, prompt: &Chain) -> Tokens {
        let last_full = prompt.tokens.saturating_sub(1) / BLOCK;
        let most = usize::try_from(last_full).unwrap_or(usize::MAX).min(prompt.blocks.len());
        let candidates = prompt.blocks.get(..most).unwrap_or_default();
        Tokens::new(self.blocks.find(candidates) as u64 * BLOCK)
    }

    /// Notes that `job` reads `prompt` and gives reply `number`.
    pub(super) fn begin(&mut self, job: JobId, prompt: Chain, number: JobId) {
        self.live.insert(job, Live { chain: prompt, number });
    }

    /// Takes over what has been computed as a token leaves: the prompt at the first, the reply at the last.
    pub(super) fn emitted(&mut self, emission: &Emission) {
        if emission.index == 0
            && let Some(live) = self.live.get(&emission.job)
        {
            self.blocks.keep(&live.chain.blocks);
        }
        if emission.last
            && let Some(Live { mut chain, number }) = self.live.remove(&emission.job)
        {
            // The last token is given and never read.
            chain.reply(number, emission.index);
            self.blocks.keep(&chain.blocks);
        }
    }

    /// Forgets a job that was given up.
    pub(super) fn cancelled(&mut self, job: JobId) {
        self.live.remove(&job);
    }
}

/// Blocks by their hashes, those used last.
struct Blocks {
    capacity: Option<NonZeroUsize>,
    /// When each was last used.
    used: HashMap<u64, u64>,
    /// The same the other way round, where there is a limit.
    order: BTreeMap<u64, u64>,
    uses: u64,
}

impl Blocks {
    fn new(capacity: Option<NonZeroUsize>) -> Self {
        Self { capacity, used: HashMap::new(), order: BTreeMap::new(), uses: 0 }
    }

    /// How many of `blocks` are there from the first on without a gap. They count as used.
    fn find(&mut self, blocks: &[u64]) -> usize {
        let found = blocks.iter().take_while(|block| self.used.contains_key(block)).count();
        self.touch(blocks.get(..found).unwrap_or_default());
        found
    }

    /// Keeps `blocks`, and lets go of those that were not used for longest.
    fn keep(&mut self, blocks: &[u64]) {
        self.touch(blocks);
        let Some(capacity) = self.capacity else {
            return;
        };
        while self.used.len() > capacity.get()
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.used.remove(&oldest);
        }
    }

    /// Marks `blocks` as used, the first last: a block is of no use without those before it, and goes before them.
    fn touch(&mut self, blocks: &[u64]) {
        for block in blocks.iter().rev() {
            self.uses += 1;
            let before = self.used.insert(*block, self.uses);
            if self.capacity.is_some() {
                before.and_then(|before| self.order.remove(&before));
                self.order.insert(self.uses, *block);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn chain(ids: &[u32]) -> Chain {
        let mut chain = Chain::new("m", Form::Ids);
        chain.ids(ids);
        chain
    }

    fn after(prompts: &[Vec<u32>]) -> Prefixes {
        let mut prefixes = Prefixes::new(PrefixCache::default());
        for prompt in prompts {
            prefixes.blocks.keep(&chain(prompt).blocks);
        }
        prefixes
    }

    proptest! {
        /// What is cached is the longest start that a prompt shares with an earlier one, in whole blocks, the last token
        /// left out.
        #[test]
        fn the_longest_shared_start_is_cached(
            prompts in prop::collection::vec(prop::collection::vec(0u32..2, 0..6), 0..4),
            asked in prop::collection::vec(0u32..2, 1..6),
            tail in 0usize..16,
        ) {
            // Each number is a block of its own.
            let blocks = |of: &[u32]| of.iter().flat_map(|id| [*id; 16]).collect::<Vec<_>>();
            let shared = |other: &Vec<u32>| {
                asked.iter().zip(other).take_while(|(a, b)| a == b).count()
            };
            let longest = prompts.iter().map(shared).max().unwrap_or(0);
            let mut ids = blocks(&asked);
            ids.extend(std::iter::repeat_n(7, tail));
            let expected = (longest * 16).min((ids.len() - 1) / 16 * 16);
            let prompts: Vec<_> = prompts.iter().map(|prompt| blocks(prompt)).collect();
            let cached = after(&prompts).cached(&chain(&ids));
            prop_assert_eq!(cached, Tokens::new(expected as u64));
        }

        #[test]
        fn no_more_is_kept_than_there_is_room_for(
            prompts in prop::collection::vec((0u32..9, 1usize..200), 1..20),
            capacity in 1usize..20,
        ) {
            let config = PrefixCache { capacity_blocks: NonZeroUsize::new(capacity) };
            let mut prefixes = Prefixes::new(config);
            for (id, tokens) in prompts {
                let prompt = chain(&vec![id; tokens]);
                prefixes.blocks.keep(&prompt.blocks);
                prop_assert!(prefixes.blocks.used.len() <= capacity);
                prop_assert_eq!(prefixes.blocks.used.len(), prefixes.blocks.order.len());
                let kept = prompt.blocks.len().min(capacity);
                prop_assert_eq!(prefixes.blocks.find(&prompt.blocks), kept, "its start is kept");
            }
        }
    }

    #[test]
    fn models_and_forms_and_roles_share_nothing() {
        let mut prefixes = Prefixes::new(PrefixCache::default());
        let words = "a b c d e f g h i j k l m n o p q";
        let of = |model, form, role| {
            let mut chain = Chain::new(model, form);
            chain.role(role);
            chain.words(words);
            chain
        };
        prefixes.blocks.keep(&of("m", Form::Chat, "user").blocks);
        assert_eq!(prefixes.cached(&of("m", Form::Chat, "user")).get(), 16);
        let others = [
            of("n", Form::Chat, "user"),
            of("m", Form::Text, "user"),
            of("m", Form::Chat, "system"),
        ];
        assert!(others.iter().all(|other| prefixes.cached(other) == Tokens::ZERO));
    }
}
