//! The layers together: in virtual time, with no socket and no sleeping; and where both clocks are held together, over loopback.
#![allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]

mod ab;
#[cfg(feature = "http")]
mod agreement;
mod sweep;
