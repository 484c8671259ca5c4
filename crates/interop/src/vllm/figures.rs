//! vLLM's figures from tapes, by vLLM's definitions: what is taken from a tape is as in `peers`, in whole nanoseconds.

use fizeau_core::{Millis, Nanos, PerSec, Seconds, Tape};
use fizeau_metrics::{Percent, PooledSample, SimpleGoals};

use super::VllmMetric;
use crate::peers::Sample;
use crate::peers::run::{first_token, last_token, queued, reported_or_counted};

/// The statistics of one metric, in milliseconds; zeros of an empty sample.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stats {
    pub(super) mean: f64,
    pub(super) median: f64,
    pub(super) std: f64,
    pub(super) percentiles: Vec<(Percent, f64)>,
}

impl Stats {
    pub(super) fn of(values: Vec<f64>, percentiles: &[Percent]) -> Self {
        let values: Sample = values.into_iter().collect();
        let each = |&p: &Percent| (p, values.percentile(p).unwrap_or(0.0));
        Self {
            mean: values.mean().unwrap_or(0.0),
            median: each(&Percent::P50).1,
            std: values.deviation().unwrap_or(0.0),
            percentiles: percentiles.iter().map(each).collect(),
        }
    }

    /// Of pooled gaps, and of more values than are kept one by one.
    pub(super) fn of_gaps(gaps: &PooledSample, percentiles: &[Percent]) -> Self {
        let percents: Vec<f64> = percentiles.iter().map(|p| p.get()).collect();
        let (summary, found) = gaps.summary_with(&percents);
        Self {
            mean: or_zero(summary.mean),
            median: or_zero(summary.p50.value()),
            std: or_zero(summary.std),
            percentiles: percentiles.iter().copied().zip(found.into_iter().map(or_zero)).collect(),
        }
    }
}

fn or_zero(figure: Option<Millis>) -> f64 {
    figure.map_or(0.0, Millis::get)
}

/// The value of a metric that has one a request, in milliseconds; none if this request has none.
pub(super) fn value(metric: VllmMetric, tape: &Tape) -> Option<f64> {
    match metric {
        VllmMetric::Ttft => first_token(tape).map(Nanos::as_millis_f64),
        VllmMetric::Tpot => tpot(tape),
        VllmMetric::Itl => None,
        VllmMetric::E2el => last_token(tape).map(Nanos::as_millis_f64),
        VllmMetric::ClientQueueTime => Some(queued(tape).as_millis_f64()),
        VllmMetric::E2elIncludingClientQueue => {
            Some((last_token(tape)? + queued(tape)).as_millis_f64())
        }
    }
}

fn tpot(tape: &Tape) -> Option<f64> {
    let n = reported_or_counted(tape);
    let after_first = last_token(tape)?.saturating_sub(first_token(tape)?);
    (n > 1).then(|| after_first.as_millis_f64() / (n - 1) as f64)
}

/// `count` over `duration`; nothing where no time passed.
pub(super) fn rate(count: f64, duration: Seconds) -> PerSec {
    if duration.get() > 0.0 { PerSec::new(count / duration.get()) } else { PerSec::new(0.0) }
}

/// Whether a request succeeded and met every goal, by vLLM's figures.
pub(super) fn meets(tape: &Tape, goals: &SimpleGoals) -> bool {
    let within = |goal: Option<Millis>, figure: Option<f64>| {
        goal.is_none_or(|goal| figure.is_some_and(|figure| figure <= goal.get()))
    };
    let pace = tpot(tape).unwrap_or(0.0);
    tape.is_success()
        && within(goals.ttft, first_token(tape).map(Nanos::as_millis_f64))
        && within(goals.tpot, Some(pace))
        && within(goals.e2el, last_token(tape).map(Nanos::as_millis_f64))
}

#[cfg(test)]
mod tests {
    use super::{Percent, Stats};

    #[test]
    fn percentiles_are_numpys() {
        // numpy.percentile([1, 2, 4, 8, 16], [0, 25, 50, 90, 99, 100]), numpy 2.4.
        let wanted = [0.0, 25.0, 50.0, 90.0, 99.0, 100.0].map(|p| Percent::new(p).unwrap());
        let stats = Stats::of(vec![16.0, 1.0, 8.0, 2.0, 4.0], &wanted);
        let found: Vec<f64> = stats.percentiles.iter().map(|entry| entry.1).collect();
        for (found, golden) in found.iter().zip([1.0, 2.0, 4.0, 12.8, 15.68, 16.0]) {
            assert!((found - golden).abs() < 1e-12, "{found} {golden}");
        }
        // numpy.mean and numpy.std (ddof 0) of the same.
        assert!((stats.mean - 6.2).abs() < 1e-12);
        assert!((stats.std - 5.455_272_678_794_343).abs() < 1e-12);
    }

    #[test]
    fn an_empty_sample_is_zero_as_vllm_has_it() {
        let stats = Stats::of(Vec::new(), &[Percent::P99]);
        assert_eq!((stats.mean, stats.median, stats.std), (0.0, 0.0, 0.0));
        assert_eq!(stats.percentiles[0].1, 0.0);
    }
}
