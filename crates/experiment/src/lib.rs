//! Whole experiments: prepare, run, evaluate, keep.

mod ab;
mod hint;
mod input;
mod search;
mod sweep;

pub use ab::{Ab, AbError, AbPrompts, AbSpec, AbTurn, Rounds, TooFewRounds, turn_name};
pub use hint::{Hint, LimitSource, TokenizerKind};
pub use input::{EndpointError, ExperimentError, Field, InputError};
pub use search::{
    Confirmation, Judgement, LoadSearch, LoadSearchError, LoadSearchSpec, Over, Purpose,
    SearchStep, Trial,
};
pub use sweep::{
    LevelAsk, LevelSize, LevelYield, Saturated, StopRule, Sweep, SweepError, SweepSpec, SweptLevel,
    Tried, load_between, rates_up_to,
};
