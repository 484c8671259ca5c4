//! How hard a level presses, how large it is, and what it is to be.

mod load;
mod plan;

pub use load::{LevelAsk, LevelLoad, LevelSize};
pub(crate) use plan::LEVEL;
pub use plan::{LevelDocument, LevelPlan, LevelRole, PlannedArrivals, WindowPlan, level_folder};
