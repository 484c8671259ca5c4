//! How far the figures of a level may be off, from its requests in the order of sending.

use fizeau_core::{Confidence, Interval, Millis, Nanos, PerSec, Stamp};

use super::catalogue::Source;
use super::slots::TimeSlots;
use super::{Metric, MetricTable};
use crate::distribution::mean_interval;
use crate::series::{FoldedRequests, RequestEvent, SentRequest};
use crate::{
    BatchMeans, Distribution, EarlyStopping, Percent, SampleSupport, Statistic, Timeline,
    TokenCells, early_stopping_bound,
};

/// Where the true rates of a level lie, at 95 %, were it to go on as it did; absent where the rate itself is.
///
/// From the rates in slots of time, which are put into batches ([`BatchMeans::of_rate`]). A request counts at its
/// end; its tokens are spread evenly between the first and the last, its prompt counts at the first. The start of a level,
/// when nothing can have ended yet, and its end are in it like all else: where a level is short against its requests, they
/// make the intervals wide.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct RateIntervals {
    /// Of the requests completed per second.
    pub requests_per_s: Option<SampleSupport<Interval<PerSec>>>,
    /// Of the tokens received per second.
    pub output_tokens_per_s: Option<SampleSupport<Interval<PerSec>>>,
    /// Of prompt and generated tokens per second; absent too where a prompt's length is unknown.
    pub total_tokens_per_s: Option<SampleSupport<Interval<PerSec>>>,
    /// Of the good requests per second; each counts at the last of its output.
    pub goodput_per_s: Option<SampleSupport<Interval<PerSec>>>,
    /// Of the share of good requests: Wilson's interval (E. B. Wilson, "Probable inference, the law of succession, and
    /// statistical inference", Journal of the American Statistical Association 22, 1927) of as many independent requests as
    /// those that were sent are worth. It has a width where all were good, too.
    pub good_share: Option<SampleSupport<Interval<f64>>>,
}

/// The requests of a level in the order of sending, or a part of them, and the time that it took.
pub(crate) struct RequestSeries<'a> {
    requests: &'a [SentRequest],
    /// What there is of all, where only a part is kept.
    folded: Option<&'a FoldedRequests>,
    /// The output of all by time.
    tokens: &'a TokenCells,
    start: Stamp,
    duration: Nanos,
}

impl<'a> RequestSeries<'a> {
    /// `timeline` is in the order of sending.
    pub(super) fn of(
        timeline: &'a Timeline,
        tokens: &'a TokenCells,
        span: Option<(Stamp, Stamp)>,
    ) -> Self {
        let (start, end) = span.unwrap_or_default();
        let (requests, folded) = (timeline.requests(), timeline.folded());
        Self { requests, folded, tokens, start, duration: end.saturating_since(start) }
    }

    /// What there is of all requests, where only a part is kept.
    pub(super) const fn folded(&self) -> Option<&'a FoldedRequests> {
        self.folded
    }

    /// A latency that there is one of for each request, in milliseconds and in order; none for any other metric.
    pub(crate) fn latency(&self, metric: Metric) -> Option<Vec<f64>> {
        let Source::Series(figure, _) = metric.source() else { return None };
        let is_latency = |value: &f64| (0.0..f64::INFINITY).contains(value);
        let values = self.requests.iter().filter_map(|request| Some(figure(request)?.get()));
        Some(values.filter(is_latency).collect())
    }

    pub(super) fn rates(&self) -> RateIntervals {
        let duration = self.duration;
        if duration == Nanos::ZERO {
            return RateIntervals::default();
        }
        let has_prompts = match self.folded {
            Some(all) => !all.is_prompt_unknown(),
            None => self.completed().all(|request| request.prompt().is_some()),
        };
        RateIntervals {
            requests_per_s: per_second(self.request_rate(RequestEvent::Completed)),
            output_tokens_per_s: per_second(self.token_rate(false)),
            total_tokens_per_s: has_prompts.then(|| per_second(self.token_rate(true))).flatten(),
            goodput_per_s: None,
            good_share: None,
        }
    }

    /// The intervals of goodput beside those of the other rates; `sent` are all requests, those that never left the client too,
    /// which were bad ones.
    pub(super) fn rates_with_goals(&self, sent: u64) -> RateIntervals {
        let rates = self.rates();
        if self.duration == Nanos::ZERO {
            return rates;
        }
        RateIntervals {
            goodput_per_s: per_second(self.request_rate(RequestEvent::Good)),
            good_share: self.good_share(sent),
            ..rates
        }
    }

    fn good_share(&self, sent: u64) -> Option<SampleSupport<Interval<f64>>> {
        let good: Vec<f64> =
            self.requests.iter().map(|request| f64::from(request.is_good)).collect();
        let all = self.folded.map_or(good.len() as u64, FoldedRequests::all) as f64;
        let left = all / sent.max(1) as f64;
        let found = BatchMeans::of(&good, Confidence::P95).ok()?;
        let share = |mean| self.folded.map_or(mean, |of| of.total(RequestEvent::Good) as f64 / all);
        let ends = |found: BatchMeans| wilson(share(found.mean), found.effective_n);
        Some(found.map(|found| ends(found).map(|end| end * left)))
    }

    /// The interval of one figure, with the figure itself; none where there is none to be had.
    pub(crate) fn estimate(
        &self,
        metric: Metric,
        statistic: Statistic,
    ) -> Option<SampleSupport<(f64, f64)>> {
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
            (Metric::RequestsPerSec, _) => self.request_rate(RequestEvent::Completed),
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
    pub(super) fn gap_mean(&self, metric: Metric) -> Option<SampleSupport<BatchMeans>> {
        let gaps = |request: &SentRequest| match metric {
            Metric::Itl => request.gap_tokens,
            _ => request.gaps,
        };
        let pairs =
            self.requests.iter().filter(|request| gaps(request) > 0).filter_map(|request| {
                let time = request.e2el()?.saturating_sub(request.ttft()?);
                Some((time.as_millis_f64(), f64::from(gaps(request))))
            });
        let pairs: Vec<(f64, f64)> = pairs.collect();
        let (times, counts) =
            pairs.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
        let (ratio, average) = (times / counts, counts / pairs.len() as f64);
        let off = |&(time, count): &(f64, f64)| ratio + (time - ratio * count) / average;
        BatchMeans::of(&pairs.iter().map(off).collect::<Vec<_>>(), Confidence::P95).ok()
    }

    fn completed(&self) -> impl Iterator<Item = &SentRequest> {
        self.requests.iter().filter(|request| request.output().is_some())
    }

    /// Of requests that completed, all or the good ones.
    fn request_rate(&self, which: RequestEvent) -> Option<SampleSupport<BatchMeans>> {
        let since = |at: Stamp| at.saturating_since(self.start).min(self.duration);
        let counts = |sent: &&SentRequest| which != RequestEvent::Good || sent.is_good;
        let events: Vec<(Nanos, u64)> = match self.folded {
            Some(all) => all.at_ends(which).map(|(at, count)| (since(at), count)).collect(),
            None => self.completed().filter(counts).map(|sent| (since(sent.end), 1)).collect(),
        };
        BatchMeans::of_rate(&events, self.duration, Confidence::P95).ok()
    }

    /// Of all requests, by cells of time.
    fn folded_token_rate(
        &self,
        all: &FoldedRequests,
        with_prompts: bool,
    ) -> Option<SampleSupport<BatchMeans>> {
        let has = all.total(RequestEvent::Completed);
        let mut slots = TimeSlots::new(has, self.duration);
        let output = self.tokens.at_ends(self.tokens.cell());
        let prompts = all.at_ends(RequestEvent::Prompt).filter(|_| with_prompts);
        for (at, tokens) in output.chain(prompts) {
            let at = at.saturating_since(self.start);
            slots.spread(at, at, tokens as f64);
        }
        slots.mean(has)
    }

    fn token_rate(&self, with_prompts: bool) -> Option<SampleSupport<BatchMeans>> {
        if let Some(all) = self.folded {
            return self.folded_token_rate(all, with_prompts);
        }
        let has = self.completed().count() as u64;
        let mut slots = TimeSlots::new(has, self.duration);
        for request in self.completed() {
            let at = |stamp: Stamp| stamp.saturating_since(self.start);
            let last = request.e2el().map_or(request.first, |e2el| request.at + e2el);
            let output = request.output().unwrap_or_default().get() as f64;
            slots.spread(at(request.first), at(last), output);
            if with_prompts {
                let prompt = request.prompt().unwrap_or_default().get() as f64;
                slots.spread(at(request.first), at(request.first), prompt);
            }
        }
        slots.mean(has)
    }
}

/// Puts intervals where `table` has none yet: of the means of gaps, and MLPerf's bounds.
pub(super) fn complete(table: &mut MetricTable, rows: &RequestSeries<'_>) {
    for (metric, sample) in table.each_mut() {
        if matches!(metric, Metric::Itl | Metric::Icl)
            && let Some(mean) = sample.mean
            && let Some(found) = rows.gap_mean(metric)
        {
            sample.mean_interval = Some(found.map(|found| {
                // Around the mean of the gaps themselves; that of the requests' own times differs by rounding.
                let moved = mean.get() - found.mean;
                mean_interval(found.interval.map(|end| end + moved))
            }));
        }
        if metric.is_bounded() {
            let values = rows
                .latency(metric)
                .filter(|values| values.len() as u64 == sample.n || rows.folded().is_some())
                .filter(|_| sample.n > 0);
            sample.early_stopping = values.and_then(|values| {
                let bound = |percent| early_stopping_bound(&values, percent, Confidence::P99).ok();
                let (p90, p99) = (bound(Percent::P90)?, bound(Percent::P99)?);
                Some(EarlyStopping { p90: p90.map(Millis::new), p99: p99.map(Millis::new) })
            });
        }
    }
}

fn half(low: Millis, high: Millis) -> f64 {
    (high.get() - low.get()) / 2.0
}

/// No rate is below zero.
pub(super) fn per_second(
    found: Option<SampleSupport<BatchMeans>>,
) -> Option<SampleSupport<Interval<PerSec>>> {
    let ends = |Interval { low, high, confidence }: Interval<f64>| Interval {
        low: PerSec::new(low.max(0.0)),
        high: PerSec::new(high),
        confidence,
    };
    found.map(|found| found.map(|found| ends(found.interval)))
}

/// Where a share lies that was `share` of `n` independent values, at 95 %.
fn wilson(share: f64, n: f64) -> Interval<f64> {
    /// The 97.5th percentile of the normal distribution.
    const Z: f64 = 1.959_963_984_540_054;
    let squared = Z * Z / n;
    let middle = share + squared / 2.0;
    let half = Z * (share * (1.0 - share) / n + squared / (4.0 * n)).sqrt();
    let end = |value: f64| (value / (1.0 + squared)).clamp(0.0, 1.0);
    // Rounding must not leave out the share itself at 0 and 1.
    Interval::p95(end(middle - half).min(share), end(middle + half).max(share))
}

#[cfg(test)]
mod tests {
    use super::wilson;

    /// What defines it: each end is a share that the one seen is just 1.96 of its standard errors away from.
    #[test]
    fn a_share_has_wilsons_interval() {
        for (share, n) in [(1.0, 100.0), (0.5, 100.0), (0.98, 50.0), (0.0, 30.0)] {
            let found = wilson(share, n);
            assert!(found.low <= share && share <= found.high && found.low < found.high);
            for end in [found.low, found.high].into_iter().filter(|&end| end != share) {
                let off = (share - end).abs() / (end * (1.0 - end) / n).sqrt();
                assert!((off - 1.959_963_984_540_054).abs() < 1e-9, "{share} of {n}: {found:?}");
            }
        }
    }
}
