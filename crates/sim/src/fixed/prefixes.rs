//! Which blocks have been computed before, for an engine that has no cache of keys and values to keep them in.

use std::num::NonZeroUsize;

use crate::engine::KnownBlocks;

/// Blocks by their hashes, those used last. Nobody holds any of them.
#[derive(Debug, Clone)]
pub(super) struct Prefixes {
    /// The most that are kept; without limit where absent.
    capacity: Option<NonZeroUsize>,
    blocks: KnownBlocks,
}

impl Prefixes {
    pub(super) fn new(capacity: Option<NonZeroUsize>) -> Self {
        Self { capacity, blocks: KnownBlocks::default() }
    }

    /// How many of `blocks` are there from the first on without a gap. They count as used.
    pub(super) fn find(&mut self, blocks: &[u64]) -> usize {
        let found = blocks.iter().take_while(|block| self.blocks.find(**block).is_some()).count();
        self.touch(blocks.get(..found).unwrap_or_default());
        found
    }

    /// Keeps `blocks`, and lets go of those that were not used for longest.
    pub(super) fn keep(&mut self, blocks: &[u64]) {
        self.touch(blocks);
        let capacity = self.capacity.map_or(u64::MAX, |capacity| capacity.get() as u64);
        while self.blocks.idle() > capacity && self.blocks.evict() {}
    }

    /// Marks `blocks` as used, the first last: a block is of no use without those before it, and goes before them.
    fn touch(&mut self, blocks: &[u64]) {
        for block in blocks.iter().rev() {
            let known = match self.blocks.find(*block) {
                Some(known) => {
                    self.blocks.share(known);
                    known
                }
                None => self.blocks.insert(*block),
            };
            self.blocks.drop_user(known);
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
                prop_assert!(prefixes.blocks.idle() <= capacity as u64);
                prop_assert_eq!(prefixes.find(&chain), chain.len().min(capacity), "its start is kept");
            }
        }
    }
}
