//! The module that predicts further tokens, as a model of its own.

use super::{Dense, FeedForward, Layers, Mixer, Model, PromptEnd};
use crate::Format;

const ASSUMED: &str = "how this family builds its module that predicts further tokens is not known here: a layer like the \
                       last, a projection and three norms were assumed, as in DeepSeek-V3";

impl Model {
    /// The module for multi-token prediction as a model: its layer, the projection of two hidden states to one, and the
    /// base model's LM head. None where there is no such module. A warning says so where its make is assumed.
    #[must_use]
    pub fn draft_model(&self) -> Option<Self> {
        // It projects first: of a prompt its layer needs no more than the last layer of any model.
        let end = PromptEnd { last: 1, behind: 0 };
        let layer = Layers { count: 1, end, ..self.draft.clone()? };
        let projection =
            Dense { width: self.hidden, matrices: 2, vectors: 0, format: Format::Bf16 };
        let projects = Layers {
            count: 1,
            mixer: Mixer::None,
            feed_forward: FeedForward::Dense(projection),
            norms: 0,
            parallel: false,
            end: PromptEnd::default(),
        };
        let mut warnings = self.warnings.clone();
        if !self.knows_draft {
            warnings.push(ASSUMED.to_owned());
        }
        Some(Self {
            layers: vec![layer, projects],
            order: vec![1, 0],
            draft: None,
            warnings,
            ..self.clone()
        })
    }
}
