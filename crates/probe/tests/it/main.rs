//! What the crate promises, from outside.
#![allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]

mod dialects;
mod document;
mod import;
mod imported_device;
mod machines;
mod machines_compared;
mod odd_files;
#[cfg(feature = "cpu")]
mod operators;
#[cfg(feature = "schema")]
mod schema;
mod twins;
