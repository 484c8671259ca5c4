//! A set of small numbers with neighbours at hand.

/// A set of numbers below a bound, as a tree of bits, 64 to a node: adding, removing and both neighbours take
/// one step for each factor of 64, three for a quarter of a million.
#[derive(Debug, Clone)]
pub(crate) struct Ranks {
    /// Lowest first; a bit of a higher level says that the word below it has any.
    levels: Vec<Vec<u64>>,
}

impl Ranks {
    /// An empty set of numbers less than `bound`.
    pub(crate) fn below(bound: usize) -> Self {
        let mut levels = Vec::new();
        let mut words = bound;
        loop {
            words = words.div_ceil(64).max(1);
            levels.push(vec![0; words]);
            if words == 1 {
                return Self { levels };
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        self.levels.iter_mut().for_each(|words| words.fill(0));
    }

    /// Adds `rank`, which is below the bound.
    pub(crate) fn insert(&mut self, mut rank: usize) {
        for words in &mut self.levels {
            words[rank / 64] |= 1 << (rank % 64);
            rank /= 64;
        }
    }

    /// Takes `rank` out, which is below the bound.
    pub(crate) fn remove(&mut self, mut rank: usize) {
        for words in &mut self.levels {
            words[rank / 64] &= !(1 << (rank % 64));
            if words[rank / 64] != 0 {
                return;
            }
            rank /= 64;
        }
    }

    /// The greatest number of the set that is at most `rank`, which is below the bound.
    pub(crate) fn at_most(&self, rank: usize) -> Option<usize> {
        let bottom = self.levels[0][rank / 64] & (u64::MAX >> (63 - rank % 64));
        if bottom != 0 {
            return Some(rank / 64 * 64 + highest(bottom));
        }
        let mut place = rank / 64;
        for (level, words) in self.levels.iter().enumerate().skip(1) {
            let lower = words[place / 64] & !(u64::MAX << (place % 64));
            if lower != 0 {
                let start = place / 64 * 64 + highest(lower);
                let down = self.levels[..level].iter().rev();
                return Some(down.fold(start, |place, words| place * 64 + highest(words[place])));
            }
            place /= 64;
        }
        None
    }

    /// The least number of the set that is greater than `rank`, which is below the bound.
    pub(crate) fn after(&self, rank: usize) -> Option<usize> {
        let mut place = rank;
        for (level, words) in self.levels.iter().enumerate() {
            // Twice, because a shift by 64 is none.
            let higher = words[place / 64] & (u64::MAX << (place % 64) << 1);
            if higher != 0 {
                let start = place / 64 * 64 + lowest(higher);
                let down = self.levels[..level].iter().rev();
                return Some(down.fold(start, |place, words| place * 64 + lowest(words[place])));
            }
            place /= 64;
        }
        None
    }
}

/// The place of the highest bit of a word that has one.
const fn highest(word: u64) -> usize {
    63 - word.leading_zeros() as usize
}

/// The place of the lowest bit of a word that has one.
const fn lowest(word: u64) -> usize {
    word.trailing_zeros() as usize
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::Ranks;

    proptest! {
        /// Over one, two and three levels; clustered and scattered.
        #[test]
        fn agrees_with_a_tree(
            bound in prop::sample::select(vec![1_usize, 63, 64, 65, 4_096, 4_097, 9_000]),
            steps in prop::collection::vec((any::<u16>(), 0_u8..3), 0..200),
        ) {
            let mut ranks = Ranks::below(bound);
            let mut tree = BTreeSet::new();
            for (rank, action) in steps {
                let rank = usize::from(rank) % bound;
                if action == 0 {
                    ranks.remove(rank);
                    tree.remove(&rank);
                } else {
                    ranks.insert(rank);
                    tree.insert(rank);
                }
                for rank in [rank, rank / 2, 0, bound - 1] {
                    prop_assert_eq!(ranks.at_most(rank), tree.range(..=rank).next_back().copied());
                    prop_assert_eq!(ranks.after(rank), tree.range(rank + 1..).next().copied());
                }
            }
            ranks.clear();
            prop_assert_eq!(ranks.at_most(bound - 1), None);
        }
    }
}
