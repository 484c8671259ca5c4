//! Results as people and programs want them: a terminal table, JSON files, a page that stands alone, and vLLM's
//! own block and file.
//!
//! A [`LevelReport`] is one level with its verdict and its speed of light; a [`SweepReport`] puts levels side
//! by side and says which are on the frontier and at which to run. From there:
//!
//! | wanted | call |
//! |---|---|
//! | `summary.json` | [`LevelReport::to_json`] |
//! | `sweep.json` | [`SweepReport::to_json`] |
//! | a table for a terminal | [`SweepReport::terminal`] |
//! | `report.html` (feature `html`) | `SweepReport::page` |
//! | several runs on one page (feature `html`) | `ComparisonPage` |
//! | a report of your own | [`ReportSink`] |
//! | the charts' data, to draw them yourself | [`ChartRun`] |
//! | a chart as an SVG or PNG file (features `pictures`, `png`) | `Picture` |
//! | Markdown for a pull request | [`SweepReport::markdown`], [`Markdown`], [`ComparisonReport::markdown`] |
//! | JUnit's XML for continuous integration | [`ComparisonReport::junit`] |
//! | `ab.json`, and how each round went | [`AbReport::to_json`], [`AbReport::text`] |
//! | `search.json`, and how the highest load within goals was found | [`SearchReport::text`] |
//! | several configurations side by side | [`WhatIf::text`], [`WhatIf::to_json`], `WhatIf::page` |
//! | how many devices a rate takes, and what they cost | [`PlanReport::text`], [`PlanReport::to_json`] |
//! | levels of several runs as rows of one table, and as CSV | [`LevelTable`], [`AxesPreset`] |
//! | what another tool would have said | [`PeerComparison`] |
//! | whether to trust it, row by row | [`Checklist`] |
//! | requests as rows: CSV, Parquet | [`RequestRow`], `RequestsParquet` (feature `parquet`) |
//! | metrics for Prometheus and OTLP | [`Exposition`] |
//! | the JSON Schema of a document | `DocumentSchema` (feature `schema`) |
//! | the speed of light of a model on devices | [`SolView`], [`SolLine`], [`BatchCsv`], [`ContextCsv`] |
//!
//! **Use this crate** to show results of Fizeau's metrics in a program of your own. **Use `fizeau-metrics`**
//! for the figures themselves, and `fizeau` to get all layers at once.
//!
//! # Invariants
//!
//! - Plain data in, text out: no I/O, no clock, no randomness. The same input gives the same bytes.
//! - Nothing is measured here, and what lies between levels is `fizeau-pareto`'s to say. What is absent in the input is
//!   absent in the output, with the reason.
//! - Every foreign text (a model's name, an error of a server) is escaped for where it goes: HTML, SVG, XML, Markdown, JSON, a
//!   terminal.
//! - A page loads nothing: it is whole in one file, without a network. Without scripts it has everything but its charts.

mod ab;
mod axes;
mod block;
mod charts;
mod checklist;
mod columns;
mod comparison;
#[cfg(any(feature = "html", feature = "pictures"))]
mod escape;
mod exposition;
mod imported;
mod level;
mod light_table;
mod markdown;
#[cfg(feature = "html")]
mod page;
#[cfg(feature = "parquet")]
mod parquet;
mod peers;
mod percentiles;
#[cfg(feature = "pictures")]
mod pictures;
mod plan;
mod requests;
mod round;
mod search;
mod shown;
mod sink;
mod sol;
mod sweep;
mod table;
mod terminal;
mod whatif;

pub use axes::AxesPreset;
pub use charts::{
    ChartCourse, ChartCurve, ChartCurvePoint, ChartDetail, ChartFigure, ChartFigures, ChartGoal,
    ChartLevel, ChartLight, ChartPlace, ChartQuantiles, ChartRun,
};
pub use checklist::ChecklistRows;
pub use columns::{ImportedTableRun, LeftOut, LevelTable, TableCell, TableRun, csv_field};
pub use exposition::{Exposition, MetricFamily, MetricKind, MetricSeries, MetricValue};
#[cfg(feature = "schema")]
pub use fizeau_record::DocumentSchema;
pub use fizeau_record::{
    AbParty, AbReport, AbRound, Aim, Asked, AskedArrivals, Bounds, Bursts, Calibrated,
    CalibratedBlock, Carried, ChangedField, Check, CheckOutcome, CheckRow, Checklist,
    ComparedLevel, ComparedRun, ComparisonReport, ComparisonView, Connections, CostFigure,
    Decision, DecodeLight, Endpoint, Engine, GoalPrice, GoalResult, Host, JsonNumber, LatencyBasis,
    LengthTally, LevelDetail, LevelReport, LevelStatus, Light, LightCost, LightCurve, LightFigures,
    LightPoint, LoadKind, LoadPoint, Maximum, MeanLengths, Money, NoTokenCost, NotCarried,
    NotKnown, NotPlanned, NotRun, OperatingPoint, OverRuns, PeerComparison, PeerRow, Place, Plan,
    PlanAsk, PlanCost, PlanFigure, PlanLevel, PlanReport, PlanSource, Planned, Predicted,
    PredictedRange, Profile, Reference, Repeats, Requirements, RunComparison, SearchAsked,
    SearchJudgement, SearchPurpose, SearchReport, SearchedLevel, SearchedLoad, Setup,
    SimulatedBursts, SpeedOfLight, Spot, StandIn, Sustained, SweepReport, Tail, TokenCost,
    ToolVersion, UnknownCheck, Unmeasured, Unseen, Until, Variant, WarmUp, WhatIf, Why, Within,
    Workload,
};
pub use markdown::Markdown;
#[cfg(feature = "html")]
pub use page::ComparisonPage;
#[cfg(feature = "parquet")]
pub use parquet::ParquetFailed;
pub use percentiles::{PercentileTable, PercentileTally};
#[cfg(feature = "pictures")]
pub use pictures::{Picture, PictureError};
#[cfg(feature = "parquet")]
pub use requests::RequestsParquet;
pub use requests::{RequestCell, RequestCellKind, RequestRow};
pub use shown::Shown;
pub use sink::ReportSink;
pub use sol::{
    BatchCsv, ContextCsv, FitView, SolAside, SolError, SolLine, SolScope, SolSubject, SolView,
};
pub use terminal::{Charset, Style, Terminal};

/// The example of the README, compiled so that it cannot go stale.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
