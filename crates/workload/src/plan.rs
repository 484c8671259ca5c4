//! The plan: every request that follows from a specification, to be had in any order.

mod index;
mod source;

use std::num::NonZeroU64;
use std::sync::{Arc, OnceLock};

use fizeau_core::{Nanos, Request, RequestId, SessionId, Tokens};

pub use source::{PlanBuilder, PlanSource};

use crate::arrivals::{ArrivalLaw, ArrivalSchedule};
use crate::cache::CacheShare;
use crate::codec::TextCodec;
use crate::parts::{
    ArrivalProcess, ContentSource, LengthPair, LengthSource, RequestPhase, RequestPosition,
};
use crate::prompts::DatasetReuse;
use crate::seed::StreamPurpose;
use crate::spec::{PlanSpec, SpecError};
use crate::weights;
use crate::workload::{Pacing, RequestWalk, SessionNumbers, ThinkTime, Workload};
use index::SessionIndex;

/// The whole list of requests that follows from a [`PlanSpec`].
///
/// It holds the specification and no request: making one costs time in proportion to its prompt, whichever it is.
/// Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Plan {
    spec: Arc<PlanSpec>,
    /// None where the specification's own law holds.
    arrivals: Option<Arc<dyn ArrivalProcess>>,
    lengths: Arc<dyn LengthSource>,
    content: Arc<dyn ContentSource>,
    index: SessionIndex,
    repeats: Option<DatasetReuse>,
    /// What a prefix cache would supply of the whole plan, once that has been asked for.
    cache: Arc<OnceLock<Option<CacheShare>>>,
}

impl Plan {
    /// The plan that follows from `spec`.
    ///
    /// # Errors
    /// If a number in `spec` is out of its range, or `spec` asks for what a [`PlanBuilder`] has to be given: a tokenizer
    /// for exact text, the records of a data set.
    pub fn new(spec: PlanSpec) -> Result<Self, SpecError> {
        Self::builder(spec).build()
    }

    /// The plan that follows from `spec`, with `tokenizer` to fit exact text under. Other content does not use it.
    ///
    /// # Errors
    /// If a number in `spec` is out of its range, or the tokenizer fails on the first prompt.
    pub fn with_tokenizer(
        spec: PlanSpec,
        tokenizer: Arc<dyn TextCodec>,
    ) -> Result<Self, SpecError> {
        Self::builder(spec).tokenizer(tokenizer).build()
    }

    /// A plan of `spec` with parts of your own.
    #[must_use]
    pub const fn builder(spec: PlanSpec) -> PlanBuilder {
        PlanBuilder::new(spec)
    }

    /// What the plan was made from.
    #[must_use]
    pub fn spec(&self) -> &PlanSpec {
        &self.spec
    }

    /// How many requests the plan has, warm-up not counted.
    #[must_use]
    pub fn len(&self) -> NonZeroU64 {
        self.spec.requests
    }

    /// How often the data set is begun again; none where its records suffice, or there is no data set.
    #[must_use]
    pub const fn repeats(&self) -> Option<DatasetReuse> {
        self.repeats
    }

    /// The request of number `id`. Past the end of the plan it is the one that a longer plan would have there; of sessions
    /// whose turns are drawn or recorded, each request there is a session of one.
    ///
    /// `input_tokens` counts shared prefix and own part together, and is present where the number is certain:
    /// for token ids, for the records of a data set where it or a tokenizer says, and for exact text, where it is the final count even if the fitting fell short. Should
    /// the tokenizer fail on one text of an exact plan, words stand in for it and the number is absent. A later turn of a
    /// session is given without what came before it, which nobody knows ahead.
    #[must_use]
    pub fn request(&self, id: RequestId) -> Request {
        let (session, turn) = self.index.place(id);
        self.make(RequestPhase::Measured, id, session, turn).request
    }

    /// When sessions ought to begin, in order of their numbers.
    ///
    /// With [`crate::Rescale::ToMean`] this call goes over all gaps once; otherwise it costs nothing.
    #[must_use]
    pub fn schedule(&self) -> ArrivalSchedule {
        let sessions = self.index.sessions();
        let draws = self.spec.seed.stream(StreamPurpose::Gaps, 0);
        match &self.arrivals {
            None => ArrivalSchedule::new(&self.spec.arrivals, sessions, draws),
            Some(own) => ArrivalSchedule::of(own.instants(sessions, draws), sessions),
        }
    }

    /// The requests with their instants, in order, from the first.
    #[must_use]
    pub fn source(&self) -> PlanSource {
        self.sessions(0..)
    }

    /// The sessions of the numbers that `which` gives, which must be rising.
    #[must_use]
    pub fn sessions(&self, which: impl Iterator<Item = u64> + Send + 'static) -> PlanSource {
        PlanSource::measured(self.clone(), Box::new(which))
    }

    /// `requests` requests to warm an endpoint up with: lengths and content of the same kind, in a closed loop.
    ///
    /// Their prompts are none of the plan's, and a shared prefix is another one, so that what they leave in a
    /// prefix cache helps no measured request. They count their numbers from 0 as well; keep their tapes apart.
    #[must_use]
    pub fn warmup(&self, requests: u64) -> PlanSource {
        PlanSource::warmup(self.clone(), Box::new(0..requests))
    }

    /// The share of all prompt tokens that a prefix cache would supply which starts empty, never forgets, and knows prompts
    /// token by token: what a run that asks for shared prefixes ought to find. The first use of each prefix is a miss.
    ///
    /// Computed from the plan's own draws, exactly where lengths are; a real cache supplies a little less, because it keeps
    /// whole blocks and computes the last token anyway. None where the content does not say: of data sets, and of sessions
    /// of several turns, whose history no plan knows. Where no two prompts begin alike both sums are 0. A cache keeps what
    /// each model of a mix makes of a prompt for itself.
    ///
    /// The first call goes over all requests, but over no more than the first 2,097,152 (2^21): of a longer plan they show
    /// the share closely, and a little low.
    #[must_use]
    pub fn expected_cache(&self) -> Option<CacheShare> {
        *self.cache.get_or_init(|| self.expected_cache_of(self.spec.requests.get()))
    }

    /// As [`Self::expected_cache`], of the plan's first `requests` requests alone: what a run that ended early ought to have
    /// found. Nothing is kept from call to call.
    #[must_use]
    pub fn expected_cache_of(&self, requests: u64) -> Option<CacheShare> {
        const MOST: u64 = 1 << 21;
        if self.index.first_of_several().is_some() {
            return None;
        }
        if !self.content.shares() {
            return Some(CacheShare::default());
        }
        CacheShare::of((0..requests.min(MOST)).map(|number| {
            let id = RequestId(number);
            let (session, turn) = self.index.place(id);
            let place = self.place(RequestPhase::Measured, id, session, turn).0;
            let model = self.model_number(&place).map_or(0, |number| number as u64);
            Some((model, self.content.outline(&place)?))
        }))
    }

    /// Where a request stands, and how long it is.
    fn place(
        &self,
        phase: RequestPhase,
        request: RequestId,
        session: SessionId,
        turn: u32,
    ) -> (RequestPosition, LengthPair) {
        let spec = &*self.spec;
        let seed = spec.seed.salted(spec.salt);
        let place = RequestPosition { seed, phase, request, session, turn, input: Tokens::ZERO };
        let lengths = self.lengths.lengths(
            &mut spec.seed.stream(StreamPurpose::InputLength, place.key()),
            &mut spec.seed.stream(StreamPurpose::OutputLength, place.key()),
        );
        (RequestPosition { input: lengths.input, ..place }, lengths)
    }

    /// The request at one place, and how long its user thinks before it.
    fn make(
        &self,
        phase: RequestPhase,
        id: RequestId,
        session: SessionId,
        turn: u32,
    ) -> PreparedRequest {
        let spec = &*self.spec;
        let (place, lengths) = self.place(phase, id, session, turn);
        let made = self.content.content(&place);
        let think = spec.sessions.map_or(ThinkTime::None, |sessions| sessions.think);
        PreparedRequest {
            think: made.think.unwrap_or_else(|| think.draw(spec.seed, place.key())),
            request: Request {
                session,
                turn,
                input_tokens: made.input_tokens,
                eos: spec.eos,
                model: made.model.or_else(|| self.model(&place)),
                extra: made.extra,
                ..Request::new(id, made.prompt, made.output_tokens.unwrap_or(lengths.output))
            },
        }
    }

    /// The model that a session asks, the same for all its turns.
    fn model(&self, place: &RequestPosition) -> Option<Arc<str>> {
        let share = self.spec.models.get(self.model_number(place)?)?;
        Some(share.model.clone())
    }

    /// Which model of the mix that is.
    fn model_number(&self, place: &RequestPosition) -> Option<usize> {
        let models = &self.spec.models;
        if models.is_empty() {
            return None;
        }
        let mut draws = self.spec.seed.stream(StreamPurpose::Model, place.session_key());
        weights::pick(models, |share| share.weight, &mut draws)
    }
}

/// A request, and the thinking before it.
#[derive(Debug, Clone)]
struct PreparedRequest {
    request: Request,
    think: Nanos,
}

impl Workload for Plan {
    fn requests(&self) -> NonZeroU64 {
        self.spec.requests
    }

    fn pacing(&self) -> Pacing {
        match (&self.arrivals, &self.spec.arrivals) {
            (Some(_), _) => Pacing::OpenLoop { peak: None },
            (None, ArrivalLaw::ClosedLoop) => Pacing::ClosedLoop,
            (None, ArrivalLaw::AllAtOnce) => Pacing::AtOnce,
            (None, arrivals) => Pacing::OpenLoop { peak: arrivals.peak() },
        }
    }

    fn walk(&self, which: SessionNumbers) -> RequestWalk {
        Box::new(PlanSource::measured(self.clone(), which))
    }

    fn warmup(&self, which: SessionNumbers) -> RequestWalk {
        Box::new(PlanSource::warmup(self.clone(), which))
    }
}
