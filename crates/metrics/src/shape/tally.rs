//! A shape, tape by tape.

use fizeau_core::{Nanos, RequestPurpose, Tape};

use super::curve::curve;
use super::pairs::PairTally;
use super::time_series::TimelineTally;
use super::{LevelShape, PromptTtft, QuantileCurves};
use crate::gaps::inter_token_at;
use crate::{ItlShare, LatencyHistogram, Metric, RequestMetrics};

/// Adds tapes up to a [`LevelShape`], one by one and in any order: the same tapes give the same shape. It keeps none, and takes
/// at most three mebibytes however many they are.
///
/// ```
/// use fizeau_core::{Arrival, Channel, Nanos, Stamp, Tape};
/// use fizeau_metrics::ShapeTally;
///
/// let ms = |n| Stamp::EPOCH + Nanos::from_millis(n);
/// let mut tape = Tape::sent_at(ms(0));
/// tape.arrivals.push(Arrival::tokens(ms(20), 1, Channel::Visible));
/// tape.arrivals.push(Arrival::tokens(ms(28), 1, Channel::Visible));
///
/// let mut tally = ShapeTally::default();
/// tally.add(&tape);
/// let timeline = tally.shape().timeline;
/// assert_eq!(timeline.bin * timeline.bins.len() as u64, Nanos::from_millis(28));
/// assert_eq!(timeline.bins[0].prefilling, 1.0);
/// ```
#[derive(Debug, Clone)]
pub struct ShapeTally {
    /// Of each of [`Metric::headline`].
    latencies: Vec<(Metric, LatencyHistogram)>,
    timeline: TimelineTally,
    pairs: PairTally,
}

impl Default for ShapeTally {
    fn default() -> Self {
        let latencies = Metric::headline().map(|metric| (metric, LatencyHistogram::default()));
        let (timeline, pairs) = Default::default();
        Self { latencies: latencies.collect(), timeline, pairs }
    }
}

impl ShapeTally {
    /// Takes in a tape. One of a probe stream has no part in a shape. One that failed was in flight, and has no latency and no
    /// tokens.
    pub fn add(&mut self, tape: &Tape) {
        if tape.part == RequestPurpose::Probe {
            return;
        }
        let metrics = RequestMetrics::of(tape);
        for (metric, histogram) in &mut self.latencies {
            let latency = metric.of_request(&metrics).map(|ms| Nanos::from_secs_f64(ms / 1e3));
            latency.and_then(Result::ok).into_iter().for_each(|latency| histogram.record(latency));
        }
        self.timeline.add(tape);
        metrics.ttft.into_iter().for_each(|ttft| self.timeline.add_ttft(tape, ttft));
        // What is pooled is of no single request: its values are the gaps.
        let mut pooled = self.latencies.iter_mut().find(|(metric, _)| *metric == Metric::Itl);
        let gaps = inter_token_at(tape).map(|(at, share)| {
            let gap = per_token(share);
            pooled.iter_mut().for_each(|(_, histogram)| histogram.record_n(gap, share.tokens));
            (at, gap, share.tokens)
        });
        self.timeline.add_gaps(tape, gaps);
        if let (Some(input), Some(ttft)) = (tape.input_tokens(), metrics.ttft) {
            self.pairs.add(tape, PromptTtft { input, ttft: ttft.to_millis() });
        }
    }

    /// How long the median reply took; nothing without one.
    fn reply(&self) -> Nanos {
        let replies = self.latencies.iter().find(|(metric, _)| *metric == Metric::E2el);
        replies.and_then(|(_, histogram)| histogram.percentile(50.0)).unwrap_or_default()
    }

    /// The shape of all tapes so far.
    #[must_use]
    pub fn shape(&self) -> LevelShape {
        let curves = self.latencies.iter().map(|(metric, histogram)| (*metric, curve(histogram)));
        LevelShape {
            quantiles: QuantileCurves(curves.collect()),
            timeline: self.timeline.timeline(self.reply()),
            ttft_by_input: self.pairs.pairs(),
        }
    }
}

/// To the nearest nanosecond; most gaps are of one token and need no division.
fn per_token(share: ItlShare) -> Nanos {
    match share.tokens.get() {
        0 | 1 => share.gap,
        tokens => (share.gap + Nanos::from_nanos(tokens / 2)) / tokens,
    }
}
