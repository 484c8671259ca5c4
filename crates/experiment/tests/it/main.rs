//! The integration tests of `fizeau-experiment`, one binary.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up has failed")]

mod ab;
mod door;
mod grid;
mod level;
mod levels;
mod prepare;
mod protocol;
mod resumed;
#[cfg(feature = "tui")]
mod screen;
mod search;
#[cfg(feature = "simulate")]
mod simulated;
mod sol;
mod spawned;
#[path = "../../../harness/tests/it/stand/paused.rs"]
mod stand;
mod usual;
mod whatif;
