//! The benches of Fizeau, in a crate of their own so that a test build never compiles criterion.
//!
//! - `hot_paths`: the pure layers, under criterion: bytes to events, tapes to figures, points to a frontier, model and
//!   device to a bound, a sweep in virtual time.
//! - `loopback`: the client against a server with exact timing, held against the server's own record.
//!
//! Run them with `cargo xtask bench`. Nothing here is a test: what is measured is printed, not asserted.
