//! The integration tests of `fizeau-core`, one binary.

mod tape;
mod time;
mod traits;
mod units;
