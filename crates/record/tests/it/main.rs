//! The integration tests of `fizeau-record`, one binary.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up has failed")]

mod bursts;
mod compared;
mod crash;
mod diagnosis;
mod documents;
mod folder;
mod imported;
mod judged;
mod lengths;
mod merge;
mod opened;
mod plan;
mod reading;
mod search;
mod speed;
mod stored;
mod words;
