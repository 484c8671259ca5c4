//! Tests of `fizeau-sim` through its public API.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a failed expectation in a test's helper is a failed test"
)]

mod agreement;
mod calibration;
mod cluster;
mod engine;
mod faithful;
mod fixed;
#[cfg(feature = "http")]
mod http;
mod passes;
mod roofline;
mod scenario;
mod step;
mod support;
mod theory;
mod transport;
mod virtual_time;
