//! Other tools' result files, in and out: bytes in, plain data out, and the reverse.
//!
//! A [`ForeignFormat`] knows one form of file. [`ForeignFormats`] finds which one a file has. What a file says is taken as one of
//! our figures only where its definition is ours; everything else is among what is not known, with the reason. Where a file has
//! what each request did, it becomes tapes, and from there on it is a run like any other.

mod aiperf;
mod arrivals;
mod csv;
mod error;
mod figures;
mod file;
mod format;
mod formats;
mod genai_perf;
mod guidellm;
mod inference_perf;
mod lists;
mod name;
mod read;
mod request;
mod serving;
mod sglang;
mod statistics;
mod vllm;
mod vllm_rust;
mod vllm_sweep;

pub use arrivals::ExportArrivals;
pub(crate) use csv::table as csv_of_lines;
pub use error::{ForeignError, ForeignPlace};
pub use file::ForeignFile;
pub use format::{ExportLevel, ExportWriteError, ExportedFile, ForeignFormat};
pub use formats::ForeignFormats;
pub use name::plain_name;

use figures::FigureSheet;
use fizeau_record::{
    ImportedAbout, ImportedCounts, ImportedLevel, ImportedLoad, ImportedSource, UnknownFact,
};
use request::Seen;
