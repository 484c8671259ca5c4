//! The integration tests of `fizeau-harness`, one binary.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up has failed")]

mod ab;
mod crew;
mod drive;
mod folder;
mod in_flight;
mod level;
mod levels;
mod pacer;
mod probe;
mod protocol;
mod recount;
mod search;
mod sessions;
mod stand;
mod stored;
mod until;
