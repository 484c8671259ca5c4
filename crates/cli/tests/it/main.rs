//! The command line as a user meets it: the built program, real sockets on loopback, real files.
#![allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]

mod ab;
mod bad_input;
mod bad_workload;
mod bench;
mod cache;
mod calibrate;
mod checklist;
mod compare;
mod connections;
mod decision;
mod devices;
mod engine;
mod interrupt;
mod merge;
mod models;
mod page;
mod pages;
mod pareto;
mod physics;
mod plan;
mod probe;
mod protocol;
mod recorded;
mod records;
mod report;
mod serve;
mod simulate;
mod sol;
mod stand;
mod sweep;
mod truth;
mod until;
mod whatif;
mod window;
mod workload;
