//! Which blocks have been computed before, for an engine that has no cache of keys and values to keep them in.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroUsize;

/// Blocks by their hashes, those used last.
#[derive(Debug, Clone)]
pub(super) struct Prefixes {
    /// The most that are kept; without limit where absent.
    capacity: Option<NonZeroUsize>,
    /// When each was last used.
    used: HashMap<u64, u64>,
    /// The same the other way round, where there is a limit.
    order: BTreeMap<u64, u64>,
    uses: u64,
}

impl Prefixes {
    pub(super) fn new(capacity: Option<NonZeroUsize>) -> Self {
        Self { capacity, used: HashMap::new(), order: BTreeMap::new(), uses: 0 }
    }

    /// How many of `blocks` are there from the first on without a gap. They count as used.
    pub(super) fn find(&mut self, blocks: &[u64]) -> usize {
        let found = blocks.iter().take_while(|block| self.used.contains_key(block)).count();
        self.touch(blocks.get(..found).unwrap_or_default());
        found
    }

    /// Keeps `blocks`, and lets go of those that were not used for longest.
    pub(super) fn keep(&mut self, blocks: &[u64]) {
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

    proptest! {
        #[test]
        fn no_more_is_kept_than_there_is_room_for(
            chains in prop::collection::vec((0u64..9, 1u64..20), 1..20),
            capacity in 1usize..20,
        ) {
            let mut prefixes = Prefixes::new(NonZeroUsize::new(capacity));
            for (id, blocks) in chains {
                let chain: Vec<_> = (0..blocks).map(|block| id * 100 + block).collect();
                prefixes.keep(&chain);
                prop_assert!(prefixes.used.len() <= capacity);
                prop_assert_eq!(prefixes.used.len(), prefixes.order.len());
                prop_assert_eq!(prefixes.find(&chain), chain.len().min(capacity), "its start is kept");
            }
        }
    }
}
