//! The tokens of many requests in one stream.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::iter::Peekable;

use fizeau_core::{Part, RequestId, Stamp, Tape, Tokens};

use super::{end_of, tokens::counts};

/// All instants at which a level's tokens changed, in order, from tapes in order of sending.
///
/// Memory: the tapes in flight at one instant. Tapes that were never sent and those of a probe are passed over.
///
/// ```
/// use fizeau_core::{Arrival, Channel, Nanos, Stamp, Tape, Tokens};
/// use fizeau_metrics::{Moment, OutOfOrder, Sweep, TimeSpan, TimeWeighted};
///
/// let ms = |n| Stamp::EPOCH + Nanos::from_millis(n);
/// let mut tape = Tape::sent_at(ms(0));
/// tape.asked.input_tokens = Some(Tokens::new(100));
/// tape.arrivals.push(Arrival::tokens(ms(20), 1, Channel::Visible));
/// tape.arrivals.push(Arrival::tokens(ms(40), 1, Channel::Visible));
/// let moments: Vec<Moment> = Sweep::over([&tape]).collect::<Result<_, OutOfOrder>>()?;
/// let held = moments.iter().filter_map(|m| Some((m.at, m.tokens_in_flight?.get())));
/// let load = TimeWeighted::of(held, TimeSpan::new(ms(0), ms(40)));
/// assert_eq!((load.peak(), load.mean()), (Some(101), Some(100.5)));
/// # Ok::<(), OutOfOrder>(())
/// ```
#[derive(Debug)]
pub struct Sweep<I: Iterator> {
    tapes: Peekable<I>,
    flights: BinaryHeap<Flight<I::Item>>,
    in_flight: u64,
    /// How many requests in flight have a prompt of unknown length.
    unknown: u64,
    /// When the last tape that was taken in was sent.
    last_sent: Stamp,
}

/// What changed at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// The instant.
    pub at: Stamp,
    /// Output tokens that came just then, of requests that will complete.
    pub came: Tokens,
    /// From here on: prompt tokens of all requests in flight and what has come of their outputs. What a server has to hold
    /// for them, as far as a client can tell. Absent while a request in flight has a prompt of unknown length.
    pub tokens_in_flight: Option<Tokens>,
}

/// A tape that was sent before the one ahead of it. Those after it are gone on with, but without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "request {request} was sent before the one ahead of it: tapes are needed in order of sending"
)]
pub struct OutOfOrder {
    /// The request of that tape.
    pub request: RequestId,
}

#[derive(Debug)]
struct Flight<T> {
    /// When its next event is.
    at: Stamp,
    tape: T,
    event: usize,
    held: u64,
}

impl<T: Borrow<Tape>, I: Iterator<Item = T>> Sweep<I> {
    /// Over `tapes`, owned or borrowed, in order of their send starts.
    pub fn over(tapes: impl IntoIterator<IntoIter = I>) -> Self {
        Self {
            tapes: tapes.into_iter().peekable(),
            flights: BinaryHeap::new(),
            in_flight: 0,
            unknown: 0,
            last_sent: Stamp::EPOCH,
        }
    }

    /// Takes off all tapes that are sent at or before `until`, and says when the next one is.
    fn board(&mut self, until: Option<Stamp>) -> Result<Option<Stamp>, OutOfOrder> {
        let mut until = until;
        while let Some(tape) = self.tapes.peek().map(Borrow::borrow) {
            let Some(sent) = tape.marks.send_start.filter(|_| tape.part == Part::Load) else {
                self.tapes.next();
                continue;
            };
            if sent < self.last_sent {
                let request = tape.request;
                self.tapes.next();
                return Err(OutOfOrder { request });
            }
            if until.is_some_and(|until| sent > until) {
                break;
            }
            (until, self.last_sent) = (Some(sent), sent);
            if let Some(tape) = self.tapes.next() {
                self.start(tape, sent);
            }
        }
        Ok(until)
    }

    fn start(&mut self, tape: T, at: Stamp) {
        let prompt = tape.borrow().input_tokens();
        self.unknown += u64::from(prompt.is_none());
        let held = prompt.map_or(0, Tokens::get);
        self.in_flight += held;
        let flight = Flight { at, tape, event: 0, held };
        self.flights.push(Flight { at: flight.next_event(), ..flight });
    }

    /// Lets everything happen that happens at `at`; gives the tokens that came.
    fn happen(&mut self, at: Stamp) -> u64 {
        let mut came = 0;
        while let Some(mut flight) = self.flights.peek_mut().filter(|flight| flight.at <= at) {
            let tape = flight.tape.borrow();
            if let Some(arrival) = tape.arrivals.get(flight.event) {
                let tokens = u64::from(arrival.tokens);
                came += if counts(tape) { tokens } else { 0 };
                self.in_flight += tokens;
                flight.held += tokens;
                flight.event += 1;
                flight.at = flight.next_event();
            } else {
                self.in_flight -= flight.held;
                self.unknown -= u64::from(tape.input_tokens().is_none());
                PeekMut::pop(flight);
            }
        }
        came
    }
}

impl<T: Borrow<Tape>, I: Iterator<Item = T>> Iterator for Sweep<I> {
    type Item = Result<Moment, OutOfOrder>;

    fn next(&mut self) -> Option<Self::Item> {
        let due = self.flights.peek().map(|flight| flight.at);
        let at = match self.board(due) {
            Ok(at) => at?,
            Err(error) => return Some(Err(error)),
        };
        let came = Tokens::new(self.happen(at));
        let known = self.unknown == 0;
        Some(Ok(Moment {
            at,
            came,
            tokens_in_flight: known.then_some(Tokens::new(self.in_flight)),
        }))
    }
}

impl<T: Borrow<Tape>> Flight<T> {
    /// The next arrival, or after the last one the end; never before the event that came last.
    fn next_event(&self) -> Stamp {
        let tape = self.tape.borrow();
        let arrival = tape.arrivals.get(self.event).map(|arrival| arrival.at);
        arrival.or_else(|| end_of(tape)).unwrap_or(self.at).max(self.at)
    }
}

/// The flight whose event comes first is the greatest, since a heap gives its greatest.
impl<T> Ord for Flight<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.at.cmp(&self.at)
    }
}

impl<T> PartialOrd for Flight<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Eq for Flight<T> {}

impl<T> PartialEq for Flight<T> {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}
