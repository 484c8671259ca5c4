//! The histograms that lie in a run's folder.

use fizeau_core::{Nanos, RequestPurpose, Tape};

use crate::{LatencyHistogram, RequestMetrics, inter_token};

/// The three histograms of a level, filled one tape at a time: for other tools to read, and for live figures. The figures
/// of a report come from [`LevelTally`](crate::LevelTally).
#[derive(Debug, Clone, Default)]
pub struct LevelHistograms {
    /// Send start to first token.
    pub ttft: LatencyHistogram,
    /// Inter-token latency, each token counted.
    pub itl: LatencyHistogram,
    /// Send start to the last of the output.
    pub e2el: LatencyHistogram,
}

impl LevelHistograms {
    /// Takes a tape in; one of a probe stream has no part in them.
    pub fn add(&mut self, tape: &Tape) {
        if tape.part == RequestPurpose::Probe {
            return;
        }
        let request = RequestMetrics::of(tape);
        request.ttft.into_iter().for_each(|latency| self.ttft.record(latency));
        request.e2el.into_iter().for_each(|latency| self.e2el.record(latency));
        for share in inter_token(tape) {
            let (gap, tokens) = (share.gap.as_nanos(), share.tokens.get());
            // To the nearest nanosecond; most gaps are of one token and need no division.
            let each = if tokens == 1 { gap } else { gap.saturating_add(tokens / 2) / tokens };
            self.itl.record_n(Nanos::from_nanos(each), share.tokens);
        }
    }

    /// Takes in all that `other` has.
    pub fn merge(&mut self, other: &Self) {
        self.ttft.merge(&other.ttft);
        self.itl.merge(&other.itl);
        self.e2el.merge(&other.e2el);
    }
}
