//! Whole experiments: prepare, run, evaluate, keep. One level, a sweep, a search, an A/B run or the calibration of a client.
//!
//! A sweep of an endpoint, in the background of any tokio runtime:
//!
//! ```no_run
//! use fizeau_experiment::{Experiment, SweepRates, SweepLoads};
//! use fizeau_transport::{Backend, Target};
//!
//! # async fn sweep() -> Result<(), Box<dyn std::error::Error>> {
//! let target = Target::new("http://127.0.0.1:8000", Backend::Vllm, "my-model")?;
//! let loads = SweepLoads::new(&[1, 8, 64], SweepRates::default())?;
//! let mut run = Experiment::new(target).loads(loads).spawn()?;
//! while let Some(event) = run.progress.next().await {
//!     println!("{event:?}");
//! }
//! println!("{}", run.join().await?.to_json()?);
//! # Ok(())
//! # }
//! ```
//!
//! **Use this crate** to have in a program what `fizeau bench`, `sweep`, `search` and `ab` do. **Use `fizeau-harness`** to drive one level
//! with requests of your own, and **`fizeau`** to get all layers at once.
//!
//! # Invariants
//!
//! - Everything is a typed value before the first request; what is wrong is refused by the [`InputField`] that it is about.
//! - What was measured is kept as it is measured: a run that is interrupted keeps its finished part.
//! - The sides of an A/B run are never measured at the same time, and are asked the same.
//!
#![doc = include_str!("../place.md")]

mod ab;
mod basis;
mod calibration;
mod client;
mod device;
mod document;
mod drafter;
mod endpoint;
mod engine_calibration;
mod evaluate;
mod event;
mod experiment;
mod hint;
mod input;
mod level;
mod measured_level;
mod model;
#[cfg(feature = "simulate")]
mod plan;
mod profiled;
mod progress;
mod reference;
mod runner;
mod scheduler;
mod search;
mod shards;
#[cfg(feature = "simulate")]
mod simulated;
mod sol;
mod sweep;
mod system;
mod telemetry;
mod tokenizer;
mod wall_time;
mod whatif;
mod workload;

pub use ab::{
    AbError, AbRunner, AbSettings, AbSide, AbSpec, AbTurn, PreparedAb, RoundCount, TooFewRounds,
    UpcomingTurn, turn_name,
};
pub use basis::RunBasis;
pub use calibration::{CalibrationSettings, PacedServer, ServerPace, ServerProcess};
pub use client::{ClientSpec, MeasuringClient};
pub use device::LoadedDevice;
pub use drafter::{DrafterError, DrafterSpec, DrafterTextError};
pub use endpoint::{
    BackendChoice, CacheBeforeLevel, ConnectionSpec, DetectedEndpoint, EndpointSource,
    EndpointSpec, ExtraHeader, HeaderTextError, NamedUrl, NamedUrlError, PreparedEndpoint,
    TrustSpec,
};
pub use engine_calibration::{
    EngineCalibration, EngineCalibrationLevel, EngineCalibrationSettings,
};
pub use event::{
    AfterLevel, DetailWatcher, LevelPosition, LevelStarted, RequestEnded, RunEvent, RunNote,
    TapeWatcher, Watcher,
};
pub use experiment::{
    EndpointKind, EventStream, Experiment, ExperimentHandle, ExperimentKind, OrderedLevel,
    PendingOutcome, PreparedExperiment, PreparedRun, ShardOutcome, ShardPart,
};
pub use hint::{InputHint, LimitSource, TokenizerKind};
pub use input::{EndpointError, ExperimentError, InputError, InputField};
pub use level::{LevelSettings, PreparedLevel, ProbeSpec};
pub use measured_level::MeasuredLevel;
pub use model::{LoadModelError, LoadedModel};
#[cfg(feature = "simulate")]
pub use plan::{PlanError, PlanSettings, PlannedReplica, ReplicaSource, ReplicaSourceError};
#[cfg(feature = "tui")]
pub use progress::LiveScreen;
pub use progress::{
    BatchFigures, FinishedLevel, HistoryPoint, ProgressState, RunHistory, RunningLevel,
    SharedProgress, TimeLeft,
};
pub use reference::ReferenceSpec;
pub use runner::{LevelRunner, NextLevel, ResumedLevels};
pub use scheduler::SweepScheduler;
pub use search::{
    Confirmation, LoadSearch, LoadSearchError, LoadSearchSpec, PreparedSearch, SearchOutcome,
    SearchSettings, SearchStep, SearchTrial,
};
pub use shards::{
    AbsenceReason, EnvironmentVariables, LateShardStart, MEETING_VARIABLES, MeasuredParts,
    MeetingPoint, MeetingPointError, PlanMismatch, RunShards, SHARD_VARIABLES, ShardAbsence,
    ShardError, ShardFault, ShardGroup, ShardIdentity, ShardIdentityError, ShardMismatch,
    ShardOffer, ShardRequest, ShardRequestError, ShardSecret, ShardSource, ShardSpec, ShardWait,
    ShardWaits, StartTime, StartTimeError,
};
#[cfg(feature = "http")]
pub use simulated::EmbeddedEngine;
#[cfg(feature = "simulate")]
pub use simulated::{
    DraftSpec, SimulatedSystem, SimulatedSystemSpec, StepTimeSpec, published_passes,
};
pub use sol::{
    AnsweredLine, CalibrationChoice, FitLevels, FitSources, LoadQuery, PreparedSystem, QueryLine,
    SampleError, SolQuery, SolQueryError, SolSystems, SystemQuery, UnansweredLines,
    UnfittedServing,
};
pub use sweep::{
    LEVEL_TIME, LEVEL_TIME_UNTIL_KNOWN, LevelSize, LevelSpec, LevelYield, LoadSaturation,
    PreparedSweep, StopRule, SweepError, SweepLoads, SweepProtocol, SweepRates, SweepRunner,
    SweepSettings, SweepSpec, SweptLevel, TriedLoad, check_goals, level_size, load_between,
    rates_up_to,
};
pub use system::{PromptReader, RunOrigin, SystemUnderTest};
pub use telemetry::{LocalGpus, ServerPages, TelemetrySpec};
pub use tokenizer::TokenizerSpec;
pub use wall_time::WallTime;
pub use whatif::{
    CaseEngine, CaseOutcome, CaseSettings, CaseSpec, GridCase, GridError, GridSetting, GridWay,
    ImpossibleCase, ListedValuesError, RanCase, RepeatedSetting, SettingGrid, WhatIfCase,
    WhatIfError, WhatIfRunner, listed_values,
};
pub use workload::{
    CacheBlocks, ContextLimit, DataFile, LengthsSpec, LengthsSpecError, PlanParts,
    PreparedWorkload, PromptSalt, PromptSource, RecordFormat, RecordsSource, TraceKind,
    TraceSource, WorkloadSpec,
};
