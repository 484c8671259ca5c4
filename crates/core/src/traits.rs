//! The seams between layers. Each trait has one required method and is implemented for references and boxes, so that
//! a stranger's type fits wherever one of ours does.

use core::cell::Cell;
use core::future::Future;
use std::rc::Rc;
use std::sync::Arc;

use crate::{Nanos, Release, Request, Scheduled, Stamp, Tape, Tokens};

/// A monotonic clock that counts from the run's epoch. The only way any layer learns the time.
pub trait Clock {
    /// The present instant; never before an instant that it gave earlier.
    fn now(&self) -> Stamp;
}

/// A clock that can also be waited on. Real time and virtual time both implement it, so that the same driver runs
/// against a socket and inside a simulation.
pub trait Timer: Clock {
    /// Completes at `at`, or at once if `at` is past. Must not complete early.
    ///
    /// # Cancel safety
    /// Dropping the future has no effect beyond the waiting.
    fn sleep_until(&self, at: Stamp) -> impl Future<Output = ()>;
}

/// Something that carries out one request and returns all that was seen of it.
///
/// Whatever goes wrong with the *endpoint* is part of the tape (its outcome is a failure with a class), because a
/// failed request is a measurement too. The error is for requests that could not even be tried, such as token ids for
/// a route that only takes text; implementors that can try anything use [`std::convert::Infallible`].
pub trait Transport {
    /// Why a request could not be tried.
    type Error: std::error::Error;

    /// Carries out `request`. The instants of its `release` are copied into the tape ([`crate::RequestMarks::released`]).
    ///
    /// The future need not be [`Send`]: what is generic over transports awaits it on the thread that made it.
    ///
    /// # Errors
    /// If the request cannot be expressed for this endpoint. Nothing was sent.
    ///
    /// # Cancel safety
    /// Dropping the future abandons the request and frees its connection.
    fn send(
        &self,
        request: &Request,
        release: Release,
    ) -> impl Future<Output = Result<Tape, Self::Error>>;

    /// As [`Transport::send`], but once `off` is thrown its next poll ends it with all that was seen of it, as a failure of the
    /// class [`Cancelled`](crate::FailureClass::Cancelled). A transport that can show nothing of an unfinished request goes on, as
    /// it does here: whoever called it off drops it then.
    ///
    /// # Errors
    /// As [`Transport::send`].
    fn send_until(
        &self,
        request: &Request,
        release: Release,
        off: &CallOff,
    ) -> impl Future<Output = Result<Tape, Self::Error>> {
        let _ = off;
        self.send(request, release)
    }
}

/// What calls requests off that are in flight. It wakes nobody: whoever throws it polls them.
///
/// ```
/// let off = fizeau_core::CallOff::default();
/// assert!(!off.is_thrown());
/// off.throw();
/// assert!(off.is_thrown());
/// ```
#[derive(Debug, Default)]
pub struct CallOff(Cell<bool>);

impl CallOff {
    /// Throws it, for good.
    pub fn throw(&self) {
        self.0.set(true);
    }

    /// Whether it has been thrown.
    #[must_use]
    pub const fn is_thrown(&self) -> bool {
        self.0.get()
    }
}

/// Where requests come from, in order of intended release: a plan, a trace, a generator of your own.
pub trait RequestSource {
    /// Why no further request can be had.
    type Error: std::error::Error;

    /// The next request; none when there are no more.
    ///
    /// # Errors
    /// If the source broke (a malformed line of a trace, say). The source is not asked again.
    fn next_request(&mut self) -> Result<Option<Scheduled>, Self::Error>;

    /// What follows from the end of a request of this source: the next turn of its session. The driver asks once for each
    /// request that ended, `at` its end as an offset from the start of the level; the text of the reply is on the tape where
    /// it was kept. A source of requests that stand alone has nothing to add.
    ///
    /// Without an instant it is due at once, at that end. It keeps the slot of its session, while the session thinks too,
    /// if the session's first request came without an instant: in a closed loop a slot is a user. Otherwise it takes a slot
    /// of its own when its instant has come.
    ///
    /// # Errors
    /// As [`RequestSource::next_request`].
    fn after(&mut self, ended: &Tape, at: Nanos) -> Result<Option<Scheduled>, Self::Error> {
        let _ = (ended, at);
        Ok(None)
    }

    /// How many requests will not come any more, because one of their session failed that they would have followed.
    fn abandoned(&self) -> u64 {
        0
    }

    /// Leaves out those of the next requests that are due before `end`, an offset from the start of the level, and tells how many
    /// they are: the level is over. A source that can tell without making them should.
    ///
    /// # Errors
    /// As [`RequestSource::next_request`].
    fn skip_due(&mut self, end: Nanos) -> Result<u64, Self::Error> {
        let mut count = 0;
        while self.next_request()?.and_then(|next| next.at).is_some_and(|at| at < end) {
            count += 1;
        }
        Ok(count)
    }
}

/// Where tapes go as their requests end: a file, memory, a live view.
pub trait TapeSink {
    /// Why a tape could not be kept.
    type Error: std::error::Error;

    /// Takes note of `tape`. Tapes come in the order in which the requests ended.
    ///
    /// # Errors
    /// If the tape could not be kept; the driver then stops and passes the error on.
    fn record(&mut self, tape: &Tape) -> Result<(), Self::Error>;

    /// Makes safe what was recorded: no further tape is at hand for now. A sink that keeps nothing back has nothing to
    /// do.
    ///
    /// # Errors
    /// If what was kept back could not be kept; the driver then stops and passes the error on.
    fn flush(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// Counts the tokens of a text, for servers that do not say.
pub trait TokenCounter {
    /// Why a text could not be counted.
    type Error: std::error::Error;

    /// How many tokens `text` has, special tokens not added.
    ///
    /// # Errors
    /// If the tokenizer cannot encode the text.
    fn count(&self, text: &str) -> Result<Tokens, Self::Error>;
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<T: Clock + ?Sized> Clock for $pointer {
            fn now(&self) -> Stamp {
                (**self).now()
            }
        }

        impl<T: Timer> Timer for $pointer {
            fn sleep_until(&self, at: Stamp) -> impl Future<Output = ()> {
                (**self).sleep_until(at)
            }
        }

        impl<T: Transport> Transport for $pointer {
            type Error = T::Error;

            fn send(&self, request: &Request, release: Release) -> impl Future<Output = Result<Tape, Self::Error>> {
                (**self).send(request, release)
            }

            fn send_until(
                &self,
                request: &Request,
                release: Release,
                off: &CallOff,
            ) -> impl Future<Output = Result<Tape, Self::Error>> {
                (**self).send_until(request, release, off)
            }
        }

        impl<T: TokenCounter + ?Sized> TokenCounter for $pointer {
            type Error = T::Error;

            fn count(&self, text: &str) -> Result<Tokens, Self::Error> {
                (**self).count(text)
            }
        }
    )*};
}

forward!(&T, Box<T>, Rc<T>, Arc<T>);

macro_rules! forward_mut {
    ($($pointer:ty),*) => {$(
        impl<T: RequestSource + ?Sized> RequestSource for $pointer {
            type Error = T::Error;

            fn next_request(&mut self) -> Result<Option<Scheduled>, Self::Error> {
                (**self).next_request()
            }

            fn after(&mut self, ended: &Tape, at: Nanos) -> Result<Option<Scheduled>, Self::Error> {
                (**self).after(ended, at)
            }

            fn abandoned(&self) -> u64 {
                (**self).abandoned()
            }

            fn skip_due(&mut self, end: Nanos) -> Result<u64, Self::Error> {
                (**self).skip_due(end)
            }
        }

        impl<T: TapeSink + ?Sized> TapeSink for $pointer {
            type Error = T::Error;

            fn record(&mut self, tape: &Tape) -> Result<(), Self::Error> {
                (**self).record(tape)
            }

            fn flush(&mut self) -> Result<(), Self::Error> {
                (**self).flush()
            }
        }
    )*};
}

forward_mut!(&mut T, Box<T>);

/// Keeps every tape in memory.
impl TapeSink for Vec<Tape> {
    type Error = std::convert::Infallible;

    fn record(&mut self, tape: &Tape) -> Result<(), Self::Error> {
        self.push(tape.clone());
        Ok(())
    }
}

/// Keeps tapes where there is a sink to keep them, and drops them where there is none.
impl<K: TapeSink> TapeSink for Option<K> {
    type Error = K::Error;

    fn record(&mut self, tape: &Tape) -> Result<(), Self::Error> {
        self.as_mut().map_or(Ok(()), |sink| sink.record(tape))
    }

    fn flush(&mut self) -> Result<(), Self::Error> {
        self.as_mut().map_or(Ok(()), TapeSink::flush)
    }
}
