//! The layers together, in virtual time: no socket, no sleeping.
#![allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]

mod ab;
mod sweep;
