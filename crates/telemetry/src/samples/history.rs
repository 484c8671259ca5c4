//! The pages of one source.

mod lines;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use fizeau_core::Stamp;

use super::series::SampledSeries;
use super::track::{Said, SeriesPoint, Track};
use crate::exposition::{MetricKind, Page, PageEnd, PageNotes, SeriesName};

pub use lines::HistoryLine;

/// When a page was asked for and when it had come: its values are of some instant between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fetch {
    /// When it was asked for.
    pub requested: Stamp,
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
///     history.record(Fetch { requested: at, answered: at }, &page);
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
    /// In order; the page's own, where a page has just these.
    names: Arc<Vec<SeriesName>>,
    /// Of each name.
    tracks: Vec<Track>,
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
    /// The latest time that the last page with times told, in milliseconds of Unix time.
    told_at: Option<i64>,
    clock_went_back: u64,
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
        if self.fetches.back().is_some_and(|last| last.requested > fetch.requested) {
            return;
        }
        let number = self.first_page + self.fetches.len() as u64;
        self.fetches.push_back(fetch);
        let is_cut = page.notes.end == PageEnd::CutShort;
        let missing = if is_cut { Said::UNCLEAR } else { Said::NOTHING };
        let mut last: Option<(&Arc<str>, bool)> = None;
        let mut told_at = None;
        let mut new = Vec::new();
        // Whether there is a track of another series than those of the page.
        let mut is_page = true;
        let mut known = self.names.iter().zip(&mut self.tracks).peekable();
        for (name, sample) in page.samples.iter() {
            if !name_is_wanted(name, &mut last, &is_wanted) {
                is_page = false;
                continue;
            }
            self.not_numbers += u64::from(!sample.value.is_finite());
            told_at = told_at.max(sample.told_at_unix_ms);
            // Both are in order of names, and most are on both.
            while let Some((_, track)) = known.next_if(|(known, _)| *known < name) {
                track.note(number, missing);
                is_page = false;
            }
            match known.next_if(|(known, _)| *known == name) {
                Some((_, track)) => track.note(number, Said::number(sample.value)),
                None => new.push((name, Said::number(sample.value))),
            }
        }
        for (_, track) in known {
            track.note(number, missing);
            is_page = false;
        }
        if !new.is_empty() {
            is_page &= self.add(new, number);
        }
        if is_page {
            self.names = Arc::clone(page.samples.names());
        }
        for (metric, kind) in page.kinds.iter().filter(|(metric, _)| is_wanted(metric)) {
            self.kinds.entry(metric.clone()).or_insert(*kind);
        }
        self.clock_went_back += u64::from(told_at.is_some() && told_at < self.told_at);
        self.told_at = told_at.or(self.told_at);
        self.cut_short += u64::from(is_cut);
        self.last_is_cut = is_cut;
        self.first_notes.get_or_insert_with(|| page.notes.clone());
    }

    /// Takes series that were on no page before, in order of names, with what page `number` says of them. Whether there was room for all.
    fn add(&mut self, new: Vec<(&SeriesName, Said)>, number: u64) -> bool {
        let count = new.len();
        let mut added: Vec<(SeriesName, Track)> = Vec::with_capacity(count);
        for (name, said) in new {
            match self.new_track(name, number, said, &added) {
                Some(track) => added.push((name.clone(), track)),
                None => self.left_out += 1,
            }
        }
        let is_all = added.len() == count;
        let tracks = std::mem::take(&mut self.tracks);
        let mut before = self.names.iter().cloned().zip(tracks).peekable();
        let mut both = Vec::with_capacity(self.names.len() + added.len());
        for (name, track) in added {
            while let Some(earlier) = before.next_if(|(known, _)| *known < name) {
                both.push(earlier);
            }
            both.push((name, track));
        }
        both.extend(before);
        let (names, tracks) = both.into_iter().unzip();
        (self.names, self.tracks) = (Arc::new(names), tracks);
        is_all
    }

    /// A series that was on no page before, and so it says of the pages since the first: there was none, unless the last page stopped
    /// half way or those that had it are forgotten. None where there is no room for another beside those just `added`.
    fn new_track(
        &mut self,
        name: &SeriesName,
        number: u64,
        said: Said,
        added: &[(SeriesName, Track)],
    ) -> Option<Track> {
        let was_there = match self.forgotten.remove(name) {
            true => true,
            false if self.has_room(name.length(), added) => {
                self.name_bytes += name.length();
                self.has_lost_names
            }
            false => return None,
        };
        if number == self.first_page {
            return Some(Track::new(number, said));
        }
        let is_unclear = was_there || self.last_is_cut;
        let before = if is_unclear { Said::UNCLEAR } else { Said::NOTHING };
        let mut track = Track::new(self.first_page, before);
        track.note(number, said);
        Some(track)
    }

    /// Whether there is room for another name of that length, which names of forgotten pages make way for.
    fn has_room(&mut self, length: usize, added: &[(SeriesName, Track)]) -> bool {
        let is_full = |names: usize, bytes: usize| {
            names >= SERIES_KEPT || bytes.saturating_add(length) > NAMES_KEPT
        };
        let count = self.tracks.len() + added.len();
        if is_full(count + self.forgotten.len(), self.name_bytes) && !self.forgotten.is_empty() {
            self.has_lost_names = true;
            self.forgotten.clear();
            let names = self.names.iter().chain(added.iter().map(|(name, _)| name));
            self.name_bytes = names.map(SeriesName::length).sum();
        }
        !is_full(count, self.name_bytes)
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
    pub fn fetches(&self) -> impl ExactSizeIterator<Item = Fetch> + DoubleEndedIterator + Clone {
        self.fetches.iter().copied()
    }

    pub(super) const fn first_page(&self) -> u64 {
        self.first_page
    }

    pub(super) fn fetched(&self) -> impl Iterator<Item = &Fetch> {
        self.fetches.iter()
    }

    /// The series that any page has or had.
    pub fn series(&self) -> impl Iterator<Item = &SeriesName> {
        self.names.iter()
    }

    /// The series of `metric`, by its name as it stands on the page.
    pub fn series_of<'a>(&'a self, metric: &str) -> impl Iterator<Item = &'a SeriesName> + use<'a> {
        self.all_of(metric).map(|series| series.name)
    }

    /// The same with what pages say of them.
    pub(crate) fn all_of<'a>(
        &'a self,
        metric: &str,
    ) -> impl Iterator<Item = SampledSeries<'a>> + use<'a> {
        let from = self.names.partition_point(|name| *name.metric < *metric);
        let behind = self.names.get(from..).unwrap_or_default();
        let count = behind.partition_point(|name| *name.metric == *metric);
        let tracks = self.tracks.get(from..).unwrap_or_default();
        let of_metric = behind.iter().zip(tracks).take(count);
        of_metric.map(|(name, track)| SampledSeries { name, track, history: self })
    }

    /// That series; none that no page has.
    pub(crate) fn one(&self, name: &SeriesName) -> Option<SampledSeries<'_>> {
        let at = self.names.binary_search(name).ok()?;
        let (name, track) = self.names.get(at).zip(self.tracks.get(at))?;
        Some(SampledSeries { name, track, history: self })
    }

    /// The names of metrics, each once, in order.
    #[must_use]
    pub fn metrics(&self) -> Vec<&str> {
        let mut names: Vec<&Arc<str>> = Vec::new();
        for name in &*self.names {
            // SampledSeries of a metric share its name, for the most part.
            if names.last().is_none_or(|last| !Arc::ptr_eq(last, &name.metric)) {
                names.push(&name.metric);
            }
        }
        names.dedup();
        names.into_iter().map(|name| &**name).collect()
    }

    /// What `metric` is declared to be, by its name as it stands on the page or in its declaration.
    #[must_use]
    pub fn kind(&self, metric: &str) -> MetricKind {
        let declared = |name: &str| self.kinds.get(name).copied();
        declared(metric)
            .or_else(|| declared(metric.strip_suffix("_total")?))
            .unwrap_or(MetricKind::Unknown)
    }

    /// Whether a page declares `metric`, by just that name, as a counter.
    pub(crate) fn declares_counter(&self, metric: &str) -> bool {
        self.kinds.get(metric) == Some(&MetricKind::Counter)
    }

    /// One series, a point a page.
    pub fn points<'a>(&'a self, name: &SeriesName) -> impl Iterator<Item = SeriesPoint> + 'a {
        self.one(name).into_iter().flat_map(SampledSeries::points)
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

    /// How many pages told earlier times than the page before them. These times are used for nothing.
    #[must_use]
    pub const fn clock_went_back(&self) -> u64 {
        self.clock_went_back
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
        while self.fetches.front().is_some_and(|first| first.requested < instant) {
            self.fetches.pop_front();
            self.first_page += 1;
        }
        self.forget_tracks();
        self.failures.retain(|failure| failure.fetch.requested >= instant);
    }

    fn forget_tracks(&mut self) {
        let first = self.first_page;
        let mut is_any_gone = false;
        for track in &mut self.tracks {
            track.forget_before(first);
            is_any_gone |= track.is_gone(first);
        }
        if !is_any_gone {
            return;
        }
        let tracks = std::mem::take(&mut self.tracks);
        let both = self.names.iter().cloned().zip(tracks);
        let (gone, kept): (Vec<_>, Vec<_>) = both.partition(|(_, track)| track.is_gone(first));
        self.forgotten.extend(gone.into_iter().map(|(name, _)| name));
        let (names, tracks) = kept.into_iter().unzip();
        (self.names, self.tracks) = (Arc::new(names), tracks);
    }
}

/// Whether `name` is of a metric that `is_wanted`, which is asked once for all series in a row of a metric.
fn name_is_wanted<'a>(
    name: &'a SeriesName,
    last: &mut Option<(&'a Arc<str>, bool)>,
    is_wanted: impl Fn(&str) -> bool,
) -> bool {
    let is_as_before = last.filter(|(metric, _)| *metric == &name.metric);
    let is_one = is_as_before.map_or_else(|| is_wanted(&name.metric), |(_, is)| is);
    *last = Some((&name.metric, is_one));
    is_one
}
