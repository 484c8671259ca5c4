//! `vllm bench sweep`: `run=N.json` and `summary.json` of each combination, and `summary.csv` of all.

use super::read::Record;
use super::vllm::{self, TOOL, import_record, is_vllm};
use super::{
    ExportLevel, ExportedFile, ForeignError, ForeignFile, ForeignFormat, ForeignPlace,
    ImportedLevel, csv,
};
use crate::VllmDetail;
use crate::vllm::object::Object;

/// The form of vLLM's sweeps: a result with a `run_number` and the settings that the sweep varied.
pub(super) struct VllmSweep;

impl ForeignFormat for VllmSweep {
    fn key(&self) -> &'static str {
        "vllm-sweep"
    }

    fn about(&self) -> &'static str {
        "vllm bench sweep: summary.json, run=N.json, summary.csv"
    }

    fn recognises(&self, file: &ForeignFile<'_>) -> bool {
        is_table(file) || (is_vllm(file) && file.has(&["run_number"]))
    }

    fn import(&self, files: &[ForeignFile<'_>]) -> Result<Vec<ImportedLevel>, ForeignError> {
        // A summary has the runs beside it once more.
        let has_summary = files.iter().any(|file| file.file_name() == "summary.json");
        let is_single = |file: &&ForeignFile<'_>| {
            file.file_name() == "summary.json" || !file.file_name().starts_with("run=")
        };
        let mut levels = Vec::new();
        for file in files.iter().filter(|file| !has_summary || is_single(file)) {
            match is_table(file) {
                true => levels.extend(table(file, self.key())?),
                false => {
                    for record in Record::all(file, TOOL)? {
                        levels.push(import_record(&record, file, self.key())?);
                    }
                }
            }
        }
        Ok(levels)
    }

    fn export(&self, levels: &[ExportLevel<'_>]) -> Result<Vec<ExportedFile>, ForeignError> {
        let mut folders: Vec<(String, Vec<Object>)> = Vec::new();
        for (index, level) in levels.iter().enumerate() {
            let mut record = vllm::record(level, self.key(), VllmDetail::Brief)?;
            let folder = folder(level, index);
            let at = folders.iter().position(|(known, _)| *known == folder);
            let at = at.unwrap_or_else(|| {
                folders.push((folder, Vec::new()));
                folders.len() - 1
            });
            if let Some((_, runs)) = folders.get_mut(at) {
                record.set("run_number", runs.len());
                runs.push(record);
            }
        }
        let mut files = Vec::new();
        for (folder, runs) in &folders {
            let file = |name: &str, text: String| ExportedFile {
                name: format!("{folder}/{name}"),
                bytes: text.into_bytes(),
            };
            let numbered = runs.iter().enumerate();
            files.extend(numbered.map(|(n, run)| file(&format!("run={n}.json"), run.to_pretty())));
            let list = serde_json::to_string_pretty(runs).unwrap_or_default();
            files.push(file("summary.json", list));
        }
        let rows: Vec<&Object> = folders.iter().flat_map(|(_, runs)| runs).collect();
        let table = to_table(&rows);
        files.push(ExportedFile { name: "summary.csv".to_owned(), bytes: table });
        Ok(files)
    }

    fn in_place_of(&self, level: &ExportLevel<'_>) -> Option<&'static str> {
        vllm::in_place_of(level)
    }
}

/// Whether it is the table of a whole sweep.
fn is_table(file: &ForeignFile<'_>) -> bool {
    let heads = csv::heads(file);
    ["model_id", "request_throughput"].iter().all(|name| heads.iter().any(|head| head == name))
}

fn table(file: &ForeignFile<'_>, format: &'static str) -> Result<Vec<ImportedLevel>, ForeignError> {
    let mut levels = Vec::new();
    for (index, mut row) in csv::rows(file, file.content())?.into_iter().enumerate() {
        // The numbers that pandas gives its rows.
        row.remove("");
        let place = ForeignPlace::whole(file.name()).at(format_args!("row {}", index + 1));
        levels.push(import_record(&Record::new(place, TOOL, &row), file, format)?);
    }
    Ok(levels)
}

/// The folder of a combination, by the tool's own pattern. Runs of one load are in one.
fn folder(level: &ExportLevel<'_>, index: usize) -> String {
    match (level.arrivals.rate(), level.run.max_concurrency) {
        (Some(rate), _) => format!("BENCH--request_rate={}", rate.get()),
        (_, Some(cap)) => format!("BENCH--max_concurrency={cap}"),
        _ => format!("BENCH--combination={index}"),
    }
}

/// All records as a table with the columns of all, numbered as pandas does.
fn to_table(rows: &[&Object]) -> Vec<u8> {
    let heads = fizeau_core::distinct(rows.iter().flat_map(|row| row.keys()));
    let line = |(index, row): (usize, &&Object)| {
        let cells = heads.iter().map(|head| row.get(head).map(csv::cell).unwrap_or_default());
        std::iter::once(index.to_string()).chain(cells).collect()
    };
    let first: Vec<String> =
        std::iter::once("").chain(heads.iter().copied()).map(str::to_owned).collect();
    let lines = rows.iter().enumerate().map(line);
    csv::table(::csv::Terminator::Any(b'\n'), std::iter::once(first).chain(lines))
}
