//! The client's figures held against the server's: where two witnesses differ, that is a finding.

mod finding;
mod gap;

pub use finding::{TelemetryFinding, TokenKind, findings};
pub use gap::{ClientLatency, ClientWindow, LatencyGap, ServerGaps};
