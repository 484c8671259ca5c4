//! Counters.

use std::ops::Add;

use fizeau_core::Stamp;
use serde::{Deserialize, Serialize};

use super::{Edges, Window};
use crate::samples::Point;

/// By how much a counter grew over a window.
///
/// ```
/// use fizeau_core::Stamp;
/// use fizeau_telemetry::{CounterOver, Fetch, Point, Window};
/// let point = |ms: u64, value| {
///     let at = Stamp::from_nanos(ms * 1_000_000);
///     Point { fetch: Fetch { asked: at, answered: at }, value: Some(value), is_unclear: false }
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
    pub fn of(points: &[Point], window: Window) -> Option<Self> {
        points.iter().find(|point| point.value.is_some())?;
        let counted = Counted::of(points);
        let from = counted.around(window.from)?;
        let to = counted.around(window.to)?;
        let resets = counted.resets_between(from.before, to.behind);
        if window.edges == Edges::Quiet {
            let delta = counted.total(to.behind) - counted.total(from.before);
            return Some(Self { delta, low: delta, high: delta, resets });
        }
        Some(Self {
            delta: counted.at(window.to, to) - counted.at(window.from, from),
            low: (counted.total(to.before) - counted.total(from.behind)).max(0.0),
            high: counted.total(to.behind) - counted.total(from.before),
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

/// Points with what was counted since the first of them, restarts added.
struct Counted<'a> {
    points: &'a [Point],
    totals: Vec<f64>,
    resets: Vec<usize>,
}

/// The last page that surely was made before an instant, and the first that surely was made after it.
#[derive(Clone, Copy)]
struct Around {
    before: usize,
    behind: usize,
}

impl<'a> Counted<'a> {
    fn of(points: &'a [Point]) -> Self {
        let mut totals = Vec::with_capacity(points.len());
        let mut resets = Vec::new();
        let (mut total, mut last, mut had_none) = (0.0, None, false);
        for (page, point) in points.iter().enumerate() {
            if let Some(value) = point.value {
                total += match last {
                    Some(last) if value >= last => value - last,
                    Some(_) => {
                        resets.push(page);
                        value
                    }
                    None if had_none => value,
                    None => 0.0,
                };
                last = Some(value);
            }
            had_none = !point.is_unclear;
            totals.push(total);
        }
        Self { points, totals, resets }
    }

    fn around(&self, instant: Stamp) -> Option<Around> {
        let before = self.points.iter().rposition(|point| point.fetch.answered <= instant)?;
        let behind = self.points.iter().position(|point| point.fetch.asked >= instant)?;
        Some(Around { before: before.min(behind), behind })
    }

    fn total(&self, page: usize) -> f64 {
        self.totals.get(page).copied().unwrap_or(0.0)
    }

    /// The total at `instant`, on the straight line between the pages around it.
    fn at(&self, instant: Stamp, Around { before, behind }: Around) -> f64 {
        let middle = |page: usize| self.points.get(page).map_or(instant, Point::at);
        let (left, right) = (middle(before), middle(behind));
        let length = right.saturating_since(left).as_secs_f64();
        let share = instant.saturating_since(left).as_secs_f64() / length;
        let share = if length > 0.0 { share.clamp(0.0, 1.0) } else { 0.0 };
        let (low, high) = (self.total(before), self.total(behind));
        (high - low).mul_add(share, low)
    }

    fn resets_between(&self, from: usize, to: usize) -> u32 {
        let within = self.resets.iter().filter(|page| (from + 1..=to).contains(*page)).count();
        u32::try_from(within).unwrap_or(u32::MAX)
    }
}
