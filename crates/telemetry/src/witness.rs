//! The client's figures held against the server's: where two witnesses differ, that is a finding.

mod disagreement;
mod finding;
mod gap;
mod light;
mod pages;
mod share;

pub use disagreement::{WitnessCause, WitnessDisagreement};
pub use finding::{TelemetryFinding, TokenKind, findings};
pub use gap::{ClientLatency, ClientWindow, LatencyGap, ServerGaps};
pub use light::SpeedWitnesses;
pub use pages::PageTrouble;
pub use share::{LightWitness, WitnessInput, WitnessShare};
