//! A plan's requests as a driver takes them.

use std::collections::HashMap;
use std::sync::Arc;

use fizeau_core::{Nanos, Prompt, Request, RequestId, RequestSource, Scheduled, SessionId, Tape};

use super::index::{SessionIndex, go_on};
use super::{Plan, PreparedRequest};
use crate::arrivals::ArrivalSchedule;
use crate::codec::TextCodec;
use crate::content::PromptContent;
use crate::dataset::Dataset;
use crate::parts::{ArrivalProcess, ContentSource, LengthSource, RequestPhase};
use crate::prompts::{DatasetContent, DatasetReuse, Synthetic, VllmDraws};
use crate::spec::{PlanSpec, SpecError};
use crate::workload::{SessionNumbers, WalkError};

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
    phase: RequestPhase,
    which: SessionNumbers,
    schedule: ArrivalSchedule,
    /// How many of the schedule's instants are behind.
    passed: u64,
    /// The last prompt of each session that goes on.
    open: HashMap<SessionId, Prompt>,
    /// How many turns will not come, because one before them failed.
    abandoned: u64,
}

fizeau_core::debug_in_part!(PlanSource { phase });

impl PlanSource {
    pub(super) fn measured(plan: Plan, which: SessionNumbers) -> Self {
        let schedule = plan.schedule();
        Self::new(plan, RequestPhase::Measured, which, schedule)
    }

    pub(super) fn warmup(plan: Plan, which: SessionNumbers) -> Self {
        Self::new(plan, RequestPhase::Warmup, which, ArrivalSchedule::closed(u64::MAX))
    }

    fn new(
        plan: Plan,
        phase: RequestPhase,
        which: SessionNumbers,
        schedule: ArrivalSchedule,
    ) -> Self {
        Self { plan, phase, which, schedule, passed: 0, open: HashMap::new(), abandoned: 0 }
    }

    /// How many turns come after `turn` of `session`. Warm-up requests stand alone.
    fn turns_after(&self, session: SessionId, turn: u32) -> u64 {
        match self.phase {
            RequestPhase::Measured => self.plan.index.turns_after(session, turn),
            RequestPhase::Warmup => 0,
        }
    }

    /// Keeps the prompt of `request` where a turn comes after it.
    fn keep(&mut self, request: &Request) {
        if self.turns_after(request.session, request.turn) > 0 {
            self.open.insert(request.session, request.prompt.clone());
        }
    }

    /// The turn after the one that ended well as `ended`, whose prompt was `before`, and how long the user thinks before it.
    fn next_turn(
        &self,
        ended: &Tape,
        before: Prompt,
    ) -> Result<Option<PreparedRequest>, WalkError> {
        let (session, turn) = (ended.session, ended.turn.saturating_add(1));
        let Some(id) = self.plan.index.request(session, turn) else { return Ok(None) };
        let Some(reply) = &ended.text else {
            return Err(WalkError::new(format!(
                "turn {turn} of session {} cannot be made: it continues the reply before it, and the text of replies is not kept",
                session.0
            )));
        };
        let PreparedRequest { request, think } = self.plan.make(self.phase, id, session, turn);
        let prompt = go_on(before, reply, request.prompt).map_err(|what| {
            let session = session.0;
            WalkError::new(format!("turn {turn} of session {session} goes on from {what}"))
        })?;
        Ok(Some(PreparedRequest {
            request: Request { prompt, input_tokens: None, ..request },
            think,
        }))
    }
}

impl PlanSource {
    /// The next session and its instant.
    fn next_session(&mut self) -> Option<(u64, Option<Nanos>)> {
        let number = self.which.next()?;
        let skipped = usize::try_from(number.checked_sub(self.passed)?).ok()?;
        let at = self.schedule.nth(skipped)?;
        self.passed = number + 1;
        Some((number, at))
    }
}

impl Iterator for PlanSource {
    type Item = Scheduled;

    fn next(&mut self) -> Option<Scheduled> {
        let (number, at) = self.next_session()?;
        let session = SessionId(number);
        let id = match self.phase {
            RequestPhase::Measured => self.plan.index.request(session, 0)?,
            RequestPhase::Warmup => RequestId(number),
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
        let Some(PreparedRequest { request, think }) = self.next_turn(ended, before)? else {
            return Ok(None);
        };
        self.keep(&request);
        let at = (think > Nanos::ZERO).then(|| at + think);
        Ok(Some(Scheduled { at, request }))
    }

    fn abandoned(&self) -> u64 {
        self.abandoned
    }

    fn skip_due(&mut self, end: Nanos) -> Result<u64, WalkError> {
        let mut count = 0;
        while self.next_session().and_then(|(_, at)| at).is_some_and(|at| at < end) {
            count += 1;
        }
        Ok(count)
    }
}

// Putting a plan together.

/// A specification with the parts that are no plain data: a tokenizer, the records of a data set, laws of your own.
#[derive(Debug, Clone)]
pub struct PlanBuilder {
    spec: PlanSpec,
    tokenizer: Option<Arc<dyn TextCodec>>,
    dataset: Option<Arc<Dataset>>,
    arrivals: Option<Arc<dyn ArrivalProcess>>,
    lengths: Option<Arc<dyn LengthSource>>,
    content: Option<Arc<dyn ContentSource>>,
}

impl PlanBuilder {
    pub(super) const fn new(spec: PlanSpec) -> Self {
        let (tokenizer, dataset) = (None, None);
        Self { spec, tokenizer, dataset, arrivals: None, lengths: None, content: None }
    }

    /// Fits exact text under `tokenizer`, and counts the text of a data set where the data set does not say.
    #[must_use]
    pub fn tokenizer(self, tokenizer: Arc<dyn TextCodec>) -> Self {
        Self { tokenizer: Some(tokenizer), ..self }
    }

    /// Takes the records of [`crate::PromptContent::Dataset`] from `dataset`.
    #[must_use]
    pub fn dataset(self, dataset: Arc<Dataset>) -> Self {
        Self { dataset: Some(dataset), ..self }
    }

    /// Lets sessions begin as `arrivals` says, whatever the specification's law is.
    #[must_use]
    pub fn arrivals(self, arrivals: impl ArrivalProcess + 'static) -> Self {
        Self { arrivals: Some(Arc::new(arrivals)), ..self }
    }

    /// Makes requests as long as `lengths` says, whatever the specification's law is.
    #[must_use]
    pub fn lengths(self, lengths: impl LengthSource + 'static) -> Self {
        Self { lengths: Some(Arc::new(lengths)), ..self }
    }

    /// Takes prompts from `content`, whatever the specification's are made of.
    #[must_use]
    pub fn content(self, content: impl ContentSource + 'static) -> Self {
        Self { content: Some(Arc::new(content)), ..self }
    }

    /// The plan.
    ///
    /// # Errors
    /// If a number in the specification is out of its range, something that it asks for was not given, or the tokenizer
    /// fails on the first prompt.
    pub fn build(self) -> Result<Plan, SpecError> {
        let Self { spec, tokenizer, dataset, arrivals, lengths, content } = self;
        spec.check()?;
        let lengths = lengths.unwrap_or_else(|| Arc::new(spec.lengths.clone()));
        let (content, repeats) = match (content, &spec.content) {
            (Some(own), _) => (own, None),
            (None, PromptContent::Dataset { .. }) => taken(&spec, dataset, tokenizer)?,
            (None, _) => (made(&spec, tokenizer)?, None),
        };
        let index = SessionIndex::new(spec.requests, spec.sessions.as_ref(), &*content, spec.seed)?;
        let (spec, cache) = (Arc::new(spec), Arc::default());
        let plan = Plan { spec, arrivals, lengths, content, index, repeats, cache };
        plan.check_sessions()?;
        Ok(plan)
    }
}

impl Plan {
    /// Refuses sessions whose prompts no turn could go on from, as the first of several turns shows.
    fn check_sessions(&self) -> Result<(), SpecError> {
        let turns = |session| [0, 1].map(|turn| self.index.request(session, turn));
        let both = self.index.first_of_several().map_or([None; 2], turns);
        let mut prompts = both.into_iter().flatten().map(|id| self.request(id).prompt);
        match (prompts.next(), prompts.next()) {
            (Some(first), Some(second)) => go_on(first, "", second).map(drop),
            _ => Ok(()),
        }
        .map_err(SpecError::SessionPrompt)
    }
}

/// The records that `spec` asks for.
fn taken(
    spec: &PlanSpec,
    dataset: Option<Arc<Dataset>>,
    tokenizer: Option<Arc<dyn TextCodec>>,
) -> Result<(Arc<dyn ContentSource>, Option<DatasetReuse>), SpecError> {
    let dataset = dataset.ok_or(SpecError::NoDataset)?;
    let (content, repeats) = DatasetContent::new(spec, dataset, tokenizer)?;
    Ok((Arc::new(content), repeats))
}

/// The content that `spec` asks for.
fn made(
    spec: &PlanSpec,
    tokenizer: Option<Arc<dyn TextCodec>>,
) -> Result<Arc<dyn ContentSource>, SpecError> {
    if let PromptContent::VllmRandom(random) = &spec.content {
        return Ok(Arc::new(VllmDraws::new(random, spec, tokenizer)?));
    }
    let synthetic = Synthetic::new(spec, tokenizer);
    if synthetic.is_exact() {
        synthetic.try_longest(spec)?;
    }
    Ok(Arc::new(synthetic))
}
