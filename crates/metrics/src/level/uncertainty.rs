//! How far the figures of a level may be off, from its requests in the order of sending.

use fizeau_core::{Millis, Nanos, PerSec, Stamp};

use super::MetricTable;
use crate::distribution::mean_interval;
use crate::series::Sent;
use crate::{
    BatchMeans, Bounds, Confidence, Distribution, EarlyStopping, Interval, Metric, Percent,
    Statistic, Support, Timeline, early_stopping_bound,
};

/// Where the true rates of a level lie, at 95 %, were it to go on as it did; absent where the rate itself is.
///
/// From the rates in slots of time, which are put into batches ([`BatchMeans::of_rate`]). A request counts at its
/// end; its tokens are spread evenly between the first and the last, its prompt counts at the first. The start of a level,
/// when nothing can have ended yet, and its end are in it like all else: where a level is short against its requests, they
/// make the intervals wide.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RateIntervals {
    /// Of the requests completed per second.
    pub requests_per_s: Option<Support<Interval<PerSec>>>,
    /// Of the tokens received per second.
    pub output_tokens_per_s: Option<Support<Interval<PerSec>>>,
    /// Of prompt and generated tokens per second; absent too where a prompt's length is unknown.
    pub total_tokens_per_s: Option<Support<Interval<PerSec>>>,
}

/// The requests of a level in the order of sending, and the time that it took.
pub(crate) struct Rows<'a> {
    requests: &'a [Sent],
    start: Stamp,
    duration: Nanos,
}

/// What a request has of a latency.
type Figure = fn(&Sent) -> Option<Millis>;

impl<'a> Rows<'a> {
    /// `timeline` is in the order of sending.
    pub(super) fn of(timeline: &'a Timeline, span: Option<(Stamp, Stamp)>) -> Self {
        let (start, end) = span.unwrap_or_default();
        Self { requests: timeline.requests(), start, duration: end.saturating_since(start) }
    }

    /// A latency that there is one of for each request, in milliseconds and in order; none for any other metric.
    pub(super) fn latency(&self, metric: Metric) -> Option<Vec<f64>> {
        let figure = figure(metric)?;
        let is_latency = |value: &f64| (0.0..f64::INFINITY).contains(value);
        let values = self.requests.iter().filter_map(|request| Some(figure(request)?.get()));
        Some(values.filter(is_latency).collect())
    }

    pub(super) fn rates(&self) -> RateIntervals {
        let duration = self.duration;
        if duration == Nanos::ZERO {
            return RateIntervals::default();
        }
        let has_prompts = self.completed().all(|request| request.prompt.is_some());
        RateIntervals {
            requests_per_s: per_second(self.request_rate()),
            output_tokens_per_s: per_second(self.token_rate(false)),
            total_tokens_per_s: has_prompts.then(|| per_second(self.token_rate(true))).flatten(),
        }
    }

    /// The interval of one figure, with the figure itself; none where there is none to be had.
    pub(crate) fn estimate(
        &self,
        metric: Metric,
        statistic: Statistic,
    ) -> Option<Support<(f64, f64)>> {
        if let Some(values) = self.latency(metric) {
            let sample = Distribution::of_series(values.into_iter().map(Millis::new));
            let value = sample.statistic(statistic);
            let interval = match statistic {
                Statistic::Mean => sample.mean_interval,
                _ => sample.quantile(statistic).and_then(|quantile| quantile.support(sample.n)),
            };
            return interval.map(|found| {
                found.map(|ends| (value.unwrap_or_default().get(), half(ends.low, ends.high)))
            });
        }
        let found = match (metric, statistic) {
            (Metric::Itl | Metric::Icl, Statistic::Mean) => self.gap_mean(metric),
            (Metric::RequestsPerSec, _) => self.request_rate(),
            (Metric::OutputTokensPerSec, _) => self.token_rate(false),
            _ => None,
        };
        found.map(|found| {
            found.map(|found| (found.mean, (found.interval.high - found.interval.low) / 2.0))
        })
    }

    /// Where the mean of pooled gaps lies: a ratio of sums over the requests. Its error is that of the mean of what each
    /// request's gaps are off by from the ratio, per gap of the average request: W. G. Cochran, "Sampling Techniques" (1977),
    /// chapter 6.
    pub(super) fn gap_mean(&self, metric: Metric) -> Option<Support<BatchMeans>> {
        let gaps = |request: &Sent| match metric {
            Metric::Itl => request.gap_tokens,
            _ => request.gaps,
        };
        let pairs =
            self.requests.iter().filter(|request| gaps(request) > 0).filter_map(|request| {
                let time = request.e2el?.saturating_sub(request.ttft()?);
                Some((time.as_millis_f64(), f64::from(gaps(request))))
            });
        let pairs: Vec<(f64, f64)> = pairs.collect();
        let (times, counts) =
            pairs.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
        let (ratio, average) = (times / counts, counts / pairs.len() as f64);
        let off = |&(time, count): &(f64, f64)| ratio + (time - ratio * count) / average;
        BatchMeans::of(&pairs.iter().map(off).collect::<Vec<_>>(), Confidence::P95).ok()
    }

    fn completed(&self) -> impl Iterator<Item = &Sent> {
        self.requests.iter().filter(|request| request.output.is_some())
    }

    fn request_rate(&self) -> Option<Support<BatchMeans>> {
        let ended =
            |request: &Sent| (request.end.saturating_since(self.start).min(self.duration), 1);
        let events: Vec<(Nanos, u64)> = self.completed().map(ended).collect();
        BatchMeans::of_rate(&events, self.duration, Confidence::P95).ok()
    }

    fn token_rate(&self, with_prompts: bool) -> Option<Support<BatchMeans>> {
        let has = self.completed().count() as u64;
        let mut slots = Slots::new(has, self.duration);
        for request in self.completed() {
            let at = |stamp: Stamp| stamp.saturating_since(self.start);
            let last = request.e2el.map_or(request.first, |e2el| request.at + e2el);
            let output = request.output.unwrap_or_default().get() as f64;
            slots.spread(at(request.first), at(last), output);
            if with_prompts {
                let prompt = request.prompt.unwrap_or_default().get() as f64;
                slots.spread(at(request.first), at(request.first), prompt);
            }
        }
        let rates = slots.rates();
        Some(match BatchMeans::of(&rates, Confidence::P95).ok()? {
            Support::NotSupported { needs, .. } => {
                // In requests, not in slots, which are as many or fewer.
                let in_requests = (needs * has).div_ceil(rates.len().max(1) as u64);
                Support::NotSupported { needs: in_requests.max(needs), has }
            }
            known @ Support::Known(_) => known,
        })
    }
}

/// Puts intervals where `table` has none yet: of the means of gaps, and MLPerf's bounds.
pub(super) fn complete(table: &mut MetricTable, rows: &Rows<'_>) {
    for (metric, sample) in [(Metric::Itl, &mut table.itl), (Metric::Icl, &mut table.icl)] {
        let Some(mean) = sample.mean else { continue };
        let found = rows.gap_mean(metric);
        sample.mean_interval = found.map(|found| {
            found.map(|found| {
                // Around the mean of the gaps themselves; that of the requests' own times differs by rounding.
                let moved = mean.get() - found.mean;
                let Bounds { low, high, confidence } = found.interval;
                mean_interval(Bounds { low: low + moved, high: high + moved, confidence })
            })
        });
    }
    let bounded = [
        (Metric::Ttft, &mut table.ttft),
        (Metric::Tpot, &mut table.tpot),
        (Metric::E2el, &mut table.e2el),
    ];
    for (metric, sample) in bounded {
        let values =
            rows.latency(metric).filter(|values| values.len() as u64 == sample.n && sample.n > 0);
        sample.early_stopping = values.and_then(|values| {
            let bound = |percent| early_stopping_bound(&values, percent, Confidence::P99).ok();
            let (p90, p99) = (bound(Percent::P90)?, bound(Percent::P99)?);
            Some(EarlyStopping { p90: p90.map(Millis::new), p99: p99.map(Millis::new) })
        });
    }
}

fn figure(metric: Metric) -> Option<Figure> {
    Some(match metric {
        Metric::Ttft => |request| Some(request.ttft()?.to_millis()),
        Metric::TtftScheduled => |request| Some(request.ttft_scheduled()?.to_millis()),
        Metric::FirstVisible => |request| Some(request.visible?.to_millis()),
        Metric::Tpot => |request| request.tpot,
        Metric::E2el => |request| Some(request.e2el?.to_millis()),
        Metric::E2elScheduled => |request| Some(request.e2el_scheduled()?.to_millis()),
        _ => return None,
    })
}

fn half(low: Millis, high: Millis) -> f64 {
    (high.get() - low.get()) / 2.0
}

/// No rate is below zero.
fn per_second(found: Option<Support<BatchMeans>>) -> Option<Support<Interval<PerSec>>> {
    let ends = |BatchMeans { interval: Bounds { low, high, .. }, .. }| Interval {
        low: PerSec::new(low.max(0.0)),
        high: PerSec::new(high),
    };
    found.map(|found| found.map(ends))
}

/// Equal slots of time that amounts are spread over.
struct Slots {
    per_second: f64,
    /// What each slot has of amounts that begin or end in it.
    amounts: Vec<f64>,
    /// By how much the amount of every slot from this one on changes.
    steps: Vec<f64>,
}

/// As many as [`BatchMeans::of_rate`] counts in, at most.
const MOST_SLOTS: u64 = 4096;

impl Slots {
    /// As many as there are `events`.
    fn new(events: u64, duration: Nanos) -> Self {
        let slots = events.min(MOST_SLOTS) as usize;
        let per_second = slots as f64 / duration.as_secs_f64();
        Self { per_second, amounts: vec![0.0; slots], steps: vec![0.0; slots + 1] }
    }

    /// Spreads `amount` evenly between two instants; all of it counts at one where they are the same.
    fn spread(&mut self, from: Nanos, to: Nanos, amount: f64) {
        let Some(last) = self.amounts.len().checked_sub(1) else { return };
        let place = |at: Nanos| (at.as_secs_f64() * self.per_second).min(self.amounts.len() as f64);
        let (from, to) = (place(from), place(to));
        let slot = |place: f64| (place as usize).min(last);
        let (first, end) = (slot(from), slot(to));
        if first >= end {
            self.amounts[end] += amount;
            return;
        }
        let density = amount / (to - from);
        self.amounts[first] += density * ((first + 1) as f64 - from);
        self.amounts[end] += density * (to - end as f64);
        self.steps[first + 1] += density;
        self.steps[end] -= density;
    }

    fn rates(&self) -> Vec<f64> {
        let mut whole = 0.0;
        let rate = |(amount, step): (&f64, &f64)| {
            whole += step;
            (amount + whole) * self.per_second
        };
        self.amounts.iter().zip(&self.steps).map(rate).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Slots;
    use fizeau_core::Nanos;

    #[test]
    fn what_is_spread_over_slots_is_all_there() {
        let ms = Nanos::from_millis;
        let mut slots = Slots::new(4, ms(4_000));
        slots.spread(ms(500), ms(2_500), 8.0);
        assert_eq!(slots.rates(), [2.0, 4.0, 2.0, 0.0]);
        slots.spread(ms(3_000), ms(3_000), 1.0);
        slots.spread(ms(4_000), ms(4_000), 1.0);
        slots.spread(ms(1_250), ms(1_750), 1.0);
        assert_eq!(slots.rates(), [2.0, 5.0, 2.0, 2.0]);
    }
}
