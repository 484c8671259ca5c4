//! What to ask, and what to make it with.

use std::sync::Arc;

use fizeau::workload::{
    ArrivalsError, Content, Dataset, Plan, SharedPrefix, Spec, SpecError, TextCodec,
};

use super::dataset::DataFile;
use super::lengths::Nominal;
use crate::args::{SessionArgs, WorkloadArgs};
use crate::exit::Fail;

/// What to ask, and what to make it with.
#[derive(Clone)]
pub(crate) struct Ask {
    pub(crate) spec: Spec,
    pub(crate) tokenizer: Option<Arc<dyn TextCodec>>,
    pub(crate) dataset: Option<Arc<Dataset>>,
    /// The file of the data set, for the record.
    pub(crate) file: Option<DataFile>,
    /// Whether prompts of an earlier run were asked for.
    pub(crate) reuses: bool,
    /// Which flags it came from.
    pub(crate) flags: Flags,
}

impl Ask {
    /// The plan of this workload.
    pub(crate) fn plan(&self) -> Result<Plan, Fail> {
        self.plan_of(self.spec.clone())
    }

    /// The same workload for whom a prompt that shares nothing with another is a length: nothing is drawn but that.
    pub(crate) fn unread_spec(&self) -> Spec {
        let stands_alone = self.spec.prefix == SharedPrefix::None && !self.has_turns();
        match self.spec.content {
            Content::TokenIds { .. } if stands_alone => {
                Spec { content: Content::Unread, ..self.spec.clone() }
            }
            _ => self.spec.clone(),
        }
    }

    pub(super) fn plan_of(&self, spec: Spec) -> Result<Plan, Fail> {
        let mut builder = Plan::builder(spec);
        if let Some(tokenizer) = &self.tokenizer {
            builder = builder.tokenizer(Arc::clone(tokenizer));
        }
        if let Some(dataset) = &self.dataset {
            builder = builder.dataset(Arc::clone(dataset));
        }
        builder.build().map_err(|error| match self.flags.of_error(&error) {
            Some(flag) => Fail::usage(format!("{flag}: {error}")),
            None => Fail::usage(error),
        })
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
}

impl Ask {
    /// Refuses a think time that nobody would ever take.
    pub(super) fn check_think_time(&self, args: &SessionArgs) -> Result<(), Fail> {
        let has_turns = args.turns.is_some() || args.multi_turn || self.has_turns();
        match args.think_time {
            Some(_) if !has_turns => Err(Fail::usage(
                "--think-time: it comes between turns, and no request has a next one: give --turns, or --multi-turn with \
                 sharegpt",
            )),
            _ => Ok(()),
        }
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
}

/// The flags that parts of a workload came from, for messages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flags {
    pub(super) arrivals: &'static str,
    pub(super) input: &'static str,
    pub(super) output: &'static str,
    pub(super) turns: &'static str,
}

impl Flags {
    pub(super) fn of(args: &WorkloadArgs, nominal: Nominal<'_>) -> Self {
        let has_pairs = args.laws.length_pairs.is_some();
        Self {
            arrivals: "--request-rate",
            input: if has_pairs { "--length-pairs" } else { nominal.input.0 },
            output: if has_pairs { "--length-pairs" } else { nominal.output.0 },
            turns: if args.sessions.turns.is_some() { "--turns" } else { "--dataset-path" },
        }
    }

    /// The flag that led to `error`, where one did.
    fn of_error(&self, error: &SpecError) -> Option<&'static str> {
        Some(match error {
            SpecError::Arrivals(ArrivalsError::Burstiness(_)) => "--burstiness",
            SpecError::Arrivals(_) => self.arrivals,
            SpecError::Length { which, .. }
            | SpecError::NoLength { which }
            | SpecError::TooLong { which, .. } => match *which {
                "output" => self.output,
                _ => self.input,
            },
            SpecError::Ratio { .. } => "--random-range-ratio",
            SpecError::Model { .. } => "--lora-modules",
            SpecError::PrefixGroups { .. } => "--prefix-groups",
            SpecError::Prefixes { .. } => "--prefix-repetition-num-prefixes",
            SpecError::SessionPrompt(_) | SpecError::Turns { .. } => self.turns,
            SpecError::ThinkTime { .. } => "--think-time",
            SpecError::NoTokenizer | SpecError::Tokenizer(_) => "--tokenizer",
            SpecError::Dataset { .. } => "--dataset-path",
            SpecError::TooFewRecords { .. } => "--no-repeat",
            SpecError::VocabularySize { .. } => "--vocab-size",
            SpecError::TooMany { .. } => "--num-prompts",
            _ => return None,
        })
    }
}
