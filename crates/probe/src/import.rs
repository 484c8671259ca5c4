//! What other tools measured, read from what they print or write.
//!
//! One file a format. Columns are found by their header, what a file does not tell stays absent, and times and rates follow
//! from the measurements by the same function as those of this crate. The forms are described at each format, from what
//! the tools' own sources print; no line of theirs is here.

mod babelstream;
mod cell;
mod collectivex;
mod cutlass;
mod deep_ep;
mod deep_gemm;
mod error;
mod flash_mla;
mod flashinfer;
mod flashinfer_text;
mod gemm;
mod hipblaslt_bench;
mod join;
mod json;
mod likwid_bench;
mod mixbench;
mod mlc;
mod nccl;
mod nccl_tests_json;
mod nccl_tests_text;
mod nvbandwidth;
mod nvbandwidth_json;
mod nvbandwidth_text;
mod operatorx;
mod pairs;
mod pmbw;
mod rccl_tests_file;
mod reading;
mod source;
mod stream;
mod streaming;
mod table;
mod tells;
mod tinymembench;

pub use error::{FormatTried, MeasurementImportError};
pub use join::ImportJoinError;

use crate::device::DeviceFacts;
use crate::measurement::Measurement;
use reading::{NotThis, Reading};
use source::Source;

/// What a file of another tool tells.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct ImportedMeasurements {
    /// Which tool: `nccl-tests`.
    pub tool: String,
    /// Its version, where the file says.
    pub version: Option<String>,
    /// The machine, where the file names one.
    pub node: Option<String>,
    /// The devices whose parts the file names.
    pub devices: Vec<DeviceFacts>,
    /// `NCCL_*` and `CUDA_VISIBLE_DEVICES` of the environment, and versions of libraries. All else of an environment is dropped,
    /// since it may hold secrets.
    pub settings: Vec<String>,
    /// What was measured, in the file's order.
    pub measurements: Vec<Measurement>,
    /// What must be known of the file: rows that were skipped and why, where it is torn.
    pub notes: Vec<String>,
}

/// A format by its name, and its reader.
struct Format {
    name: &'static str,
    read: for<'a> fn(&'a Source) -> Result<Reading<'a>, NotThis>,
}

/// Tried in this order: the more a format demands, the earlier.
const FORMATS: [Format; 22] = [
    Format { name: "nvbandwidth JSON", read: nvbandwidth_json::read },
    Format { name: "nccl-tests JSON", read: nccl_tests_json::read },
    Format { name: "OperatorX", read: operatorx::read },
    Format { name: "CollectiveX", read: collectivex::read },
    Format { name: "rccl-tests, a file of its own", read: rccl_tests_file::read },
    Format { name: "nccl-tests and rccl-tests", read: nccl_tests_text::read },
    Format { name: "nvbandwidth", read: nvbandwidth_text::read },
    Format { name: "BabelStream", read: babelstream::read },
    Format { name: "STREAM", read: stream::read },
    Format { name: "likwid-bench", read: likwid_bench::read },
    Format { name: "Intel MLC", read: mlc::read },
    Format { name: "tinymembench", read: tinymembench::read },
    Format { name: "pmbw", read: pmbw::read },
    Format { name: "mixbench", read: mixbench::read },
    Format { name: "CUTLASS profiler", read: cutlass::read },
    Format { name: "FlashInfer benchmark", read: flashinfer::read },
    Format { name: "FlashInfer benchmark, printed", read: flashinfer_text::read },
    Format { name: "hipblaslt-bench", read: hipblaslt_bench::read },
    Format { name: "DeepEP V2", read: deep_ep::read },
    Format { name: "DeepEP V1", read: deep_ep::read_first_version },
    Format { name: "DeepGEMM", read: deep_gemm::read },
    Format { name: "FlashMLA", read: flash_mla::read },
];

/// Reads what a tool printed or wrote: `content` of a file that is called `file`. The form is found from the content.
///
/// Prefixes that launchers set before lines are taken off. A torn file keeps its whole rows, and a note says where it breaks.
///
/// ```
/// let printed = "Function    Best Rate MB/s  Avg time     Min time     Max time\n\
///                Triad:          12000.0     0.002100     0.002000     0.002500\n";
/// let imported = fizeau_probe::import_measurements(printed.as_bytes(), Some("stream.txt"))?;
/// assert_eq!((imported.tool.as_str(), imported.measurements.len()), ("STREAM", 1));
/// # Ok::<(), fizeau_probe::MeasurementImportError>(())
/// ```
///
/// # Errors
/// If it is the result of no known tool, or holds no whole row.
pub fn import_measurements(
    content: &[u8],
    file: Option<&str>,
) -> Result<ImportedMeasurements, MeasurementImportError> {
    let source = Source::new(content, file);
    let mut tried = Vec::new();
    for format in FORMATS {
        match (format.read)(&source) {
            Ok(reading) => return reading.finish(),
            Err(NotThis(why)) => tried.push(FormatTried { format: format.name, why }),
        }
    }
    let torn = json::torn(&source);
    let text: String = source.lines().map(|line| line.text.to_lowercase() + "\n").collect();
    // A stable sort: of those that are as near the more demanding stays before.
    tried.sort_by(|a, b| nearness(&b.why, &text).total_cmp(&nearness(&a.why, &text)));
    Err(MeasurementImportError::NoKnownTool { file: source.name().to_owned(), torn, tried })
}

/// Of the words that a format is known by, which stand between backticks where it says what is missing, the share that `text` has;
/// less than none of a format that is known by no word.
fn nearness(why: &str, text: &str) -> f64 {
    let quoted = why.split('`').skip(1).step_by(2);
    let words = quoted.flat_map(|sign| sign.split(|c: char| !c.is_alphanumeric()));
    let words: Vec<&str> = words.filter(|word| word.len() > 2).collect();
    if words.is_empty() {
        return -1.0;
    }
    let found = words.iter().filter(|word| text.contains(&word.to_lowercase()));
    // One more than there are, so that of formats whose words are all there the one with more words is nearer.
    found.count() as f64 / (words.len() + 1) as f64
}
