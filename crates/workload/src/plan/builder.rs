//! Putting a plan together.

use std::sync::Arc;

use super::Plan;
use super::history::go_on;
use super::index::SessionIndex;
use crate::codec::TextCodec;
use crate::content::Content;
use crate::dataset::Dataset;
use crate::parts::{ArrivalProcess, ContentSource, LengthSource};
use crate::prompts::{DatasetContent, Repeats, Synthetic, VllmDraws};
use crate::spec::{Spec, SpecError};

/// A specification with the parts that are no plain data: a tokenizer, the records of a data set, laws of your own.
#[derive(Debug, Clone)]
pub struct PlanBuilder {
    spec: Spec,
    tokenizer: Option<Arc<dyn TextCodec>>,
    dataset: Option<Arc<Dataset>>,
    arrivals: Option<Arc<dyn ArrivalProcess>>,
    lengths: Option<Arc<dyn LengthSource>>,
    content: Option<Arc<dyn ContentSource>>,
}

impl PlanBuilder {
    pub(super) const fn new(spec: Spec) -> Self {
        let (tokenizer, dataset) = (None, None);
        Self { spec, tokenizer, dataset, arrivals: None, lengths: None, content: None }
    }

    /// Fits exact text under `tokenizer`, and counts the text of a data set where the data set does not say.
    #[must_use]
    pub fn tokenizer(self, tokenizer: Arc<dyn TextCodec>) -> Self {
        Self { tokenizer: Some(tokenizer), ..self }
    }

    /// Takes the records of [`crate::Content::Dataset`] from `dataset`.
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
            (None, Content::Dataset { .. }) => taken(&spec, dataset, tokenizer)?,
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
    spec: &Spec,
    dataset: Option<Arc<Dataset>>,
    tokenizer: Option<Arc<dyn TextCodec>>,
) -> Result<(Arc<dyn ContentSource>, Option<Repeats>), SpecError> {
    let dataset = dataset.ok_or(SpecError::NoDataset)?;
    let (content, repeats) = DatasetContent::new(spec, dataset, tokenizer)?;
    Ok((Arc::new(content), repeats))
}

/// The content that `spec` asks for.
fn made(
    spec: &Spec,
    tokenizer: Option<Arc<dyn TextCodec>>,
) -> Result<Arc<dyn ContentSource>, SpecError> {
    if let Content::VllmRandom(random) = &spec.content {
        return Ok(Arc::new(VllmDraws::new(random, spec, tokenizer)?));
    }
    let synthetic = Synthetic::new(spec, tokenizer);
    if synthetic.is_exact() {
        synthetic.try_longest(spec)?;
    }
    Ok(Arc::new(synthetic))
}
