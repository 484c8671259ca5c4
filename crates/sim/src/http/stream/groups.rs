//! How many tokens left an engine together.

use std::collections::VecDeque;

/// The sizes of emissions, first in, first out. Equal ones in a row take no memory of their own: nearly all emissions are of one
/// token, and a reader may be slow.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// A size, and how often it comes.
    runs: VecDeque<(u64, u64)>,
}

impl Groups {
    pub(super) const fn new() -> Self {
        Self { runs: VecDeque::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    pub(super) fn push(&mut self, size: u64) {
        match self.runs.back_mut() {
            Some((last, times)) if *last == size => *times += 1,
            _ => self.runs.push_back((size, 1)),
        }
    }

    pub(super) fn pop(&mut self) -> Option<u64> {
        let (size, times) = self.runs.front_mut()?;
        let size = *size;
        *times -= 1;
        if *times == 0 {
            self.runs.pop_front();
        }
        Some(size)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u64> {
        self.runs.iter().flat_map(|(size, times)| (0..*times).map(|_| *size))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Pops are told by zeros.
        #[test]
        fn it_is_a_queue(moves in prop::collection::vec(0u64..3, 0..100)) {
            let (mut groups, mut queue) = (Groups::new(), VecDeque::new());
            for size in moves {
                if size == 0 {
                    prop_assert_eq!(groups.pop(), queue.pop_front());
                } else {
                    groups.push(size);
                    queue.push_back(size);
                }
                prop_assert_eq!(groups.iter().collect::<Vec<_>>(), queue.iter().copied().collect::<Vec<_>>());
                prop_assert_eq!(groups.is_empty(), queue.is_empty());
            }
        }
    }
}
