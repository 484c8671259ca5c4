//! The samples of a level, filled one tape at a time.

use fizeau_core::{Millis, StampSource, Tape};

use super::uncertainty::{Rows, complete};
use super::{Jitter, MetricTable};
use crate::distribution::Column;
use crate::events::Events;
use crate::{
    Distribution, Metric, PooledSample, RequestMetrics, Statistic, inter_chunk, inter_token,
};

/// The samples behind [`MetricTable`] and [`Jitter`].
#[derive(Debug, Clone, Default)]
pub(super) struct Latencies {
    reasoning: Column,
    /// Gaps of replies in which an event is a token: inter-token and inter-chunk latency at once.
    gaps_of_both: PooledSample,
    /// Gaps of all other replies, by token and by event.
    itl: PooledSample,
    icl: PooledSample,
    send_lateness: Column,
    release_lateness: Column,
    send_delay: Column,
    connection_wait: Column,
    connect: Column,
    dns: Column,
    tcp: Column,
    tls: Column,
    read_lag: PooledSample,
    gaps: u64,
    zero_gaps: u64,
}

impl Latencies {
    pub(super) fn add(&mut self, tape: &Tape, metrics: &RequestMetrics, events: &Events) {
        let figures = [
            (&mut self.reasoning, metrics.reasoning),
            (&mut self.send_lateness, metrics.send_lateness),
            (&mut self.release_lateness, metrics.release_lateness),
            (&mut self.send_delay, metrics.send_delay),
            (&mut self.connection_wait, metrics.connection_wait),
            (&mut self.connect, metrics.connect),
            (&mut self.dns, metrics.dns),
            (&mut self.tcp, metrics.tcp),
            (&mut self.tls, metrics.tls),
        ];
        for (column, figure) in figures {
            if let Some(figure) = figure {
                column.push(figure);
            }
        }
        self.add_gaps(tape, events);
    }

    fn add_gaps(&mut self, tape: &Tape, events: &Events) {
        self.gaps += events.gaps;
        self.zero_gaps += events.zero_gaps;
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
        self.reasoning.append(other.reasoning);
        self.gaps_of_both.merge(other.gaps_of_both);
        self.itl.merge(other.itl);
        self.icl.merge(other.icl);
        self.send_lateness.append(other.send_lateness);
        self.release_lateness.append(other.release_lateness);
        self.send_delay.append(other.send_delay);
        self.connection_wait.append(other.connection_wait);
        self.connect.append(other.connect);
        self.dns.append(other.dns);
        self.tcp.append(other.tcp);
        self.tls.append(other.tls);
        self.read_lag.merge(other.read_lag);
        self.gaps += other.gaps;
        self.zero_gaps += other.zero_gaps;
    }

    /// `rows` are the same requests, in the order in which they were sent.
    pub(super) fn summary(&self, rows: &Rows<'_>) -> (MetricTable, Jitter) {
        let with_both = |gaps: &PooledSample| {
            let mut all = gaps.clone();
            all.merge(self.gaps_of_both.clone());
            all.summary()
        };
        let of = |metric| {
            let series = rows.latency(metric).unwrap_or_default();
            Distribution::of_series(series.into_iter().map(Millis::new))
        };
        let mut table = MetricTable {
            ttft: of(Metric::Ttft),
            ttft_scheduled: of(Metric::TtftScheduled),
            first_visible: of(Metric::FirstVisible),
            reasoning: self.reasoning.summary(),
            tpot: of(Metric::Tpot),
            itl: with_both(&self.itl),
            icl: with_both(&self.icl),
            e2el: of(Metric::E2el),
            e2el_scheduled: of(Metric::E2elScheduled),
            send_lateness: self.send_lateness.summary(),
            release_lateness: self.release_lateness.summary(),
            send_delay: self.send_delay.summary(),
            connection_wait: self.connection_wait.summary(),
            connect: self.connect.summary(),
            dns: self.dns.summary(),
            tcp: self.tcp.summary(),
            tls: self.tls.summary(),
            read_lag: self.read_lag.summary(),
        };
        complete(&mut table, rows);
        let jitter = Jitter {
            itl_std: table.itl.std,
            itl_tail_ratio: tail_ratio(&table.itl),
            ttft_tail_ratio: tail_ratio(&table.ttft),
            tpot_tail_ratio: tail_ratio(&table.tpot),
            e2el_tail_ratio: tail_ratio(&table.e2el),
            zero_gap_share: (self.gaps > 0).then(|| self.zero_gaps as f64 / self.gaps as f64),
        };
        (table, jitter)
    }
}

/// p99 / p50; none where either is, or where the median is zero.
fn tail_ratio(sample: &Distribution) -> Option<f64> {
    let (p99, p50) = sample.statistic(Statistic::P99).zip(sample.statistic(Statistic::P50))?;
    Some(p99 / p50).filter(|ratio| ratio.is_finite())
}
