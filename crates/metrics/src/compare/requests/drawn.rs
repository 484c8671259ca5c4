//! The figure of a series, and of the series drawn again.

use super::column::{FigureSeries, SeriesFigure};
use crate::compare::standard_error::StandardError;
use crate::stats::{Ranked, Resampling, block_length};
use crate::{Autocorrelation, Percent, PercentileRule, RandomBits, ResampleSeed};

/// A series with its figure.
#[derive(Debug)]
pub(super) struct SeriesWithFigure {
    what: SeriesFigure,
    series: FigureSeries,
    ranked: Option<Ranked>,
    pub(super) value: f64,
}

impl SeriesWithFigure {
    /// Of a series that has values; of a rate, some time too.
    pub(super) fn new(what: SeriesFigure, series: FigureSeries) -> Self {
        let ranked =
            matches!(what, SeriesFigure::Percentile(_)).then(|| Ranked::new(&series.values));
        let mut figured = Self { what, series, ranked, value: 0.0 };
        figured.value = figured.of(&vec![1; figured.n()]);
        figured
    }

    pub(super) const fn n(&self) -> usize {
        self.series.values.len()
    }

    pub(super) fn values(&self) -> &[f64] {
        &self.series.values
    }

    /// The figure where the value at place `k` stands `times[k]` times, as many in all as there are.
    pub(super) fn of(&self, times: &[u32]) -> f64 {
        let sum = |values: &[f64]| -> f64 {
            values.iter().zip(times).map(|(value, &times)| value * f64::from(times)).sum()
        };
        match (self.what, &self.ranked) {
            (SeriesFigure::Percentile(percent), Some(ranked)) => {
                let place = PercentileRule::Linear.place(self.n(), percent);
                place.map_or(0.0, |place| ranked.of_multiset(times, place))
            }
            (SeriesFigure::Rate, _) => sum(&self.series.values) / sum(&self.series.seconds),
            _ => sum(&self.series.values) / self.n() as f64,
        }
    }

    /// The figure of each of so many parts of the run, of a percentile the median.
    fn parts(&self, parts: usize) -> Vec<f64> {
        let n = self.n();
        let part = |k: usize| {
            let range = n * k / parts..n * (k + 1) / parts;
            let values = self.series.values.get(range.clone()).unwrap_or_default();
            let sum = |values: &[f64]| values.iter().sum::<f64>();
            match self.what {
                SeriesFigure::Mean => sum(values) / values.len() as f64,
                SeriesFigure::Percentile(_) => {
                    let ranked = Ranked::new(values);
                    let place = PercentileRule::Linear.place(values.len(), Percent::P50);
                    let once = vec![1; values.len()];
                    place.map_or(f64::NAN, |place| ranked.of_multiset(&once, place))
                }
                SeriesFigure::Rate => {
                    sum(values) / sum(self.series.seconds.get(range).unwrap_or_default())
                }
            }
        };
        (0..parts).map(part).collect()
    }

    /// What each value does to the figure, but for a factor: what is correlated in it is what makes the figure uncertain.
    pub(super) fn influence(&self) -> Vec<f64> {
        match self.what {
            SeriesFigure::Mean => self.series.values.clone(),
            SeriesFigure::Percentile(_) => {
                let above = |&value: &f64| if value > self.value { 1.0 } else { 0.0 };
                self.series.values.iter().map(above).collect()
            }
            SeriesFigure::Rate => {
                let both = self.series.values.iter().zip(&self.series.seconds);
                both.map(|(value, seconds)| value - self.value * seconds).collect()
            }
        }
    }
}

/// A block is so many autocorrelation times long, so that what is correlated across its ends is little.
const TIMES: f64 = 10.0;
/// And no longer than this part of the run, so that there are some.
const LEAST_BLOCKS: f64 = 10.0;

/// A run has at least this many blocks of as many requests as are in flight.
pub(super) const FEWEST_BLOCKS: f64 = 5.0;

/// How long the blocks of a series are that is correlated as its `influences` are, by the one with the longest memory. Requests that
/// are `in_flight` together are one observation.
fn longest_block(influences: &[Vec<f64>], in_flight: f64) -> f64 {
    let of = |series: &Vec<f64>| {
        let time = Autocorrelation::of(series).map_or(1.0, Autocorrelation::inflation);
        block_length(series).max(TIMES * time)
    };
    let longest = influences.iter().map(of).fold(1.0, f64::max);
    let n = influences.first().map_or(0, Vec::len) as f64;
    longest.min(n / LEAST_BLOCKS).max(in_flight.min(n / FEWEST_BLOCKS)).max(1.0)
}

/// Into how many parts a run is divided to see how it drifts.
const PARTS: usize = 4;
/// What the differences of neighbouring parts of both sides are worth, in degrees of freedom: three of each side, which overlap.
pub(super) const DRIFT_FREEDOM: f64 = 4.0;

/// How far the quarters of a run differ from one to the next, as a share of its figure: a standard deviation.
///
/// What an endpoint does to its runs it does to the parts of a run too. Noise of a machine that other work shares does not average
/// out: it is as large from run to run as from quarter to quarter. Of a percentile the median of the quarters counts, which few
/// values know; what slows the middle slows the tail.
pub(super) fn drift(of: &SeriesWithFigure) -> f64 {
    let parts = of.parts(PARTS);
    let mean = parts.iter().sum::<f64>() / parts.len() as f64;
    let share = deviation(&parts) / mean.abs();
    if share.is_finite() { share } else { 0.0 }
}

/// The same of the logarithms of the quarters: a queue that fills makes them differ by factors. Not a number where one is not positive.
pub(super) fn log_drift(of: &SeriesWithFigure) -> f64 {
    deviation(&of.parts(PARTS).into_iter().map(f64::ln).collect::<Vec<_>>())
}

/// The standard deviation of values that differ from one to the next.
fn deviation(parts: &[f64]) -> f64 {
    let squares = parts.iter().zip(parts.iter().skip(1)).map(|(one, next)| (next - one).powi(2));
    (squares.sum::<f64>() / (parts.len() - 1) as f64 / 2.0).sqrt()
}

/// How series are drawn again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drawing {
    /// How many requests were in flight.
    pub(super) in_flight: f64,
    /// How often they are drawn.
    pub(super) resamples: u32,
    pub(super) seed: ResampleSeed,
}

/// By drawing both series again, block by block and both alike.
pub(super) fn of_pairs(
    a: &SeriesWithFigure,
    b: &SeriesWithFigure,
    drawing: Drawing,
) -> StandardError {
    let Drawing { in_flight, resamples, seed } = drawing;
    let (of_a, of_b) = (a.influence(), b.influence());
    let apart = of_a.iter().zip(&of_b).map(|(a, b)| b - a).collect();
    let length = longest_block(&[of_a, of_b, apart], in_flight);
    let n = a.n();
    let resampling = Resampling::new(n, length);
    let mut bits = RandomBits::new(seed);
    let mut times = vec![0; n];
    let differences = (0..resamples).map(|_| {
        draw(&resampling, &mut bits, &mut times);
        b.of(&times) - a.of(&times)
    });
    let variance = variance(&differences.collect::<Vec<f64>>()) * unbiased(n, length);
    StandardError { error: variance.sqrt(), df: freedom(n, length) }
}

/// By drawing each series again by itself. The degrees of freedom are Welch's and Satterthwaite's.
pub(super) fn of_sides(
    a: &SeriesWithFigure,
    b: &SeriesWithFigure,
    drawing: Drawing,
) -> StandardError {
    let Drawing { in_flight, resamples, seed } = drawing;
    let mut bits = RandomBits::new(seed);
    let mut side = |figured: &SeriesWithFigure| {
        let n = figured.n();
        let length = longest_block(&[figured.influence()], in_flight);
        let resampling = Resampling::new(n, length);
        let mut times = vec![0; n];
        let figures = (0..resamples).map(|_| {
            draw(&resampling, &mut bits, &mut times);
            figured.of(&times)
        });
        let drawn = variance(&figures.collect::<Vec<f64>>()) * unbiased(n, length);
        (drawn, freedom(n, length))
    };
    let ((of_a, df_a), (of_b, df_b)) = (side(a), side(b));
    let sum = of_a + of_b;
    let (share_a, share_b) = (of_a / sum, of_b / sum);
    let df = 1.0 / (share_a * share_a / df_a + share_b * share_b / df_b);
    StandardError { error: sum.sqrt(), df: if df.is_finite() { df } else { df_a.min(df_b) } }
}

fn draw(resampling: &Resampling, bits: &mut RandomBits, times: &mut [u32]) {
    times.fill(0);
    resampling.draw(bits, |block| {
        times.get_mut(block).into_iter().flatten().for_each(|times| *times += 1);
    });
}

/// One less than as many blocks as make up the run: what a kernel estimate of the variance with exponential weights is
/// worth, by its own variance.
fn freedom(n: usize, length: f64) -> f64 {
    (n as f64 / length - 1.0).max(1.0)
}

/// Taking the mean off makes every autocovariance too small by the variance of that mean; over the weights of all lags, which
/// add up to twice the length, that is this much.
fn unbiased(n: usize, length: f64) -> f64 {
    1.0 / (1.0 - (2.0 * length - 1.0) / n as f64).max(0.5)
}

fn variance(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0)
}
