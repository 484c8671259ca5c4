//! What a plan is put together from: each part is one small trait, and may be a stranger's.

use std::fmt::Debug;
use std::sync::Arc;

use fizeau_core::{Nanos, Prompt, RequestId, SessionId, Tokens};

use crate::seed::{RandomStream, Seed, StreamPurpose};

/// A law of arrivals: when sessions begin. A request that stands alone is a session of one.
pub trait ArrivalProcess: Debug + Send + Sync {
    /// The instants of the first `sessions` sessions as offsets from the start of the level, never decreasing. The same
    /// `draws` give the same instants. Where there are fewer instants than sessions, the plan ends there.
    fn instants(&self, sessions: u64, draws: RandomStream) -> Instants;
}

/// Instants one after another.
pub type Instants = Box<dyn Iterator<Item = Nanos> + Send>;

/// A law of lengths.
pub trait LengthSource: Debug + Send + Sync {
    /// The lengths of one request. Draw those of the prompt from `input` and those of the output from `output`, so that
    /// changing one law leaves the other's numbers as they were; lengths that belong together come from `input` alone.
    fn lengths(&self, input: &mut RandomStream, output: &mut RandomStream) -> LengthPair;
}

/// How long a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LengthPair {
    /// Tokens of the prompt's own part: a shared prefix and the turns before are not counted.
    pub input: Tokens,
    /// The most tokens to generate.
    pub output: Tokens,
}

/// Where prompts come from.
pub trait ContentSource: Debug + Send + Sync {
    /// What the request at `place` says. A pure function: it is called in any order, on any thread, and more than once.
    fn content(&self, place: &RequestPosition) -> Turn;

    /// How many turns session `number` has, at least 1, where the content decides that (a data set of conversations);
    /// none where the specification does.
    fn turns(&self, number: SessionId) -> Option<u32> {
        let _ = number;
        None
    }

    /// Whether some prompts may begin alike. Where none do, no outline is asked for.
    fn shares(&self) -> bool {
        true
    }

    /// What is known of the prompt at `place` without making it; none where nothing is. [`crate::Plan::expected_cache`] is
    /// summed from it.
    fn outline(&self, place: &RequestPosition) -> Option<PromptOutline> {
        let _ = place;
        None
    }
}

/// The length of a prompt, and the beginning that it shares with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptOutline {
    /// What it begins with that others may begin with too.
    pub shared: Option<SharedStart>,
    /// Which row of tokens the prompt is the beginning of: of two prompts of equal rows, the longer begins with the whole
    /// shorter one. None where no other has the same row.
    pub row: Option<u64>,
    /// How many tokens the whole prompt has.
    pub tokens: Tokens,
}

/// A beginning that several prompts share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedStart {
    /// Which: prompts of equal numbers begin with equal tokens.
    pub number: u64,
    /// How many tokens that are.
    pub tokens: Tokens,
}

/// The position of a request in a plan, and the length that its prompt must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestPosition {
    /// What prompts follow from; the run's salt is in it.
    pub seed: Seed,
    /// Whether the request is measured.
    pub phase: RequestPhase,
    /// Its number within its phase.
    pub request: RequestId,
    /// Its session within its phase.
    pub session: SessionId,
    /// Its turn within the session.
    pub turn: u32,
    /// How many tokens the prompt's own part shall have.
    pub input: Tokens,
}

/// Whether a request is measured or warms the endpoint up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RequestPhase {
    /// To be measured.
    Measured,
    /// To warm the endpoint up. What it leaves in a prefix cache must help no measured request.
    Warmup,
}

impl RequestPhase {
    const fn key(self, number: u64) -> u64 {
        match self {
            Self::Measured => number,
            Self::Warmup => u64::MAX - number,
        }
    }
}

impl RequestPosition {
    /// A number that no other place of the plan has: what its content follows from. Warm-up requests are counted down from
    /// the far end, where no measured one ever comes.
    #[must_use]
    pub const fn key(&self) -> u64 {
        self.phase.key(self.request.0)
    }

    /// A number that all turns of the place's session have, and no other session of the plan.
    #[must_use]
    pub const fn session_key(&self) -> u64 {
        self.phase.key(self.session.0)
    }

    /// Random numbers for the content of this place and of no other.
    #[must_use]
    pub fn draws(&self) -> RandomStream {
        self.seed.stream(StreamPurpose::Body, self.key())
    }
}

/// What the user says in one turn of a session, and whatever else its content decides. A request that stands alone is a
/// session of one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// What is new in this turn. The history, with the replies that really came, goes before it when the turn's time has come.
    pub prompt: Prompt,
    /// How many tokens `prompt` has, where that is certain.
    pub input_tokens: Option<Tokens>,
    /// The most tokens to generate, where the content says so; else the law of lengths does.
    pub output_tokens: Option<Tokens>,
    /// How long the user thinks before this turn, where the content says so.
    pub think: Option<Nanos>,
    /// The model to be asked, where the content names one.
    pub model: Option<Arc<str>>,
    /// Further fields of the body, as the text of a JSON object.
    pub extra: Option<Arc<str>>,
}

impl Turn {
    /// `prompt`, of which nothing else is known.
    #[must_use]
    pub const fn new(prompt: Prompt) -> Self {
        Self::counted(prompt, None)
    }

    /// `prompt` of so many tokens, where that is certain.
    pub(crate) const fn counted(prompt: Prompt, input_tokens: Option<Tokens>) -> Self {
        Self { prompt, input_tokens, output_tokens: None, think: None, model: None, extra: None }
    }
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<T: ArrivalProcess + ?Sized> ArrivalProcess for $pointer {
            fn instants(&self, sessions: u64, draws: RandomStream) -> Instants {
                (**self).instants(sessions, draws)
            }
        }

        impl<T: LengthSource + ?Sized> LengthSource for $pointer {
            fn lengths(&self, input: &mut RandomStream, output: &mut RandomStream) -> LengthPair {
                (**self).lengths(input, output)
            }
        }

        impl<T: ContentSource + ?Sized> ContentSource for $pointer {
            fn content(&self, place: &RequestPosition) -> Turn {
                (**self).content(place)
            }

            fn turns(&self, number: SessionId) -> Option<u32> {
                (**self).turns(number)
            }

            fn shares(&self) -> bool {
                (**self).shares()
            }

            fn outline(&self, place: &RequestPosition) -> Option<PromptOutline> {
                (**self).outline(place)
            }
        }
    )*};
}

forward!(&T, Box<T>, Arc<T>);
