//! Tests of `fizeau-sim` through its public API.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a failed expectation in a test's helper is a failed test"
)]

mod calibration;
mod engine;
mod fixed;
#[cfg(feature = "http")]
mod http;
mod roofline;
mod step;
mod support;
mod virtual_time;
