//! The nouns and boundary traits of Fizeau.
//!
//! Everything that two layers must agree on lives here: what an instant is ([`Stamp`]), what is asked
//! ([`Request`]), what was seen ([`Tape`]), and the few small traits in which one layer meets the next
//! ([`RequestSource`], [`Transport`], [`Clock`], [`Timer`], [`TokenCounter`], [`TapeSink`]).
//!
//! A source of requests of one's own, and what a transport would say of one of them:
//!
//! ```
//! use std::convert::Infallible;
//!
//! use fizeau_core::{
//!     Arrival, Channel, Nanos, Prompt, Request, RequestId, RequestSource, Scheduled, Stamp, Tape, Tokens,
//! };
//!
//! /// One request every 100 ms, for ever.
//! struct Metronome(u64);
//!
//! impl RequestSource for Metronome {
//!     type Error = Infallible;
//!
//!     fn next_request(&mut self) -> Result<Option<Scheduled>, Infallible> {
//!         let (id, at) = (RequestId(self.0), Nanos::from_millis(100 * self.0));
//!         self.0 += 1;
//!         let request = Request::new(id, Prompt::Text("Tell me".to_owned()), Tokens::new(16));
//!         Ok(Some(Scheduled { request, at: Some(at) }))
//!     }
//! }
//!
//! let first = Metronome(0).next_request()?.map(|scheduled| scheduled.request.id);
//! assert_eq!(first, Some(RequestId(0)));
//!
//! let mut tape = Tape::sent_at(Stamp::EPOCH);
//! let token = Stamp::EPOCH + Nanos::from_millis(20);
//! tape.arrivals.push(Arrival::tokens(token, 1, Channel::Visible));
//! assert_eq!(tape.first_token(), Some(token));
//! # Ok::<(), Infallible>(())
//! ```
//!
//! **Use this crate** to implement one of those traits (a transport of your own, say) or to read and write tapes.
//! **Use `fizeau`** to get all layers at once.
//!
//! # Invariants
//!
//! - No I/O, no clock, no randomness, no runtime: the traits that return a future name only
//!   [`core::future::Future`].
//! - A [`Tape`] holds what was *seen* and nothing derived from it: what a metric needs is computed from the tape, so
//!   a definition can change after the run.
//! - Time is monotonic nanoseconds since the run's epoch. The wall clock does not appear.
//!
#![doc = include_str!("../place.md")]

mod choice;
mod debug;
mod distinct;
mod document;
mod interval;
mod load;
pub mod number;
mod request;
#[cfg(feature = "schema")]
#[doc(hidden)]
pub mod schema;
pub mod spelling;
pub mod split_mix;
mod tape;
mod time;
mod traits;
mod units;
mod verdict;
mod words;

pub use choice::{Choice, NamedChoice};
pub use distinct::distinct;
pub use interval::{Confidence, ConfidenceError, Estimate, EstimateError, Interval};
pub use load::{LevelLoad, LoadKind, WarmUp};
pub use request::{
    EosRule, Message, Prompt, Release, Request, RequestId, RequestPurpose, Role, Scheduled,
    SessionId,
};
pub use tape::{
    Arrival, Channel, ConnectMarks, Connection, Failure, FailureClass, Finish, Outcome,
    RequestMarks, RequestedTokens, ServerTiming, StampSource, Tape, TokenSource, Usage,
};
pub use time::{Nanos, NanosError, ParseNanosError, ReadLag, Stamp};
pub use traits::{CallOff, Clock, RequestSource, TapeSink, Timer, TokenCounter, Transport};
pub use units::{
    Bytes, BytesPerSec, Flops, FlopsPerSec, Joules, Millis, PerJoule, PerSec, Seconds, Tokens, Usd,
    UsdPerHour, Watts,
};
pub use verdict::Verdict;
