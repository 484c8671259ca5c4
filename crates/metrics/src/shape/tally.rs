//! A shape, tape by tape.

use fizeau_core::Tape;

use super::LevelShape;

/// Adds tapes up to a [`LevelShape`], one by one and in any order; keeps none.
#[derive(Debug, Clone, Default)]
pub struct ShapeTally {}

impl ShapeTally {
    /// Takes in a tape. One of a warm-up or of a probe has no part in a shape.
    pub fn add(&mut self, _tape: &Tape) {}

    /// The shape of all tapes so far.
    #[must_use]
    pub fn shape(&self) -> LevelShape {
        LevelShape::default()
    }
}
