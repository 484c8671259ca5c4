//! What is fuzzed: one function of bytes for everything that reads somebody else's. `seeds.rs`, which is no part of this crate, has
//! what each begins with.

mod targets;

pub use targets::*;
