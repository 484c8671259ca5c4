//! Connections whose replies are over and whose bodies are not.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use fizeau_core::{Clock, Nanos, Stamp};

use super::reading::{BodyContent, BodyKind, BodyReading, EndedBody};
use super::watchdog::{BODY_END_GRACE, Watchdog};
use super::wire::{BodyEnding, DrivenConnection, IdleConnections};

/// The bodies that an endpoint has left open behind replies that were over. They are read on for a while, so that their
/// connections can be used again once they end after all.
#[derive(Debug)]
pub(super) struct OpenBodies<C> {
    bodies: RefCell<VecDeque<BodyReading<C>>>,
    /// How many replies in a row were not followed by the end of their body in time.
    in_a_row: Cell<u32>,
}

/// So many in a row, and a server is one that leaves bodies open: its replies are over as all is said.
const HABIT: u32 = 3;

/// How many bodies are looked at in one go.
const LOOKS: usize = 4;

impl<C> Default for OpenBodies<C> {
    fn default() -> Self {
        Self { bodies: RefCell::default(), in_a_row: Cell::new(0) }
    }
}

impl<C: Clock + Send + 'static> OpenBodies<C> {
    /// How long the next reply waits for the end of its body.
    pub(super) fn grace(&self) -> Nanos {
        if self.in_a_row.get() < HABIT { BODY_END_GRACE } else { Nanos::ZERO }
    }

    /// A body ended in time.
    pub(super) fn ended(&self) {
        self.in_a_row.set(0);
    }

    /// Reads on what is left of the body on `wire`, whose reply was over when it `settled`.
    pub(super) fn leave(&self, wire: DrivenConnection<C>, settled: Stamp) {
        self.in_a_row.set(self.in_a_row.get().saturating_add(1));
        // With HTTP/2 nothing but the request's own place on its connection hangs on the rest.
        if matches!(wire, DrivenConnection::H1(_)) {
            let kind = BodyKind::Plain(Vec::new());
            let watchdog = Watchdog::of_remainder(settled);
            let content = BodyContent { watchdog, kind, settled: Some(settled) };
            self.bodies.borrow_mut().push_back(BodyReading::new(wire, content));
        }
    }

    /// Gives connections whose bodies have ended to `idle`, and drops those that took too long.
    pub(super) fn sweep(&self, idle: &IdleConnections<C>, scratch: &mut [u8], clock: &C) {
        let mut bodies = self.bodies.borrow_mut();
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..bodies.len().min(LOOKS) {
            let Some(mut body) = bodies.pop_front() else { return };
            match body.poll(&mut cx, scratch, clock) {
                Poll::Pending => bodies.push_back(body),
                Poll::Ready(EndedBody { wire, how: Ok(BodyEnding::Whole), .. }) => {
                    self.ended();
                    idle.check_in(wire, clock);
                }
                Poll::Ready(_) => {}
            }
        }
    }
}
