//! Output tokens over time.

use fizeau_core::{Nanos, Part, PerSec, Stamp, Tape, Tokens};

use super::{TimeSpan, peak_rate};

/// When how many output tokens had come, of completed requests: sixteen bytes an instant at which any came.
///
/// A token counts at its arrival. The rate over any span is tokens in it over its length: exact, with no buckets. For
/// runs whose tokens do not fit into memory, a [`Sweep`](crate::Sweep) gives the same as a stream.
///
/// ```
/// use fizeau_core::{Arrival, Channel, Nanos, Stamp, Tape};
/// use fizeau_metrics::{TimeSpan, TokenSeries};
///
/// let ms = |n| Stamp::EPOCH + Nanos::from_millis(n);
/// let mut tape = Tape::sent_at(ms(0));
/// tape.arrivals.push(Arrival::tokens(ms(20), 1, Channel::Visible));
/// tape.arrivals.push(Arrival::tokens(ms(70), 9, Channel::Visible));
/// let tokens = TokenSeries::of([&tape]);
/// assert_eq!(tokens.rate_over(TimeSpan::new(ms(0), ms(100))).unwrap().get(), 100.0);
/// let plot: Vec<f64> = tokens.rates(ms(0)).map(|step| step.rate.get()).collect();
/// assert_eq!(plot, [50.0, 180.0]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TokenSeries {
    /// Each instant, and how many tokens had come by then. Both rise.
    came: Vec<(Stamp, u64)>,
}

/// The mean rate between two consecutive instants at which tokens came.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateStep {
    /// From the one instant to the other.
    pub span: TimeSpan,
    /// The tokens that came at its end, over its length.
    pub rate: PerSec,
}

impl TokenSeries {
    /// Of `tapes`, in any order. Failed requests and those of a probe stream have no part in it.
    #[must_use]
    pub fn of<'a>(tapes: impl IntoIterator<Item = &'a Tape>) -> Self {
        let load = tapes.into_iter().filter(|tape| counts(tape));
        let arrivals = load.flat_map(|tape| &tape.arrivals);
        let mut came: Vec<(Stamp, u64)> =
            arrivals.filter(|a| a.tokens > 0).map(|a| (a.at, a.tokens.into())).collect();
        came.sort_unstable();
        came.dedup_by(|later, first| {
            let together = later.0 == first.0;
            first.1 += if together { later.1 } else { 0 };
            together
        });
        let mut total = 0;
        for (_, tokens) in &mut came {
            total += *tokens;
            *tokens = total;
        }
        Self { came }
    }

    /// How many tokens came within `span`, one at its very beginning not counted and one at its end counted.
    #[must_use]
    pub fn within(&self, span: TimeSpan) -> Tokens {
        Tokens::new(self.until(span.to()) - self.until(span.from()))
    }

    /// Tokens within `span` over its length; none if it has no length.
    #[must_use]
    pub fn rate_over(&self, span: TimeSpan) -> Option<PerSec> {
        let length = span.length();
        (length > Nanos::ZERO)
            .then(|| PerSec::new(self.within(span).get() as f64 / length.as_secs_f64()))
    }

    /// The highest rate over any window of at most `longest`: see [`peak_rate`]. Never below [`TokenSeries::rate_over`].
    #[must_use]
    pub fn peak_over(&self, span: TimeSpan, longest: Nanos) -> Option<PerSec> {
        peak_rate(self.arrivals(), span, longest)
    }

    /// Each instant at which tokens came, and how many.
    pub fn arrivals(&self) -> impl Iterator<Item = (Stamp, Tokens)> {
        let mut before = 0;
        self.came.iter().map(move |&(at, by_then)| {
            let tokens = Tokens::new(by_then - before);
            before = by_then;
            (at, tokens)
        })
    }

    /// For plots: the step function from `start` to the last token in which each instant's tokens are spread over the gap
    /// that they close. What came at `start` or before has no gap and is left out. The mean of this function, weighted by
    /// time, is the mean rate; its greatest value is that of the shortest gap and means little.
    pub fn rates(&self, start: Stamp) -> impl Iterator<Item = RateStep> {
        let mut from = start;
        self.arrivals().filter(move |(at, _)| *at > start).map(move |(at, tokens)| {
            let span = TimeSpan::new(from, at);
            from = at;
            RateStep { span, rate: PerSec::new(tokens.get() as f64 / span.length().as_secs_f64()) }
        })
    }

    fn until(&self, at: Stamp) -> u64 {
        let instants = self.came.partition_point(|(instant, _)| *instant <= at);
        instants.checked_sub(1).and_then(|last| self.came.get(last)).map_or(0, |&(_, total)| total)
    }
}

/// Whether the tokens of `tape` are part of the load's throughput.
pub(super) fn counts(tape: &Tape) -> bool {
    tape.part == Part::Load && tape.is_success()
}
