//! The load, with a thin stream of probes beside it.

use std::cell::RefCell;
use std::num::NonZeroU32;
use std::sync::Arc;

use fizeau_core::{Nanos, RequestPurpose, RequestSource, Scheduled, Tape, Timer, Transport};
use futures_util::future::join;

use super::{DriveError, DriveLoop, DriveOutcome, LocalSlots, Outlet, SlotOpening, Slots};
use crate::Cancel;

/// A probe stream.
pub(crate) struct ProbeStream<S> {
    pub(crate) requests: S,
    /// Thrown when the load is over.
    pub(crate) until: Cancel,
}

/// A hold on the load of a level. Each driver of it has one, and when the last is dropped the load is over.
#[derive(Clone)]
pub(crate) struct LoadHold {
    #[expect(dead_code, reason = "it acts when the last of its holders drops it")]
    over: Arc<ThrownAtEnd>,
}

struct ThrownAtEnd(Cancel);

impl Drop for ThrownAtEnd {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl LoadHold {
    /// The first hold, and the switch that is thrown when all have been dropped.
    pub(crate) fn new() -> (Self, Cancel) {
        let over = Cancel::new();
        (Self { over: Arc::new(ThrownAtEnd(over.clone())) }, over)
    }
}

/// The most probes in flight. A thin stream never comes near it; one that is faster than the endpoint or than this client would
/// take up the task and the memory, and the load would never end. Who waits for it keeps its intended instant.
const MOST_PROBES: Option<NonZeroU32> = NonZeroU32::new(256);

/// Runs the load of `requests` on `drive_loop`, and beside it, outside of its cap, the stream of `probe` until the load is over
/// everywhere; probes in flight then still finish. The load's `slots` are given up as soon as it is over here: others may
/// wait behind its place, and the probes for them.
pub(crate) async fn drive_with_probe<S, P, T, C, L, K>(
    drive_loop: &DriveLoop<'_, T, C>,
    requests: &mut S,
    load_hold: LoadHold,
    mut slots: L,
    probe: Option<ProbeStream<P>>,
    outlet: &mut K,
) -> Result<DriveOutcome, DriveError<S::Error, T::Error, K::Error>>
where
    S: RequestSource,
    P: RequestSource<Error = S::Error>,
    T: Transport,
    C: Timer,
    L: Slots,
    K: Outlet,
{
    let Some(ProbeStream { requests: probes, until }) = probe else {
        return drive_loop.run(requests, &mut slots, outlet).await;
    };
    let outlet = RefCell::new(outlet);
    // If one of both breaks off the other is called off, and leaves its tapes.
    let off = drive_loop.switch();
    let drive_loop = drive_loop.heeding(&off);
    let load = async {
        let driven = drive_loop.run(requests, &mut slots, &mut SharedOutlet(&outlet)).await;
        drop((slots, load_hold));
        driven.inspect_err(|_| off.cancel())
    };
    let probing = async {
        let mut slots =
            LocalSlots::new(drive_loop.timer, MOST_PROBES, SlotOpening::at_once(drive_loop.start));
        let probe_loop = drive_loop.for_probes(&until);
        let driven = probe_loop
            .run(&mut ProbeRequests(probes), &mut slots, &mut SharedOutlet(&outlet))
            .await;
        driven.inspect_err(|_| off.cancel())
    };
    // The probes first: each time that both have something to do, theirs is the little.
    let (probed, driven) = join(probing, load).await;
    probed.and(driven)
}

/// An outlet of both streams, which run on one task.
struct SharedOutlet<'a, 'k, K>(&'a RefCell<&'k mut K>);

impl<K: Outlet> Outlet for SharedOutlet<'_, '_, K> {
    type Error = K::Error;

    fn put(&mut self, tape: Tape) -> Result<(), K::Error> {
        self.0.borrow_mut().put(tape)
    }

    fn rest(&mut self) -> Result<(), K::Error> {
        self.0.borrow_mut().rest()
    }
}

/// Requests that are probes.
struct ProbeRequests<S>(S);

fn marked(next: Option<Scheduled>) -> Option<Scheduled> {
    next.map(|mut next| {
        next.request.part = RequestPurpose::Probe;
        next
    })
}

impl<S: RequestSource> RequestSource for ProbeRequests<S> {
    type Error = S::Error;

    fn next_request(&mut self) -> Result<Option<Scheduled>, S::Error> {
        self.0.next_request().map(marked)
    }

    fn after(&mut self, ended: &Tape, at: Nanos) -> Result<Option<Scheduled>, S::Error> {
        self.0.after(ended, at).map(marked)
    }
}
