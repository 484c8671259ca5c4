//! The driver: releases requests at their instants, keeps the cap, collects tapes. One loop for every kind of load, in
//! real and in virtual time.

mod drive_loop;
mod in_flight;
mod local_slots;
mod outlet;
mod probed;
mod release_queue;
mod slots;

pub(crate) use drive_loop::DriveLoop;
pub use in_flight::InFlight;
pub(crate) use local_slots::{LocalSlots, SlotOpening};
pub(crate) use outlet::{Outlet, SinkOutlet};
pub(crate) use probed::{LoadHold, ProbeStream, drive_with_probe};
pub(crate) use slots::{CapSeat, SharedCap, Slots};

use std::convert::Infallible;
use std::num::NonZeroU32;

use fizeau_core::{Nanos, RequestId, RequestSource, Stamp, TapeSink, Timer, Transport};

use crate::Cancel;

/// The limits of a drive: how many requests may be in flight, and how long it lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DriveLimits {
    /// The most requests in flight at once; none for no cap. In a closed loop this is the concurrency. In an open loop
    /// a request that the cap holds back keeps its intended instant, so that its waiting shows.
    pub max_in_flight: Option<NonZeroU32>,
    /// Release nothing more once this much time has passed since the start; what is in flight then still finishes. A
    /// session whose user thinks beyond that keeps its slot until then.
    pub stop_after: Option<Nanos>,
}

/// The outcome of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriveOutcome {
    /// When it began: scheduled requests count their instants from here.
    pub start: Stamp,
    /// Why it ended.
    pub ended: DriveEnding,
    /// How many scheduled requests had to wait past their instant because of the cap.
    pub held_back: u64,
    /// How many planned requests never came, because one of their session failed that they would have followed.
    pub abandoned: u64,
    /// How many scheduled requests were due and never sent, because the drive ended while they waited for the cap, or for this
    /// client.
    pub unsent: u64,
}

impl DriveOutcome {
    /// A drive that was called off before it did anything.
    pub(crate) const fn none(start: Stamp) -> Self {
        Self { start, ended: DriveEnding::Cancelled, held_back: 0, abandoned: 0, unsent: 0 }
    }
}

/// What happens to the text of a reply once it has been counted and the next turn of its session has been made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextAfter {
    /// It is dropped, so that tapes stay small.
    #[default]
    Drop,
    /// It stays on the tape, if the transport kept it.
    Keep,
}

/// Why a drive ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DriveEnding {
    /// It was called off; requests in flight were recorded as cancelled.
    Cancelled,
    /// What was asked for of the level was known well enough; what was in flight then finished.
    Enough,
    /// The source had no more requests.
    Exhausted,
    /// [`DriveLimits::stop_after`] had passed.
    TimeUp,
}

/// Why a drive broke off.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriveError<S, T, K> {
    /// The source of requests failed.
    #[error("the source of requests failed: {0}")]
    Source(S),
    /// A request could not be expressed for the endpoint.
    #[error("request {request} cannot be sent: {error}")]
    Unsendable {
        /// Which request.
        request: RequestId,
        /// Why.
        error: T,
    },
    /// A tape could not be kept.
    #[error("a finished request could not be recorded: {0}")]
    Sink(K),
}

impl<S, T> DriveError<S, T, Infallible> {
    /// The same, as an error of a drive whose sink could have failed.
    pub fn widen<K>(self) -> DriveError<S, T, K> {
        match self {
            Self::Source(error) => DriveError::Source(error),
            Self::Sink(never) => match never {},
            Self::Unsendable { request, error } => DriveError::Unsendable { request, error },
        }
    }
}

/// Sends the requests of `source` through `transport` under `load` and hands each tape to `sink` as it ends.
///
/// A request without an instant leaves as soon as the cap allows, and its intended instant is the one at which its slot
/// became free. A request with an instant leaves then, whatever the server does, unless the cap holds it back. What follows
/// from a request that ended ([`RequestSource::after`]) leaves in the order of instants too.
///
/// # Errors
/// If the source, the sink, or the expression of a request fails. Tapes recorded until then stay recorded, and unless
/// it is the sink, what was in flight is recorded as cancelled first. Failures of the *endpoint* are not errors: they are tapes.
pub async fn drive<S, T, C, K>(
    source: &mut S,
    transport: &T,
    timer: &C,
    load: DriveLimits,
    sink: &mut K,
    cancel: &Cancel,
) -> Result<DriveOutcome, DriveError<S::Error, T::Error, K::Error>>
where
    S: RequestSource,
    T: Transport,
    C: Timer,
    K: TapeSink,
{
    let start = timer.now();
    let drive_loop =
        DriveLoop::new(transport, timer, cancel, start).with(load.stop_after, TextAfter::Keep);
    let mut slots = LocalSlots::new(timer, load.max_in_flight, SlotOpening::at_once(start));
    drive_loop.run(source, &mut slots, &mut SinkOutlet::new(sink)).await
}
