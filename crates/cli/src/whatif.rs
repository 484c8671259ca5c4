//! What-if: `fizeau simulate` with several values for a flag.

mod cases;

pub(crate) use cases::{Case, cases};
