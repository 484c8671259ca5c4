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
//! | vLLM's printed block and JSON | [`VllmResult::block`], [`VllmResult::to_json`] |
//! | other tools' files, in and out | [`ForeignFormats`], [`ImportedRun`] |
//! | what another tool would have said | [`PeerComparison`] |
//! | whether to trust it, row by row | [`Checklist`] |
//! | what a word means, and to whom | [`Explanation`] |
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
mod asked;
mod axes;
mod block;
mod charts;
mod checklist;
mod columns;
mod comparison;
mod curve;
#[cfg(any(feature = "html", feature = "pictures"))]
mod escape;
mod exposition;
mod foreign;
mod goal;
mod lengths;
mod level;
mod light_table;
mod markdown;
mod number;
#[cfg(feature = "html")]
mod page;
#[cfg(feature = "parquet")]
mod parquet;
mod peers;
mod percentiles;
#[cfg(feature = "pictures")]
mod pictures;
mod plan;
mod price;
mod request_rate;
mod requests;
mod round;
#[cfg(feature = "schema")]
mod schema;
mod search;
mod setup;
mod sink;
mod sol;
mod sweep;
mod table;
mod terminal;
mod vllm;
mod whatif;
mod words;

pub use ab::{AbParty, AbReport, AbRound};
pub use asked::{Asked, AskedArrivals};
pub use axes::AxesPreset;
pub use charts::{
    ChartCourse, ChartCurve, ChartCurvePoint, ChartDetail, ChartFigure, ChartFigures, ChartGoal,
    ChartLevel, ChartLight, ChartPlace, ChartQuantiles, ChartRun,
};
pub use checklist::{
    Check, CheckOutcome, CheckRow, Checklist, ChecklistRows, Requirements, UnknownCheck,
};
pub use columns::{ImportedTableRun, LeftOut, LevelTable, TableCell, TableRun, csv_field};
pub use comparison::{
    ChangedField, ComparedLevel, ComparedRun, ComparisonReport, ComparisonView, RunComparison,
};
pub use curve::{LightCurve, LightFigures, LightPoint};
pub use exposition::{Exposition, MetricFamily, MetricKind, MetricSeries, MetricValue};
pub use foreign::{
    ExportLevel, ExportedFile, ForeignError, ForeignFile, ForeignFormat, ForeignFormats,
    ImportedAbout, ImportedCounts, ImportedLevel, ImportedLoad, ImportedRun, ImportedSource,
    NotKnown, Unseen, plain_name,
};
pub use goal::Bounds;
pub use lengths::LengthTally;
pub use level::{
    DecodeLight, LevelDetail, LevelReport, LevelStatus, Light, LoadKind, LoadPoint, Reference,
    SpeedOfLight, Until, WarmUp,
};
pub use markdown::Markdown;
#[cfg(feature = "html")]
pub use page::ComparisonPage;
#[cfg(feature = "parquet")]
pub use parquet::ParquetFailed;
pub use peers::{Explanation, PeerComparison};
pub use percentiles::{PercentileTable, PercentileTally};
#[cfg(feature = "pictures")]
pub use pictures::{Picture, PictureError};
pub use plan::{
    Bursts, Carried, GoalPrice, LightCost, MeanLengths, Money, NotCarried, NotPlanned, Plan,
    PlanAsk, PlanCost, PlanFigure, PlanLevel, PlanReport, PlanSource, Planned, SimulatedBursts,
};
#[cfg(feature = "parquet")]
pub use requests::RequestsParquet;
pub use requests::{RequestCell, RequestCellKind, RequestRow};
#[cfg(feature = "schema")]
pub use schema::DocumentSchema;
pub use search::{
    SearchAsked, SearchJudgement, SearchPurpose, SearchReport, SearchedLevel, SearchedLoad,
};
pub use setup::{Connections, Endpoint, Engine, Host, Setup, ToolVersion, Workload};
pub use sink::ReportSink;
pub use sol::{
    BatchCsv, Calibrated, ContextCsv, FitView, SolAside, SolError, SolLine, SolScope, SolSubject,
    SolView,
};
pub use sweep::{
    Aim, CostFigure, Decision, GoalResult, Maximum, NoTokenCost, OperatingPoint, OverRuns, Place,
    Profile, Repeats, StandIn, Sustained, SweepReport, TokenCost, Unmeasured, Why, Within,
};
pub use terminal::{Charset, Style, Terminal};
pub use vllm::{
    Detail, Percentile, RampStrategy, RequestRate, Selection, SelectionError, VllmMetric,
    VllmResult, VllmRun, VllmTally,
};
pub use whatif::{NotRun, Spot, Variant, WhatIf};

use level::{LatencyBasis, Tail};

/// The example of the README, compiled so that it cannot go stale.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
