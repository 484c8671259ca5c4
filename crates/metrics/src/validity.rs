//! Whether a level is to be believed.

mod judge;

pub use judge::judge;

use fizeau_core::{Millis, StampSource, Tokens};
use serde::Serialize;

/// What the client saw of itself while it measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ClientProof {
    /// Who stamped the arrivals.
    pub stamps: StampSource,
    /// CPU time of the measuring thread over wall time, from 0 to 1; absent where the system does not tell.
    pub cpu_share: Option<f64>,
    /// Time that the measuring thread was ready to run and did not get a CPU, over wall time, from 0 to 1;
    /// absent where the system does not tell.
    pub run_delay_share: Option<f64>,
    /// Connections made for a request.
    pub connections_fresh: u64,
    /// Requests whose idle connection was found dead and replaced.
    pub connections_replaced: u64,
}

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

/// Where suspicion begins, and where belief ends. A figure must be above its threshold to be held against the
/// level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Lateness of the release, or delay from there to the sending (p99; the greatest where the sample supports no p99),
    /// that makes a level suspect. Default 10 ms.
    pub lateness_suspect: Millis,
    /// The same that makes it invalid. Default 100 ms.
    pub lateness_invalid: Millis,
    /// CPU share of the measuring thread that makes it suspect. Default 0.90.
    pub cpu_suspect: f64,
    /// CPU share that makes it invalid: the client had no time left. Default 0.98.
    pub cpu_invalid: f64,
    /// Share of time ready to run without a CPU that makes it suspect. Default 0.10.
    pub run_delay_suspect: f64,
    /// Share of failed requests that makes it suspect. Default 0.01.
    pub failed_suspect: f64,
    /// Share of failed requests that makes it invalid. Default 0.50.
    pub failed_invalid: f64,
    /// Share of completed requests with another output length than was asked under ignore-EOS that makes it
    /// suspect. Default 0.01.
    pub length_suspect: f64,
    /// Share of prompt tokens that a cache supplied unasked that makes it suspect. Default 0.01.
    pub cached_suspect: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            lateness_suspect: Millis::new(10.0),
            lateness_invalid: Millis::new(100.0),
            cpu_suspect: 0.90,
            cpu_invalid: 0.98,
            run_delay_suspect: 0.10,
            failed_suspect: 0.01,
            failed_invalid: 0.50,
            length_suspect: 0.01,
            cached_suspect: 0.01,
        }
    }
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
