//! What the crate promises, from outside.
#![allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]
