//! Whole experiments: prepare, run, evaluate, keep.

mod ab;
mod client;
mod device;
mod discovery;
mod endpoint;
mod hint;
mod input;
mod model;
mod own_thread;
mod reference;
mod search;
mod sweep;
mod tokenizer;
mod wall_time;
mod workload;

pub use ab::{Ab, AbError, AbPrompts, AbSpec, AbTurn, Rounds, TooFewRounds, turn_name};
pub use client::{Client, ClientSpec, ConnectionNeeds, in_flight};
pub use device::LoadedDevice;
pub use discovery::DetectedEndpoint;
pub use endpoint::{
    ConnectionSpec, EndpointSpec, ExtraHeader, PreflightStep, PreparedEndpoint, TrustSpec,
    check_context, preflight, split_url,
};
pub use hint::{Hint, LimitSource, TokenizerKind};
pub use input::{EndpointError, ExperimentError, Field, InputError};
pub use model::{LoadModelError, LoadedModel};
pub use reference::{
    DeployError, DeploymentRecord, EngineChoices, ReferenceFiles, ReferenceSpec,
    SpeedOfLightReference,
};
pub use search::{
    Confirmation, Judgement, LoadSearch, LoadSearchError, LoadSearchSpec, Over, Purpose,
    SearchStep, Trial,
};
pub use sweep::{
    LevelAsk, LevelSize, LevelYield, Saturated, StopRule, Sweep, SweepError, SweepSpec, SweptLevel,
    Tried, load_between, rates_up_to,
};
pub use tokenizer::TokenizerSpec;
pub use wall_time::WallTime;
pub use workload::{
    AskedLength, AskedLengths, CacheBlocks, ContextLimit, DataFile, PlanParts, PreparedWorkload,
    PromptSalt, PromptSource, RecordFormat, RecordsSource, TraceKind, TraceSource, WorkloadRecord,
    WorkloadSpec, words_or_ids,
};
