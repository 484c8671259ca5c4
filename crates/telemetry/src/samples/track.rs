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
    /// Whether there may have been one all the same: the page stopped half way, the value is no finite number, or an earlier page
    /// that is forgotten had one.
    pub is_unclear: bool,
}

impl Point {
    /// The middle of the fetch: the best guess of when the value was taken.
    #[must_use]
    pub fn at(&self) -> Stamp {
        self.fetch.middle()
    }
}

/// What a page says of one series: eight bytes, since a fleet has a hundred thousand series and keeps a minute of each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said(f64);

impl Said {
    /// No such series.
    pub(super) const NOTHING: Self = Self(f64::INFINITY);
    /// Something that cannot be known.
    pub(super) const UNCLEAR: Self = Self(f64::NAN);

    /// That value, which may be no number.
    pub(super) const fn number(value: f64) -> Self {
        if value.is_finite() { Self(value) } else { Self::UNCLEAR }
    }

    pub(super) fn value(self) -> Option<f64> {
        self.0.is_finite().then_some(self.0)
    }

    /// As [`Point`] has it.
    pub(super) const fn is_unclear(self) -> bool {
        self.0.is_nan()
    }

    const fn is_as(self, other: Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

/// The changes of one series: a value that stays takes no memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Track {
    changes: Vec<(u64, Said)>,
    /// The last page that had it.
    pub(super) seen_on: u64,
}

impl Track {
    /// Notes that page number `page` has that value, which may be no number.
    pub(super) fn see(&mut self, page: u64, value: f64) {
        self.note(page, Said::number(value));
        self.seen_on = page;
    }

    /// Notes what page number `page` has.
    pub(super) fn note(&mut self, page: u64, said: Said) {
        if self.changes.last().is_none_or(|(_, last)| !last.is_as(said)) {
            self.changes.push((page, said));
        }
    }

    /// The pages on which its value changed, with the new one.
    pub(super) fn changes(&self) -> impl Iterator<Item = (u64, Option<f64>)> {
        let mut before = None;
        self.changes.iter().filter_map(move |(page, said)| {
            let is_new = said.value().is_some() || before.is_some();
            before = said.value();
            is_new.then_some((*page, said.value()))
        })
    }

    /// Its value on the pages from `first` on, a page each.
    pub(super) fn points<'a>(
        &'a self,
        first: u64,
        fetches: impl Iterator<Item = &'a Fetch> + 'a,
    ) -> impl Iterator<Item = Point> + 'a {
        let mut changes = self.changes.iter().peekable();
        let mut said = Said::NOTHING;
        (first..).zip(fetches).map(move |(page, fetch)| {
            while let Some((_, changed)) = changes.next_if(|(at, _)| *at <= page) {
                said = *changed;
            }
            Point { fetch: *fetch, value: said.value(), is_unclear: said.is_unclear() }
        })
    }

    /// Forgets what was before page `first`, but for the value that it had then. That it had one is not forgotten: if it comes back, it
    /// does not count from zero.
    pub(super) fn forget_before(&mut self, first: u64) {
        let stale = self.changes.partition_point(|(page, _)| *page <= first).saturating_sub(1);
        if self.changes.drain(..stale).count() > 0
            && let Some((_, said)) = self.changes.first_mut()
            && said.value().is_none()
        {
            *said = Said::UNCLEAR;
        }
    }

    /// Whether there is nothing of it from page `first` on.
    pub(super) fn is_gone(&self, first: u64) -> bool {
        matches!(self.changes.as_slice(), [(page, said)] if *page <= first && said.value().is_none())
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
