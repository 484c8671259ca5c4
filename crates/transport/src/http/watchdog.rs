//! Deadlines of one request on one timer.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use fizeau_core::{Clock, FailureClass, Nanos, Stamp};
use tokio::time::Sleep;

use crate::timeouts::Timeouts;

/// How long a settled reply may take to end its body, so that the connection can be reused. A server that says
/// `[DONE]` and leaves the body open costs this and no more.
const GRACE: Nanos = Nanos::from_secs(1);

/// What a request waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Connection,
    FirstToken,
    NextToken,
    /// All is known but the end of the body.
    BodyEnd,
}

/// What was waited for too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alarm {
    /// The end of a body that matters no more.
    Grace,
    /// Something that fails the request.
    Timeout(FailureClass),
}

/// Watches the limits of one request. A token costs it two stores: the timer is not moved when a deadline
/// moves away, but left to fire early and be set again.
#[derive(Debug)]
pub(super) struct Watchdog<C> {
    clock: Rc<C>,
    limits: Timeouts,
    started: Stamp,
    phase: Phase,
    since: Stamp,
    timer: Option<(Stamp, Pin<Box<Sleep>>)>,
}

impl<C: Clock> Watchdog<C> {
    pub(super) fn new(clock: Rc<C>, limits: Timeouts) -> Self {
        let started = clock.now();
        Self { clock, limits, started, phase: Phase::Connection, since: started, timer: None }
    }

    /// From `since` on, `phase` is waited for.
    pub(super) fn enter(&mut self, phase: Phase, since: Stamp) {
        (self.phase, self.since) = (phase, since);
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    /// Ready once a limit is reached.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Alarm> {
        loop {
            let Some((deadline, alarm)) = self.deadline() else {
                return Poll::Pending;
            };
            let now = self.clock.now();
            if now >= deadline {
                return Poll::Ready(alarm);
            }
            let armed = self.timer.take().filter(|(armed, _)| *armed <= deadline);
            let (armed, mut sleep) = armed.unwrap_or_else(|| {
                let left = deadline.saturating_since(now);
                (deadline, Box::pin(tokio::time::sleep(left.into())))
            });
            if sleep.as_mut().poll(cx).is_pending() {
                self.timer = Some((armed, sleep));
                return Poll::Pending;
            }
        }
    }

    fn deadline(&self) -> Option<(Stamp, Alarm)> {
        let (limit, alarm) = match self.phase {
            Phase::Connection => {
                (self.limits.connect, Alarm::Timeout(FailureClass::TimeoutConnect))
            }
            Phase::FirstToken => {
                (self.limits.first_token, Alarm::Timeout(FailureClass::TimeoutFirstToken))
            }
            Phase::NextToken => (self.limits.idle, Alarm::Timeout(FailureClass::TimeoutIdle)),
            Phase::BodyEnd => (Some(GRACE), Alarm::Grace),
        };
        let own = limit.map(|limit| (self.since + limit, alarm));
        let total = self.limits.total.map(|limit| {
            let alarm = Alarm::Timeout(FailureClass::TimeoutTotal);
            (self.started + limit, alarm)
        });
        own.into_iter().chain(total).min_by_key(|(at, _)| *at)
    }
}
