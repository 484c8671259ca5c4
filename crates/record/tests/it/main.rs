//! The integration tests of `fizeau-record`, one binary.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up has failed")]

mod bursts;
mod checklist;
mod compared;
mod crash;
mod diagnosis;
mod documents;
mod folder;
mod goals;
mod imported;
mod judged;
mod lengths;
mod levels;
mod merge;
mod opened;
mod parts;
mod plan;
mod reading;
mod replicas;
mod search;
mod speed;
mod stored;
mod sweeps;
mod words;
