//! The module that predicts further tokens, as a model of its own.

use super::{Dense, FeedForward, Layers, Mixer, Model};
use crate::Format;

impl Model {
    /// The module for multi-token prediction as a model: its layer, the projection of two hidden states to one, and the
    /// base model's LM head. None where there is no such module.
    #[must_use]
    pub fn draft_model(&self) -> Option<Self> {
        let layer = Layers { count: 1, ..self.draft.clone()? };
        let projection =
            Dense { width: self.hidden, matrices: 2, vectors: 0, format: Format::Bf16 };
        let projects = Layers {
            count: 1,
            mixer: Mixer::None,
            feed_forward: FeedForward::Dense(projection),
            norms: 0,
            parallel: false,
        };
        Some(Self { layers: vec![layer, projects], draft: None, ..self.clone() })
    }
}
