//! Whether the queue of an open loop grew as long as it was fed.

use fizeau_core::Stamp;

use super::trend::{BATCHES, batch_means};
use super::{Growth, Signal, WhyNoWindow};
use crate::{TimeSpan, Timeline};

/// Level of the test of each signal.
const ALPHA: f64 = 0.01;

/// How many requests with a scheduled TTFT it takes: five a batch.
const NEEDS: usize = 5 * BATCHES;

/// Whether an open-loop level's queue grew.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Saturation {
    /// Both signals grow: more was sent than was served. The level's latencies are those of its duration: a longer one would
    /// have had greater ones.
    Saturated(SaturationEvidence),
    /// No growth that could be told from chance in both.
    NotSeen(SaturationEvidence),
    /// Too short to tell.
    Unknown(WhyNoWindow),
}

/// What the two signals did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SaturationEvidence {
    /// The part of the level that was looked at.
    pub span: TimeSpan,
    /// Growth of the number of requests due and not over, as means over twenty equal times.
    pub due: Growth,
    /// Growth of the scheduled TTFT, in milliseconds, over twenty equal numbers of requests.
    pub ttft_scheduled: Growth,
}

impl Timeline {
    /// Whether the queue grew while requests were due, from tests for growth ([`Growth`]) of the number due and of the scheduled
    /// TTFT, each at a level of 0.01. The first quarter of the time is left out, since every level fills up at first; so is what came after the
    /// last request was due.
    ///
    /// For open loops: in a closed one the number in flight is given. Failed requests count as due until they end, and have no
    /// TTFT.
    ///
    /// ```
    /// use fizeau_core::{Arrival, Channel, Nanos, Stamp, Tape};
    /// use fizeau_metrics::{Saturation, Timeline};
    ///
    /// // One is due every 10 ms, and one is served every 12 ms.
    /// let ms = |n| Stamp::EPOCH + Nanos::from_millis(n);
    /// let tapes = (0..200).map(|n| {
    ///     let mut tape = Tape::sent_at(ms(10 * n));
    ///     tape.arrivals.push(Arrival::tokens(ms(12 * n + 12), 1, Channel::Visible));
    ///     tape
    /// });
    /// let found = Timeline::of(&tapes.collect::<Vec<_>>()).saturation();
    /// assert!(matches!(found, Saturation::Saturated(_)));
    /// ```
    #[must_use]
    pub fn saturation(&self) -> Saturation {
        let mut requests: Vec<_> = self.requests().iter().collect();
        requests.sort_by_key(|request| request.intended);
        let ends = requests.first().zip(requests.last());
        let whole = ends.map(|(first, last)| TimeSpan::new(first.intended, last.intended));
        let few = |has| {
            let needs = NEEDS as u64;
            Saturation::Unknown(WhyNoWindow::TooFew { signal: Signal::TtftScheduled, has, needs })
        };
        let Some(whole) = whole else { return few(0) };
        let span = TimeSpan::new(whole.from() + whole.length() / 4, whole.to());
        let inside = requests.iter().filter(|request| request.intended >= span.from());
        let ttfts: Vec<(f64, f64)> =
            inside.filter_map(|r| Some((secs(r.intended), r.wait()?.as_millis_f64()))).collect();
        if ttfts.len() < NEEDS {
            return few(ttfts.len() as u64);
        }
        match (Growth::of(&self.due_batches(span)), Growth::of(&batch_means(&ttfts))) {
            (Some(due), Some(ttft_scheduled)) => {
                let evidence = SaturationEvidence { span, due, ttft_scheduled };
                if due.p < ALPHA && ttft_scheduled.p < ALPHA {
                    Saturation::Saturated(evidence)
                } else {
                    Saturation::NotSeen(evidence)
                }
            }
            _ => Saturation::Unknown(WhyNoWindow::AtOnce),
        }
    }

    /// The mean number due in each of [`BATCHES`] equal times of `span`, with their middles.
    fn due_batches(&self, span: TimeSpan) -> Vec<(f64, f64)> {
        let due = self.due();
        let step = span.length() / BATCHES as u64;
        let batch = |index: u64| {
            let from = span.from() + step * index;
            let mean = due.over(TimeSpan::new(from, from + step)).mean()?;
            Some((secs(from + step / 2), mean))
        };
        (0..BATCHES as u64).filter_map(batch).collect()
    }
}

fn secs(at: Stamp) -> f64 {
    at.as_nanos() as f64 / 1e9
}
