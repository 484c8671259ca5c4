//! Deadlines of one request on one timer.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use fizeau_core::{FailureClass, Nanos, Stamp};
use tokio::time::Sleep;

use crate::target::Timeouts;

/// How long a settled reply may take to end its body, so that the connection can be reused at once: a server sends both together.
/// Short against any lateness that matters, as the request holds its slot meanwhile.
pub(super) const BODY_END_GRACE: Nanos = Nanos::from_millis(5);

/// How long what decides nothing is read on: the words of a refusal, and what is left of a body that a reply did not wait for.
const REMAINDER_LIMIT: Nanos = Nanos::from_secs(1);

/// What a request waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WaitPhase {
    Connection,
    FirstToken,
    NextToken,
    /// All is known but the end of the body.
    BodyEnd,
    /// What decides nothing.
    Remainder,
}

/// What was waited for too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeoutAlarm {
    /// Nothing any more: the request was called off.
    CalledOff,
    /// The end of a body that matters no more.
    Grace,
    /// Something that fails the request.
    Timeout(FailureClass),
}

/// Watches the limits of one request. A token costs it a few stores and comparisons: the timer is not moved when a
/// deadline moves away, but left to fire early and be set again, and it is not looked at before it can have fired.
#[derive(Debug)]
pub(super) struct Watchdog {
    limits: Timeouts,
    started: Stamp,
    phase: WaitPhase,
    since: Stamp,
    /// How long the end of the body is waited for.
    grace: Nanos,
    timer: Option<SetTimer>,
}

/// A timer that is set.
#[derive(Debug)]
struct SetTimer {
    to: Stamp,
    sleep: Pin<Box<Sleep>>,
    /// Whom it wakes.
    waker: Waker,
}

impl Watchdog {
    pub(super) const fn new(started: Stamp, limits: Timeouts) -> Self {
        let (phase, grace) = (WaitPhase::Connection, BODY_END_GRACE);
        Self { limits, started, phase, since: started, grace, timer: None }
    }

    /// That of what is left of a body since `settled`, when all was said.
    pub(super) const fn of_remainder(settled: Stamp) -> Self {
        let limits = Timeouts { connect: None, first_token: None, idle: None, total: None };
        let grace = BODY_END_GRACE;
        let phase = WaitPhase::Remainder;
        Self { limits, started: settled, phase, since: settled, grace, timer: None }
    }

    /// The watching for whoever reads on, and waits for the end of the body for `grace`; none is left behind.
    pub(super) fn hand_over(&mut self, grace: Nanos) -> Self {
        let Self { limits, started, phase, since, .. } = *self;
        Self { limits, started, phase, since, grace, timer: self.timer.take() }
    }

    /// From `since` on, `phase` is waited for.
    pub(super) const fn enter(&mut self, phase: WaitPhase, since: Stamp) {
        (self.phase, self.since) = (phase, since);
    }

    /// Whether a limit will be reached before the timer tells: whoever polls has to look again.
    #[cfg(target_os = "linux")]
    pub(super) fn is_set_too_late(&self) -> bool {
        let Some((deadline, _)) = self.deadline() else { return false };
        self.timer.as_ref().is_none_or(|timer| timer.to > deadline)
    }

    pub(super) const fn phase(&self) -> WaitPhase {
        self.phase
    }

    /// Ready once a limit is reached. `now` is read if need be; any instant since the task was woken will do, so that
    /// a stamp just taken saves a look at the clock.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        now: impl Fn() -> Stamp,
    ) -> Poll<TimeoutAlarm> {
        loop {
            let Some((deadline, alarm)) = self.deadline() else {
                return Poll::Pending;
            };
            let now = now();
            if now >= deadline {
                return Poll::Ready(alarm);
            }
            let timer = self.timer.take().filter(|timer| timer.to <= deadline);
            let mut timer = timer.unwrap_or_else(|| {
                let left = deadline.saturating_since(now);
                let sleep = Box::pin(tokio::time::sleep(left.into()));
                SetTimer { to: deadline, sleep, waker: Waker::noop().clone() }
            });
            // A timer that lies ahead will wake whoever it knows. `now` may be older than the wake-up (with HTTP/2 the
            // read was another task's), so a timer that has fired is asked for by itself.
            let rests =
                now < timer.to && !timer.sleep.is_elapsed() && timer.waker.will_wake(cx.waker());
            if rests || timer.sleep.as_mut().poll(cx).is_pending() {
                if !rests {
                    timer.waker.clone_from(cx.waker());
                }
                self.timer = Some(timer);
                return Poll::Pending;
            }
        }
    }

    fn deadline(&self) -> Option<(Stamp, TimeoutAlarm)> {
        let (limit, alarm) = match self.phase {
            WaitPhase::Connection => {
                (self.limits.connect, TimeoutAlarm::Timeout(FailureClass::TimeoutConnect))
            }
            WaitPhase::FirstToken => {
                (self.limits.first_token, TimeoutAlarm::Timeout(FailureClass::TimeoutFirstToken))
            }
            WaitPhase::NextToken => {
                (self.limits.idle, TimeoutAlarm::Timeout(FailureClass::TimeoutIdle))
            }
            WaitPhase::BodyEnd => (Some(self.grace), TimeoutAlarm::Grace),
            WaitPhase::Remainder => (Some(REMAINDER_LIMIT), TimeoutAlarm::Grace),
        };
        let own = limit.map(|limit| (self.since + limit, alarm));
        let total = self.limits.total.map(|limit| {
            let alarm = TimeoutAlarm::Timeout(FailureClass::TimeoutTotal);
            (self.started + limit, alarm)
        });
        own.into_iter().chain(total).min_by_key(|(at, _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::time::Duration;

    use fizeau_core::{FailureClass, Nanos, Stamp};

    use super::{TimeoutAlarm, Watchdog};
    use crate::target::Timeouts;

    #[tokio::test]
    async fn a_timer_that_fired_is_heard_by_an_instant_from_before() {
        let limit = Nanos::from_millis(1);
        let limits = Timeouts { connect: None, first_token: None, idle: None, total: Some(limit) };
        let mut watchdog = Watchdog::new(Stamp::EPOCH, limits);
        let mut polls = 0;
        let alarm = poll_fn(|cx| {
            polls += 1;
            let now = if polls < 3 { Stamp::EPOCH } else { Stamp::EPOCH + limit };
            watchdog.poll(cx, || now)
        });
        tokio::select! {
            biased;
            () = tokio::time::sleep(Duration::from_secs(10)) => panic!("nobody was woken"),
            alarm = alarm => assert_eq!(alarm, TimeoutAlarm::Timeout(FailureClass::TimeoutTotal)),
        }
    }
}
