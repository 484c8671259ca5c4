//! Whole experiments: prepare, run, evaluate, keep.

mod ab;
mod answering;
mod calibration;
mod client;
mod device;
mod document;
mod endpoint;
mod evaluate;
mod event;
mod experiment;
mod hint;
mod input;
mod level;
mod model;
mod progress;
mod reference;
mod runner;
mod scheduler;
mod search;
mod sweep;
mod tokenizer;
mod wall_time;
mod workload;

pub use ab::{
    Ab, AbError, AbSettings, AbSide, AbSpec, AbTurn, PreparedAb, Rounds, TooFewRounds,
    UpcomingTurn, turn_name,
};
pub use answering::{Answering, PromptReader, RunOrigin};
pub use calibration::{CalibrationSpec, PacedServer, ServerPace};
pub use client::{Client, ClientSpec, ConnectionNeeds, in_flight};
pub use device::LoadedDevice;
pub use document::keep_run;

pub use endpoint::{
    ConnectionSpec, DetectedEndpoint, EndpointSpec, ExtraHeader, PreflightStep, PreparedEndpoint,
    TrustSpec, check_context, preflight, split_url,
};
pub use evaluate::{EvaluationContext, LevelTallies, keep_level, released};
pub use event::{AfterLevel, Event, LevelPlace, LevelStarted, Note, RequestEnded, Watcher};
pub use experiment::{EventStream, Experiment, ExperimentHandle};
pub use hint::{Hint, LimitSource, TokenizerKind};
pub use input::{EndpointError, ExperimentError, Field, InputError};
pub use level::{LevelSettings, MeasuredLevel, PreparedLevel, ProbeSpec};
pub use model::{LoadModelError, LoadedModel};
pub use progress::{ProgressState, RunningLevel, TimeLeft};
pub use reference::ReferenceSpec;
pub use runner::{LevelRunner, NextLevel, ResumedLevels, load_point};
pub use scheduler::SweepScheduler;
pub use search::{
    Confirmation, LoadSearch, LoadSearchError, LoadSearchSpec, SearchOutcome, SearchStep, Trial,
};
pub use sweep::{
    LEVEL_TIME, LEVEL_TIME_UNTIL_KNOWN, LevelAsk, LevelSize, LevelYield, PreparedSweep, Rates,
    Saturated, StopRule, Sweep, SweepError, SweepLoads, SweepProtocol, SweepSettings, SweepSpec,
    SweepWorkload, SweptLevel, Tried, check_goals, level_size, load_between, rates_up_to,
};
pub use tokenizer::TokenizerSpec;
pub use wall_time::WallTime;
pub use workload::{
    CacheBlocks, ContextLimit, DataFile, PlanParts, PreparedWorkload, PromptSalt, PromptSource,
    RecordFormat, RecordsSource, TraceKind, TraceSource, WorkloadSpec, words_or_ids,
};
