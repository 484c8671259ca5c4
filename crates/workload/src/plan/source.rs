//! A plan's requests as a driver takes them.

use std::convert::Infallible;

use fizeau_core::{Nanos, Request, RequestId, RequestSource, Scheduled, SessionId, Tape};

use super::Plan;
use crate::arrivals::Schedule;
use crate::parts::Phase;
use crate::workload::{Numbers, WalkError};

/// A plan's requests in order, as a driver takes them: a [`RequestSource`] that cannot fail, and an iterator over the
/// first requests of sessions.
///
/// Each prompt is made when it is asked for, which for exact text takes a tokenizer's time: a driver that keeps
/// a tight schedule asks ahead.
pub struct PlanSource {
    plan: Plan,
    phase: Phase,
    which: Numbers,
    schedule: Schedule,
    /// How many of the schedule's instants are behind.
    passed: u64,
}

impl std::fmt::Debug for PlanSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PlanSource").field("phase", &self.phase).finish_non_exhaustive()
    }
}

impl PlanSource {
    pub(super) fn measured(plan: Plan, which: Numbers) -> Self {
        let schedule = plan.schedule();
        Self { plan, phase: Phase::Measured, which, schedule, passed: 0 }
    }

    pub(super) fn warmup(plan: Plan, which: Numbers) -> Self {
        let schedule = Schedule::closed(u64::MAX);
        Self { plan, phase: Phase::Warmup, which, schedule, passed: 0 }
    }

    /// As a source whose error fits every plan's.
    pub(super) const fn walk(self) -> Walked {
        Walked(self)
    }
}

impl Iterator for PlanSource {
    type Item = Scheduled;

    fn next(&mut self) -> Option<Scheduled> {
        let number = self.which.next()?;
        let skipped = usize::try_from(number.checked_sub(self.passed)?).ok()?;
        let at = self.schedule.nth(skipped)?;
        self.passed = number + 1;
        let session = SessionId(number);
        let id = match self.phase {
            Phase::Measured => self.plan.index.request(session, 0)?,
            Phase::Warmup => RequestId(number),
        };
        let request: Request = self.plan.make(self.phase, id, session, 0).request;
        Some(Scheduled { at, request })
    }
}

impl RequestSource for PlanSource {
    type Error = Infallible;

    fn next_request(&mut self) -> Result<Option<Scheduled>, Infallible> {
        Ok(self.next())
    }

    fn after(&mut self, _ended: &Tape, _at: Nanos) -> Result<Option<Scheduled>, Infallible> {
        Ok(None)
    }
}

/// A [`PlanSource`] whose error is that of all plans.
#[derive(Debug)]
pub(super) struct Walked(PlanSource);

impl RequestSource for Walked {
    type Error = WalkError;

    fn next_request(&mut self) -> Result<Option<Scheduled>, WalkError> {
        self.0.next_request().map_err(|never| match never {})
    }

    fn after(&mut self, ended: &Tape, at: Nanos) -> Result<Option<Scheduled>, WalkError> {
        self.0.after(ended, at).map_err(|never| match never {})
    }
}
