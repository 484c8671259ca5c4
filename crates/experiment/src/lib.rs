//! Whole experiments: prepare, run, evaluate, keep.

mod ab;
mod evaluate;
mod event;
mod hint;
mod input;
mod level;
mod progress;
mod runner;
mod scheduler;
mod search;
mod sweep;

pub use ab::{
    Ab, AbError, AbPrompts, AbSpec, AbTurn, PreparedAb, Rounds, TooFewRounds, UpcomingTurn,
    turn_name,
};
pub use evaluate::{
    ClientLimits, EvaluationContext, LevelTallies, LightBasis, keep_level, released,
};
pub use event::{AfterLevel, Event, LevelPlace, LevelStarted, Note, RequestEnded, Watcher};
pub use hint::{Hint, LimitSource, TokenizerKind};
pub use input::{EndpointError, ExperimentError, Field, InputError};
pub use level::{MeasuredLevel, PreparedLevel};
pub use progress::{ProgressState, RunningLevel, TimeLeft};
pub use runner::{LevelRunner, NextLevel, ResumedLevels, load_point};
pub use scheduler::SweepScheduler;
pub use search::{
    Confirmation, Judgement, LoadSearch, LoadSearchError, LoadSearchSpec, Over, Purpose,
    SearchOutcome, SearchStep, Trial,
};
pub use sweep::{
    AskedOf, LEVEL_TIME, LEVEL_TIME_UNTIL_KNOWN, LevelYield, PreparedSweep, Rates, Saturated,
    StopRule, Sweep, SweepError, SweepLoads, SweepProtocol, SweepSpec, SweptLevel, Tried,
    level_size, load_between, rates_up_to,
};
