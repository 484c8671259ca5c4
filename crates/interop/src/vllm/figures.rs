//! vLLM's figures from tapes, by vLLM's definitions.

use fizeau_core::{Millis, Nanos, PerSec, Seconds, Stamp, Tape};
use fizeau_metrics::{PooledSample, SimpleGoals};

use super::{Percentile, VllmMetric};

/// The statistics of one metric, in milliseconds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stats {
    pub(super) mean: f64,
    pub(super) median: f64,
    pub(super) std: f64,
    pub(super) percentiles: Vec<(Percentile, f64)>,
}

impl Stats {
    pub(super) fn of(mut values: Vec<f64>, percentiles: &[Percentile]) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let n = values.len().max(1) as f64;
        // From 0.0 on, because the standard sum of nothing is -0.0.
        let mean = values.iter().fold(0.0, |sum, v| sum + v) / n;
        let variance = values.iter().fold(0.0, |sum, v| sum + (v - mean).powi(2)) / n;
        let each = |&p: &Percentile| (p, percentile(&values, p.get()));
        Self {
            mean,
            median: percentile(&values, 50.0),
            std: variance.sqrt(),
            percentiles: percentiles.iter().map(each).collect(),
        }
    }

    /// Of pooled gaps; zeros of none.
    pub(super) fn of_gaps(gaps: &PooledSample, percentiles: &[Percentile]) -> Self {
        let summary = gaps.summary();
        let percents: Vec<f64> = percentiles.iter().map(|p| p.get()).collect();
        let found = gaps.percentiles(&percents).into_iter().map(or_zero);
        Self {
            mean: or_zero(summary.mean),
            median: or_zero(summary.p50.value()),
            std: or_zero(summary.std),
            percentiles: percentiles.iter().copied().zip(found).collect(),
        }
    }
}

fn or_zero(figure: Option<Millis>) -> f64 {
    figure.map_or(0.0, Millis::get)
}

/// The percentile `p` of ascending `values` as numpy's `percentile` gives it (method `linear`); 0.0 of none.
pub(super) fn percentile(values: &[f64], p: f64) -> f64 {
    let Some(last) = values.len().checked_sub(1) else {
        return 0.0;
    };
    let at = p / 100.0 * last as f64;
    let below = (at.floor() as usize).min(last);
    let above = (below + 1).min(last);
    let part = at - below as f64;
    let (low, high) = (values[below], values[above]);
    // numpy counts from the nearer end, so that neither end is missed by a rounding.
    if part >= 0.5 { high - (high - low) * (1.0 - part) } else { low + (high - low) * part }
}

/// The value of a metric that has one a request, in milliseconds; none if this request has none.
pub(super) fn value(metric: VllmMetric, tape: &Tape) -> Option<f64> {
    match metric {
        VllmMetric::Ttft => ttft(tape).map(Nanos::as_millis_f64),
        VllmMetric::Tpot => tpot(tape),
        VllmMetric::Itl => None,
        VllmMetric::E2el => latency(tape).map(Nanos::as_millis_f64),
        VllmMetric::ClientQueueTime => Some(queue_time(tape).as_millis_f64()),
        VllmMetric::E2elIncludingClientQueue => {
            Some((latency(tape)? + queue_time(tape)).as_millis_f64())
        }
    }
}

/// `count` over `duration`; nothing where no time passed.
pub(super) fn rate(count: f64, duration: Seconds) -> PerSec {
    if duration.get() > 0.0 { PerSec::new(count / duration.get()) } else { PerSec::new(0.0) }
}

/// When a request was sent, or at least let go.
pub(crate) fn sent(tape: &Tape) -> Stamp {
    tape.marks.send_start.unwrap_or(tape.marks.released)
}

/// When a request was over.
pub(super) fn end(tape: &Tape) -> Stamp {
    let end = tape.marks.end.or_else(|| tape.last_output());
    end.unwrap_or_else(|| sent(tape))
}

pub(super) fn ttft(tape: &Tape) -> Option<Nanos> {
    tape.first_token()?.since(sent(tape))
}

pub(crate) fn latency(tape: &Tape) -> Option<Nanos> {
    tape.last_output()?.since(sent(tape))
}

fn tpot(tape: &Tape) -> Option<f64> {
    let n = output_len(tape);
    let after_first = latency(tape)?.saturating_sub(ttft(tape)?);
    (n > 1).then(|| after_first.as_millis_f64() / (n - 1) as f64)
}

/// Whether a request succeeded and met every goal, by vLLM's figures.
pub(super) fn meets(tape: &Tape, goals: &SimpleGoals) -> bool {
    let within = |goal: Option<Millis>, figure: Option<f64>| {
        goal.is_none_or(|goal| figure.is_some_and(|figure| figure <= goal.get()))
    };
    let pace = tpot(tape).unwrap_or(0.0);
    tape.is_success()
        && within(goals.ttft, ttft(tape).map(Nanos::as_millis_f64))
        && within(goals.tpot, Some(pace))
        && within(goals.e2el, latency(tape).map(Nanos::as_millis_f64))
}

pub(super) fn queue_time(tape: &Tape) -> Nanos {
    tape.marks.released.saturating_since(tape.marks.intended)
}

/// The server's word where there is one, else what was counted on arrival.
pub(crate) fn output_len(tape: &Tape) -> u64 {
    let reported = tape.usage.and_then(|usage| usage.completion_tokens);
    let reported = reported.filter(|tokens| tokens.get() > 0);
    reported.unwrap_or_else(|| tape.output_tokens()).get()
}

/// Gaps between successive chunks.
pub(crate) fn gaps(tape: &Tape) -> impl Iterator<Item = Nanos> {
    let later = tape.arrivals.iter().skip(1);
    let pairs = tape.arrivals.iter().zip(later);
    pairs.map(|(before, after)| after.at.saturating_since(before.at))
}

#[cfg(test)]
mod tests {
    use super::{Percentile, Stats};

    #[test]
    fn percentiles_are_numpys() {
        // numpy.percentile([1, 2, 4, 8, 16], [0, 25, 50, 90, 99, 100]), numpy 2.4.
        let wanted = ["0", "25", "50", "90", "99", "100"].map(|p| p.parse::<Percentile>().unwrap());
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
        let stats = Stats::of(Vec::new(), &["99".parse().unwrap()]);
        assert_eq!((stats.mean, stats.median, stats.std), (0.0, 0.0, 0.0));
        assert_eq!(stats.percentiles[0].1, 0.0);
    }
}
