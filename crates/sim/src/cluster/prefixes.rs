//! What a router remembers of who has read what.

use std::collections::HashMap;

/// For each block of tokens that jobs were made of, the replicas that jobs with it went to. A bounded
/// number of blocks: those not seen for longest are forgotten first, as a replica forgets them.
#[derive(Debug, Clone)]
pub(super) struct RouterPrefixes {
    /// Where the entry of a block's hash is.
    places: HashMap<u64, usize>,
    entries: Vec<PrefixEntry>,
    /// Of each entry `words` words, with a bit for each replica.
    holders: Vec<u64>,
    words: usize,
    newest: usize,
    oldest: usize,
    capacity: usize,
    /// The holders of the blocks asked for, so that a question allocates nothing.
    found: Vec<u64>,
}

/// A block, and its neighbours in order of when each was seen last.
#[derive(Debug, Clone, Copy)]
struct PrefixEntry {
    hash: u64,
    newer: usize,
    older: usize,
}

/// No neighbour.
const NONE: usize = usize::MAX;

impl RouterPrefixes {
    /// Room for `capacity` blocks, at least 1, of `replicas` replicas.
    pub(super) fn new(replicas: usize, capacity: usize) -> Self {
        let words = replicas.div_ceil(64).max(1);
        Self {
            places: HashMap::new(),
            entries: Vec::new(),
            holders: Vec::new(),
            words,
            newest: NONE,
            oldest: NONE,
            capacity: capacity.max(1),
            found: vec![0; words],
        }
    }

    /// The replicas that hold the most of `content`, counted from its beginning; none if none holds any.
    pub(super) fn holders(&mut self, content: &[u64]) -> impl Iterator<Item = usize> {
        self.found.fill(0);
        for (block, hash) in content.iter().enumerate() {
            let Some(&place) = self.places.get(hash) else { break };
            let mine = &self.holders[place * self.words..][..self.words];
            // Who holds this block without those before it cannot use it.
            let both = |(&before, &now): (&u64, &u64)| if block == 0 { now } else { before & now };
            if self.found.iter().zip(mine).all(|pair| both(pair) == 0) {
                break;
            }
            for (before, now) in self.found.iter_mut().zip(mine) {
                *before = both((&*before, now));
            }
        }
        self.found.iter().zip(0..).flat_map(|(&word, at)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit)
        })
    }

    /// Remembers that `replica` has been given `content`. Its beginning is remembered longest.
    pub(super) fn note(&mut self, content: &[u64], replica: usize) {
        for &hash in content.iter().rev() {
            let place = match self.places.get(&hash) {
                Some(&place) => {
                    self.unlink(place);
                    place
                }
                None => self.vacant(hash),
            };
            self.link_newest(place);
            self.holders[place * self.words + replica / 64] |= 1 << (replica % 64);
        }
    }

    /// A place for a new block: that of the oldest, if there is no more room.
    fn vacant(&mut self, hash: u64) -> usize {
        let entry = PrefixEntry { hash, newer: NONE, older: NONE };
        let place = if self.entries.len() < self.capacity {
            self.entries.push(entry);
            self.holders.resize(self.entries.len() * self.words, 0);
            self.entries.len() - 1
        } else {
            let place = self.oldest;
            self.unlink(place);
            self.places.remove(&self.entries[place].hash);
            self.entries[place] = entry;
            self.holders[place * self.words..][..self.words].fill(0);
            place
        };
        self.places.insert(hash, place);
        place
    }

    fn unlink(&mut self, place: usize) {
        let PrefixEntry { newer, older, .. } = self.entries[place];
        match self.entries.get_mut(newer) {
            Some(entry) => entry.older = older,
            None => self.newest = older,
        }
        match self.entries.get_mut(older) {
            Some(entry) => entry.newer = newer,
            None => self.oldest = newer,
        }
    }

    fn link_newest(&mut self, place: usize) {
        let older = self.newest;
        self.entries[place].older = older;
        self.entries[place].newer = NONE;
        match self.entries.get_mut(older) {
            Some(entry) => entry.newer = place,
            None => self.oldest = place,
        }
        self.newest = place;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn holders(prefixes: &mut RouterPrefixes, content: &[u64]) -> Vec<usize> {
        prefixes.holders(content).collect()
    }

    #[test]
    fn the_deepest_holders_are_found() {
        let mut prefixes = RouterPrefixes::new(100, 100);
        prefixes.note(&[1, 2, 3], 0);
        prefixes.note(&[1, 2, 4, 5], 70);
        prefixes.note(&[1], 99);
        assert_eq!(holders(&mut prefixes, &[1, 9]), [0, 70, 99]);
        assert_eq!(holders(&mut prefixes, &[1, 2, 9]), [0, 70]);
        assert_eq!(holders(&mut prefixes, &[1, 2, 4, 9]), [70]);
        assert_eq!(holders(&mut prefixes, &[9]), [0; 0]);
        assert_eq!(holders(&mut prefixes, &[]), [0; 0]);
    }

    #[test]
    fn the_end_of_what_was_seen_first_is_forgotten_first() {
        let mut prefixes = RouterPrefixes::new(2, 4);
        prefixes.note(&[1, 2, 3], 0);
        prefixes.note(&[7, 8], 1);
        // 3 had to go for 7.
        assert_eq!(prefixes.places.len(), 4);
        assert!(!prefixes.places.contains_key(&3));
        prefixes.note(&[1, 2], 1);
        prefixes.note(&[9, 10], 0);
        assert_eq!(holders(&mut prefixes, &[7, 8]), [0; 0], "seen before 1 and 2 were seen again");
        assert_eq!(holders(&mut prefixes, &[1, 2]), [0, 1]);
    }

    /// A place that is used again knows nothing of who was there before.
    #[test]
    fn forgotten_blocks_have_no_holders() {
        let mut prefixes = RouterPrefixes::new(2, 2);
        prefixes.note(&[1, 2], 0);
        prefixes.note(&[3, 4], 1);
        assert_eq!(holders(&mut prefixes, &[3, 4]), [1]);
        assert_eq!(holders(&mut prefixes, &[1]), [0; 0]);
    }

    proptest! {
        /// It never grows past its room, and the list of ages has each entry once.
        #[test]
        fn it_stays_within_its_room(
            capacity in 1usize..12,
            notes in prop::collection::vec((prop::collection::vec(0u64..30, 0..8), 0usize..70), 0..40),
        ) {
            let mut prefixes = RouterPrefixes::new(70, capacity);
            for (content, replica) in notes {
                prefixes.note(&content, replica);
                prop_assert!(prefixes.places.len() <= capacity);
                let (mut place, mut aged) = (prefixes.newest, 0);
                while let Some(entry) = prefixes.entries.get(place) {
                    prop_assert_eq!(prefixes.places.get(&entry.hash), Some(&place));
                    (place, aged) = (entry.older, aged + 1);
                }
                prop_assert_eq!(aged, prefixes.places.len());
            }
        }
    }
}
