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
    kind: StreamKind,
    /// The last text that was not empty, while it is needed.
    last: String,
    grown: u32,
    /// All texts in a row: what the reply says if events hold only what is new. None if no text is kept.
    joined: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamKind {
    New,
    Repeating,
    Unsure,
}

/// What one event says about how much there is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventCounts {
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
        Self { kind: StreamKind::New, last: String::new(), grown: 0, joined }
    }

    /// For a dialect whose events may repeat.
    pub(crate) fn perhaps(joined: Option<String>) -> Self {
        Self { kind: StreamKind::Unsure, ..Self::none(joined) }
    }

    /// Takes the text of one event, in its parts.
    pub(crate) fn take<'t>(&mut self, texts: impl Iterator<Item = &'t str>, counts: EventCounts) {
        if self.kind == StreamKind::New {
            if let Some(joined) = &mut self.joined {
                joined.extend(texts);
            }
            return;
        }
        if self.kind == StreamKind::Repeating && self.joined.is_none() {
            return;
        }
        let text: String = texts.collect();
        self.judge(&text, counts);
        if let Some(joined) = &mut self.joined {
            match self.kind {
                StreamKind::Repeating => *joined = String::new(),
                StreamKind::New | StreamKind::Unsure => joined.push_str(&text),
            }
        }
        let needed = match self.kind {
            StreamKind::New => false,
            StreamKind::Repeating => self.joined.is_some(),
            StreamKind::Unsure => true,
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
            StreamKind::New => false,
            StreamKind::Repeating => true,
            StreamKind::Unsure => self.grown > 0,
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

    fn judge(&mut self, text: &str, counts: EventCounts) {
        if self.kind != StreamKind::Unsure {
            return;
        }
        // After the first event the two counts differ, so that the number of ids can match only one.
        if let (1.., Some(running)) = (counts.before, counts.running)
            && counts.ids > 0
        {
            if u64::from(counts.ids) == running {
                self.kind = StreamKind::Repeating;
                return;
            }
            if running.checked_sub(counts.before) == Some(counts.ids.into()) {
                self.kind = StreamKind::New;
                return;
            }
        }
        if text.is_empty() || self.last.is_empty() || text == self.last {
            return;
        }
        if text.starts_with(self.last.trim_end_matches(UNFINISHED)) {
            self.grown += 1;
            if self.grown >= SURE {
                self.kind = StreamKind::Repeating;
            }
        } else {
            self.kind = StreamKind::New;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CumulativeStream, EventCounts};

    #[test]
    fn memory_stays_that_of_the_text() {
        let counts = EventCounts { ids: 0, before: 0, running: None };
        for kept in [None, Some(String::new())] {
            let mut growth = CumulativeStream::perhaps(kept.clone());
            let mut text = String::new();
            for _ in 0..400 {
                text.push_str("word ");
                growth.take(std::iter::once(&*text), counts);
                assert!(growth.kept() <= text.len() + 500);
            }
            assert_eq!(growth.kept(), kept.map_or(0, |_| text.len()));
        }
    }
}
