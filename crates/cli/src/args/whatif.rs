//! The lists of values of a `fizeau simulate`, which are taken from the command line before that is read.

mod cases;
mod pieces;

pub(crate) use cases::{Case, cases};
pub(crate) use pieces::help;
