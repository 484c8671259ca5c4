//! A response that goes one way only, as near as can be to what was measured.

use crate::FigureEstimate;

/// Which way a response goes as the load rises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResponseTrend {
    /// It never falls, as a latency.
    Rising,
    /// It never rises, as a share of requests that are good.
    Falling,
}

/// Why values have no fit.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IsotonicError {
    /// Each value needs its weight.
    #[error("there are {values} values and {weights} weights; give one weight for each value")]
    WrongLength {
        /// How many values there are.
        values: usize,
        /// How many weights.
        weights: usize,
    },
    /// A value cannot be compared with the others.
    #[error("value {0} (from 0) is not a number; leave it out")]
    NotANumber(usize),
    /// A weight does not weigh.
    #[error("weight {index} (from 0) is {weight}; give positive, finite weights")]
    Weight {
        /// Its index.
        index: usize,
        /// The weight.
        weight: f64,
    },
}

/// The values nearest to `values`, by weighted squares, that go in one direction: weighted isotonic regression.
///
/// Found by pooling adjacent violators (M. Ayer, H. D. Brunk and others, "An empirical distribution function for sampling
/// with incomplete information", Annals of Mathematical Statistics 26, 1955): neighbours in the wrong order become their
/// weighted mean until none is. Takes `O(n)`. Larger values never give a smaller fit. A pool with an infinite value is
/// infinite.
///
/// ```
/// use fizeau_pareto::{ResponseTrend, isotonic};
/// let latencies = [210.0, 260.0, 240.0, 480.0];
/// assert_eq!(isotonic(&latencies, &[1.0; 4], ResponseTrend::Rising)?, [210.0, 250.0, 250.0, 480.0]);
/// # Ok::<(), fizeau_pareto::IsotonicError>(())
/// ```
///
/// # Errors
/// If there is not one positive, finite weight for each value, or a value is NaN.
pub fn isotonic(
    values: &[f64],
    weights: &[f64],
    trend: ResponseTrend,
) -> Result<Vec<f64>, IsotonicError> {
    if values.len() != weights.len() {
        let (values, weights) = (values.len(), weights.len());
        return Err(IsotonicError::WrongLength { values, weights });
    }
    if let Some(index) = values.iter().position(|value| value.is_nan()) {
        return Err(IsotonicError::NotANumber(index));
    }
    let weighs = |weight: f64| weight > 0.0 && weight.is_finite();
    if let Some((index, &weight)) = weights.iter().enumerate().find(|(_, weight)| !weighs(**weight))
    {
        return Err(IsotonicError::Weight { index, weight });
    }
    let sign = match trend {
        ResponseTrend::Rising => 1.0,
        ResponseTrend::Falling => -1.0,
    };
    let mut pools: Vec<MonotonePool> = Vec::new();
    for (value, &weight) in values.iter().zip(weights) {
        let mut pool = MonotonePool { mean: sign * value, weight, count: 1 };
        while let Some(before) = pools.pop_if(|before| before.mean > pool.mean) {
            pool = before.with(&pool);
        }
        pools.push(pool);
    }
    let fitted = pools.iter().flat_map(|pool| std::iter::repeat_n(sign * pool.mean, pool.count));
    Ok(fitted.collect())
}

/// Neighbours that share one value.
struct MonotonePool {
    mean: f64,
    weight: f64,
    count: usize,
}

impl MonotonePool {
    fn with(&self, next: &Self) -> Self {
        let weight = self.weight + next.weight;
        let mean = match (self.mean.is_infinite(), next.mean.is_infinite()) {
            (true, _) => self.mean,
            (_, true) => next.mean,
            _ => self.mean + (next.mean - self.mean) * (next.weight / weight),
        };
        Self { mean, weight, count: self.count + next.count }
    }
}

/// How far figures depart from going one way: the pair in the wrong order that their errors explain least.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MonotoneDeparture {
    /// The index of the earlier figure.
    pub earlier: usize,
    /// The index of the later one, which lies on the wrong side of it.
    pub later: usize,
    /// How far, in the figures' unit: above 0.
    pub by: f64,
    /// The same in standard errors of the difference; infinite where both are known exactly.
    pub errors: f64,
}

impl MonotoneDeparture {
    /// Beyond so many standard errors it is no accident. The worst of all pairs is looked at, and among a dozen figures that
    /// all agree there are 66 pairs: at three standard errors one of them is beyond by chance in under a tenth of all cases.
    pub const BY_CHANCE: f64 = 3.0;

    /// Whether the figures do not go one way, rather than seem not to.
    #[must_use]
    pub fn is_significant(&self) -> bool {
        self.errors > Self::BY_CHANCE
    }
}

/// How far `figures`, in order of rising load, depart from `trend`; none if they do not.
///
/// Their intervals are taken for 95 % ones, of which an end is 1.96 standard errors off. Of each pair the ends that face each
/// other count.
///
/// ```
/// use fizeau_pareto::{FigureEstimate, ResponseTrend, departure};
/// let latency = |value: f64| FigureEstimate::new(value, value - 20.0, value + 20.0);
/// let [fast, slow] = [latency(210.0)?, latency(480.0)?];
/// assert_eq!(departure(&[fast, slow], ResponseTrend::Rising), None);
/// assert!(departure(&[slow, fast], ResponseTrend::Rising).is_some_and(|found| found.is_significant()));
/// # Ok::<(), fizeau_pareto::FigureEstimateError>(())
/// ```
#[must_use]
pub fn departure(figures: &[FigureEstimate], trend: ResponseTrend) -> Option<MonotoneDeparture> {
    let pairs = figures.iter().enumerate().flat_map(|(earlier, one)| {
        let later = figures.iter().enumerate().skip(earlier + 1);
        later.filter_map(move |(later, other)| {
            let (upper, lower) = match trend {
                ResponseTrend::Rising => (one, other),
                ResponseTrend::Falling => (other, one),
            };
            let by = upper.value() - lower.value();
            let error = (upper.value() - upper.low()).hypot(lower.high() - lower.value()) / Z;
            (by > 0.0).then(|| MonotoneDeparture { earlier, later, by, errors: by / error })
        })
    });
    pairs.filter(|found| !found.errors.is_nan()).reduce(|worst, next| {
        let further = (next.errors, next.by) > (worst.errors, worst.by);
        if further { next } else { worst }
    })
}

/// The 97.5th percentile of the normal distribution: the end of a 95 % interval, in standard errors.
const Z: f64 = 1.959_963_984_540_054;
