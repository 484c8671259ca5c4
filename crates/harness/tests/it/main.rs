//! The integration tests of `fizeau-harness`, one binary.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up has failed")]

mod drive;
mod in_flight;
mod pacer;
mod probe;
mod proof;
mod recount;
mod sessions;
mod stand;
mod threads;
mod until;
mod worker_pool;
