//! Whether a level is to be believed.

use fizeau_core::StampSource;
use serde::Serialize;

/// What the client saw of itself while it measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ClientProof {
    /// Who stamped the arrivals.
    pub stamps: StampSource,
    /// CPU time of the measuring thread over wall time, from 0 to 1; absent where the system does not tell.
    pub cpu_share: Option<f64>,
    /// Time that the measuring thread was ready to run and did not get a CPU, over wall time, from 0 to 1; absent where
    /// the system does not tell.
    pub run_delay_share: Option<f64>,
    /// Connections made for a request.
    pub connections_fresh: u64,
    /// Requests whose idle connection was found dead and replaced.
    pub connections_replaced: u64,
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
