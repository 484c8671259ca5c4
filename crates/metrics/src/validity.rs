//! Whether a level is to be believed.

mod ceiling;
mod judge;
mod proof;
mod thresholds;

pub use ceiling::{Ceiling, CeilingLimit, OnTimeLimit};
pub use judge::judge;
pub use proof::{ClientProof, ClientWatch, Headroom, Room};
pub use thresholds::{ThresholdError, Thresholds};

use fizeau_core::Tokens;
use serde::Serialize;

/// What a level is held against.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Expectations {
    /// Where suspicion begins.
    pub thresholds: Thresholds,
    /// What was measured beyond the speed of light, in plain words, if anything was: a bound cannot be
    /// beaten, so either the measurement or the description of the model and the hardware is wrong.
    pub beyond_speed_of_light: Option<String>,
    /// How the level ended.
    pub ending: Ending,
    /// How many scheduled requests a cap on requests in flight held back. Their lateness is the cap's, not the client's.
    pub held_back: u64,
    /// How many tokens of each prompt all prompts share on purpose, so that a cache may supply them.
    pub shared_prefix: Tokens,
}

/// How a level ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ending {
    /// All that was planned was done.
    #[default]
    Finished,
    /// It was broken off; what there is, is part of what was planned.
    Interrupted,
}

/// The verdict on a level, with its reasons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Validity {
    /// The worst of the reasons, or valid if there is none.
    pub verdict: Verdict,
    /// Everything that speaks against the level.
    pub reasons: Vec<Reason>,
}

/// One thing that speaks against a level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// How much it weighs.
    pub verdict: Verdict,
    /// What was seen and what was expected, in one line.
    pub text: String,
}

/// How far a level is to be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing speaks against it.
    Valid,
    /// Something is odd; look before you use it.
    Suspect,
    /// Not a measurement of the server.
    Invalid,
}
