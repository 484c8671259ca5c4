//! The load, with a thin stream of probes beside it.

use std::cell::RefCell;
use std::num::NonZeroU32;
use std::sync::Arc;

use fizeau_core::{Nanos, Part, RequestSource, Scheduled, Tape, Timer, Transport};
use futures_util::future::join;

use super::{DriveError, DriveLoop, Driven, LocalSlots, Opening, Outlet, Slots};
use crate::Cancel;

/// A probe stream.
pub(crate) struct Probing<S> {
    pub(crate) requests: S,
    /// Thrown when the load is over.
    pub(crate) until: Cancel,
}

/// A hold on the load of a level. Each driver of it has one, and when the last is dropped the load is over.
#[derive(Clone)]
pub(crate) struct Underway {
    #[expect(dead_code, reason = "it acts when the last of its holders drops it")]
    over: Arc<ThrownAtEnd>,
}

struct ThrownAtEnd(Cancel);

impl Drop for ThrownAtEnd {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Underway {
    /// The first hold, and the switch that is thrown when all have been dropped.
    pub(crate) fn new() -> (Self, Cancel) {
        let over = Cancel::new();
        (Self { over: Arc::new(ThrownAtEnd(over.clone())) }, over)
    }
}

/// The most probes in flight. A thin stream never comes near it; one that is faster than the endpoint or than this client would
/// take up the task and the memory, and the load would never end. Who waits for it keeps its intended instant.
const MOST_PROBES: Option<NonZeroU32> = NonZeroU32::new(256);

/// Runs the load of `requests` on `course`, and beside it, outside of its cap, the stream of `probe` until the load is over
/// everywhere; probes in flight then still finish. The load's `slots` are given up as soon as it is over here: others may
/// wait behind its place, and the probes for them.
pub(crate) async fn drive_with_probe<S, P, T, C, L, K>(
    course: &DriveLoop<'_, T, C>,
    requests: &mut S,
    underway: Underway,
    mut slots: L,
    probe: Option<Probing<P>>,
    outlet: &mut K,
) -> Result<Driven, DriveError<S::Error, T::Error, K::Error>>
where
    S: RequestSource,
    P: RequestSource<Error = S::Error>,
    T: Transport,
    C: Timer,
    L: Slots,
    K: Outlet,
{
    let Some(Probing { requests: probes, until }) = probe else {
        return course.run(requests, &mut slots, outlet).await;
    };
    let outlet = RefCell::new(outlet);
    // If one of both breaks off the other is called off, and leaves its tapes.
    let off = course.switch();
    let course = course.heeding(&off);
    let load = async {
        let driven = course.run(requests, &mut slots, &mut Shared(&outlet)).await;
        drop((slots, underway));
        driven.inspect_err(|_| off.cancel())
    };
    let probing = async {
        let mut slots = LocalSlots::new(course.timer, MOST_PROBES, Opening::at_once(course.start));
        let beside = course.beside(&until);
        let driven = beside.run(&mut Marked(probes), &mut slots, &mut Shared(&outlet)).await;
        driven.inspect_err(|_| off.cancel())
    };
    // The probes first: each time that both have something to do, theirs is the little.
    let (probed, driven) = join(probing, load).await;
    probed.and(driven)
}

/// An outlet of both streams, which run on one task.
struct Shared<'a, 'k, K>(&'a RefCell<&'k mut K>);

impl<K: Outlet> Outlet for Shared<'_, '_, K> {
    type Error = K::Error;

    fn put(&mut self, tape: Tape) -> Result<(), K::Error> {
        self.0.borrow_mut().put(tape)
    }

    fn rest(&mut self) -> Result<(), K::Error> {
        self.0.borrow_mut().rest()
    }
}

/// Requests that are probes.
struct Marked<S>(S);

fn marked(next: Option<Scheduled>) -> Option<Scheduled> {
    next.map(|mut next| {
        next.request.part = Part::Probe;
        next
    })
}

impl<S: RequestSource> RequestSource for Marked<S> {
    type Error = S::Error;

    fn next_request(&mut self) -> Result<Option<Scheduled>, S::Error> {
        self.0.next_request().map(marked)
    }

    fn after(&mut self, ended: &Tape, at: Nanos) -> Result<Option<Scheduled>, S::Error> {
        self.0.after(ended, at).map(marked)
    }
}
