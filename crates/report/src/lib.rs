//! Results as people and programs want them: a terminal table, Markdown, a page that stands alone, pictures, tables and metrics for
//! other programs, and vLLM's own block and file. It renders and nothing else: the documents are `fizeau-record`'s.
//!
//! A stored run as the table that `fizeau report` prints, for a pull request:
//!
//! ```no_run
//! use fizeau_record::StoredRun;
//! use fizeau_report::Shown;
//!
//! let report = StoredRun::open("results/friday")?.report()?;
//! println!("{}", Shown(&report).markdown());
//! # Ok::<(), fizeau_record::StoredError>(())
//! ```
//!
//! Whatever shows a document is a method of [`Shown`]`(&document)`:
//!
//! | wanted | call |
//! |---|---|
//! | a table for a terminal | `Shown(&sweep).terminal(..)` |
//! | a block of named figures | `Shown(&level).block(..)` |
//! | a stored run, whatever kind it is of | `Shown(&content).text(..)`, `.markdown()`, `.page()` of `RunReader::content` |
//! | `report.html`, the page of a what-if (feature `html`) | `Shown(&sweep).page()`, `Shown(&whatif).page()` |
//! | several runs on one page (feature `html`) | `ComparisonPage` |
//! | a report of your own | [`ReportSink`] |
//! | the charts' data, to draw them yourself | [`ChartRun`] |
//! | a chart as an SVG or PNG file (features `pictures`, `png`) | `Picture` |
//! | Markdown for a pull request | `Shown(&sweep).markdown()`, `Shown(&comparison).markdown()`, [`Markdown`] |
//! | JUnit's XML for continuous integration | `Shown(&comparison).junit()` |
//! | a search, a what-if, a plan as text; an A/B run, in brief or in full | `Shown(&document).text()`, `Shown(&ab).text(verbosity)` |
//! | levels of several runs as rows of one table, and as CSV | [`LevelTable`], [`AxesPreset`] |
//! | what another tool would have said | `peers.text(width, ..)` |
//! | requests as rows: CSV, Parquet | [`RequestRow`], `RequestsParquet` (feature `parquet`) |
//! | what no row of a table beats, as text and JSON | [`FrontierLevels`], `Shown(&answer).to_json(..)` |
//! | why a run is slower than its speed of light | `Shown(&diagnosis).text(..)`, `.page()`, `.svg()` |
//! | devices and models | `Shown(&device).text()`, `Shown(&sheet).text(&model)` |
//! | metrics for Prometheus and OTLP | [`Exposition`] |
//! | a fleet that is watched | `Shown(&fleet).screen(..)`, `.line()` |
//! | what a machine was measured to do, two machines, a fleet (feature `probe`) | `Shown(&probe).text(..)`, `.page()`, `.charts()` |
//! | the speed of light of a model on devices | [`SolView`], [`SolLine`], [`BatchCsv`], [`ContextCsv`] |
//!
//! **Use this crate** to show results of Fizeau in a program of your own. **Use `fizeau-record`** for the documents, and `fizeau` to
//! get all layers at once.
//!
//! # Invariants
//!
//! - Plain data in, text out: no I/O, no clock, no randomness. The same input gives the same bytes.
//! - Nothing is measured or decided here. What is absent in the input is absent in the output, with the reason.
//! - Every foreign text (a model's name, an error of a server) is escaped for where it goes: HTML, SVG, XML, Markdown, JSON, a
//!   terminal.
//! - A page loads nothing: it is whole in one file, without a network. Without scripts it has everything but its charts.
//!
#![doc = include_str!("../place.md")]

mod ab;
mod axes;
mod block;
mod cell;
mod charts;
mod checklist;
mod columns;
mod comparison;
mod devices;
mod diagnosis;
#[cfg(any(feature = "html", feature = "pictures"))]
mod escape;
mod exposition;
mod figures;
mod fleet;
mod frontier;
mod grid;
mod grouped;
mod imported;
mod level;
mod markdown;
mod models;
#[cfg(feature = "html")]
mod page;
#[cfg(feature = "parquet")]
mod parquet;
mod peers;
mod percentiles;
#[cfg(feature = "pictures")]
mod pictures;
mod plan;
#[cfg(feature = "probe")]
mod probe;
mod requests;
mod round;
mod run_content;
mod search;
mod shards;
mod shown;
mod side_by_side;
mod sink;
mod sol;
mod speed_of_light_table;
mod sweep;
mod table;
mod telemetry;
mod terminal;
#[cfg(test)]
mod testing;
mod text;
mod whatif;

pub use axes::AxesPreset;
pub use cell::{TableCell, TableCellKind, csv_field};
pub use charts::{
    ChartCurve, ChartCurvePoint, ChartDetail, ChartGoal, ChartLevel, ChartLevelPosition, ChartRun,
    ChartServer, ChartSpeedOfLight, ChartStep, ChartTimeSeries,
};
pub use checklist::ChecklistRows;
pub use columns::{
    ExcludedLevel, ImportedTableRun, LevelTable, LevelTableContent, LevelTableRun, TableRun,
};
pub use exposition::Exposition;
pub use figures::{ChartFigure, ChartFigures};
pub use fizeau_record::text::Charset;
pub use frontier::FrontierLevels;
pub use markdown::Markdown;
#[cfg(feature = "html")]
pub use page::ComparisonPage;
#[cfg(feature = "parquet")]
pub use parquet::ParquetWriteError;
pub use peers::PeerTables;
pub use percentiles::{PercentileTable, PercentileTally};
#[cfg(feature = "pictures")]
pub use pictures::{
    CalibrationResidual, DrawnPictures, Picture, PictureError, PictureFormat, ResidualPicture,
};
pub use requests::RequestRow;
#[cfg(feature = "parquet")]
pub use requests::RequestsParquet;
pub use shown::Shown;
pub use sink::ReportSink;
pub use sol::{
    BatchCsv, CalibrationFitView, ContextCsv, EngineCalibrationRow, EngineCalibrationView,
    MeasuredLoad, MeasuredLoadError, SolError, SolExtra, SolGoal, SolLine, SolMatterError,
    SolMatters, SolScope, SolServing, SolSubject, SolView,
};
pub use terminal::Terminal;
pub use text::{TextStyle, Verbosity};

/// The example of the README, compiled so that it cannot go stale.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
