//! How a request ended.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Nanos;

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Outcome {
    /// By the protocol's own end, with at least one token and no error at any time.
    Complete(Finish),
    /// In any other way.
    Failed(Failure),
}

/// Why a complete reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Finish {
    /// The asked length was reached; the normal end of a capped run.
    Length,
    /// A reason that we do not know.
    Other,
    /// The model ended it, or a stop string did.
    Stop,
    /// The model called a tool.
    ToolCalls,
    /// The server gave no reason.
    Unstated,
}

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failure {
    /// What kind of failure it was.
    pub class: FailureClass,
    /// The HTTP status, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What was seen, in one line of plain words; never a secret. The text is for people and not stable.
    pub detail: String,
    /// How long the server asked to be left alone (`Retry-After`).
    #[serde(rename = "retry_after_ns", default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Nanos>,
}

impl Failure {
    /// A failure of `class` without a status.
    #[must_use]
    pub fn new(class: FailureClass, detail: impl Into<String>) -> Self {
        Self { class, status: None, detail: detail.into(), retry_after: None }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.class, self.detail)
    }
}

impl std::error::Error for Failure {}

/// The kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FailureClass {
    /// We gave it up (an interrupt, the end of a level).
    Cancelled,
    /// No connection could be made, or it broke before a byte of the reply.
    Connect,
    /// A good end without a single token.
    Empty,
    /// A status of 200 and then an error object.
    InStreamError,
    /// Bytes that are not what the protocol says.
    Malformed,
    /// A status other than 200.
    Status,
    /// The connection took too long.
    TimeoutConnect,
    /// The first token took too long.
    TimeoutFirstToken,
    /// Too long a silence between tokens.
    TimeoutIdle,
    /// The whole took too long.
    TimeoutTotal,
    /// The TLS handshake failed.
    Tls,
    /// The reply broke off before the protocol's own end.
    Truncated,
}

crate::words! {
    /// The name used in files and reports.
    pub FailureClass::as_str, shown {
        Cancelled = "cancelled", Connect = "connect", Empty = "empty",
        InStreamError = "in_stream_error", Malformed = "malformed", Status = "status",
        TimeoutConnect = "timeout_connect", TimeoutFirstToken = "timeout_first_token",
        TimeoutIdle = "timeout_idle", TimeoutTotal = "timeout_total", Tls = "tls",
        Truncated = "truncated",
    }
}
