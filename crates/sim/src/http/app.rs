//! What all requests share.

use std::num::NonZeroU64;

use fizeau_core::{Stamp, Tokens};

use super::clock::WallClock;
use super::dialect::SglangText;
use super::fault::Desk;
use super::length::NaturalLength;
use super::metrics::Metrics;
use super::time_scale::TimeScale;
use super::truth::Truth;
use super::wire::Wires;
use crate::job::JobId;
use crate::serve::Gauges;

/// The model's name where neither the server nor the client gave one.
const NAMELESS: &str = "simulated";

pub(super) struct App {
    pub(super) clock: WallClock,
    /// The most tokens that a request may have, prompt and output together.
    pub(super) longest_job: Option<Tokens>,
    pub(super) model: Option<String>,
    /// How fast the engine's time runs.
    pub(super) scale: TimeScale,
    pub(super) truth: Truth,
    pub(super) faults: Desk,
    pub(super) wires: Wires,
    pub(super) metrics: Metrics,
    /// The engine as it was when the last request was looked at.
    pub(super) gauges: Gauges,
    /// Tokens of a block by which the engine finds prompts again, where it does.
    pub(super) prefix_block: Option<NonZeroU64>,
    /// Where the model ends replies by itself, if it does.
    pub(super) natural: Option<NaturalLength>,
    /// How SGLang's route shows text, where the server is to pass for SGLang.
    pub(super) sglang: Option<SglangText>,
    /// Requests given a number so far.
    pub(super) numbered: u64,
}

impl App {
    /// The name that the model is listed under.
    pub(super) fn model(&self) -> &str {
        self.model.as_deref().unwrap_or(NAMELESS)
    }

    /// Whether a request for `model` is served here.
    pub(super) fn serves(&self, model: &str) -> bool {
        self.model.as_deref().is_none_or(|name| name == model)
    }

    /// What `GET /metrics` says.
    pub(super) fn exposition(&self) -> String {
        self.metrics.render(self.model(), &self.gauges)
    }

    /// The number of the next request that the engine takes: it names the reply and chooses its words.
    pub(super) const fn next_number(&self) -> JobId {
        JobId(self.numbered)
    }

    /// An instant in seconds since 1970.
    pub(super) fn unix(&self, at: Stamp) -> u64 {
        self.clock.started_unix() + at.as_nanos() / 1_000_000_000
    }
}
