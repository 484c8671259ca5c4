//! Counters.

use std::ops::Add;

use fizeau_core::Stamp;
use serde::{Deserialize, Serialize};

use super::{Window, WindowEdges};
use crate::samples::{Fetch, Said, SampledSeries, SeriesPoint};

/// By how much a counter grew over a window.
///
/// ```
/// use fizeau_core::Stamp;
/// use fizeau_telemetry::{CounterOver, Fetch, SeriesPoint, Window};
/// let point = |ms: u64, value| {
///     let at = Stamp::from_nanos(ms * 1_000_000);
///     SeriesPoint { fetch: Fetch { requested: at, answered: at }, value: Some(value), is_unclear: false }
/// };
/// // It restarts before the third page, and what it counted since is added.
/// let points = [point(0, 100.0), point(1_000, 160.0), point(2_000, 30.0)];
/// let window = Window::alone(Stamp::EPOCH, Stamp::from_nanos(2_000_000_000));
/// let grown = CounterOver::of(&points, window).ok_or("pages around the window")?;
/// assert_eq!((grown.delta, grown.resets), (90.0, 1));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CounterOver {
    /// By how much; where the window is cut out of a load, from a straight line between the pages around each edge.
    pub delta: f64,
    /// At least that much, whatever happened between the pages around the edges.
    pub low: f64,
    /// At most that much, but for what a restart made it forget.
    pub high: f64,
    /// How often it began anew. What it counted after that is added; what it had counted since the last page before is not
    /// known to anybody.
    pub resets: u32,
}

impl CounterOver {
    /// By how much the counter of `points` (one a page, in order) grew over `window`; none where no page came before the window
    /// or behind it, or no page has the series.
    ///
    /// A series that appears counted from zero if the page before surely had none, since exporters make a series when there is
    /// something to count; else it counts from its first value.
    #[must_use]
    pub fn of(points: &[SeriesPoint], window: Window) -> Option<Self> {
        let edges = EdgePages::of(&points.iter().map(|point| point.fetch), window)?;
        let steps = points.iter().enumerate();
        Self::over(&edges, steps.map(|(page, point)| (page, point.value, point.is_unclear)))
    }

    /// The same of one series of a history, whose pages around the edges are known.
    pub(crate) fn of_series(edges: &EdgePages, series: SampledSeries<'_>) -> Option<Self> {
        let step = |(page, said): (usize, Said)| (page, said.value(), said.is_unclear());
        Self::over(edges, series.steps().map(step))
    }

    /// `steps` are the pages on which a series changes, with its value from there on and whether it is unclear; others may be among them.
    fn over(
        edges: &EdgePages,
        steps: impl Iterator<Item = (usize, Option<f64>, bool)>,
    ) -> Option<Self> {
        let EdgePages { from, to, is_quiet } = edges;
        let mut counted = Counted::default();
        let mut totals = [from.before, from.behind, to.before, to.behind].map(|page| (page, 0.0));
        let mut resets = 0;
        for (page, value, is_unclear) in steps {
            let is_reset = counted.see(value, is_unclear);
            resets += u32::from(is_reset && from.before < page && page <= to.behind);
            for (until, total) in &mut totals {
                if page <= *until {
                    *total = counted.total;
                }
            }
        }
        counted.last?;
        let [from_before, from_behind, to_before, to_behind] = totals.map(|(_, total)| total);
        let high = to_behind - from_before;
        if *is_quiet {
            return Some(Self { delta: high, low: high, high, resets });
        }
        Some(Self {
            delta: to.between(to_before, to_behind) - from.between(from_before, from_behind),
            low: (to_before - from_behind).max(0.0),
            high,
            resets,
        })
    }

    /// The same in another unit.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        let Self { delta, low, high, resets } = self;
        Self { delta: delta * factor, low: low * factor, high: high * factor, resets }
    }
}

impl Add for CounterOver {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            delta: self.delta + other.delta,
            low: self.low + other.low,
            high: self.high + other.high,
            resets: self.resets + other.resets,
        }
    }
}

/// What was counted since the first page, restarts added.
#[derive(Default)]
struct Counted {
    total: f64,
    last: Option<f64>,
    /// Whether the page before surely had no such series.
    had_none: bool,
}

impl Counted {
    /// Takes what the next page has; whether the counter began anew on it. A page that has what the one before had changes nothing.
    fn see(&mut self, value: Option<f64>, is_unclear: bool) -> bool {
        let mut is_reset = false;
        if let Some(value) = value {
            is_reset = self.last.is_some_and(|last| value < last);
            self.total += match self.last {
                Some(last) if value >= last => value - last,
                Some(_) => value,
                None if self.had_none => value,
                None => 0.0,
            };
            self.last = Some(value);
        }
        self.had_none = !is_unclear;
        is_reset
    }
}

/// The pages around both edges of a window, which are the same for all series of a source.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EdgePages {
    from: Around,
    to: Around,
    is_quiet: bool,
}

/// The last page that surely was made before an instant, and the first that surely was made after it.
#[derive(Debug, Clone, Copy)]
struct Around {
    before: usize,
    behind: usize,
    /// Where between the middles of the two the instant lies, 0 to 1.
    share: f64,
}

impl EdgePages {
    /// None where no page came before the window or behind it.
    pub(crate) fn of(
        fetches: &(impl Iterator<Item = Fetch> + Clone),
        window: Window,
    ) -> Option<Self> {
        let around = |instant| Around::of(fetches.clone(), instant);
        let (from, to) = (around(window.from)?, around(window.to)?);
        Some(Self { from, to, is_quiet: window.edges == WindowEdges::Quiet })
    }

    /// Whether a page that stopped half way hides what `series` had at an edge: then nobody knows by how much it grew.
    pub(crate) fn cut_off(&self, series: &SampledSeries<'_>) -> bool {
        let Self { from, to, is_quiet } = self;
        let mut hidden = [from.before, to.behind, from.behind, to.before].map(|page| (page, false));
        for (page, said) in series.steps() {
            for (_, is_hidden) in hidden.iter_mut().filter(|(until, _)| page <= *until) {
                *is_hidden = said.value().is_none() && said.is_unclear();
            }
        }
        let counts = if *is_quiet { 2 } else { hidden.len() };
        hidden.iter().take(counts).any(|(_, is_hidden)| *is_hidden)
    }
}

impl Around {
    fn of(fetches: impl Iterator<Item = Fetch> + Clone, instant: Stamp) -> Option<Self> {
        let pages = fetches.enumerate();
        let is_before = |(_, fetch): &(usize, Fetch)| fetch.answered <= instant;
        let (before, left) = pages.clone().filter(is_before).last()?;
        let mut later = pages.skip_while(|(_, fetch)| fetch.requested < instant);
        let (behind, right) = later.next()?;
        let (before, left) = if before > behind { (behind, right) } else { (before, left) };
        let (left, right) = (left.middle(), right.middle());
        let length = right.saturating_since(left).as_secs_f64();
        let share = instant.saturating_since(left).as_secs_f64() / length;
        let share = if length > 0.0 { share.clamp(0.0, 1.0) } else { 0.0 };
        Some(Self { before, behind, share })
    }

    /// The total at the instant, on the straight line between the pages around it.
    fn between(&self, low: f64, high: f64) -> f64 {
        (high - low).mul_add(self.share, low)
    }
}
