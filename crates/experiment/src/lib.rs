//! Whole experiments: prepare, run, evaluate, keep.

mod hint;
mod input;

pub use hint::{Hint, LimitSource, TokenizerKind};
pub use input::{EndpointError, ExperimentError, Field, InputError};
