//! The benches of Fizeau, in a crate of their own so that a test build never compiles criterion.
//!
//! - `hot_paths`: the pure layers, under criterion: bytes to arrivals, tapes to figures and files, points to a frontier,
//!   model and device to a bound, a sweep in virtual time.
//! - `pareto`: frontiers of a million points, side by side with the Python package moocore, installed below `target/`.
//! - `probe`: what `fizeau probe` measures of the processor, side by side with STREAM, likwid-bench, numpy and a C program.
//! - `scale`: tapes of up to 256 shards merged, and a meeting of a thousand: how fast, and in how much memory.
//! - `sim`: the simulated engine, alone and behind a router: requests a second, and in how much memory.
//! - `sol`: evaluations of the speed of light, and `fizeau sol` as a process: how fast, and with how many allocations.
//! - `tapes`: the figures of a million requests of 250 tokens, read from a run's file: how fast, and in how much memory.
//! - `telemetry`: what reading servers' pages costs, one and a hundred a second, and whether it moves latencies.
//! - `trace`: a trace file of 1 GB, checked and walked: how fast, and in how much memory.
//! - `transport`: the client side by side with `wrk`, as processes, held against the server's own record.
//!
//! Run them with `cargo xtask bench`. Nothing here is a test: what is measured is printed, not asserted.

mod python;
mod spent;

pub use python::environment;
pub use spent::{Since, Spent};
