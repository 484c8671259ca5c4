//! The integration tests of `fizeau-core`, one binary.

mod interval;
mod load;
mod number;
mod tape;
mod time;
mod traits;
mod units;
