//! What shall be made of a trace.

use std::num::NonZeroU64;
use std::sync::Arc;

use fizeau_core::{EosRule, Nanos, Tokens};
use serde::{Deserialize, Serialize};

use super::error::TraceError;
use super::reader::TraceFormat;
use crate::content::{PromptContent, RecordReuse, TextSource};
use crate::seed::{Salt, Seed};

/// The specification of a replay: the trace, and how it is replayed. Plain data, checked by [`crate::Trace::new`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceSpec {
    /// What it is called, for messages and the record of a run: a file's name.
    pub name: Arc<str>,
    /// How it is written.
    pub format: TraceFormat,
    /// When requests leave.
    pub pacing: TracePacing,
    /// How many requests, from the first on; none for all that the file has.
    pub requests: Option<NonZeroU64>,
    /// What happens when the file has fewer. A trace is begun again with its times moved on by its span and one mean gap,
    /// and with other prompts, that share among themselves what those of the first time do.
    pub repeat: RecordReuse,
    /// What prompts are made of: token ids, or text or chat of words or of an exact length.
    pub content: PromptContent,
    /// How many tokens the model's context has, where that is known: a request that is longer, prompt and reply together,
    /// is refused.
    pub context: Option<Tokens>,
    /// What to do when the model wants to stop early.
    pub eos: EosRule,
    /// What prompts follow from.
    pub seed: Seed,
    /// What sets the prompts of this run apart from another's.
    pub salt: Salt,
}

/// When the requests of a trace leave.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TracePacing {
    /// Each when a slot is free, in the order of the file. The time stamps are not looked at.
    ClosedLoop,
    /// By their time stamps, the first request at the start of the level.
    TimeStamps {
        /// What all times are divided by: 1 replays the trace as it was, 2 is twice as fast. From 1e-6 to 1e9.
        speed_up: f64,
    },
}

impl TraceSpec {
    /// The whole trace once, as fast as it was, as token ids, seed 0. The end of sequence is ignored, so that replies have
    /// the lengths of the trace.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>, format: TraceFormat) -> Self {
        Self {
            name: name.into(),
            format,
            pacing: TracePacing::TimeStamps { speed_up: 1.0 },
            requests: None,
            repeat: RecordReuse::default(),
            content: PromptContent::default(),
            context: None,
            eos: EosRule::Ignore,
            seed: Seed::default(),
            salt: Salt::NONE,
        }
    }

    /// Says what is wrong with this specification, whatever the file is like.
    pub(super) fn check(&self) -> Result<(), TraceError> {
        if let TracePacing::TimeStamps { speed_up } = self.pacing
            && !(1e-6..=1e9).contains(&speed_up)
        {
            return Err(TraceError::SpeedUp(speed_up));
        }
        match &self.content {
            PromptContent::TokenIds { range } if range.len() < 2 => {
                Err(TraceError::Vocabulary { start: range.start, end: range.end })
            }
            // Verse has no blocks that could be equal.
            PromptContent::Text(TextSource::Sonnet) | PromptContent::Chat(TextSource::Sonnet) => {
                Err(TraceError::Content)
            }
            PromptContent::TokenIds { .. } | PromptContent::Text(_) | PromptContent::Chat(_) => {
                Ok(())
            }
            _ => Err(TraceError::Content),
        }
    }

    /// When a request leaves that came so long after the first.
    pub(super) fn instant(&self, offset: Nanos) -> Option<Nanos> {
        match self.pacing {
            TracePacing::ClosedLoop => None,
            // Exact, where floating numbers would not be.
            TracePacing::TimeStamps { speed_up: 1.0 } => Some(offset),
            TracePacing::TimeStamps { speed_up } => {
                let nanos = (offset.as_nanos() as f64 / speed_up).round();
                Some(Nanos::from_nanos(nanos as u64))
            }
        }
    }

    /// How many tokens one id stands for.
    pub(super) const fn block(&self) -> NonZeroU64 {
        match self.format {
            TraceFormat::Mooncake { block, .. } => block,
            TraceFormat::Azure | TraceFormat::BurstGpt => NonZeroU64::MIN,
        }
    }
}
