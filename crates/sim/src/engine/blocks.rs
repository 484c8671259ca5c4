//! The key-value cache, in blocks.

use super::config::{EngineConfig, PrefixCaching};
use crate::chance::NumberMap;

/// The blocks of one group. Each is free, in use, or unused but known by its content: `free + used + idle = total`.
///
/// A block without known content is a number and nothing else, so that a cache of any size costs nothing.
#[derive(Debug, Clone)]
pub(super) struct BlockPool {
    size: u64,
    total: u64,
    free: u64,
    /// None where blocks are forgotten.
    prefixes: Option<KnownBlocks>,
}

/// What one sequence has of them.
#[derive(Debug, Clone, Default)]
pub(super) struct HeldBlocks {
    /// Blocks with the beginning of it that are known by their content, and may be others' too.
    known: Vec<KnownBlock>,
    /// Blocks of its own behind them.
    own: u64,
    /// Tokens for which these blocks have room.
    pub(super) room: u64,
    /// How many tokens must be computed for the next block to become known; none ever: the largest number.
    pub(super) known_next: u64,
}

/// The beginning of a prompt, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct KnownPrefix {
    pub(super) blocks: u64,
    /// Those of them that nobody uses: they cannot be evicted for the sequence that finds them.
    idle: u64,
}

impl BlockPool {
    pub(super) fn new(config: &EngineConfig) -> Self {
        let prefixes = match config.prefix_caching {
            PrefixCaching::Off => None,
            PrefixCaching::On => Some(KnownBlocks::default()),
        };
        Self { size: config.block.get(), total: config.blocks, free: config.blocks, prefixes }
    }

    pub(super) const fn size(&self) -> u64 {
        self.size
    }

    /// Blocks that can be taken, what is known of some of them forgotten.
    pub(super) fn available(&self) -> u64 {
        self.free + self.prefixes.as_ref().map_or(0, KnownBlocks::idle)
    }

    pub(super) fn used(&self) -> u64 {
        self.total - self.available()
    }

    /// Tokens of all holds that others hold as well, but for one of each: what they have less than if nobody shared.
    pub(super) fn shared(&self) -> u64 {
        self.prefixes.as_ref().map_or(0, |prefixes| prefixes.shared) * self.size
    }

    /// How many of the first `most` blocks of `content` are known, from the first one on.
    pub(super) fn find(&self, content: &[u64], most: u64) -> KnownPrefix {
        let mut found = KnownPrefix::default();
        let Some(prefixes) = &self.prefixes else {
            return found;
        };
        for &hash in content.iter().take(most as usize) {
            let Some(known) = prefixes.find(hash) else {
                break;
            };
            found.blocks += 1;
            found.idle += u64::from(prefixes.is_idle(known));
        }
        found
    }

    /// Whether a sequence whose beginning is `found` can have room for `tokens`.
    pub(super) fn fits(&self, found: KnownPrefix, tokens: u64) -> bool {
        let needed = tokens.div_ceil(self.size).saturating_sub(found.blocks);
        needed + found.idle <= self.available()
    }

    /// Begins a hold with what was found of `content`.
    pub(super) fn share(&mut self, content: &[u64], found: KnownPrefix) -> HeldBlocks {
        let mut hold = HeldBlocks { room: found.blocks * self.size, ..HeldBlocks::default() };
        if let Some(prefixes) = &mut self.prefixes {
            for &hash in content.iter().take(found.blocks as usize) {
                let Some(known) = prefixes.find(hash) else {
                    break;
                };
                prefixes.share(known);
                hold.known.push(known);
            }
        }
        self.expect_next(&mut hold, content);
        hold
    }

    /// Gives `hold` room for `tokens`; whether there were blocks enough. If not, nothing has changed.
    pub(super) fn grow(&mut self, hold: &mut HeldBlocks, tokens: u64) -> bool {
        if tokens <= hold.room {
            return true;
        }
        let more = (tokens - hold.room).div_ceil(self.size);
        if more > self.available() {
            return false;
        }
        let evicted = more.saturating_sub(self.free);
        self.free -= more - evicted;
        if let Some(prefixes) = &mut self.prefixes {
            (0..evicted).for_each(|_| {
                prefixes.evict();
            });
        }
        hold.own += more;
        hold.room += more * self.size;
        true
    }

    /// Makes the full blocks of the first `computed` tokens known by their content. One that is known already is kept once, and
    /// the copy is free.
    pub(super) fn learn(&mut self, hold: &mut HeldBlocks, content: &[u64], computed: u64) {
        if let Some(prefixes) = &mut self.prefixes {
            let full = (computed / self.size) as usize;
            for &hash in content.iter().take(full).skip(hold.known.len()) {
                let known = if let Some(known) = prefixes.find(hash) {
                    prefixes.share(known);
                    self.free += 1;
                    known
                } else {
                    prefixes.insert(hash)
                };
                hold.known.push(known);
                hold.own -= 1;
            }
        }
        self.expect_next(hold, content);
    }

    /// Ends a hold. Its last block is the first of them to be evicted, so that beginnings stay.
    pub(super) fn release(&mut self, hold: &mut HeldBlocks) {
        self.free += hold.own;
        if let Some(prefixes) = &mut self.prefixes {
            hold.known.drain(..).rev().for_each(|known| prefixes.drop_user(known));
        }
        *hold = HeldBlocks::default();
    }

    fn expect_next(&self, hold: &mut HeldBlocks, content: &[u64]) {
        let known = hold.known.len();
        let more = self.prefixes.is_some() && known < content.len();
        hold.known_next = if more { (known as u64 + 1) * self.size } else { u64::MAX };
    }

    /// What all `holds` together have is what is in use.
    #[cfg(test)]
    pub(super) fn audit<'a>(&self, holds: impl Iterator<Item = &'a HeldBlocks>) {
        let known = self.prefixes.as_ref().map_or(0, KnownBlocks::in_use);
        let mut own = 0;
        for hold in holds {
            own += hold.own;
            assert_eq!(hold.room, (hold.own + hold.known.len() as u64) * self.size);
        }
        assert_eq!(self.used(), known + own);
        assert!(self.available() <= self.total);
    }

    /// Blocks whose content is known, used or not.
    #[cfg(test)]
    pub(super) fn known(&self) -> u64 {
        self.prefixes.as_ref().map_or(0, |prefixes| prefixes.in_use() + prefixes.idle())
    }
}

// Blocks that are known by what they hold.

/// A block that is known by its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KnownBlock(u32);

/// All known blocks: those in use, counted by their users, and those that nobody uses, in order of their last use.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownBlocks {
    by_hash: NumberMap<u64, KnownBlock>,
    entries: Vec<BlockEntry>,
    /// Entries that stand for no block.
    vacant: Vec<KnownBlock>,
    /// Of the unused: the one to go first, the one to go last.
    oldest: Option<KnownBlock>,
    newest: Option<KnownBlock>,
    /// How many are unused.
    idle: u64,
    /// Users of blocks beyond the first of each.
    shared: u64,
}

#[derive(Debug, Clone, Copy)]
struct BlockEntry {
    hash: u64,
    users: u32,
    /// Its neighbours among the unused.
    older: Option<KnownBlock>,
    newer: Option<KnownBlock>,
}

impl KnownBlocks {
    /// How many are unused, and can be evicted.
    pub(crate) const fn idle(&self) -> u64 {
        self.idle
    }

    pub(crate) fn find(&self, hash: u64) -> Option<KnownBlock> {
        self.by_hash.get(&hash).copied()
    }

    pub(crate) fn is_idle(&self, known: KnownBlock) -> bool {
        self.entry(known).users == 0
    }

    /// Makes a block known that one sequence uses. No block with this hash is known yet.
    pub(crate) fn insert(&mut self, hash: u64) -> KnownBlock {
        let entry = BlockEntry { hash, users: 1, older: None, newer: None };
        let known = if let Some(known) = self.vacant.pop() {
            *self.entry_mut(known) = entry;
            known
        } else {
            let known = KnownBlock(self.entries.len() as u32);
            self.entries.push(entry);
            known
        };
        self.by_hash.insert(hash, known);
        known
    }

    /// One more sequence uses it.
    pub(crate) fn share(&mut self, known: KnownBlock) {
        if self.is_idle(known) {
            self.unlink(known);
        } else {
            self.shared += 1;
        }
        self.entry_mut(known).users += 1;
    }

    /// One sequence fewer uses it. When none is left it is the newest of the unused.
    pub(crate) fn drop_user(&mut self, known: KnownBlock) {
        let newest = self.newest;
        let entry = self.entry_mut(known);
        entry.users -= 1;
        if entry.users > 0 {
            self.shared -= 1;
            return;
        }
        (entry.older, entry.newer) = (newest, None);
        match newest {
            Some(newest) => self.entry_mut(newest).newer = Some(known),
            None => self.oldest = Some(known),
        }
        self.newest = Some(known);
        self.idle += 1;
    }

    /// Forgets the unused block whose last use is longest ago; whether there was one.
    pub(crate) fn evict(&mut self) -> bool {
        let Some(known) = self.oldest else {
            return false;
        };
        self.unlink(known);
        let hash = self.entry(known).hash;
        self.by_hash.remove(&hash);
        self.vacant.push(known);
        true
    }

    /// Takes it out of the unused.
    fn unlink(&mut self, known: KnownBlock) {
        let BlockEntry { older, newer, .. } = *self.entry(known);
        match older {
            Some(older) => self.entry_mut(older).newer = newer,
            None => self.oldest = newer,
        }
        match newer {
            Some(newer) => self.entry_mut(newer).older = older,
            None => self.newest = older,
        }
        self.idle -= 1;
    }

    // A `KnownBlock` is made by `insert` alone, behind the entry that it numbers, and entries are never taken away.
    fn entry(&self, known: KnownBlock) -> &BlockEntry {
        &self.entries[known.0 as usize]
    }

    fn entry_mut(&mut self, known: KnownBlock) -> &mut BlockEntry {
        &mut self.entries[known.0 as usize]
    }

    /// How many blocks are in use.
    #[cfg(test)]
    pub(crate) fn in_use(&self) -> u64 {
        self.by_hash.len() as u64 - self.idle
    }
}
