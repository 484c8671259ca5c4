//! Whether a level is to be believed.

mod ceiling;
mod judge;
mod need;
mod proof;
mod thresholds;
mod workload;

pub use ceiling::{CeilingLimit, ClientCeiling, OnTimeLimit};
pub use fizeau_core::Verdict;
pub use judge::judge;
pub use need::ClientNeed;
pub use proof::{ClientProof, ClientWatch, ResourceNeed, SystemHeadroom};
pub use thresholds::{ThresholdError, Thresholds};

use serde::{Deserialize, Serialize};

use crate::LevelSummary;

/// What a level is compared with.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LevelExpectations {
    /// Where suspicion begins.
    pub thresholds: Thresholds,
    /// What was measured beyond the speed of light, in plain words, if anything was: a bound cannot be
    /// beaten, so either the measurement or the description of the model and the hardware is wrong.
    pub beyond_speed_of_light: Option<String>,
    /// How the level ended.
    pub ending: LevelEnding,
    /// How many scheduled requests a cap on requests in flight held back. Their lateness is the cap's, not the client's.
    pub held_back: u64,
    /// What a prefix cache of the server's is expected to supply.
    pub cache: CacheExpectation,
    /// How many planned requests were never sent, because a turn before them failed.
    pub abandoned: u64,
    /// The share of prompt tokens that a cache supplied by the server's own counters, where replies do not say; none where these do not
    /// either.
    pub counted_cache_share: Option<f64>,
    /// How many clients measured it together; of none, one did.
    pub clients: u32,
    /// That data were sent more than once, and how often, in plain words; none where they were not.
    pub repeated: Option<String>,
}

/// What a prefix cache of the server's is expected to supply.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum CacheExpectation {
    /// Nothing: no two prompts begin alike. Hits count against the level.
    #[default]
    None,
    /// This share of all prompt tokens, from 0 to 1: what an unbounded cache could supply, by the plan. Another hit rate is
    /// count against the level; where the server reports none, a note says that it could not be verified.
    Share(f64),
    /// Whatever there is: prompts are reused on purpose. A note says how much it was.
    Reuse,
}

impl LevelExpectations {
    /// The share of prompt tokens that came from a cache, by the replies or else by the server's counters.
    fn cached_share(&self, level: &LevelSummary) -> Option<f64> {
        level.tokens.cached_share.or(self.counted_cache_share)
    }
}

/// How a level ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LevelEnding {
    /// All that was planned was done.
    #[default]
    Finished,
    /// It was interrupted; what there is, is part of what was planned.
    Interrupted,
}

/// The verdict on a level, with its reasons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Validity {
    /// The worst of the reasons, or valid if there is none.
    pub verdict: Verdict,
    /// Everything that speaks against the level.
    pub reasons: Vec<VerdictReason>,
    /// What could not be checked, and what else is worth knowing, each in one line: neither for the level nor against it.
    pub notes: Vec<String>,
}

/// One thing that speaks against a level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct VerdictReason {
    /// How much it weighs.
    pub verdict: Verdict,
    /// What it speaks against.
    pub about: VerdictConcern,
    /// What was seen and the limit that it is beyond; behind the first semicolon what explains it.
    pub text: String,
}

impl Validity {
    /// The verdict of `reasons`: that of the worst, or valid if there is none.
    #[must_use]
    pub fn of(reasons: Vec<VerdictReason>) -> Self {
        let worst = reasons.iter().map(|reason| reason.verdict).max();
        Self { verdict: worst.unwrap_or(Verdict::Valid), reasons, notes: Vec::new() }
    }

    /// Takes in one more thing that speaks against the level.
    pub fn add(&mut self, reason: VerdictReason) {
        self.verdict = self.verdict.max(reason.verdict);
        self.reasons.push(reason);
    }
}

impl VerdictReason {
    /// What `text` says, in one line, of what it is about.
    #[must_use]
    pub fn new(verdict: Verdict, about: VerdictConcern, text: impl Into<String>) -> Self {
        Self { verdict, about, text: text.into() }
    }

    /// What the text of a reason or of a note says first, in a short line: all before the first semicolon that stands in no brackets.
    ///
    /// ```
    /// use fizeau_metrics::VerdictReason;
    /// let text = "the client read replies late: p99 12.0 ms (limit 10 ms); it was busy";
    /// let headline = "the client read replies late: p99 12.0 ms (limit 10 ms)";
    /// assert_eq!(VerdictReason::headline(text), headline);
    /// ```
    #[must_use]
    pub fn headline(text: &str) -> &str {
        let mut depth = 0_u32;
        for (at, c) in text.char_indices() {
            match c {
                '(' | '[' => depth = depth.saturating_add(1),
                ')' | ']' => depth = depth.saturating_sub(1),
                ';' if depth == 0 => return text.get(..at).unwrap_or(text),
                _ => {}
            }
        }
        text
    }
}

/// What a reason of a verdict speaks against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum VerdictConcern {
    /// Requests that failed, or were never sent.
    Failures,
    /// The client: late, busy, or near what it can do at most.
    Client,
    /// The workload: what was sent or came back is not what was asked for.
    Workload,
    /// The prefix cache: hits that nobody asked for, or others than were.
    Cache,
    /// An open loop that sends more than is served.
    Saturation,
    /// The bound that the hardware sets.
    SpeedOfLight,
    /// That the level did not run to its end.
    Ending,
    /// Shards of a run that were merged.
    Shards,
}
