//! What all requests share.

use std::num::NonZeroU64;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use fizeau_core::{Clock, Nanos, Stamp, Tokens};
use jiff::Timestamp;

use super::dialect::SglangText;
use super::fault::FaultAssigner;
use super::length::NaturalLength;
use super::metrics::Metrics;
use super::time_scale::TimeScale;
use super::truth::Truth;
use super::wire::SocketWires;
use crate::serve::{Gauges, JobId};

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
    pub(super) faults: FaultAssigner,
    pub(super) wires: SocketWires,
    pub(super) metrics: Metrics,
    /// The engine as it was when somebody last asked for it, and each rank of it.
    pub(super) gauges: Gauges,
    pub(super) ranks: Vec<Gauges>,
    /// Tokens of a block by which the engine finds prompts again, where it does.
    pub(super) prefix_block: Option<NonZeroU64>,
    /// Where the model ends replies by itself, if it does.
    pub(super) natural: Option<NaturalLength>,
    /// How SGLang's route shows text, where the server is to pass for SGLang.
    pub(super) sglang: Option<SglangText>,
    /// Whether a prompt of token ids is refused.
    pub(super) refuses_ids: bool,
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
        self.metrics.render(self.model(), &self.ranks)
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

// The server's clock.

/// Monotonic time since the server started. The wall clock is read once, for the record.
#[derive(Debug, Clone, Copy)]
pub(super) struct WallClock {
    epoch: Instant,
    started: SystemTime,
}

impl WallClock {
    pub(super) fn start() -> Self {
        Self { epoch: Instant::now(), started: SystemTime::now() }
    }

    /// When the server started, in seconds since 1970; zero on a machine that believes to be before that.
    pub(super) fn started_unix(&self) -> u64 {
        let since = self.started.duration_since(UNIX_EPOCH);
        since.map_or(0, |since| since.as_secs())
    }

    /// When the server started, as RFC 3339 in UTC.
    pub(super) fn started_rfc3339(&self) -> String {
        rfc3339(self.started_unix())
    }
}

impl Clock for WallClock {
    fn now(&self) -> Stamp {
        Stamp::EPOCH + Nanos::from(self.epoch.elapsed())
    }
}

fn rfc3339(unix: u64) -> String {
    let at = i64::try_from(unix).ok().and_then(|unix| Timestamp::from_second(unix).ok());
    at.unwrap_or_default().to_string()
}
