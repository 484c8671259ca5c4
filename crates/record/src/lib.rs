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
//!     println!("{}: {}", level.load.words(), level.validity.verdict.as_str());
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
//! | `run.json`: what was asked, of whom | [`RunDocument`] |
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

mod ab;
mod asked;
mod checklist;
mod checks;
mod comparability;
mod comparison;
mod curve;
mod fields;
mod folder;
mod goal;
mod imported;
mod json;
mod lengths;
mod level;
mod level_plan;
mod merge;
mod peers;
mod plan;
mod reading;
mod reasons;
mod reference;
mod request_rate;
mod run;
#[cfg(feature = "schema")]
mod schema;
mod search;
mod setup;
mod stored;
mod sweep;
pub mod text;
mod unseen;
mod whatif;

pub use ab::{AbDocument, AbParty, AbReport, AbRound, AbSideDocument, RoundDocument, TurnDocument};
pub use asked::{Asked, AskedArrivals};
pub use checklist::{Check, CheckOutcome, CheckRow, Checklist, Requirements, UnknownCheck};
pub use comparability::{Comparability, CompareError, CompareOptions, UnlikeRuns};
pub use comparison::{
    ChangedField, CompareDocument, ComparedLevel, ComparedRun, ComparisonDocument,
    ComparisonReport, ComparisonView, FieldDifference, FigureDifference, FrontierChange,
    FrontierDistance, FrontierPoint, LevelDifferences, RunComparison, RunDifferences,
    TestedDifference,
};
pub use curve::{LightCurve, LightFigures, LightPoint};
pub use fields::{Differing, DocumentFields};
pub use folder::{ClaimedFolder, FolderError, RunFolder, TapeFile};
pub use goal::{
    Bounds, GoalDocument, GoalResult, OverRuns, limit_words as goal_limit,
    measured as goal_measured, name as goal_name, shown as goal_value,
};
pub use imported::{ImportedAbout, ImportedCounts, ImportedLevel, ImportedLoad, ImportedRun};
pub use json::{Json, JsonError};
pub use lengths::LengthTally;
pub use level::{
    Calibrated, CalibratedBlock, DecodeLight, JsonNumber, LatencyBasis, LevelContext, LevelDetail,
    LevelDetailTally, LevelOutcome, LevelReport, LevelStatus, Light, LoadPoint, Predicted,
    PredictedRange, Reference, SpeedOfLight, SummaryDocument, Tail, Until, UntilDocument,
    UntilGoal, WithEnds,
};
pub use level_plan::{LevelDocument, LevelPlan, LevelRole, WindowPlan, level_folder};
pub use merge::{MergeError, MergedRun, ShardMerge};
pub use peers::{PeerComparison, PeerRow};
pub use plan::{
    Bursts, BurstsAsk, BurstsLevel, Carried, GoalPrice, LightCost, MeanLengths, Money,
    NoPromptShare, NotCarried, NotPlanned, Plan, PlanAsk, PlanCost, PlanDocument, PlanFigure,
    PlanLevel, PlanReport, PlanSource, Planned, SimulatedBursts, TestedLoads, TestedLoadsError,
    TestedReplica, scaled_limits,
};
pub use reading::{
    LevelView, NamedRun, ReadLevel, ReadRun, RunReader, StoredLevelContext, SummariesError,
    is_level_folder,
};
pub use reference::{ReferenceError, ReferenceFiles, ReferenceParts, SpeedOfLightReference};
pub use request_rate::requests_interval;
pub use run::{
    AbPlan, AbPrompts, AskedLength, AskedLengths, CalibrationEnd, ClientCalibration, ClientPlan,
    DeployError, DeploymentRecord, EngineChoices, ImportedFrom, ImportedSource, MergedShard,
    OnTimeStreams, RequestTimeouts, RunDocument, RunTime,
};
#[cfg(feature = "schema")]
pub use schema::DocumentSchema;
pub use search::{
    AskedDocument, Confirmation, FoundLoad, SearchAsked, SearchDocument, SearchJudgement,
    SearchPurpose, SearchReport, SearchedDocument, SearchedLevel, WrongWay,
};
pub use setup::{Connections, Endpoint, Engine, Host, NOT_RECORDED, Setup, ToolVersion, Workload};
pub use stored::{
    Cut, MergedTapes, StoredEnding, StoredError, StoredLevel, StoredRun, StoredTapes,
};
pub use sweep::{
    Aim, CostFigure, Decision, Maximum, MeanOverRuns, NoTokenCost, OperatingPoint, Place, Profile,
    ProfileChoice, RangeOverRuns, Repeats, STAND_IN_NOTE, Sustained, SweepDocument, SweepReport,
    SweptLevel, TokenCost, Unmeasured, Why, Within,
};
pub use unseen::{NotKnown, Unseen};
pub use whatif::{
    Chosen, NotRun, Spot, Variant, VariantDocument, WhatIf, WhatIfDocument, slo_words,
    variant_letter,
};

/// The example of the README, compiled so that it cannot go stale.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
