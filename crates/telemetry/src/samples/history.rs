//! The pages of one source.

mod lines;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use fizeau_core::Stamp;

use super::track::{Point, Said, Track};
use crate::exposition::{Labels, MetricKind, Page, PageEnd, PageNotes, SeriesName};

pub use lines::HistoryLine;

/// When a page was asked for and when it had come: its values are of some instant between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fetch {
    /// When it was asked for.
    pub asked: Stamp,
    /// When all of it was there.
    pub answered: Stamp,
}

/// A page that did not come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchFailure {
    /// When it was asked for, and when that was given up.
    pub fetch: Fetch,
    /// Why, in one line. Failures that are alike share it.
    pub why: Arc<str>,
}

/// Every failure is counted; the first ones are kept: those of 18 hours, one a second.
const FAILURES_KEPT: usize = 1 << 16;
/// The series that pages may name: as many as one page has, all pages together, such as those of a label that is new on each of them.
const SERIES_KEPT: usize = 100_000;
/// The bytes that their names may have.
const NAMES_KEPT: usize = 64 << 20;

/// The pages of one source, as they came, on the run's own clock. A value that does not change takes no memory.
///
/// ```
/// use fizeau_core::Stamp;
/// use fizeau_telemetry::{Fetch, History, Labels, Page, SeriesName};
///
/// let mut history = History::new();
/// for (ms, tokens) in [(0, 10), (1_000, 25)] {
///     let at = Stamp::from_nanos(ms * 1_000_000);
///     let page = Page::read(format!("tokens_total {tokens}\n").as_bytes(), None)?;
///     history.record(Fetch { asked: at, answered: at }, &page);
/// }
/// let name = SeriesName::new("tokens_total", Labels::default());
/// let values: Vec<_> = history.points(&name).map(|point| point.value).collect();
/// assert_eq!(values, [Some(10.0), Some(25.0)]);
/// # Ok::<(), fizeau_telemetry::PageError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct History {
    fetches: VecDeque<Fetch>,
    first_page: u64,
    tracks: BTreeMap<SeriesName, Track>,
    /// Series of pages that are forgotten, as far as they are known still.
    forgotten: BTreeSet<SeriesName>,
    has_lost_names: bool,
    name_bytes: usize,
    kinds: BTreeMap<Arc<str>, MetricKind>,
    failures: Vec<FetchFailure>,
    failed: u64,
    cut_short: u64,
    last_is_cut: bool,
    not_numbers: u64,
    left_out: u64,
    first_notes: Option<PageNotes>,
}

impl History {
    /// Without a page yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes note of every series of `page`.
    pub fn record(&mut self, fetch: Fetch, page: &Page) {
        self.record_those(fetch, page, |_| true);
    }

    /// Takes note of the series of `page` whose metric `is_wanted`, which bounds what pages of thousands of series take. Pages come
    /// in order; one that was asked for before the one before it is left out.
    pub fn record_those(&mut self, fetch: Fetch, page: &Page, is_wanted: impl Fn(&str) -> bool) {
        if self.fetches.back().is_some_and(|last| last.asked > fetch.asked) {
            return;
        }
        let number = self.first_page + self.fetches.len() as u64;
        self.fetches.push_back(fetch);
        // Both are in order of names, and most are on both.
        let mut known = self.tracks.iter_mut().peekable();
        let mut new = Vec::new();
        let mut last: Option<(&str, bool)> = None;
        for (name, sample) in &page.samples {
            let is_as_before = last.filter(|(metric, _)| *metric == &*name.metric);
            let is_one = is_as_before.map_or_else(|| is_wanted(&name.metric), |(_, is)| is);
            last = Some((&name.metric, is_one));
            if !is_one {
                continue;
            }
            self.not_numbers += u64::from(!sample.value.is_finite());
            while known.next_if(|(known, _)| *known < name).is_some() {}
            match known.next_if(|(known, _)| *known == name) {
                Some((_, track)) => track.see(number, sample.value),
                None => new.push((name, sample.value)),
            }
        }
        for (name, value) in new {
            match self.new_track(name, number) {
                Some(track) => track.see(number, value),
                None => self.left_out += 1,
            }
        }
        let is_cut = page.notes.end == PageEnd::CutShort;
        let missing = if is_cut { Said::UNCLEAR } else { Said::NOTHING };
        for track in self.tracks.values_mut().filter(|track| track.seen_on != number) {
            track.note(number, missing);
        }
        for (metric, kind) in page.kinds.iter().filter(|(metric, _)| is_wanted(metric)) {
            self.kinds.entry(metric.clone()).or_insert(*kind);
        }
        self.cut_short += u64::from(is_cut);
        self.last_is_cut = is_cut;
        self.first_notes.get_or_insert_with(|| page.notes.clone());
    }

    /// A series that was on no page before, and so it says of the pages since the first: there was none, unless the last page stopped
    /// half way or those that had it are forgotten. None where there is no room for another.
    fn new_track(&mut self, name: &SeriesName, number: u64) -> Option<&mut Track> {
        let was_there = match self.forgotten.remove(name) {
            true => true,
            false if self.has_room(name.length()) => {
                self.name_bytes += name.length();
                self.has_lost_names
            }
            false => return None,
        };
        let track = self.tracks.entry(name.clone()).or_default();
        if number > self.first_page {
            let is_unclear = was_there || self.last_is_cut;
            track.note(self.first_page, if is_unclear { Said::UNCLEAR } else { Said::NOTHING });
        }
        Some(track)
    }

    /// Whether there is room for another name of that length, which names of forgotten pages make way for.
    fn has_room(&mut self, length: usize) -> bool {
        let is_full = |names: usize, bytes: usize| {
            names >= SERIES_KEPT || bytes.saturating_add(length) > NAMES_KEPT
        };
        if is_full(self.tracks.len() + self.forgotten.len(), self.name_bytes)
            && !self.forgotten.is_empty()
        {
            self.has_lost_names = true;
            self.forgotten.clear();
            self.name_bytes = self.tracks.keys().map(SeriesName::length).sum();
        }
        !is_full(self.tracks.len(), self.name_bytes)
    }

    /// Takes note of a page that did not come.
    pub fn fail(&mut self, fetch: Fetch, why: &str) {
        self.failed += 1;
        if self.failures.len() < FAILURES_KEPT {
            let before = self.failures.last().filter(|before| *before.why == *why);
            let why = before.map_or_else(|| why.into(), |before| Arc::clone(&before.why));
            self.failures.push(FetchFailure { fetch, why });
        }
    }

    /// When the pages came, in order.
    pub fn fetches(&self) -> impl ExactSizeIterator<Item = Fetch> + DoubleEndedIterator {
        self.fetches.iter().copied()
    }

    /// The series that any page has or had.
    pub fn series(&self) -> impl Iterator<Item = &SeriesName> {
        self.tracks.keys()
    }

    /// The series of `metric`, by its name as it stands on the page.
    pub fn series_of<'a>(&'a self, metric: &str) -> impl Iterator<Item = &'a SeriesName> + use<'a> {
        let from = SeriesName::new(metric, Labels::default());
        let metric = from.metric.clone();
        self.tracks
            .range(from..)
            .map(|(name, _)| name)
            .take_while(move |name| name.metric == metric)
    }

    /// The names of metrics, each once, in order.
    #[must_use]
    pub fn metrics(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.tracks.keys().map(|name| &*name.metric).collect();
        names.dedup();
        names
    }

    /// What `metric` is declared to be, by its name as it stands on the page or in its declaration.
    #[must_use]
    pub fn kind(&self, metric: &str) -> MetricKind {
        let declared = |name: &str| self.kinds.get(name).copied();
        declared(metric)
            .or_else(|| declared(metric.strip_suffix("_total")?))
            .unwrap_or(MetricKind::Unknown)
    }

    /// One series, a point a page.
    pub fn points<'a>(&'a self, name: &SeriesName) -> impl Iterator<Item = Point> + 'a {
        let track = self.tracks.get(name);
        track.into_iter().flat_map(|track| track.points(self.first_page, self.fetches.iter()))
    }

    /// Pages that did not come: the first 65,536.
    #[must_use]
    pub fn failures(&self) -> &[FetchFailure] {
        &self.failures
    }

    /// How many pages did not come.
    #[must_use]
    pub const fn failed(&self) -> u64 {
        self.failed
    }

    /// How many pages stopped half way.
    #[must_use]
    pub const fn cut_short(&self) -> u64 {
        self.cut_short
    }

    /// How many values were no finite numbers, and are absent for that.
    #[must_use]
    pub const fn not_numbers(&self) -> u64 {
        self.not_numbers
    }

    /// How many values were left out, because pages name more series than are kept: 100,000, or 64 MiB of names.
    #[must_use]
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }

    /// What was odd about the first page: what is odd is so on all of them.
    #[must_use]
    pub const fn first_notes(&self) -> Option<&PageNotes> {
        self.first_notes.as_ref()
    }

    /// Forgets the pages before `instant`, for whoever watches without end. The last page before it stays, or nothing could be
    /// said of a window that begins there.
    pub fn forget_before(&mut self, instant: Stamp) {
        while self.fetches.get(1).is_some_and(|second| second.answered <= instant) {
            self.fetches.pop_front();
            self.first_page += 1;
        }
        self.forget_tracks();
        self.failures.retain(|failure| failure.fetch.answered >= instant);
    }

    /// Forgets all pages that were requested before `instant`, even the last: what was counted until then shall not count.
    pub fn forget_requested_before(&mut self, instant: Stamp) {
        while self.fetches.front().is_some_and(|first| first.asked < instant) {
            self.fetches.pop_front();
            self.first_page += 1;
        }
        self.forget_tracks();
        self.failures.retain(|failure| failure.fetch.asked >= instant);
    }

    fn forget_tracks(&mut self) {
        let (first, forgotten) = (self.first_page, &mut self.forgotten);
        self.tracks.retain(|name, track| {
            track.forget_before(first);
            let is_gone = track.is_gone(first);
            if is_gone {
                forgotten.insert(name.clone());
            }
            !is_gone
        });
    }
}
