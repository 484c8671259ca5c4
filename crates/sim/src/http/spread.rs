//! How a number of times are spread.

use fizeau_core::{Millis, Nanos};
use serde::Serialize;

/// How a number of times are spread, exactly: percentiles are interpolated linearly between ranks, as numpy does by
/// default.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// How many there are, at least 1.
    pub n: usize,
    /// Half of them are at most this.
    pub p50: Millis,
    /// 99 in 100 of them are at most this.
    pub p99: Millis,
    /// The longest.
    pub max: Millis,
}

impl Spread {
    /// None of no times.
    pub(super) fn of(mut times: Vec<Nanos>) -> Option<Self> {
        Some(Self {
            n: times.len(),
            max: times.iter().max()?.to_millis(),
            p99: percentile(&mut times, 99)?,
            p50: percentile(&mut times, 50)?,
        })
    }
}

/// The percentile `percent`; puts `times` out of order. Selects rather than sorts: there may be millions.
fn percentile(times: &mut [Nanos], percent: usize) -> Option<Millis> {
    let rank = times.len().checked_sub(1)? * percent;
    let (below, share) = (rank / 100, (rank % 100) as f64 / 100.0);
    let (_, low, above) = times.select_nth_unstable(below);
    let low = low.as_millis_f64();
    let high = above.iter().min().map_or(low, |high| high.as_millis_f64());
    Some(Millis::new(low + (high - low) * share))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from `numpy.percentile([1, 2, 4, 8, 16], [50, 99])`.
    #[test]
    fn percentiles_are_numpys() {
        let times = [16, 1, 8, 2, 4].map(Nanos::from_millis);
        let spread = Spread::of(times.into()).unwrap();
        assert_eq!((spread.n, spread.p50, spread.max), (5, Millis::new(4.0), Millis::new(16.0)));
        assert!((spread.p99.get() - 15.68).abs() < 1e-9, "{spread:?}");
        assert_eq!(Spread::of(Vec::new()), None);
    }
}
