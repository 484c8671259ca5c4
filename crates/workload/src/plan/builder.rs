//! Putting a plan together.

use std::sync::Arc;

use super::Plan;
use crate::content::{Content, Synthetic, VllmDraws};
use crate::dataset::Dataset;
use crate::exact::TextCodec;
use crate::parts::{ArrivalProcess, ContentSource, LengthSource};
use crate::session::SessionIndex;
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

    /// Fits exact text under `tokenizer`.
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
        let Self { spec, tokenizer, dataset: _, arrivals, lengths, content } = self;
        spec.check()?;
        let lengths = lengths.unwrap_or_else(|| Arc::new(spec.lengths.clone()));
        let content = match content {
            Some(content) => content,
            None => made(&spec, tokenizer)?,
        };
        let index = SessionIndex::new(spec.requests, spec.sessions.as_ref(), &*content, spec.seed);
        Ok(Plan { spec: Arc::new(spec), arrivals, lengths, content, index })
    }
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
