//! The speed of light of a query, as text, as JSON and as a line among many.

mod answer;
mod grid;
mod line;
mod quantity;
mod view;

pub use answer::Answer;
pub use line::{SolError, SolLine};

use fizeau_roofline::{Load, System};

/// An answer, and what it is of.
#[derive(Debug, Clone, Copy)]
pub struct SolView<'a> {
    /// What the model's config is called.
    pub name: &'a str,
    /// The model on its devices.
    pub system: &'a System,
    /// What was asked of it.
    pub load: &'a Load,
    /// The answer.
    pub answer: &'a Answer,
    /// What a reader ought to know of the query, beside what the answer warns of.
    pub notes: &'a [String],
}
