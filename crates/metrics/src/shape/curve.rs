//! A histogram as a curve.

use crate::{LatencyHistogram, QuantilePoint};

/// One, in millionths.
const ONE: u64 = 1_000_000;

/// The shares of a curve, in millionths: dense towards both ends, and most towards the upper one, where the tail is.
const SHARES: [u64; 61] = [
    1_000, 2_000, 3_000, 5_000, 7_000, 10_000, 20_000, 30_000, 50_000, 70_000, //
    100_000, 150_000, 200_000, 250_000, 300_000, 350_000, 400_000, 450_000, 500_000, //
    550_000, 600_000, 650_000, 700_000, 750_000, 800_000, 850_000, 900_000, //
    930_000, 950_000, 960_000, 970_000, 980_000, 985_000, 990_000, //
    993_000, 995_000, 996_000, 997_000, 998_000, 998_500, 999_000, //
    999_300, 999_500, 999_600, 999_700, 999_800, 999_850, 999_900, //
    999_930, 999_950, 999_960, 999_970, 999_980, 999_985, 999_990, //
    999_993, 999_995, 999_996, 999_997, 999_998, 999_999,
];

/// The values at those shares that the sample supports: with at least one value expected on either side, as in a
/// [`Distribution`](crate::Distribution).
pub(super) fn curve(histogram: &LatencyHistogram) -> Vec<QuantilePoint> {
    let n = histogram.count();
    let expects_one = |millionths: u64| n.saturating_mul(millionths) >= ONE;
    let supported = SHARES.into_iter().filter(|&at| expects_one(at) && expects_one(ONE - at));
    let point = |at: u64| {
        // In the middle of the wanted rank: a share as a floating number may be taken for the next one.
        let rank = (u128::from(n) * u128::from(at)).div_ceil(ONE.into());
        let value = histogram.percentile(100.0 * (rank as f64 - 0.5) / n as f64)?;
        Some(QuantilePoint { share: at as f64 / 1e6, value: value.to_millis() })
    };
    supported.filter_map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::{ONE, SHARES};

    #[test]
    fn shares_rise_within_the_open_unit() {
        assert!(SHARES.is_sorted_by(|one, next| one < next), "{SHARES:?}");
        assert!(SHARES.iter().all(|share| (1..ONE).contains(share)));
    }
}
