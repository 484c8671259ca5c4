//! inference-perf: `stage_N_lifecycle_metrics.json`, their `summary_lifecycle_metrics.json`, and
//! `per_request_lifecycle_metrics.json`.
//!
//! Keys are those of `inference_perf/reportgen` (kubernetes-sigs/inference-perf); all times are seconds.

mod requests;
mod write;

use std::collections::BTreeMap;

use fizeau_core::PerSec;

use super::vllm::{self, kept, source};
use super::{
    ExportLevel, ExportedFile, Fields, FigureSheet, ForeignError, ForeignFile, ForeignFormat,
    ImportedAbout, ImportedCounts, ImportedLevel, ImportedLoad, NotKnown, statistics,
};
use requests::Requests;

/// The form of inference-perf's files.
pub(super) struct InferencePerf;

const TOOL: &str = "inference-perf";

/// Our names of statistics, and inference-perf's.
const WORDS: [(&str, &str); 5] =
    [("mean", "mean"), ("p50", "median"), ("p90", "p90"), ("p99", "p99"), ("max", "max")];

impl ForeignFormat for InferencePerf {
    fn key(&self) -> &'static str {
        "inference-perf"
    }

    fn about(&self) -> &'static str {
        "inference-perf: stage_N_, summary_ and per_request_lifecycle_metrics.json"
    }

    fn recognises(&self, file: &ForeignFile<'_>) -> bool {
        file.has(&["load_summary", "successes"]) || requests::is_requests(file)
    }

    fn import(&self, files: &[ForeignFile<'_>]) -> Result<Vec<ImportedLevel>, ForeignError> {
        let requests = files.iter().find(|file| requests::is_requests(file));
        let requests = requests.map(Requests::read).transpose()?;
        let (stages, pooled): (Vec<_>, Vec<_>) = files
            .iter()
            .filter(|file| !requests::is_requests(file))
            .partition(|file| file.file_name().starts_with("stage_"));
        // The summary is of all stages together.
        let levels = if stages.is_empty() { pooled } else { stages };
        let is_single = levels.len() == 1;
        let mut all = Vec::new();
        for file in &levels {
            for fields in Fields::all(file, TOOL)? {
                // Which stage a request belongs to is not in the file.
                let own = requests.as_ref().filter(|_| is_single);
                all.push(import(&fields, file, own)?);
            }
        }
        match (all.is_empty(), files.first()) {
            (true, Some(file)) => {
                let why = "single requests, and no summary or stage (*_lifecycle_metrics.json) that says of what";
                let (file, why) = (file.name().to_owned(), why.to_owned());
                Err(ForeignError::Damaged { file, why })
            }
            _ => Ok(all),
        }
    }

    fn export(&self, levels: &[ExportLevel<'_>]) -> Result<Vec<ExportedFile>, ForeignError> {
        let mut files = Vec::new();
        for (index, level) in levels.iter().enumerate() {
            let document = write::document(level, self.key())?;
            let mut add = |name: String, text: String| {
                files.push(ExportedFile { name, bytes: text.into_bytes() });
            };
            let stage = if level.name.is_empty() { 0 } else { index };
            let name = format!("stage_{stage}_lifecycle_metrics.json");
            add(vllm::named(level, &name), document.to_pretty());
            if !level.tapes.is_empty() {
                let name = vllm::named(level, "per_request_lifecycle_metrics.json");
                add(name, write::requests(level));
            }
        }
        Ok(files)
    }
}

fn import(
    fields: &Fields<'_>,
    file: &ForeignFile<'_>,
    requests: Option<&Requests>,
) -> Result<ImportedLevel, ForeignError> {
    let successes = fields.object("successes")?.ok_or_else(|| fields.missing("successes"))?;
    let completed = successes.whole("count")?;
    let failed = match fields.object("failures")? {
        Some(failures) => failures.maybe_whole("count")?,
        None => None,
    };
    let load = fields.object("load_summary")?.ok_or_else(|| fields.missing("load_summary"))?;
    let rate = load.maybe_number("requested_rate")?.filter(|rate| *rate > 0.0);
    // A sample of the requests is no record of the run.
    let requests = requests.filter(|requests| requests.completed() == completed);
    let mut level = ImportedLevel {
        source: source(file, "inference-perf", TOOL),
        load: ImportedLoad {
            requests_per_s: rate.map(PerSec::new),
            max_in_flight: load
                .maybe_whole("concurrency")?
                .and_then(|cap| u32::try_from(cap).ok())
                .filter(|cap| *cap > 0),
        },
        about: ImportedAbout {
            model: requests.and_then(|requests| requests.model.clone()),
            ..ImportedAbout::default()
        },
        counts: ImportedCounts {
            completed,
            failed,
            input_tokens: requests.map(Requests::input_tokens),
            output_tokens: requests.map(Requests::output_tokens),
            duration_s: None,
        },
        figures: BTreeMap::new(),
        greatest_for_p99: Vec::new(),
        caveats: Vec::new(),
        not_known: not_known(requests.is_some()),
        record: kept(fields.map(), false),
        tapes: requests.map(|requests| requests.tapes.clone()).unwrap_or_default(),
    };
    figures(&successes, completed)?.finish(&mut level);
    Ok(level)
}

fn figures(successes: &Fields<'_>, completed: u64) -> Result<FigureSheet, ForeignError> {
    let mut sheet = FigureSheet::new(completed);
    if let Some(rates) = successes.object("throughput")? {
        for (name, key) in [
            ("requests_per_s", "requests_per_sec"),
            ("output_tps", "output_tokens_per_sec"),
            ("total_tps", "total_tokens_per_sec"),
        ] {
            sheet.put(name, rates.maybe_number(key)?);
        }
    }
    if let Some(latencies) = successes.object("latency")? {
        for (metric, key) in [
            ("ttft", "time_to_first_token"),
            ("tpot", "time_per_output_token"),
            ("e2el", "request_latency"),
        ] {
            if let Some(of) = latencies.object(key)? {
                statistics::put(&mut sheet, metric, &of, &WORDS, 1e3)?;
            }
        }
    }
    sheet.caveat("E2EL runs to the end of the stream: at least what ours is");
    sheet.caveat("TTFT and TPOT are of replies of two tokens or more");
    sheet.caveat(
        "TPOT is shared over all tokens but one: ours leaves out those of the first event, which are more where it has several",
    );
    sheet.caveat("tokens are those of inference-perf's tokenizer");
    sheet.not_known("itl", "inference-perf has a gap of 0 between tokens of one chunk");
    Ok(sheet)
}

fn not_known(has_tapes: bool) -> Vec<NotKnown> {
    let mut all = match has_tapes {
        true => vec![
            NotKnown::new("the length that was asked of each reply", "not in the file"),
            NotKnown::new("tokens of each event", "those of a reply are spread over its instants"),
        ],
        false => vec![NotKnown::new(
            "tapes",
            "the requests of this stage alone are not in the files: no figure can be computed again, none has an interval",
        )],
    };
    all.extend([
        NotKnown::new("the client's own proof", "how busy it was is not in the file"),
        NotKnown::new("the date and the data set", "not in the file"),
        NotKnown::new("goodput", "its share is of the requests that succeeded, ours of all"),
    ]);
    all
}
