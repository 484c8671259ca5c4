//! What all requests share.

use fizeau_core::{Stamp, Tokens};

use super::clock::WallClock;
use super::fault::Desk;
use super::prefix::Prefixes;
use super::truth::Truth;
use crate::job::JobId;

/// The model's name where neither the server nor the client gave one.
const NAMELESS: &str = "simulated";

pub(super) struct App {
    pub(super) clock: WallClock,
    /// The most tokens that a request may have, prompt and output together.
    pub(super) longest_job: Option<Tokens>,
    pub(super) model: Option<String>,
    pub(super) truth: Truth,
    pub(super) prefixes: Option<Prefixes>,
    pub(super) faults: Desk,
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

    /// The number of the next request: it names the reply and chooses its words.
    pub(super) const fn number(&mut self) -> JobId {
        let number = JobId(self.numbered);
        self.numbered += 1;
        number
    }

    /// An instant in seconds since 1970.
    pub(super) fn unix(&self, at: Stamp) -> u64 {
        self.clock.started_unix() + at.as_nanos() / 1_000_000_000
    }
}
