//! Which prefix each prompt begins with.

use std::borrow::Cow;
use std::sync::OnceLock;

use fizeau_core::Tokens;

use crate::cache::SharedPrefix;
use crate::codec::CodecError;
use crate::content::PrefixRepetition;
use crate::parts::{RequestPhase, RequestPosition};
use crate::seed::{Seed, StreamPurpose};
use crate::spec::PlanSpec;
use crate::weights::CumulativeWeights;

/// What a prompt begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PromptStart {
    /// Its own part, at once.
    None,
    /// As many tokens of its own as a prefix would have.
    Own(Tokens),
    /// A prefix that others begin with too.
    Shared {
        /// Which.
        number: u64,
        /// Its length.
        tokens: Tokens,
    },
}

/// Which prefix each prompt begins with, and the texts of those prefixes once they are fitted.
#[derive(Debug, Clone, Default)]
pub(crate) struct PromptStarts {
    rule: PrefixRule,
    tokens: Tokens,
    groups: u64,
    texts: Vec<OnceLock<String>>,
}

#[derive(Debug, Clone, Default)]
enum PrefixRule {
    /// One prefix for all, or none.
    #[default]
    Common,
    /// Drawn for each session. The draws do not follow from the salt: it changes what prefixes say, not who shares them.
    Groups { seed: Seed, share: f64, popularity: CumulativeWeights },
    /// The group of each request, decided beforehand.
    Decided(Vec<u32>),
}

impl PromptStarts {
    /// As `spec`'s shared prefix says.
    pub(super) fn new(spec: &PlanSpec) -> Self {
        let (rule, groups) = match spec.prefix {
            SharedPrefix::None | SharedPrefix::Common { .. } => (PrefixRule::Common, 1),
            SharedPrefix::Groups { groups, share, popularity, .. } => {
                let popularity = CumulativeWeights::new(popularity.weights(groups));
                (PrefixRule::Groups { seed: spec.seed, share, popularity }, groups.get())
            }
        };
        Self { rule, tokens: spec.prefix.tokens(), groups, texts: Vec::new() }
    }

    /// Each prefix the same number of times, in random order.
    pub(super) fn repeated(spec: &PlanSpec, repetition: &PrefixRepetition) -> Self {
        let prefixes = repetition.prefixes.get();
        let requests = spec.requests.get();
        let mut groups: Vec<u32> = (0..requests).map(|number| (number % prefixes) as u32).collect();
        spec.seed.stream(StreamPurpose::Group, 0).shuffle(&mut groups);
        let rule = PrefixRule::Decided(groups);
        Self { rule, tokens: repetition.prefix, groups: prefixes, texts: Vec::new() }
    }

    /// With room for the texts of all prefixes, where that is no more than some hundred megabytes; else each is fitted anew
    /// whenever it is needed.
    pub(super) fn with_texts(self) -> Self {
        const MOST_TOKENS: u64 = 1 << 24;
        // An empty place takes as much as a few tokens do.
        let tokens = self.tokens.get().saturating_add(8).saturating_mul(self.groups);
        let kept = if tokens > MOST_TOKENS { 0 } else { self.groups };
        // Those of the warm-up are others.
        let texts = (0..2 * kept).map(|_| OnceLock::new()).collect();
        Self { texts, ..self }
    }

    /// Whether some prompts begin alike.
    pub(super) fn shares(&self) -> bool {
        self.tokens > Tokens::ZERO
    }

    /// What the prompt at `place` begins with. A later turn has its session's prefix in the history.
    pub(super) fn of(&self, place: &RequestPosition) -> PromptStart {
        let tokens = self.tokens;
        if tokens == Tokens::ZERO || place.turn > 0 {
            return PromptStart::None;
        }
        let group = match &self.rule {
            PrefixRule::Common => Some(0),
            PrefixRule::Groups { seed, share, popularity } => {
                let mut draws = seed.stream(StreamPurpose::Group, place.session_key());
                (draws.unit() <= *share).then(|| popularity.pick(&mut draws))
            }
            PrefixRule::Decided(groups) => {
                let number = place.request.0 % (groups.len() as u64).max(1);
                groups.get(number as usize).map(|&group| group.into())
            }
        };
        let warm = match place.phase {
            RequestPhase::Measured => 0,
            RequestPhase::Warmup => 1,
        };
        group.map_or(PromptStart::Own(tokens), |group| PromptStart::Shared {
            number: 2 * group + warm,
            tokens,
        })
    }

    /// The text of prefix `number`, which `fit` makes the first time, or each time where texts are not kept. It follows from the plan's salted seed, like all of
    /// the plan's content.
    pub(super) fn text(
        &self,
        number: u64,
        fit: impl FnOnce() -> Result<String, CodecError>,
    ) -> Result<Cow<'_, str>, CodecError> {
        let Some(place) = self.texts.get(number as usize) else {
            return fit().map(Cow::Owned);
        };
        if let Some(text) = place.get() {
            return Ok(Cow::Borrowed(text));
        }
        let text = fit()?;
        Ok(Cow::Borrowed(place.get_or_init(|| text)))
    }
}
