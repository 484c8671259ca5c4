//! What the plans of a workload are made of.

use std::sync::Arc;

use fizeau_workload::{
    ArrivalsError, Dataset, Length, Lengths, Plan, PlanSpec, PromptContent, SharedPrefix,
    SpecError, TextCodec,
};

use super::WorkloadSpec;
use super::dataset::DataFile;
use crate::hint::InputHint;
use crate::input::{InputError, InputField};

/// What the plans of a workload are made of: the specification, and what files held.
#[derive(Clone)]
#[non_exhaustive]
pub struct PlanParts {
    /// What is asked, and when.
    pub spec: PlanSpec,
    /// Counts where the server does not.
    pub tokenizer: Option<Arc<dyn TextCodec>>,
    /// The records, where prompts are those of a data set.
    pub dataset: Option<Arc<Dataset>>,
    /// The source's name, and its file's.
    pub(super) name: String,
    /// As it was given.
    pub(super) tokenizer_name: Option<String>,
    /// The file of the data set, for the record.
    pub(super) file: Option<DataFile>,
    /// Whether prompts of an earlier run were asked for.
    pub(super) reuses: bool,
    /// Whether conversations were asked for, whatever a data set has.
    pub(super) has_own_turns: bool,
    /// Whether the server is SGLang, whose own client has another definition of a range.
    pub(super) is_sglang: bool,
}

fizeau_core::debug_in_part!(PlanParts { spec });

impl PlanParts {
    /// The plan of this workload.
    ///
    /// # Errors
    /// If its specification cannot be planned.
    pub fn plan(&self) -> Result<Plan, InputError> {
        self.plan_of(self.spec.clone())
    }

    /// The specification for whom a prompt that shares nothing with another is a length: nothing is drawn but that.
    pub(crate) fn unread_spec(&self) -> PlanSpec {
        let stands_alone = self.spec.prefix == SharedPrefix::None && !self.has_turns();
        match self.spec.content {
            PromptContent::TokenIds { .. } if stands_alone => {
                PlanSpec { content: PromptContent::Unread, ..self.spec.clone() }
            }
            _ => self.spec.clone(),
        }
    }

    pub(crate) fn plan_of(&self, spec: PlanSpec) -> Result<Plan, InputError> {
        let mut builder = Plan::builder(spec);
        if let Some(tokenizer) = &self.tokenizer {
            builder = builder.tokenizer(Arc::clone(tokenizer));
        }
        if let Some(dataset) = &self.dataset {
            builder = builder.dataset(Arc::clone(dataset));
        }
        builder.build().map_err(|error| InputError::new(self.field_of(&error), error))
    }

    /// Whether some request is a later turn, which carries the replies to those before it.
    pub(super) fn has_turns(&self) -> bool {
        let has_turns = |dataset: &Arc<Dataset>| {
            dataset.conversations.iter().any(|conversation| conversation.turns.len() > 1)
        };
        match &self.dataset {
            Some(dataset) => has_turns(dataset),
            None => self.spec.sessions.is_some_and(|sessions| sessions.turns.most().get() > 1),
        }
    }

    /// Refuses a think time that nobody would ever take.
    pub(super) fn check_think_time(&self, of: &WorkloadSpec) -> Result<(), InputError> {
        let has_turns = of.asks_for_turns() || self.has_turns();
        match of.think_time {
            Some(_) if !has_turns => {
                let why = "it comes between the turns of a conversation, and every conversation \
                    has a single turn";
                Err(InputError::new(InputField::ThinkTime, why).hint(InputHint::NeedsTurns))
            }
            _ => Ok(()),
        }
    }

    /// That a range about a length is not that of SGLang's own client, in words.
    pub(super) fn other_range(&self) -> Option<String> {
        let is_about =
            |length: &Length| matches!(length, Length::Uniform { ratio, .. } if *ratio > 0.0);
        let has_range = match &self.spec.lengths {
            Lengths::Independent { input, output } => is_about(input) || is_about(output),
            Lengths::Pairs(_) => false,
        };
        (self.is_sglang && has_range).then(|| {
            "the ratio R makes lengths of L(1-R) to L(1+R), as vLLM defines it; SGLang's own client draws from L R to L, which the range \
             style sglang does"
                .to_owned()
        })
    }

    /// Why hits of a prefix cache are reported and not judged where one might think that they are, in words.
    pub(super) fn unjudged(&self) -> Option<String> {
        if self.reuses || !self.has_turns() {
            return None;
        }
        match &self.dataset {
            Some(dataset) => Some(format!(
                "{} has conversations, whose later turns repeat the earlier ones: hits of a prefix cache are reported, not \
                 judged",
                dataset.name
            )),
            None => (self.spec.prefix != SharedPrefix::None).then(|| {
                "later turns repeat the earlier ones: the hit rate that the shared prefixes ask for is not verified".to_owned()
            }),
        }
    }

    /// The input that led to `error`.
    fn field_of(&self, error: &SpecError) -> InputField {
        let is_paired = matches!(self.spec.lengths, Lengths::Pairs(_));
        match error {
            SpecError::Arrivals(ArrivalsError::Burstiness(_)) => InputField::Burstiness,
            SpecError::Arrivals(_) => InputField::Arrivals,
            SpecError::Length { .. } | SpecError::NoLength { .. } | SpecError::TooLong { .. }
                if is_paired =>
            {
                InputField::LengthPairs
            }
            SpecError::Length { which, .. }
            | SpecError::NoLength { which }
            | SpecError::TooLong { which, .. } => match *which {
                "output" => InputField::OutputLength,
                _ => InputField::PromptLength,
            },
            SpecError::Ratio { .. } => InputField::RangeRatio,
            SpecError::Model { .. } => InputField::Adapters,
            SpecError::PrefixGroups { .. } => InputField::PrefixGroups,
            SpecError::Prefixes { .. } => InputField::PrefixRepetitions,
            SpecError::SessionPrompt(_) | SpecError::Turns { .. } if self.has_own_turns => {
                InputField::Turns
            }
            SpecError::SessionPrompt(_) | SpecError::Turns { .. } => InputField::DatasetPath,
            SpecError::ThinkTime { .. } => InputField::ThinkTime,
            SpecError::NoTokenizer | SpecError::Tokenizer(_) => InputField::Tokenizer,
            SpecError::Dataset { .. } => InputField::DatasetPath,
            SpecError::TooFewRecords { .. } => InputField::DataRepeat,
            SpecError::VocabularySize { .. } => InputField::VocabularySize,
            SpecError::TooMany { .. } => InputField::Requests,
            _ => InputField::Workload,
        }
    }
}
