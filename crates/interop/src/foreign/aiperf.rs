//! AIPerf: `profile_export_aiperf.json` with `profile_export.jsonl` beside it, or `profile_export_aiperf.csv` alone.
//!
//! Keys, units and classes are those of AIPerf 0.13.0 (`aiperf/common/models`, schema 1.4); files of GenAI-Perf's keys that AIPerf
//! wrote before have fewer.

mod records;
mod summary;
mod table;
mod write;

use super::read::Record;
use super::vllm;
use super::{
    ExportArrivals, ExportLevel, ExportedFile, ForeignError, ForeignFile, ForeignFormat,
    ForeignPlace, ImportedLevel,
};

/// The form of AIPerf's files.
pub(super) struct AiPerf;

const TOOL: &str = "AIPerf";

/// Our latencies, and AIPerf's that are defined alike.
const LATENCIES: [(&str, &str); 3] =
    [("ttft", "time_to_first_token"), ("tpot", "inter_token_latency"), ("e2el", "request_latency")];

impl ForeignFormat for AiPerf {
    fn key(&self) -> &'static str {
        "aiperf"
    }

    fn about(&self) -> &'static str {
        "AIPerf: profile_export_aiperf.json, profile_export.jsonl, profile_export_aiperf.csv"
    }

    fn recognises(&self, file: &ForeignFile<'_>) -> bool {
        is_summary(file) || records::is_records(file) || table::is_table(file)
    }

    fn import(&self, files: &[ForeignFile<'_>]) -> Result<Vec<ImportedLevel>, ForeignError> {
        let (tables, documents): (Vec<_>, Vec<_>) =
            files.iter().partition(|file| table::is_table(file));
        let (records, summaries): (Vec<_>, Vec<_>) =
            documents.into_iter().partition(|file| records::is_records(file));
        let mut levels = Vec::new();
        for file in &summaries {
            let own = |other: &&&ForeignFile<'_>| {
                stem(other) == stem(file) || (records.len() == 1 && summaries.len() == 1)
            };
            let records = records.iter().find(own).map(|file| records::read(file)).transpose()?;
            for record in Record::all(file, TOOL)? {
                levels.push(summary::level(&record, file, records.as_ref())?);
            }
        }
        let stems: Vec<&str> = summaries.iter().map(|file| stem(file)).collect();
        let is_left = |file: &&&ForeignFile<'_>| {
            !(stems.contains(&stem(file)) || stems.len() == 1 && records.len() == 1)
        };
        for file in records.iter().filter(is_left) {
            levels.push(records::level(file)?);
        }
        // A table beside its document says nothing more.
        for file in tables.iter().filter(|file| !stems.contains(&stem(file))) {
            let map = table::read(file)?;
            let record = Record::new(ForeignPlace::whole(file.name()), TOOL, &map);
            levels.push(summary::level(&record, file, None)?);
        }
        Ok(levels)
    }

    fn export(&self, levels: &[ExportLevel<'_>]) -> Result<Vec<ExportedFile>, ForeignError> {
        let mut files = Vec::new();
        for level in levels {
            let summary = write::summary(level, self.key())?;
            let mut add = |name: &str, bytes: Vec<u8>| {
                files.push(ExportedFile { name: vllm::named(level, name), bytes });
            };
            add("profile_export_aiperf.json", summary.to_pretty().into_bytes());
            add("profile_export_aiperf.csv", table::write(&summary));
            if !level.tapes.is_empty() {
                add("profile_export.jsonl", write::records(level).into_bytes());
            }
        }
        Ok(files)
    }

    fn in_place_of(&self, level: &ExportLevel<'_>) -> Option<&'static str> {
        match level.arrivals {
            ExportArrivals::Other { .. } => {
                Some("its file says fixed_schedule, at the instants of profile_export.jsonl")
            }
            _ => None,
        }
    }

    fn tells_of_interruption(&self) -> bool {
        true
    }
}

/// Other documents in its folder have a version too: those of server metrics, of time slices and of several runs together.
fn is_summary(file: &ForeignFile<'_>) -> bool {
    let is_other = ["metrics", "timeslices", "metrics_phase", "aggregation_type"];
    (file.has(&["aiperf_version"]) || file.has(&["schema_version", "input_config"]))
        && !is_other.iter().any(|field| file.has(&[field]))
}

/// What the files of one run have in common: `--profile-export-prefix`.
fn stem<'a>(file: &ForeignFile<'a>) -> &'a str {
    let name = file.file_name();
    let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    name.strip_suffix("_aiperf").unwrap_or(name)
}
