//! Other load generators' definitions, files in and files out.
//!
//! - [`Peer::figures`] computes what a tool would have reported of our tapes, by its own definitions; [`beside_ours`] holds
//!   that against our figures, and [`TermExplanation`] says what each tool means by a word.
//! - [`ForeignFormats::import`] reads result files of other tools ([`ForeignFormats::import_paths`] from a disk),
//!   [`ForeignFormat::export`] writes them, of a stored run's [`ExportSource`]. How to add a format is
//!   told at [`ForeignFormat`].
//! - [`InputTable`] reads anybody's table, CSV or JSON Lines, and joins two.
//! - [`RereadLevel`] reads a stored level with what a page shows of its tapes, and vLLM's block.
//! - [`VllmTally`] adds up what vLLM's client would have seen, [`VllmResult`] is its printed block and its JSON file.
//!
//! ```
//! use fizeau_interop::{ForeignFile, ForeignFormats};
//!
//! let file = r#"{"model_id": "org/model", "tokenizer_id": null, "completed": 4, "duration": 2.0,
//!     "total_input_tokens": 400, "total_output_tokens": 32, "max_concurrency": 2,
//!     "request_throughput": 2.0, "output_throughput": 16.0, "median_ttft_ms": 21.5}"#;
//! let levels = ForeignFormats::import(vec![ForeignFile::new("vllm.json", file.as_bytes())], None)?;
//! assert_eq!(levels[0].load_words(), "concurrency 2");
//! assert_eq!(levels[0].figure("p50_ttft_ms"), Some(21.5));
//! # Ok::<(), fizeau_interop::ForeignError>(())
//! ```
//!
//! **Use this crate** to read what other tools measured, or to write for what reads their files. **Use `fizeau`** to get all
//! layers at once.
//!
//! # Invariants
//!
//! - Bytes in, plain data out, and the reverse: no clock, and no I/O but where [`ForeignFormats::import_paths`] reads files. Whatever the bytes, there is an answer or an error with file and
//!   field, never a panic.
//! - A figure of another tool is taken as ours only where the definitions are the same; all else has a reason.
//!
#![doc = include_str!("../place.md")]

mod detail;
mod files;
mod foreign;
mod level;
mod peers;
mod source;
mod table;
mod vllm;

pub use detail::{DetailTally, with_details};
pub use files::{ImportError, ImportedFiles};
pub use foreign::{
    ExportArrivals, ExportLevel, ExportWriteError, ExportedFile, ForeignError, ForeignFile,
    ForeignFormat, ForeignFormats, ForeignPlace, plain_name,
};
pub use level::{ExtraTallies, LevelTapes, RereadLevel};
pub use peers::{
    OwnFigures, Peer, PeerFigure, PeerReport, PeerSettings, PeerStatistic, PeerTerm, PeerUnit,
    PeerValue, TermDefinition, TermExplanation, beside_ours,
};
pub use source::{ExportSource, ExportSourceError};
pub use table::{InputTable, InputTableError};
pub use vllm::{
    VllmDetail, VllmMetric, VllmRampStrategy, VllmRequestRate, VllmResult, VllmRun, VllmSelection,
    VllmSelectionError, VllmTally,
};

/// The example of the README, compiled so that it cannot go stale.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
