//! What a level looks like: curves and series of bounded size, for whoever draws it.

mod curve;
mod gaps;
mod pairs;
mod tally;
mod time_series;

pub use tally::ShapeTally;

use fizeau_core::{Millis, Nanos, PerSec, Stamp, Tape, Tokens};

use crate::Metric;

/// What only the tapes of a level show and no single figure does: whole distributions, its timeline, and how the time
/// to first token depends on the prompt. Its size does not grow with the level.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LevelShape {
    /// The latencies of completed requests as quantile curves.
    pub quantiles: QuantileCurves,
    /// The level bin by bin, from the first release to the last end.
    pub timeline: LevelTimeSeries,
    /// The time to first token beside the length of the prompt, by rising length: of at most 400 completed
    /// requests, an even sample of all by their numbers, the same in any order of tapes. Empty where no prompt's length is known.
    pub ttft_by_input: Vec<PromptTtft>,
}

impl LevelShape {
    /// The most bins of a timeline.
    pub(crate) const MOST_BINS: usize = 160;
    /// Bins that are longer than they must be leave half as many at least.
    pub(crate) const FEW_BINS: usize = 64;
    /// A level that is so many median replies long is drawn in bins that are no shorter than one.
    pub(crate) const MANY_REPLIES: u64 = 40;
    /// The most pairs of prompt length and time to first token.
    pub(crate) const MOST_PAIRS: usize = 400;

    /// The shape of `tapes`, the whole of a level's in any order.
    #[must_use]
    pub fn of<'a>(tapes: impl IntoIterator<Item = &'a Tape>) -> Self {
        let mut tally = ShapeTally::default();
        tapes.into_iter().for_each(|tape| tally.add(tape));
        tally.shape()
    }
}

/// The curve of each of [`Metric::headline`], in that order.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantileCurves(pub Vec<(Metric, Vec<QuantilePoint>)>);

impl Default for QuantileCurves {
    fn default() -> Self {
        Self(Metric::headline().map(|metric| (metric, Vec::new())).collect())
    }
}

impl QuantileCurves {
    /// That of `metric`; empty where it has none.
    #[must_use]
    pub fn of(&self, metric: Metric) -> &[QuantilePoint] {
        self.0.iter().find(|(of, _)| *of == metric).map_or(&[], |(_, curve)| curve)
    }

    /// Forgets that of `metric`.
    pub fn clear(&mut self, metric: Metric) {
        self.0.iter_mut().filter(|(of, _)| *of == metric).for_each(|(_, curve)| curve.clear());
    }
}

/// A point of a quantile curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuantilePoint {
    /// The share of values that are no greater, above 0 and below 1.
    pub share: f64,
    /// The value; exact to within 0.1 %.
    pub value: Millis,
}

/// A level bin by bin.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LevelTimeSeries {
    /// When the first bin begins: less than a bin before the first release, at a multiple of its length from the epoch.
    pub start: Stamp,
    /// How long a bin is: 125 us, or that doubled as often as it takes; zero where there is none. From
    /// 64 bins on they are longer where shorter ones would show single events in place of the level: twice as long
    /// as the 99th percentile of silences between events, and of forty one after the other as long as the median
    /// one, since requests that came together end together.
    pub bin: Nanos,
    /// The bins, without gaps.
    pub bins: Vec<TimeSeriesBin>,
}

/// What went on in one bin.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TimeSeriesBin {
    /// The mean number of requests in flight, from send start to end.
    pub in_flight: f64,
    /// The mean number of those that waited for their first token: where it rises, prefills compete with decoding.
    pub prefilling: f64,
    /// Output tokens of completed requests that came, per second.
    pub output_tokens_per_s: PerSec,
    /// The median time to first token of the completed requests whose first token came here, within 3.2 %; absent where none did.
    pub ttft_p50: Option<Millis>,
    /// The longest of them.
    pub ttft_max: Option<Millis>,
    /// The median of the gaps between tokens that ended here, each token counted, within 3.2 %; absent where none did.
    pub itl_p50: Option<Millis>,
    /// Their 99th percentile, as exactly; absent where there are fewer than 100.
    pub itl_p99: Option<Millis>,
    /// The longest of them.
    pub itl_max: Option<Millis>,
}

/// A request's prompt and how long it took to answer it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PromptTtft {
    /// Tokens of the prompt.
    pub input: Tokens,
    /// Send start to first token.
    pub ttft: Millis,
}
