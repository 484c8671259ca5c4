//! Figures of each model of a mix.

use std::collections::BTreeMap;
use std::sync::Arc;

use fizeau_core::{Outcome, Tape, Tokens};

use crate::{Distribution, LevelTally, PooledSample, RequestMetrics};

/// What one model of a mix did.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelSummary {
    /// Which.
    pub model: ModelName,
    /// How many requests asked for it.
    pub sent: u64,
    /// Those that succeeded.
    pub completed: u64,
    /// All others.
    pub failed: u64,
    /// Generated tokens of completed requests.
    pub output: Tokens,
    /// Send start to first token, in milliseconds.
    pub ttft: Distribution,
}

/// A model of a mix.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModelName {
    /// The endpoint's own: the requests named no other.
    Own,
    /// One that requests named.
    Named(Arc<str>),
    /// All beyond the first hundred, in the order of the alphabet.
    Others,
}

impl ModelSummary {
    /// How many models are told apart.
    pub(crate) const MOST: usize = 100;
}

/// The models seen so far. Of too many the first by name are kept, so that the order of tapes does not matter.
#[derive(Debug, Clone, Default)]
pub(super) struct ModelTally {
    kept: BTreeMap<Option<Arc<str>>, ModelCounts>,
    others: Option<ModelCounts>,
}

#[derive(Debug, Clone)]
struct ModelCounts {
    sent: u64,
    completed: u64,
    output: Tokens,
    ttft: PooledSample,
}

impl Default for ModelCounts {
    fn default() -> Self {
        let ttft = PooledSample::up_to(LevelTally::EXACT);
        Self { sent: 0, completed: 0, output: Tokens::ZERO, ttft }
    }
}

impl ModelTally {
    pub(super) fn add(&mut self, tape: &Tape, metrics: &RequestMetrics) {
        self.with(&tape.model, |model| model.add(&tape.outcome, metrics));
    }

    /// Takes in all that `other` has.
    pub(super) fn merge(&mut self, other: Self) {
        for (name, model) in other.kept {
            self.with(&name, |ours| ours.merge(model));
        }
        if let Some(others) = other.others {
            self.others.get_or_insert_default().merge(others);
        }
    }

    /// One for each model; none where there is but one.
    pub(super) fn summary(&self) -> Option<Vec<ModelSummary>> {
        if self.kept.len() < 2 {
            return None;
        }
        let name = |name: &Option<Arc<str>>| match name {
            None => ModelName::Own,
            Some(name) => ModelName::Named(Arc::clone(name)),
        };
        let kept = self.kept.iter().map(|(key, model)| model.summary(name(key)));
        let others = self.others.iter().map(|model| model.summary(ModelName::Others));
        Some(kept.chain(others).collect())
    }

    fn with(&mut self, name: &Option<Arc<str>>, change: impl FnOnce(&mut ModelCounts)) {
        if let Some(model) = self.kept.get_mut(name) {
            return change(model);
        }
        let full = self.kept.len() >= ModelSummary::MOST;
        let last = self.kept.last_key_value().filter(|_| full);
        if last.is_some_and(|(last, _)| last < name) {
            return change(self.others.get_or_insert_default());
        }
        change(self.kept.entry(name.clone()).or_default());
        if self.kept.len() > ModelSummary::MOST
            && let Some((_, gone)) = self.kept.pop_last()
        {
            self.others.get_or_insert_default().merge(gone);
        }
    }
}

impl ModelCounts {
    fn add(&mut self, outcome: &Outcome, metrics: &RequestMetrics) {
        self.sent += 1;
        self.completed += u64::from(matches!(outcome, Outcome::Complete(_)));
        self.output += metrics.output_tokens.unwrap_or_default();
        metrics.ttft.into_iter().for_each(|ttft| self.ttft.push(ttft));
    }

    fn merge(&mut self, other: Self) {
        self.sent += other.sent;
        self.completed += other.completed;
        self.output += other.output;
        self.ttft.merge(other.ttft);
    }

    fn summary(&self, model: ModelName) -> ModelSummary {
        ModelSummary {
            model,
            sent: self.sent,
            completed: self.completed,
            failed: self.sent - self.completed,
            output: self.output,
            ttft: self.ttft.summary(),
        }
    }
}
