//! What is fuzzed: one function of bytes for everything that reads somebody else's.

mod targets;

pub use targets::*;
