//! The samples of a level, filled one tape at a time.

use fizeau_core::{Millis, Nanos, StampSource, Tape};

use super::catalogue::Source;
use super::uncertainty::{RequestSeries, complete};
use super::{Jitter, Metric, MetricTable};
use crate::distribution::Column;
use crate::events::Events;
use crate::{Distribution, PooledSample, RequestMetrics, Statistic, inter_chunk, inter_token};

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

/// What each request has one of and what is kept in no order.
#[derive(Debug, Clone)]
struct UnorderedLatencies(Vec<KeptLatencies>);

#[derive(Debug, Clone)]
struct KeptLatencies {
    metric: Metric,
    of: fn(&RequestMetrics) -> Option<Nanos>,
    values: Column,
}

impl Default for UnorderedLatencies {
    fn default() -> Self {
        let kept = |&metric: &Metric| match metric.source() {
            Source::Each(of) => Some(KeptLatencies { metric, of, values: Column::default() }),
            _ => None,
        };
        Self(Metric::ALL.iter().filter_map(kept).collect())
    }
}

impl Latencies {
    pub(super) fn add(&mut self, tape: &Tape, metrics: &RequestMetrics, events: &Events) {
        for kept in &mut self.each.0 {
            if let Some(figure) = (kept.of)(metrics) {
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
        both.for_each(|(our, their)| our.values.append(their.values));
        self.gaps_of_both.merge(other.gaps_of_both);
        self.itl.merge(other.itl);
        self.icl.merge(other.icl);
        self.read_lag.merge(other.read_lag);
        self.gaps += other.gaps;
        self.zero_gaps += other.zero_gaps;
        self.merged_gaps += other.merged_gaps;
    }

    pub(super) fn itl(&self) -> Distribution {
        self.with_both(&self.itl)
    }

    pub(super) fn icl(&self) -> Distribution {
        self.with_both(&self.icl)
    }

    pub(super) fn read_lag(&self) -> Distribution {
        self.read_lag.summary()
    }

    fn with_both(&self, gaps: &PooledSample) -> Distribution {
        let mut all = gaps.clone();
        all.merge(self.gaps_of_both.clone());
        all.summary()
    }

    /// `rows` are the same requests, in the order in which they were sent.
    pub(super) fn summary(&self, rows: &RequestSeries<'_>) -> (MetricTable, Jitter) {
        let mut table = MetricTable::of(|metric| match metric.source() {
            Source::Series(..) => {
                let series = rows.latency(metric).unwrap_or_default();
                Distribution::of_series(series.into_iter().map(Millis::new))
            }
            Source::Pooled(of) => of(self),
            _ => {
                let kept = self.each.0.iter().find(|kept| kept.metric == metric);
                kept.map(|kept| kept.values.summary()).unwrap_or_default()
            }
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
