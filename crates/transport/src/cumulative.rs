//! Streams whose events repeat all of the text so far, told from those whose events hold only what is new.
//!
//! SGLang's native route and Triton's do either, by a setting of the server that a client cannot see.

/// The mark that a decoder of tokens puts where bytes do not make a character yet. A later event has the character
/// in its place.
const UNFINISHED: char = '\u{fffd}';

/// How often in a row the text must have grown from the one before, to be sure that it always does. Chance
/// explains one or two: a reply may well begin with " " and then " the".
const SURE: u32 = 8;

/// Watches the texts of one reply. Until it is sure it keeps both readings, so that no early guess is ever
/// regretted; once it is, it keeps one.
#[derive(Debug)]
pub(crate) struct CumulativeStream {
    kind: Kind,
    /// The last text that was not empty, while it is needed.
    last: String,
    grown: u32,
    /// All texts in a row: what the reply says if events hold only what is new. None if no text is kept.
    joined: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    New,
    Repeating,
    Unsure,
}

/// What one event says about how much there is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counts {
    /// Token ids that it lists.
    pub(crate) ids: u32,
    /// The running count before it.
    pub(crate) before: u64,
    /// The running count after it, if it tells.
    pub(crate) running: Option<u64>,
}

impl CumulativeStream {
    /// For a dialect whose events hold only what is new.
    pub(crate) fn none(joined: Option<String>) -> Self {
        Self { kind: Kind::New, last: String::new(), grown: 0, joined }
    }

    /// For a dialect whose events may repeat.
    pub(crate) fn perhaps(joined: Option<String>) -> Self {
        Self { kind: Kind::Unsure, ..Self::none(joined) }
    }

    /// Takes the text of one event, in its parts.
    pub(crate) fn take<'t>(&mut self, texts: impl Iterator<Item = &'t str>, counts: Counts) {
        if self.kind == Kind::New {
            if let Some(joined) = &mut self.joined {
                joined.extend(texts);
            }
            return;
        }
        if self.kind == Kind::Repeating && self.joined.is_none() {
            return;
        }
        let text: String = texts.collect();
        self.judge(&text, counts);
        if let Some(joined) = &mut self.joined {
            match self.kind {
                Kind::Repeating => *joined = String::new(),
                Kind::New | Kind::Unsure => joined.push_str(&text),
            }
        }
        let needed = match self.kind {
            Kind::New => false,
            Kind::Repeating => self.joined.is_some(),
            Kind::Unsure => true,
        };
        if !needed {
            self.last = String::new();
        } else if !text.is_empty() {
            self.last = text;
        }
    }

    /// Whether the events repeated what came before them.
    pub(crate) fn is_repeating(&self) -> bool {
        match self.kind {
            Kind::New => false,
            Kind::Repeating => true,
            Kind::Unsure => self.grown > 0,
        }
    }

    /// The size of the kept text, in bytes.
    pub(crate) fn kept(&self) -> usize {
        self.joined.as_ref().map_or(0, String::len) + self.last.len()
    }

    /// The whole text, if it was to be kept.
    pub(crate) fn into_text(self) -> Option<String> {
        let repeating = self.is_repeating();
        self.joined.map(|joined| if repeating { self.last } else { joined })
    }

    fn judge(&mut self, text: &str, counts: Counts) {
        if self.kind != Kind::Unsure {
            return;
        }
        // After the first event the two counts differ, so that the number of ids can match only one.
        if let (1.., Some(running)) = (counts.before, counts.running)
            && counts.ids > 0
        {
            if u64::from(counts.ids) == running {
                self.kind = Kind::Repeating;
                return;
            }
            if running.checked_sub(counts.before) == Some(counts.ids.into()) {
                self.kind = Kind::New;
                return;
            }
        }
        if text.is_empty() || self.last.is_empty() || text == self.last {
            return;
        }
        if text.starts_with(self.last.trim_end_matches(UNFINISHED)) {
            self.grown += 1;
            if self.grown >= SURE {
                self.kind = Kind::Repeating;
            }
        } else {
            self.kind = Kind::New;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Counts, CumulativeStream};

    const NO_COUNTS: Counts = Counts { ids: 0, before: 0, running: None };

    fn read(texts: &[String]) -> (bool, String) {
        let mut growth = CumulativeStream::perhaps(Some(String::new()));
        for text in texts {
            growth.take(std::iter::once(&**text), NO_COUNTS);
        }
        (growth.is_repeating(), growth.into_text().unwrap())
    }

    /// The texts of a server that repeats.
    fn repeated(pieces: &[String]) -> Vec<String> {
        (1..=pieces.len()).map(|n| pieces[..n].concat()).collect()
    }

    proptest! {
        #[test]
        fn either_kind_gives_the_same_text(pieces in prop::collection::vec("[a-cé]{1,4}", 3..40)) {
            let (repeating, text) = read(&repeated(&pieces));
            prop_assert!(repeating);
            prop_assert_eq!(&text, &pieces.concat());

            // Told apart as soon as one text does not begin with the one before.
            prop_assume!(pieces.windows(2).any(|two| !two[1].starts_with(&*two[0])));
            // Nor do the first nine grow by chance.
            prop_assume!(!pieces.iter().take(9).is_sorted_by(|a, b| b.starts_with(&**a)));
            let (repeating, text) = read(&pieces);
            prop_assert!(!repeating);
            prop_assert_eq!(&text, &pieces.concat());
        }
    }

    #[track_caller]
    fn check(texts: &[&str], repeating: bool, text: &str) {
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        assert_eq!(read(&texts), (repeating, text.to_owned()));
    }

    #[test]
    fn odd_texts() {
        check(&[], false, "");
        check(&["a"], false, "a");
        // A server that always says the same says something new each time.
        check(&["a", "a", "a"], false, "aaa");
        check(&[" ", " the", " end"], false, "  the end");
        check(&["", "a", "", "ab", "ab"], true, "ab");
        check(&["a\u{fffd}", "aé", "aéb"], true, "aéb");
        check(&["\u{fffd}", "\u{fffd}"], false, "\u{fffd}\u{fffd}");
    }

    #[test]
    fn counts_settle_it_at_the_second_event() {
        let second = |ids| {
            let mut growth = CumulativeStream::perhaps(None);
            let counts = |ids, before, running| Counts { ids, before, running: Some(running) };
            growth.take(std::iter::empty(), counts(2, 0, 2));
            growth.take(std::iter::empty(), counts(ids, 2, 3));
            growth.is_repeating()
        };
        assert_eq!((second(3), second(1)), (true, false));
    }

    #[test]
    fn memory_stays_that_of_the_text() {
        let pieces = vec!["word ".to_owned(); 400];
        let mut growth = CumulativeStream::perhaps(Some(String::new()));
        for text in repeated(&pieces) {
            growth.take(std::iter::once(&*text), NO_COUNTS);
            assert!(growth.kept() <= text.len() + 500);
        }
        let mut growth = CumulativeStream::perhaps(None);
        for text in repeated(&pieces) {
            growth.take(std::iter::once(&*text), NO_COUNTS);
        }
        assert_eq!(growth.kept(), 0);
    }
}
