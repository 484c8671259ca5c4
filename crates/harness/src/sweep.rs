//! What a level is to be.

mod plan;

pub(crate) use plan::LEVEL;
pub use plan::{LevelDocument, LevelPlan, LevelRole, PlannedArrivals, WindowPlan, level_folder};
