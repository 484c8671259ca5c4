//! Other tools' result files, in and out: bytes in, plain data out, and the reverse.
//!
//! A [`ForeignFormat`] knows one form of file. [`ForeignFormats`] finds which one a file has, [`ImportedRun::of_levels`] puts what
//! was read into runs. What a file says is taken as one of our figures only where its definition is ours; everything
//! else is among [`ImportedLevel::not_known`], with the reason. Where a file has what each request did, it becomes tapes, and
//! from there on it is a run like any other.
//!
//! # How to add a format
//!
//! 1. `foreign/NAME.rs`: a unit struct with `impl ForeignFormat`. `recognises` looks at what is peculiar to the tool's files.
//!    `import` gets all files of one folder that it recognised, and makes a level of each record: types of the format's own derive
//!    `Deserialize`, `Record` reads them and names the file and the field in every error, `FigureSheet` takes the figures and
//!    withholds percentiles that the sample does not support, `Seen` makes a tape of what is known of one request. `export` writes
//!    figures by the tool's own definitions, from `Peer::figures`, with `Object`, which keeps the order of the keys.
//! 2. A line in `FORMATS` (`foreign/formats.rs`), the more peculiar before the more general.
//! 3. A small file in `fixtures/foreign/` with its source in the README there, and a line for each of the tests in
//!    `tests/it/foreign/`: figures, round trip, damage.

mod aiperf;
mod csv;
mod error;
mod figures;
mod file;
mod format;
mod formats;
mod genai_perf;
mod guidellm;
mod imported;
mod inference_perf;
mod lists;
mod markdown;
mod name;
mod read;

mod run;
mod seen;
mod serving;
mod sglang;
mod statistics;
mod text;
mod vllm;
mod vllm_rust;
mod vllm_sweep;

pub use error::ForeignError;
pub use file::ForeignFile;
pub use format::{ExportLevel, ExportedFile, ForeignFormat};
pub use formats::ForeignFormats;
pub use imported::{ImportedAbout, ImportedCounts, ImportedLevel, ImportedLoad, ImportedSource};
pub use name::plain_name;
pub use run::ImportedRun;

use fizeau_record::NotKnown;

use figures::FigureSheet;

use seen::Seen;
