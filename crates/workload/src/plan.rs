//! The plan: every request that follows from a specification, to be had in any order.

use std::convert::Infallible;
use std::num::NonZeroU64;
use std::sync::Arc;

use fizeau_core::{Prompt, Request, RequestId, RequestSource, Scheduled, SessionId, Tokens};

use crate::arrivals::Schedule;
use crate::content::{Content, Draw, Made, Wording, user_message};
use crate::exact::TextCodec;
use crate::seed::Purpose;
use crate::spec::{Spec, SpecError};

/// The whole list of requests that follows from a [`Spec`].
///
/// It holds the specification and no request: making one costs time in proportion to its prompt, whichever it is.
/// Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Plan {
    spec: Spec,
    tokenizer: Option<Arc<dyn TextCodec>>,
}

impl Plan {
    /// The plan that follows from `spec`.
    ///
    /// # Errors
    /// If a number in `spec` is out of its range, or `spec` asks for exact text, which needs
    /// [`Plan::with_tokenizer`].
    pub fn new(spec: Spec) -> Result<Self, SpecError> {
        spec.check()?;
        if spec.content.is_exact() {
            return Err(SpecError::NoTokenizer);
        }
        Ok(Self { spec, tokenizer: None })
    }

    /// The plan that follows from `spec`, with `tokenizer` to fit exact text under. Other content does not use it.
    ///
    /// # Errors
    /// If a number in `spec` is out of its range, or the tokenizer fails on the first prompt.
    pub fn with_tokenizer(spec: Spec, tokenizer: Arc<dyn TextCodec>) -> Result<Self, SpecError> {
        spec.check()?;
        let plan = Self { spec, tokenizer: None };
        if plan.spec.content.is_exact() {
            let first = plan.draw(Place::measured(0));
            first.exact(&*tokenizer).map_err(SpecError::Tokenizer)?;
        }
        Ok(Self { tokenizer: Some(tokenizer), ..plan })
    }

    /// What the plan was made from.
    #[must_use]
    pub const fn spec(&self) -> &Spec {
        &self.spec
    }

    /// How many requests the plan has, warm-up not counted.
    #[must_use]
    pub const fn len(&self) -> NonZeroU64 {
        self.spec.requests
    }

    /// The request of number `id`. Past the end of the plan it is the one that a longer plan would have there.
    ///
    /// `input_tokens` counts shared prefix and own part together, and is present where the number is certain:
    /// for token ids, and for exact text, where it is the final count even if the fitting fell short. Should
    /// the tokenizer fail on one text of an exact plan, words stand in for it and the number is absent.
    #[must_use]
    pub fn request(&self, id: RequestId) -> Request {
        self.make(id, Place::measured(id.0))
    }

    /// When the requests ought to leave, in order of their numbers.
    ///
    /// With [`crate::Rescale::ToMean`] this call goes over all gaps once; otherwise it costs nothing.
    #[must_use]
    pub fn schedule(&self) -> Schedule {
        Schedule::new(self.spec.arrivals, self.spec.requests.get(), self.spec.seed)
    }

    /// The requests with their instants, in order, from the first.
    #[must_use]
    pub fn source(&self) -> PlanSource {
        PlanSource {
            plan: self.clone(),
            schedule: self.schedule(),
            next: 0,
            place: Place::measured,
        }
    }

    /// `requests` requests to warm an endpoint up with: lengths and content of the same kind, in a closed loop.
    ///
    /// Their prompts are none of the plan's, and a shared prefix is another one, so that what they leave in a
    /// prefix cache helps no measured request. They count their numbers from 0 as well; keep their tapes apart.
    #[must_use]
    pub fn warmup(&self, requests: u64) -> PlanSource {
        PlanSource {
            plan: self.clone(),
            schedule: Schedule::closed(requests),
            next: 0,
            place: Place::warmup,
        }
    }

    fn make(&self, id: RequestId, place: Place) -> Request {
        let (prompt, input_tokens) = self.prompt(&self.draw(place));
        let mut lengths = self.spec.seed.stream(Purpose::OutputLength, place.index);
        Request {
            id,
            session: SessionId(id.0),
            turn: 0,
            prompt,
            input_tokens,
            max_output_tokens: self.spec.output.draw(&mut lengths),
            eos: self.spec.eos,
        }
    }

    fn draw(&self, place: Place) -> Draw {
        let Spec { seed, input, .. } = self.spec;
        let mut lengths = seed.stream(Purpose::InputLength, place.index);
        Draw {
            seed,
            index: place.index,
            prefix: place.prefix,
            prefix_len: self.spec.prefix,
            len: input.draw(&mut lengths),
        }
    }

    fn prompt(&self, draw: &Draw) -> Made {
        match &self.spec.content {
            Content::TokenIds { range } => draw.token_ids(range),
            Content::Text(wording) => {
                let (text, tokens) = self.text(*wording, draw);
                (Prompt::Text(text), tokens)
            }
            Content::Chat(wording) => (user_message(self.text(*wording, draw).0), None),
        }
    }

    fn text(&self, wording: Wording, draw: &Draw) -> (String, Option<Tokens>) {
        let tokenizer = match wording {
            Wording::Exact => self.tokenizer.as_deref(),
            Wording::Words => None,
        };
        match tokenizer.map(|tokenizer| draw.exact(tokenizer)) {
            Some(Ok(exact)) => (exact.text, Some(exact.tokens)),
            Some(Err(_)) | None => (draw.words(), None),
        }
    }
}

/// Where a prompt stands in the space of all prompts that a specification could give.
#[derive(Debug, Clone, Copy)]
struct Place {
    index: u64,
    prefix: u64,
}

impl Place {
    const fn measured(number: u64) -> Self {
        Self { index: number, prefix: 0 }
    }

    /// Warm-up requests are counted down from the far end, where no measured one ever comes.
    const fn warmup(number: u64) -> Self {
        Self { index: u64::MAX - number, prefix: 1 }
    }
}

/// A plan's requests in order, as a driver takes them: a [`RequestSource`] that cannot fail, and an iterator.
///
/// Each prompt is made when it is asked for, which for exact text takes a tokenizer's time: a driver that keeps
/// a tight schedule asks ahead.
#[derive(Debug)]
pub struct PlanSource {
    plan: Plan,
    schedule: Schedule,
    next: u64,
    place: fn(u64) -> Place,
}

impl Iterator for PlanSource {
    type Item = Scheduled;

    fn next(&mut self) -> Option<Scheduled> {
        let at = self.schedule.next()?;
        let number = self.next;
        self.next += 1;
        let request = self.plan.make(RequestId(number), (self.place)(number));
        Some(Scheduled { at, request })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.schedule.size_hint()
    }
}

impl RequestSource for PlanSource {
    type Error = Infallible;

    fn next_request(&mut self) -> Result<Option<Scheduled>, Infallible> {
        Ok(self.next())
    }
}
