//! Values and the rules by which tools read percentiles off them.

/// Finite values in ascending order.
#[derive(Debug, Clone, Default)]
pub(super) struct Sample(Vec<f64>);

/// What the sum of squares is divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Std {
    /// n: numpy's default.
    Population,
    /// n - 1: pandas' default.
    OfSample,
}

impl FromIterator<f64> for Sample {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        values.sort_unstable_by(f64::total_cmp);
        Self(values)
    }
}

impl Sample {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn sum(&self) -> f64 {
        // From 0.0 on, because the standard sum of nothing is -0.0.
        self.0.iter().fold(0.0, |sum, value| sum + value)
    }

    pub(super) fn mean(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.sum() / self.0.len() as f64)
    }

    pub(super) fn min(&self) -> Option<f64> {
        self.0.first().copied()
    }

    pub(super) fn max(&self) -> Option<f64> {
        self.0.last().copied()
    }

    pub(super) fn std(&self, over: Std) -> Option<f64> {
        let mean = self.mean()?;
        let squares = self.0.iter().fold(0.0, |sum, value| sum + (value - mean).powi(2));
        let by = match over {
            Std::Population => self.0.len(),
            Std::OfSample => self.0.len() - 1,
        };
        (by > 0).then(|| (squares / by as f64).sqrt())
    }

    /// Between the two values around (n - 1) p: numpy's default, `linear`.
    pub(super) fn linear(&self, percent: f64) -> Option<f64> {
        let last = self.0.len().checked_sub(1)?;
        let at = percent / 100.0 * last as f64;
        let part = at - at.floor();
        let low = self.0.get(at.floor() as usize)?;
        let high = self.0.get(at.ceil() as usize)?;
        // numpy counts from the nearer end, so that neither end is missed by a rounding.
        Some(if part >= 0.5 {
            high - (high - low) * (1.0 - part)
        } else {
            low + (high - low) * part
        })
    }

    /// The value at index floor(n p), counted from 0: one rank too high where n p is whole.
    pub(super) fn floor_index(&self, percent: u32) -> Option<f64> {
        let at = self.0.len() as u64 * u64::from(percent) / 100;
        self.0.get(at as usize).copied().or_else(|| self.max())
    }

    /// The value of rank ceil(n p), counted from 1.
    pub(super) fn nearest_rank(&self, percent: u32) -> Option<f64> {
        let rank = (self.0.len() as u64 * u64::from(percent)).div_ceil(100);
        self.0.get(rank.saturating_sub(1) as usize).copied()
    }
}

/// Values with weights, in ascending order of values.
#[derive(Debug, Clone, Default)]
pub(super) struct Weighted(Vec<(f64, f64)>);

impl FromIterator<(f64, f64)> for Weighted {
    fn from_iter<I: IntoIterator<Item = (f64, f64)>>(values: I) -> Self {
        let mut values: Vec<_> = values.into_iter().collect();
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        Self(values)
    }
}

impl Weighted {
    fn weight(&self) -> f64 {
        self.0.iter().fold(0.0, |sum, (_, weight)| sum + weight)
    }

    pub(super) fn mean(&self) -> Option<f64> {
        let sum = self.0.iter().fold(0.0, |sum, (value, weight)| sum + value * weight);
        Some(sum / self.weight()).filter(|mean| mean.is_finite())
    }

    /// The least value up to which the weights make up `percent` of all; nothing lies between two values.
    pub(super) fn cdf(&self, percent: f64) -> Option<f64> {
        let wanted = percent / 100.0 * self.weight();
        let mut passed = 0.0;
        let reached = self.0.iter().find(|(_, weight)| {
            passed += weight;
            *weight > 0.0 && passed >= wanted
        });
        reached.map(|(value, _)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::{Sample, Std, Weighted};

    fn hundred() -> Sample {
        (1..=100).map(f64::from).collect()
    }

    #[test]
    fn the_rules_differ_by_a_rank() {
        // numpy.percentile(range(1, 101), 90, method="linear"), numpy 2.4.
        assert!((hundred().linear(90.0).unwrap() - 90.1).abs() < 1e-12);
        assert_eq!(hundred().nearest_rank(90), Some(90.0));
        assert_eq!(hundred().floor_index(90), Some(91.0));
        assert_eq!(hundred().floor_index(100), Some(100.0));
        assert_eq!(hundred().nearest_rank(0), Some(1.0));
    }

    #[test]
    fn nothing_has_no_percentile() {
        let none: Sample = std::iter::empty().collect();
        assert_eq!(
            (none.linear(50.0), none.floor_index(50), none.nearest_rank(50)),
            (None, None, None)
        );
        assert_eq!((none.mean(), none.std(Std::OfSample)), (None, None));
    }

    #[test]
    fn the_two_deviations_are_numpys_and_pandas() {
        let sample: Sample = [1.0, 2.0, 4.0, 8.0, 16.0].into_iter().collect();
        // numpy.std with ddof 0 and 1.
        assert!((sample.std(Std::Population).unwrap() - 5.455_272_678_794_343).abs() < 1e-12);
        assert!((sample.std(Std::OfSample).unwrap() - 6.099_180_272_790_763).abs() < 1e-12);
    }

    #[test]
    fn weights_move_a_percentile() {
        let sample: Weighted = [(10.0, 1.0), (20.0, 98.0), (30.0, 1.0)].into_iter().collect();
        assert_eq!(sample.cdf(50.0), Some(20.0));
        assert_eq!(sample.cdf(99.0), Some(20.0));
        assert_eq!(sample.cdf(99.5), Some(30.0));
        assert_eq!(sample.mean(), Some(20.0));
        let weightless: Weighted = [(10.0, 0.0)].into_iter().collect();
        assert_eq!((weightless.mean(), weightless.cdf(50.0)), (None, None));
    }
}
