//! One series over pages, as the changes of its value.

use fizeau_core::{Nanos, Stamp};

use super::history::Fetch;
use super::packed;

/// What a series was on one page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeriesPoint {
    /// Between which instants the page was made.
    pub fetch: Fetch,
    /// The value; none where the page had no such series, or a value that is no finite number.
    pub value: Option<f64>,
    /// Whether there may have been one all the same: the page stopped half way, the value is no finite number, or an earlier page
    /// that is forgotten had one.
    pub is_unclear: bool,
}

impl SeriesPoint {
    /// The middle of the fetch: the best guess of when the value was taken.
    #[must_use]
    pub fn at(&self) -> Stamp {
        self.fetch.middle()
    }
}

/// What a page says of one series.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Said(f64);

impl Said {
    /// No such series.
    pub(super) const NOTHING: Self = Self(f64::INFINITY);
    /// Something that cannot be known.
    pub(super) const UNCLEAR: Self = Self(f64::NAN);

    /// That value, which may be no number.
    pub(super) const fn number(value: f64) -> Self {
        if value.is_finite() { Self(value) } else { Self::UNCLEAR }
    }

    pub(crate) fn value(self) -> Option<f64> {
        self.0.is_finite().then_some(self.0)
    }

    /// As [`SeriesPoint`] has it.
    pub(crate) const fn is_unclear(self) -> bool {
        self.0.is_nan()
    }

    const fn is_as(self, other: Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

/// The changes of one series: a value that stays takes no memory, and a step of a counter two or three bytes, since a fleet has tens of
/// thousands of series and keeps half a minute of each.
#[derive(Debug, Clone)]
pub(super) struct Track {
    /// The oldest change that is kept.
    first: (u64, Said),
    /// Those after it, each as [`packed`] writes it.
    packed: Vec<u8>,
    last: (u64, Said),
}

impl Track {
    /// A series of which page number `page` is the first that says anything.
    pub(super) const fn new(page: u64, said: Said) -> Self {
        Self { first: (page, said), packed: Vec::new(), last: (page, said) }
    }

    /// Notes what page number `page` has.
    pub(super) fn note(&mut self, page: u64, said: Said) {
        if !self.last.1.is_as(said) {
            packed::push(&mut self.packed, page.saturating_sub(self.last.0), self.last.1.0, said.0);
            self.last = (page, said);
        }
    }

    /// The pages on which what is said of it changed, and to what.
    pub(super) fn steps(&self) -> impl Iterator<Item = (u64, Said)> {
        let (mut at, mut rest) = (self.first, self.packed.as_slice());
        std::iter::once(at).chain(std::iter::from_fn(move || {
            let (pages, value, behind) = packed::first(rest, at.1.0)?;
            (at, rest) = ((at.0 + pages, Said(value)), behind);
            Some(at)
        }))
    }

    /// The pages on which its value changed, with the new one.
    pub(super) fn changes(&self) -> impl Iterator<Item = (u64, Option<f64>)> {
        let mut before = None;
        self.steps().filter_map(move |(page, said)| {
            let is_new = said.value().is_some() || before.is_some();
            before = said.value();
            is_new.then_some((page, said.value()))
        })
    }

    /// Its value on the pages from `first` on, a page each.
    pub(super) fn points<'a>(
        &'a self,
        first: u64,
        fetches: impl Iterator<Item = &'a Fetch> + 'a,
    ) -> impl Iterator<Item = SeriesPoint> + 'a {
        let mut steps = self.steps().peekable();
        let mut said = Said::NOTHING;
        (first..).zip(fetches).map(move |(page, fetch)| {
            while let Some((_, changed)) = steps.next_if(|(at, _)| *at <= page) {
                said = changed;
            }
            SeriesPoint { fetch: *fetch, value: said.value(), is_unclear: said.is_unclear() }
        })
    }

    /// Forgets what was before page `first`, but for the value that it had then. That it had one is not forgotten: if it comes back, it
    /// does not count from zero.
    pub(super) fn forget_before(&mut self, first: u64) {
        if self.last.0 <= first {
            // Most series stay as they are for long.
            self.packed.clear();
            self.keep_from(self.last);
            return;
        }
        let (mut at, mut stale) = (self.first, 0);
        while let Some((pages, value, behind)) =
            packed::first(self.packed.get(stale..).unwrap_or_default(), at.1.0)
            && at.0 + pages <= first
        {
            at = (at.0 + pages, Said(value));
            stale = self.packed.len() - behind.len();
        }
        self.packed.drain(..stale);
        self.keep_from(at);
    }

    /// `at` is the oldest change from now on.
    fn keep_from(&mut self, at: (u64, Said)) {
        let is_later = at.0 > self.first.0;
        let is_last = at.0 == self.last.0;
        self.first = at;
        if is_later && at.1.value().is_none() {
            self.first.1 = Said::UNCLEAR;
            if is_last {
                self.last.1 = Said::UNCLEAR;
            }
        }
    }

    /// Whether there is nothing of it from page `first` on.
    pub(super) fn is_gone(&self, first: u64) -> bool {
        self.packed.is_empty() && self.first.0 <= first && self.first.1.value().is_none()
    }
}

impl Fetch {
    /// The middle of it.
    #[must_use]
    pub fn middle(&self) -> Stamp {
        self.requested + self.length() / 2
    }

    /// How long it took.
    #[must_use]
    pub fn length(&self) -> Nanos {
        self.answered.saturating_since(self.requested)
    }
}
