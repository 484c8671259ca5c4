//! Blocks that are known by what they hold.

use super::super::hash::NumberMap;

/// A block that is known by its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known(u32);

/// All known blocks: those in use, counted by their users, and those that nobody uses, in order of their last use.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prefixes {
    by_hash: NumberMap<u64, Known>,
    entries: Vec<Entry>,
    /// Entries that stand for no block.
    vacant: Vec<Known>,
    /// Of the unused: the one to go first, the one to go last.
    oldest: Option<Known>,
    newest: Option<Known>,
    /// How many are unused.
    idle: u64,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    hash: u64,
    users: u32,
    /// Its neighbours among the unused.
    older: Option<Known>,
    newer: Option<Known>,
}

impl Prefixes {
    /// How many are unused, and can be evicted.
    pub(crate) const fn idle(&self) -> u64 {
        self.idle
    }

    pub(crate) fn find(&self, hash: u64) -> Option<Known> {
        self.by_hash.get(&hash).copied()
    }

    pub(crate) fn is_idle(&self, known: Known) -> bool {
        self.entry(known).users == 0
    }

    /// Makes a block known that one sequence uses. No block with this hash is known yet.
    pub(crate) fn insert(&mut self, hash: u64) -> Known {
        let entry = Entry { hash, users: 1, older: None, newer: None };
        let known = if let Some(known) = self.vacant.pop() {
            *self.entry_mut(known) = entry;
            known
        } else {
            let known = Known(self.entries.len() as u32);
            self.entries.push(entry);
            known
        };
        self.by_hash.insert(hash, known);
        known
    }

    /// One more sequence uses it.
    pub(crate) fn share(&mut self, known: Known) {
        if self.is_idle(known) {
            self.unlink(known);
        }
        self.entry_mut(known).users += 1;
    }

    /// One sequence fewer uses it. When none is left it is the newest of the unused.
    pub(crate) fn drop_user(&mut self, known: Known) {
        let newest = self.newest;
        let entry = self.entry_mut(known);
        entry.users -= 1;
        if entry.users > 0 {
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
    fn unlink(&mut self, known: Known) {
        let Entry { older, newer, .. } = *self.entry(known);
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

    // A `Known` is made by `insert` alone, behind the entry that it numbers, and entries are never taken away.
    fn entry(&self, known: Known) -> &Entry {
        &self.entries[known.0 as usize]
    }

    fn entry_mut(&mut self, known: Known) -> &mut Entry {
        &mut self.entries[known.0 as usize]
    }

    /// How many blocks are in use.
    #[cfg(test)]
    pub(crate) fn in_use(&self) -> u64 {
        self.by_hash.len() as u64 - self.idle
    }
}
