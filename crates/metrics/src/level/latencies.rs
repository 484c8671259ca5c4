//! The samples of a level, filled one tape at a time.

use std::cell::OnceCell;

use fizeau_core::{Millis, Nanos, StampSource, Tape};

use super::catalogue::Source;
use super::uncertainty::{RequestSeries, complete};
use super::{Jitter, Metric, MetricTable};
use crate::events::Events;
use crate::{
    Distribution, LevelTally, PooledSample, RequestMetrics, Statistic, inter_chunk, inter_token,
};

/// The samples behind [`MetricTable`] and [`Jitter`].
#[derive(Debug, Clone, Default)]
pub(super) struct Latencies {
    each: UnorderedLatencies,
    /// Gaps of replies in which an event is a token: inter-token and inter-chunk latency at once.
    gaps_of_both: PooledSample,
    /// Gaps of all other replies, by token and by event.
    itl: PooledSample,
    icl: PooledSample,
    read_lag: PooledSample,
    gaps: u64,
    zero_gaps: u64,
    merged_gaps: u64,
}

/// That of [`Latencies::gaps_of_both`] alone, which are most often all: a million gaps are put in order once.
#[derive(Debug, Default)]
pub(super) struct SummaryOfBoth(OnceCell<Distribution>);

/// What each request has one of, in no order. Of what the requests themselves have in theirs it is needed once they are too many
/// to keep.
#[derive(Debug, Clone)]
struct UnorderedLatencies(Vec<KeptLatencies>);

#[derive(Debug, Clone)]
struct KeptLatencies {
    metric: Metric,
    source: Source,
    values: PooledSample,
}

impl Default for UnorderedLatencies {
    fn default() -> Self {
        Self::up_to(LevelTally::EXACT)
    }
}

impl UnorderedLatencies {
    fn up_to(requests: usize) -> Self {
        let kept = |&metric: &Metric| {
            let (source, values) = (metric.source(), PooledSample::up_to(requests));
            let is_kept = matches!(source, Source::Each(_) | Source::Series(..));
            is_kept.then_some(KeptLatencies { metric, source, values })
        };
        Self(Metric::ALL.iter().filter_map(kept).collect())
    }

    fn of(&self, metric: Metric) -> Option<&PooledSample> {
        self.0.iter().find(|kept| kept.metric == metric).map(|kept| &kept.values)
    }

    fn summary(&self, metric: Metric) -> Distribution {
        self.of(metric).map(PooledSample::summary).unwrap_or_default()
    }
}

impl KeptLatencies {
    /// That of a request; to the nearest nanosecond where it is a mean.
    fn of(&self, metrics: &RequestMetrics) -> Option<Nanos> {
        match self.source {
            Source::Each(of) => of(metrics),
            Source::Series(_, of) => {
                let nanos = of(metrics)?.get() * 1e6;
                (0.0..f64::INFINITY)
                    .contains(&nanos)
                    .then(|| Nanos::from_nanos(nanos.round() as u64))
            }
            _ => None,
        }
    }
}

impl Latencies {
    /// Empty, to keep what so many requests have one by one, and at least as many gaps.
    pub(super) fn up_to(requests: usize) -> Self {
        let gaps = || PooledSample::up_to(PooledSample::EXACT.max(requests));
        let [gaps_of_both, itl, icl, read_lag] = [gaps(), gaps(), gaps(), gaps()];
        let each = UnorderedLatencies::up_to(requests);
        Self { each, gaps_of_both, itl, icl, read_lag, ..Self::default() }
    }

    pub(super) fn add(&mut self, tape: &Tape, metrics: &RequestMetrics, events: &Events) {
        for kept in &mut self.each.0 {
            if let Some(figure) = kept.of(metrics) {
                kept.values.push(figure);
            }
        }
        self.add_gaps(tape, events);
    }

    fn add_gaps(&mut self, tape: &Tape, events: &Events) {
        self.gaps += events.gaps;
        self.zero_gaps += events.zero_gaps;
        self.merged_gaps += events.merged;
        let gaps = inter_chunk(tape);
        if events.are_tokens {
            self.gaps_of_both.extend(gaps);
        } else {
            self.icl.extend(gaps);
            for share in inter_token(tape) {
                self.itl.push_shared(share.gap, share.tokens);
            }
        }
        // Only the kernel's stamps know how long the bytes lay there; the lag of any other stamp is zero by definition.
        if tape.stamps == StampSource::Kernel {
            self.read_lag.extend(tape.arrivals.iter().map(|arrival| arrival.read_lag.to_nanos()));
        }
    }

    /// Takes in all that `other` has.
    pub(super) fn merge(&mut self, other: Self) {
        let both = self.each.0.iter_mut().zip(other.each.0);
        both.for_each(|(our, their)| our.values.merge(their.values));
        self.gaps_of_both.merge(other.gaps_of_both);
        self.itl.merge(other.itl);
        self.icl.merge(other.icl);
        self.read_lag.merge(other.read_lag);
        self.gaps += other.gaps;
        self.zero_gaps += other.zero_gaps;
        self.merged_gaps += other.merged_gaps;
    }

    /// How many bytes it holds.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        let pooled = [&self.gaps_of_both, &self.itl, &self.icl, &self.read_lag];
        let each = self.each.0.iter().map(|kept| &kept.values);
        each.chain(pooled).map(PooledSample::bytes).sum()
    }

    pub(super) fn itl(&self, both: &SummaryOfBoth) -> Distribution {
        self.with_both(&self.itl, both)
    }

    pub(super) fn icl(&self, both: &SummaryOfBoth) -> Distribution {
        self.with_both(&self.icl, both)
    }

    pub(super) fn read_lag(&self, _: &SummaryOfBoth) -> Distribution {
        self.read_lag.summary()
    }

    fn with_both(&self, gaps: &PooledSample, both: &SummaryOfBoth) -> Distribution {
        if gaps.is_empty() {
            return both.0.get_or_init(|| self.gaps_of_both.summary()).clone();
        }
        let mut all = gaps.clone();
        all.merge(self.gaps_of_both.clone());
        all.summary()
    }

    /// `rows` are the same requests, in the order in which they were sent, and `failed` are those that have no latency.
    pub(super) fn summary(&self, rows: &RequestSeries<'_>, failed: u64) -> (MetricTable, Jitter) {
        let both = SummaryOfBoth::default();
        let mut table = MetricTable::of(|metric| match metric.source() {
            Source::Series(..) => {
                let series = rows.latency(metric).unwrap_or_default();
                let series = Distribution::of_series(series.into_iter().map(Millis::new));
                let summary = match rows.folded() {
                    None => series,
                    Some(_) => self.each.summary(metric).with_intervals_of(&series),
                };
                let kept = self.each.of(metric).filter(|kept| failed > 0 && !kept.is_empty());
                Distribution {
                    over_sent: kept.map(|kept| Box::new(kept.over_sent(failed))),
                    ..summary
                }
            }
            Source::Pooled(of) => of(self, &both),
            _ => self.each.summary(metric),
        });
        complete(&mut table, rows);
        let of_gaps = |some: u64| (self.gaps > 0).then(|| some as f64 / self.gaps as f64);
        let jitter = Jitter {
            itl_std: table.itl.std,
            itl_tail_ratio: tail_ratio(&table.itl),
            ttft_tail_ratio: tail_ratio(&table.ttft),
            tpot_tail_ratio: tail_ratio(&table.tpot),
            e2el_tail_ratio: tail_ratio(&table.e2el),
            zero_gap_share: of_gaps(self.zero_gaps),
            merged_gap_share: of_gaps(self.merged_gaps),
        };
        (table, jitter)
    }
}

/// p99 / p50; none where either is, or where the median is zero.
fn tail_ratio(sample: &Distribution) -> Option<f64> {
    let (p99, p50) = sample.statistic(Statistic::P99).zip(sample.statistic(Statistic::P50))?;
    Some(p99 / p50).filter(|ratio| ratio.is_finite())
}
