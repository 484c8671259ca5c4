//! Which requests were read already.

use std::collections::HashMap;

use fizeau_core::{RequestPurpose, Tape};

/// The numbers of requests that were read: a bit each, in pages, so that a number far off takes one page and no more.
#[derive(Debug, Default)]
pub(super) struct SeenRequests {
    pages: HashMap<(RequestPurpose, u64), Box<[u64; WORDS]>>,
}

/// How many words of bits a page has.
const WORDS: usize = 128;

/// How many bits a word has.
const BITS: u64 = 64;

impl SeenRequests {
    /// Takes in the request of `tape`. Says whether it is new; probes are numbered by themselves.
    pub(super) fn is_new(&mut self, tape: &Tape) -> bool {
        let word = tape.request.0 / BITS;
        let bit = 1 << (tape.request.0 % BITS);
        let page = self.pages.entry((tape.part, word / WORDS as u64));
        let page = page.or_insert_with(|| Box::new([0; WORDS]));
        let place = usize::try_from(word % WORDS as u64).unwrap_or_default();
        let Some(word) = page.get_mut(place) else { return true };
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use fizeau_core::{RequestId, Stamp};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_request_is_new_once(
            requests in prop::collection::vec((prop_oneof![0..300_u64, any::<u64>()], any::<bool>()), 0..200),
        ) {
            let (mut seen, mut expected) = (SeenRequests::default(), HashSet::new());
            for (number, is_probe) in requests {
                let part = if is_probe { RequestPurpose::Probe } else { RequestPurpose::Load };
                let tape = Tape { request: RequestId(number), part, ..Tape::sent_at(Stamp::EPOCH) };
                prop_assert_eq!(seen.is_new(&tape), expected.insert((number, part)));
            }
        }
    }
}
