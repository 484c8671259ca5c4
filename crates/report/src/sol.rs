//! The speed of light of a query, as text, as JSON and as a line among many.

mod answer;
mod line;

pub use answer::Answer;
pub use line::{SolError, SolLine};
