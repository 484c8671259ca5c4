//! The layers together: in virtual time, with no socket and no sleeping; where both clocks are held together; and the
//! transport against the simulated server and its faults, over loopback.
#![allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]

mod ab;
#[cfg(feature = "http")]
mod agreement;
mod engine_calibration;
mod faults;
mod fuzzed;
mod search;
mod shards;
mod sweep;
mod tls;
