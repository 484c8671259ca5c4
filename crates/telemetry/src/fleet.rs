//! Several servers as one fleet: what they say now, held against what their devices could do.

mod about;
mod finding;
mod report;
mod series;
#[cfg(feature = "forward-pass")]
mod steps;
mod watch;

pub use finding::FleetFinding;
pub use report::{FleetDevices, FleetReport, ReplicaReport};
pub use watch::{FleetSettings, FleetSettingsError, FleetWatch};
