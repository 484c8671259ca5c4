//! The layers together: in virtual time, with no socket and no sleeping; and the transport against the simulated server
//! and its faults, on loopback.
#![allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]

mod ab;
mod faults;
mod sweep;
