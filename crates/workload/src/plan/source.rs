//! A plan's requests as a driver takes them.

use std::collections::HashMap;

use fizeau_core::{Nanos, Prompt, Request, RequestId, RequestSource, Scheduled, SessionId, Tape};

use super::history::go_on;
use super::{Plan, Prepared};
use crate::arrivals::Schedule;
use crate::parts::Phase;
use crate::workload::{Numbers, WalkError};

/// A plan's requests in order, as a driver takes them: a [`RequestSource`], and an iterator over the first requests of
/// sessions.
///
/// Each prompt is made when it is asked for, which for exact text takes a tokenizer's time: a driver that keeps
/// a tight schedule asks ahead.
///
/// The next turn of a session is made when the one before has ended ([`RequestSource::after`]). Its prompt is that one's,
/// the reply that really came, and what is new; it is due when the user has thought, or, without thinking, at once. How
/// many tokens such a prompt has is not known, since nobody but the server counts the template and the seams. A turn that
/// fails ends its session. Of a session that goes on, the last prompt is kept, and nothing else.
///
/// The reply is the text on the tape, all of it: reasoning too, where the server streams it, which a chat template may leave
/// out.
///
/// As a [`RequestSource`] of sessions of one turn it cannot fail. Those of several turns need the text of replies on their
/// tapes.
pub struct PlanSource {
    plan: Plan,
    phase: Phase,
    which: Numbers,
    schedule: Schedule,
    /// How many of the schedule's instants are behind.
    passed: u64,
    /// The last prompt of each session that goes on.
    open: HashMap<SessionId, Prompt>,
    /// How many turns will not come, because one before them failed.
    abandoned: u64,
}

impl std::fmt::Debug for PlanSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PlanSource").field("phase", &self.phase).finish_non_exhaustive()
    }
}

impl PlanSource {
    pub(super) fn measured(plan: Plan, which: Numbers) -> Self {
        let schedule = plan.schedule();
        Self::new(plan, Phase::Measured, which, schedule)
    }

    pub(super) fn warmup(plan: Plan, which: Numbers) -> Self {
        Self::new(plan, Phase::Warmup, which, Schedule::closed(u64::MAX))
    }

    fn new(plan: Plan, phase: Phase, which: Numbers, schedule: Schedule) -> Self {
        Self { plan, phase, which, schedule, passed: 0, open: HashMap::new(), abandoned: 0 }
    }

    /// How many turns come after `turn` of `session`. Warm-up requests stand alone.
    fn turns_after(&self, session: SessionId, turn: u32) -> u64 {
        match self.phase {
            Phase::Measured => self.plan.index.turns_after(session, turn),
            Phase::Warmup => 0,
        }
    }

    /// Keeps the prompt of `request` where a turn comes after it.
    fn keep(&mut self, request: &Request) {
        if self.turns_after(request.session, request.turn) > 0 {
            self.open.insert(request.session, request.prompt.clone());
        }
    }

    /// The turn after the one that ended well as `ended`, whose prompt was `before`, and how long the user thinks before it.
    fn next_turn(&self, ended: &Tape, before: Prompt) -> Result<Option<Prepared>, WalkError> {
        let (session, turn) = (ended.session, ended.turn.saturating_add(1));
        let Some(id) = self.plan.index.request(session, turn) else { return Ok(None) };
        let Some(reply) = &ended.text else {
            return Err(WalkError::new(format!(
                "turn {turn} of session {} cannot be made: it goes on from the reply before it, and the text of replies is \
                 not kept",
                session.0
            )));
        };
        let Prepared { request, think } = self.plan.make(self.phase, id, session, turn);
        let prompt = go_on(before, reply, request.prompt).map_err(|what| {
            let session = session.0;
            WalkError::new(format!("turn {turn} of session {session} goes on from {what}"))
        })?;
        Ok(Some(Prepared { request: Request { prompt, input_tokens: None, ..request }, think }))
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
    type Error = WalkError;

    fn next_request(&mut self) -> Result<Option<Scheduled>, WalkError> {
        let next = self.next();
        if let Some(Scheduled { request, .. }) = &next {
            self.keep(request);
        }
        Ok(next)
    }

    fn after(&mut self, ended: &Tape, at: Nanos) -> Result<Option<Scheduled>, WalkError> {
        let Some(before) = self.open.remove(&ended.session) else { return Ok(None) };
        if !ended.is_success() {
            self.abandoned += self.turns_after(ended.session, ended.turn);
            return Ok(None);
        }
        let Some(Prepared { request, think }) = self.next_turn(ended, before)? else {
            return Ok(None);
        };
        self.keep(&request);
        let at = (think > Nanos::ZERO).then(|| at + think);
        Ok(Some(Scheduled { at, request }))
    }

    fn abandoned(&self) -> u64 {
        self.abandoned
    }
}
