//! What a run is and what follows from it, as plain data, and the folder that holds it.
//!
//! Two stored runs, read from their tapes again, and compared where they may be:
//!
//! ```no_run
//! use fizeau_record::{Comparability, CompareOptions, ComparisonReport, StoredRun};
//!
//! let folders = ["results/monday", "results/friday"];
//! let [before, after] = [StoredRun::open(folders[0])?, StoredRun::open(folders[1])?];
//! for level in after.report()?.levels() {
//!     println!("{}: {}", level.load, level.validity.verdict.as_str());
//! }
//! if Comparability::of(&before, &after).is_given() {
//!     let report = ComparisonReport::of_runs(&folders.map(Into::into), &CompareOptions::default())?;
//!     println!("nothing is worse: {}", report.passes());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | wanted | call |
//! |---|---|
//! | `run.json`: what was requested, and from whom | [`RunDocument`] |
//! | `summary.json`, `sweep.json` | [`SummaryDocument`] of a [`LevelReport`], [`SweepDocument`] of a [`SweepReport`] |
//! | `search.json`, `ab.json` | [`SearchDocument`] of a [`SearchReport`], [`AbDocument`] of an [`AbReport`] |
//! | `whatif.json` | [`WhatIfDocument`] of a [`WhatIf`] |
//! | a candidate against a baseline | [`CompareDocument`] of a [`ComparisonReport`] |
//! | how many devices a rate takes, and what they cost | [`PlanDocument`] of a [`PlanReport`] |
//! | whether to trust a run, row by row | [`Checklist`] |
//! | a run's folder, to write and to read | [`RunFolder`], [`StoredRun`] |
//! | a stored run, computed again from its tapes | [`StoredRun::report`], [`RunReader`] |
//! | may these runs be compared, and what comes of it | [`Comparability`], [`ComparisonReport::of_runs`] |
//! | shards of one run made one run | [`ShardMerge`] |
//! | figures in words, as the documents have them | [`text`] |
//! | the JSON Schema of a document | `DocumentSchema` (feature `schema`) |
//!
//! **Use this crate** to keep and to read runs in a program of your own. **Use `fizeau-report`** to show them, and `fizeau` to get all
//! layers at once.
//!
//! # Invariants
//!
//! - No clock, and no I/O but that of the folder: the same input gives the same bytes.
//! - Nothing is measured here. What is absent in the input is absent in the output, with the reason.
//!
#![doc = include_str!("../place.md")]

mod ab;
mod checklist;
mod checks;
mod comparability;
mod comparison;
mod curve;
mod diagnosis;
mod fields;
mod file;
mod folder;
mod goal;
mod import_unknowns;
mod imported;
mod json;
mod lengths;
mod level;
mod level_plan;
mod level_reference;
mod merge;
mod peers;
mod plan;
mod reading;
mod reasons;
mod reference;
mod request_rate;
mod requested_load;
mod result_file;
mod run;
#[cfg(feature = "schema")]
mod schema;
mod search;
mod setup;
mod shards;
mod stored;
mod sweep;
mod telemetry;
pub mod text;
mod whatif;

pub use ab::{AbDocument, AbParty, AbReport, AbRound, RoundDocument, TurnDocument};
pub use checklist::{
    CheckOutcome, Checklist, ChecklistItem, ChecklistRow, RequiredChecks, UnknownCheck,
};
pub use comparability::{Comparability, CompareError, CompareOptions, MissingLevels, UnlikeRuns};
pub use comparison::{
    CompareDocument, ComparedLevel, ComparedRun, ComparedRunNote, ComparisonDocument,
    ComparisonReport, ComparisonView, FigureDifference, FrontierChange, FrontierDistance,
    FrontierPoint, RunComparison, TestedDifference,
};
pub use curve::{SpeedOfLightCurve, SpeedOfLightFigures, SpeedOfLightPoint};
pub use diagnosis::{
    Diagnosed, DiagnosedFigure, DiagnosisDocument, InvalidLevels, LevelDiagnosis, OtherDevice,
    ProbeWay, ProbedSilicon, SlowdownCause, TryFirst, Waterfall, WaterfallStep,
};
pub use fields::{ChangedField, DocumentFields};
pub use folder::{FolderError, RunFolder, TapeFile, host_name};
pub use goal::{
    FigureOverRuns, GoalDocument, GoalResult, GoalSource, HighestLoadBasis,
    limit_words as goal_limit, measured as goal_measured, name as goal_name, shown as goal_value,
};
pub use import_unknowns::{ImportUnknowns, UnknownFact};
pub use imported::{ImportedAbout, ImportedCounts, ImportedLevel, ImportedLoad, ImportedRun};
pub use json::{Json, JsonError};
pub use lengths::LengthTally;
pub use level::{
    CalibratedBlock, CalibratedComparison, CalibratedPrediction, DataSheetBound,
    DecodeStepComparison, EvenRouting, JsonNumber, LatencyBasis, LevelContext, LevelDetail,
    LevelDetailTally, LevelOutcome, LevelReport, LevelStatus, NoReference, PredictedFigures,
    PredictedRange, SpeedOfLight, SpeedOfLightComparison, SummaryDocument, TailLatency,
    UntilPrecise, UntilPreciseDocument, UntilPreciseGoal,
};
pub use level_plan::{LevelDocument, LevelPlan, LevelRole, WindowPlan, level_folder};
pub use level_reference::LevelReference;
pub use merge::{MergeError, MergedRun, SHARDS_ALIKE, ShardMerge};
pub use peers::{PeerComparison, PeerRow};
pub use plan::{
    BoundCost, BurstAccount, BurstSubject, BurstsLevel, BurstsQuery, DevicePlan, DevicePlanSource,
    GoalPrice, MeanLengths, MoneyRange, NoBoundCost, NoBurstAccount, NoCapacityReason,
    NoCommonGoals, NoPlanReason, NoPromptShare, PlanCost, PlanDocument, PlanFigure, PlanLevel,
    PlanQuery, PlanReport, PlannedFleet, ReplicaCapacity, SimulatedBursts, TestedLoads,
    TestedLoadsError, TestedReplica, UnusableLevel, scaled_limits,
};
pub use reading::{
    AbOutcome, LEVELS_SCHEMA, LevelView, NamedRun, NamedValueError, OpenedRun, ReadLevel, ReadRun,
    RunContent, RunContentKind, RunInputError, RunReader, StoredLevelContext, SummariesError,
    UnnamedValue, is_level_folder,
};
pub use reference::{ReferenceError, ReferenceFiles, ReferenceParts, SpeedOfLightReference};
pub use request_rate::requests_interval;
pub use requested_load::{ArrivalMoments, RequestedLoad};
pub use result_file::{ResultFile, ResultFileMode};
pub use run::{
    AbPlan, AbPrompts, CalibrationEnd, ClientCalibration, ClientPlan, DeployError,
    DeploymentRecord, EngineChoices, ImportedFrom, ImportedSource, MergedShard, OnTimeStreams,
    RequestTimeouts, RequestedLength, RequestedLengths, RunDocument, RunTime,
};
#[cfg(feature = "schema")]
pub use schema::DocumentSchema;
pub use search::{
    ConfirmationDocument, FoundLoadDocument, MoreTime, NonMonotoneLoads, SearchDocument,
    SearchJudgement, SearchPurpose, SearchReport, SearchTarget, SearchTargetDocument,
    SearchedLevel, SearchedLevelDocument, TimedLoad,
};
pub use setup::{
    ClientHost, ConnectionRecord, EndpointRecord, EngineRecord, NOT_RECORDED, RunSetup,
    ToolVersion, WorkloadRecord,
};
pub use shards::{
    ClockAxis, ClockReading, ClockSource, MergeDoubt, MissingShards, ShardHealth, ShardRecord,
    ShardsReport, TailShares, shard_alone,
};
pub use stored::{
    MergedTapes, StoredEnding, StoredError, StoredLevel, StoredRun, StoredTapes, TruncatedTail,
};
pub use sweep::{
    CostFigure, FrontierPosition, GoalDecision, HighestLoad, LoadRepeats, MeanOverRuns,
    NoTokenCost, OperatingChoiceReason, OperatingDecision, OperatingPoint, Profile, ProfileAim,
    ProfileChoice, RangeOverRuns, STAND_IN_NOTE, SustainedRun, SweepDocument, SweepEnding,
    SweepReport, SweptLevelDocument, TokenCost, Unmeasured,
};
pub use telemetry::{
    LevelTelemetry, PassSource, ScrapedPages, ServingDevices, TelemetrySource, TelemetryWindows,
};
pub use whatif::{
    ChosenLevel, NotRunReason, VariantDocument, VariantLevel, WhatIf, WhatIfDocument,
    WhatIfVariant, variant_letter,
};

/// The example of the README, compiled so that it cannot go stale.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
