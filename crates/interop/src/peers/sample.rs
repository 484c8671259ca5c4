//! Values, and the statistics that tools take of them.

use super::gaps::GapSample;
use super::{PeerStatistic, PeerUnit};
use fizeau_metrics::{
    Percent, PercentileRule, sort_numbers, sort_weighted_numbers, weighted_percentile_of_sorted,
};

/// Finite values in ascending order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sample(Vec<f64>);

/// A sample with all that its figures have in common.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column<'a> {
    pub(super) sample: Values<'a>,
    pub(super) unit: PeerUnit,
    /// Our name for what the values are.
    pub(super) ours: Option<&'static str>,
    /// How the tool reads percentiles.
    pub(super) rule: PercentileRule,
}

/// With weights or without.
#[derive(Debug, Clone, Copy)]
pub(super) enum Values<'a> {
    Plain(&'a Sample),
    Weighted(&'a Weighted),
    Gaps(&'a GapSample),
}

impl<'a> From<&'a Sample> for Values<'a> {
    fn from(sample: &'a Sample) -> Self {
        Self::Plain(sample)
    }
}

impl<'a> From<&'a GapSample> for Values<'a> {
    fn from(sample: &'a GapSample) -> Self {
        Self::Gaps(sample)
    }
}

impl<'a> Column<'a> {
    /// Of milliseconds, with numpy's percentiles.
    pub(super) fn millis(sample: impl Into<Values<'a>>, ours: Option<&'static str>) -> Self {
        Self::linear(sample, PeerUnit::Millis, ours)
    }

    /// With numpy's percentiles.
    pub(super) fn linear(
        sample: impl Into<Values<'a>>,
        unit: PeerUnit,
        ours: Option<&'static str>,
    ) -> Self {
        Self { sample: sample.into(), unit, ours, rule: PercentileRule::Linear }
    }

    /// None of an empty sample.
    pub(super) fn statistic(&self, statistic: PeerStatistic) -> Option<f64> {
        match (self.sample, statistic) {
            (Values::Plain(sample), _) => sample.statistic(statistic, self.rule),
            (Values::Weighted(sample), PeerStatistic::Mean) => sample.mean(),
            (Values::Weighted(sample), PeerStatistic::Percentile(percent)) => sample.cdf(percent),
            (Values::Weighted(_), _) => None,
            (Values::Gaps(sample), _) => sample.statistic(statistic, self.rule),
        }
    }
}

impl FromIterator<f64> for Sample {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        sort_numbers(&mut values);
        Self(values)
    }
}

impl Sample {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn sum(&self) -> f64 {
        // From 0.0 on, because the standard sum of nothing is -0.0.
        self.0.iter().fold(0.0, |sum, value| sum + value)
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.sum() / self.0.len() as f64)
    }

    pub(super) fn min(&self) -> Option<f64> {
        self.0.first().copied()
    }

    pub(crate) fn max(&self) -> Option<f64> {
        self.0.last().copied()
    }

    /// None of an empty sample, but for the count.
    pub(super) fn statistic(&self, statistic: PeerStatistic, rule: PercentileRule) -> Option<f64> {
        match statistic {
            PeerStatistic::Mean => self.mean(),
            PeerStatistic::Std => self.deviation(),
            PeerStatistic::Min => self.min(),
            PeerStatistic::Max => self.max(),
            PeerStatistic::Percentile(percent) => rule.of_sorted(&self.0, whole(percent)?),
            PeerStatistic::Count => Some(self.0.len() as f64),
        }
    }

    /// numpy's percentile.
    pub(crate) fn percentile(&self, percent: Percent) -> Option<f64> {
        PercentileRule::Linear.of_sorted(&self.0, percent)
    }

    /// The deviation, squares divided by n.
    pub(crate) fn deviation(&self) -> Option<f64> {
        let mean = self.mean()?;
        let squares = self.0.iter().fold(0.0, |sum, value| sum + (value - mean).powi(2));
        Some((squares / self.0.len() as f64).sqrt())
    }
}

fn whole(percent: u8) -> Option<Percent> {
    Percent::new(percent.into()).ok()
}

/// Values with weights, in ascending order of values.
#[derive(Debug, Clone, Default)]
pub(super) struct Weighted(Vec<(f64, u64)>);

impl FromIterator<(f64, u64)> for Weighted {
    fn from_iter<I: IntoIterator<Item = (f64, u64)>>(values: I) -> Self {
        let mut values: Vec<_> = values.into_iter().collect();
        sort_weighted_numbers(&mut values);
        Self(values)
    }
}

impl Weighted {
    fn mean(&self) -> Option<f64> {
        let weight = self.0.iter().fold(0.0, |sum, &(_, weight)| sum + weight as f64);
        let sum = self.0.iter().fold(0.0, |sum, &(value, weight)| sum + value * weight as f64);
        Some(sum / weight).filter(|mean| mean.is_finite())
    }

    /// The least value up to which the weights make up `percent` of all; nothing lies between two values.
    fn cdf(&self, percent: u8) -> Option<f64> {
        weighted_percentile_of_sorted(&self.0, whole(percent)?)
    }
}

#[cfg(test)]
mod tests {
    use super::{PeerStatistic, Sample, Weighted};
    use fizeau_metrics::PercentileRule::{FloorIndex, Linear, NearestRank};

    fn hundred() -> Sample {
        (1..=100).map(f64::from).collect()
    }

    #[test]
    fn the_rules_differ_by_a_rank() {
        let p =
            |percent, rule| hundred().statistic(PeerStatistic::Percentile(percent), rule).unwrap();
        // numpy.percentile(range(1, 101), 90, method="linear"), numpy 2.4.
        assert!((p(90, Linear) - 90.1).abs() < 1e-12);
        assert_eq!(p(90, NearestRank), 90.0);
        assert_eq!([p(90, FloorIndex), p(100, FloorIndex)], [91.0, 100.0]);
        assert_eq!(p(0, NearestRank), 1.0);
    }

    #[test]
    fn nothing_has_no_statistic_but_its_count() {
        let none: Sample = std::iter::empty().collect();
        use PeerStatistic::{Count, Max, Mean, Min, Percentile, Std};
        for statistic in [Mean, Std, Min, Max, Percentile(50)] {
            for rule in [Linear, FloorIndex, NearestRank] {
                assert_eq!(none.statistic(statistic, rule), None);
            }
        }
        assert_eq!(none.statistic(Count, Linear), Some(0.0));
        let one: Sample = [3.0].into_iter().collect();
        assert_eq!(one.statistic(Std, Linear), Some(0.0));
    }

    #[test]
    fn the_deviation_is_numpys() {
        let sample: Sample = [1.0, 2.0, 4.0, 8.0, 16.0].into_iter().collect();
        // numpy.std with ddof 0.
        let std = sample.statistic(PeerStatistic::Std, Linear).unwrap();
        assert!((std - 5.455_272_678_794_343).abs() < 1e-12);
    }

    #[test]
    fn weights_move_a_percentile() {
        let sample: Weighted = [(10.0, 1), (20.0, 97), (30.0, 2)].into_iter().collect();
        assert_eq!([50, 98, 99].map(|p| sample.cdf(p)), [Some(20.0), Some(20.0), Some(30.0)]);
        assert_eq!(sample.mean(), Some(20.1));
        let weightless: Weighted = [(10.0, 0)].into_iter().collect();
        assert_eq!((weightless.mean(), weightless.cdf(50)), (None, None));
    }
}
