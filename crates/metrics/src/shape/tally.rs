//! A shape, tape by tape.

use fizeau_core::{Nanos, Part, Tape};

use super::course::CourseTally;
use super::curve::curve;
use super::pairs::PairTally;
use super::{LevelShape, QuantileCurves, TtftOfInput};
use crate::gaps::inter_token_at;
use crate::{ItlShare, LatencyHistogram, RequestMetrics};

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
/// let course = tally.shape().course;
/// assert_eq!(course.bin * course.bins.len() as u64, Nanos::from_millis(28));
/// assert_eq!(course.bins[0].prefilling, 1.0);
/// ```
#[derive(Debug, Clone, Default)]
pub struct ShapeTally {
    ttft: LatencyHistogram,
    tpot: LatencyHistogram,
    itl: LatencyHistogram,
    e2el: LatencyHistogram,
    course: CourseTally,
    pairs: PairTally,
}

impl ShapeTally {
    /// Takes in a tape. One of a probe stream has no part in a shape. One that failed was in flight, and has no latency and no
    /// tokens.
    pub fn add(&mut self, tape: &Tape) {
        if tape.part == Part::Probe {
            return;
        }
        let metrics = RequestMetrics::of(tape);
        let tpot = metrics.tpot.and_then(|tpot| Nanos::from_secs_f64(tpot.get() / 1e3).ok());
        let figures = [
            (&mut self.ttft, metrics.ttft),
            (&mut self.tpot, tpot),
            (&mut self.e2el, metrics.e2el),
        ];
        for (histogram, figure) in figures {
            figure.into_iter().for_each(|latency| histogram.record(latency));
        }
        self.course.add(tape);
        let itl = &mut self.itl;
        let gaps = inter_token_at(tape).map(|(at, share)| {
            let gap = per_token(share);
            itl.record_n(gap, share.tokens);
            (at, gap, share.tokens)
        });
        self.course.add_gaps(tape, gaps);
        if let (Some(input), Some(ttft)) = (tape.input_tokens(), metrics.ttft) {
            self.pairs.add(tape, TtftOfInput { input, ttft: ttft.to_millis() });
        }
    }

    /// How long the median reply took; nothing without one.
    fn reply(&self) -> Nanos {
        self.e2el.percentile(50.0).unwrap_or_default()
    }

    /// The shape of all tapes so far.
    #[must_use]
    pub fn shape(&self) -> LevelShape {
        LevelShape {
            quantiles: QuantileCurves {
                ttft: curve(&self.ttft),
                tpot: curve(&self.tpot),
                itl: curve(&self.itl),
                e2el: curve(&self.e2el),
            },
            course: self.course.course(self.reply()),
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
