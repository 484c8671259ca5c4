//! What nobody saw of a level that another tool measured, though its tapes have a value for it.

use fizeau_core::{Nanos, Tape};
use serde::{Deserialize, Serialize};

/// What is not known of a level with tapes since another tool measured it.
///
/// A tape has a value for everything, and a file of another tool does not: what stands there in its place is in no figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportUnknowns {
    tool: String,
    pub(crate) not_known: Vec<UnknownFact>,
    /// The cap on requests in flight behind which a rate was sent; none of any other load.
    pub(crate) rate_cap: Option<u32>,
    /// How long it took by the tool's clock; nothing where that is not known.
    pub(crate) lasted: Nanos,
    /// Whether the tapes have the sessions and turns of the file.
    pub(crate) has_sessions: bool,
}

/// What the list of a file calls the gaps between tokens, and where not even those between chunks are known.
const ITL: &str = "itl";
/// What a file's list calls the instants of tokens.
pub(crate) const GAPS: &str = "when each token came";

/// What is not known of a file that contradicts itself.
const CONTRADICTED: &str = "which figures are right";

impl ImportUnknowns {
    /// Of a level that `tool` measured, of which so much is not known.
    #[must_use]
    pub const fn new(tool: String, not_known: Vec<UnknownFact>) -> Self {
        Self { tool, not_known, rate_cap: None, lasted: Nanos::ZERO, has_sessions: false }
    }

    /// Who measured.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// What is not known, with the reasons.
    #[must_use]
    pub fn not_known(&self) -> &[UnknownFact] {
        &self.not_known
    }

    /// How long the level took by the tool's clock; nothing where its file does not say. No level was shorter, whatever its tapes show.
    #[must_use]
    pub const fn lasted(&self) -> Nanos {
        self.lasted
    }

    /// Whether it is not known when each token came: tapes have them evenly between the first and the last.
    #[must_use]
    pub fn has_no_gaps(&self) -> bool {
        self.says(GAPS)
    }

    /// Whether the gaps between tokens are not known; those between chunks may be.
    #[must_use]
    pub fn has_no_itl(&self) -> bool {
        self.says(ITL) || self.has_no_gaps()
    }

    fn says(&self, what: &str) -> bool {
        self.not_known.iter().any(|known| known.what == what)
    }

    /// Whether the column of that name of a request's row holds what nobody saw.
    #[must_use]
    pub fn hides(&self, column: &str, tape: &Tape) -> bool {
        // Where the file has no such instant, a tape has that of the sending.
        let has_no_plan = tape.marks.send_start == Some(tape.marks.intended);
        match column {
            "session" | "turn" => !self.has_sessions,
            "endpoint"
            | "requested_output_tokens"
            | "connection"
            | "stamps"
            | "released_at_ms"
            | "send_end_at_ms"
            | "first_byte_at_ms"
            | "release_lateness_ms"
            | "send_delay_ms"
            | "connection_wait_ms" => true,
            "intended_at_ms" | "ttft_scheduled_ms" | "e2el_scheduled_ms" | "send_lateness_ms" => {
                has_no_plan
            }
            "first_event_tokens" => self.says(ITL),
            "longest_gap_ms" => self.has_no_gaps(),
            "text_bytes" => tape.arrivals.iter().all(|arrival| arrival.bytes == 0),
            _ => false,
        }
    }
}

/// Something that cannot be known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct UnknownFact {
    /// What.
    pub what: String,
    /// Why.
    pub why: String,
}

impl UnknownFact {
    /// That `what` is not known, because of `why`.
    #[must_use]
    pub fn new(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self { what: what.into(), why: why.into() }
    }

    /// That the file contradicts itself, and how.
    #[must_use]
    pub fn contradiction(how: String) -> Self {
        Self::new(CONTRADICTED, how)
    }

    /// Whether the file contradicts itself.
    #[must_use]
    pub fn is_contradiction(&self) -> bool {
        self.what == CONTRADICTED
    }

    /// Whether it is the load, alone or with more.
    #[must_use]
    pub fn names_load(&self) -> bool {
        self.what == "the load" || self.what.starts_with("the load,")
    }
}
