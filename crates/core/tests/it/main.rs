//! The integration tests of `fizeau-core`, one binary.

mod interval;
mod number;
mod tape;
mod time;
mod traits;
mod units;
