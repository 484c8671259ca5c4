//! One series over pages, as the changes of its value.

use fizeau_core::{Nanos, Stamp};

use super::history::Fetch;

/// What a series was on one page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Between which instants the page was made.
    pub fetch: Fetch,
    /// The value; none where the page had no such series, or a value that is no finite number.
    pub value: Option<f64>,
}

impl Point {
    /// The middle of the fetch: the best guess of when the value was taken.
    #[must_use]
    pub fn at(&self) -> Stamp {
        self.fetch.middle()
    }
}

/// The changes of one series: a value that stays takes no memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Track {
    changes: Vec<(u64, Option<f64>)>,
    /// The last page that had it.
    pub(super) seen_on: u64,
}

impl Track {
    /// Notes what page number `page` has.
    pub(super) fn note(&mut self, page: u64, value: Option<f64>) {
        let last = self.changes.last().and_then(|(_, value)| *value);
        if self.changes.is_empty() || last.map(f64::to_bits) != value.map(f64::to_bits) {
            self.changes.push((page, value));
        }
    }

    /// The pages on which it changed, with the new value.
    pub(super) fn changes(&self) -> &[(u64, Option<f64>)] {
        &self.changes
    }

    /// Its value on the pages from `first` on, a page each.
    pub(super) fn points<'a>(
        &'a self,
        first: u64,
        fetches: impl Iterator<Item = &'a Fetch> + 'a,
    ) -> impl Iterator<Item = Point> + 'a {
        let mut changes = self.changes.iter().peekable();
        let mut value = None;
        (first..).zip(fetches).map(move |(page, fetch)| {
            while let Some((_, changed)) = changes.next_if(|(at, _)| *at <= page) {
                value = *changed;
            }
            Point { fetch: *fetch, value }
        })
    }

    /// Forgets what was before page `first`, but for the value that it had then.
    pub(super) fn forget_before(&mut self, first: u64) {
        let stale = self.changes.partition_point(|(page, _)| *page <= first).saturating_sub(1);
        self.changes.drain(..stale);
    }

    /// Whether there is nothing of it from page `first` on.
    pub(super) fn is_gone(&self, first: u64) -> bool {
        matches!(self.changes.as_slice(), [(page, None)] if *page <= first)
    }
}

impl Fetch {
    /// The middle of it.
    #[must_use]
    pub fn middle(&self) -> Stamp {
        self.asked + self.length() / 2
    }

    /// How long it took.
    #[must_use]
    pub fn length(&self) -> Nanos {
        self.answered.saturating_since(self.asked)
    }
}
