//! inference-perf: `stage_N_lifecycle_metrics.json`, their `summary_lifecycle_metrics.json`, and
//! `per_request_lifecycle_metrics.json`.
//!
//! Keys are those of inference-perf 0.7.0 (`inference_perf/reportgen`, `inference_perf/apis/base.py`); earlier versions have what
//! came back of a request beside its prompt. All times are seconds.

mod requests;
mod write;

use serde::Deserialize;

use super::read::Record;
use super::statistics::Statistics;
use super::vllm::blank;
use super::{
    ExportLevel, ExportedFile, FigureSheet, ForeignError, ForeignFile, ForeignFormat,
    ImportedAbout, ImportedCounts, ImportedLevel, ImportedLoad, UnknownFact,
};
use requests::{Requests, StageCounts};

/// The form of inference-perf's files.
pub(super) struct InferencePerf;

const TOOL: &str = "inference-perf";

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
        let (requests, others): (Vec<_>, Vec<_>) =
            files.iter().partition(|file| requests::is_requests(file));
        let (mut stages, pooled): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|file| file.file_name().starts_with("stage_"));
        stages.sort_by_key(|file| stage_number(file.file_name()));
        // The summary is of all stages together.
        let mut documents = Vec::new();
        for file in if stages.is_empty() { pooled } else { stages } {
            for record in Record::all(file, TOOL)? {
                documents.push(Stage { document: record.read()?, record, file });
            }
        }
        let requests = match requests.first() {
            Some(file) if documents.is_empty() => {
                let why = "single requests, without the summary or stage (*_lifecycle_metrics.json) that they belong to";
                return Err(ForeignError::damaged(file.name(), why));
            }
            Some(file) => {
                let counts: Vec<_> = documents.iter().map(Stage::counts).collect();
                Requests::read(file)?.by_stage(&counts)
            }
            None => {
                Err("the file of single requests (per_request_lifecycle_metrics.json) is missing"
                    .to_owned())
            }
        };
        let level = |(index, stage): (usize, &Stage<'_>)| {
            stage.level(requests.as_ref().map(|all| all.get(index)).map_err(String::as_str))
        };
        documents.iter().enumerate().map(level).collect()
    }

    fn export(&self, levels: &[ExportLevel<'_>]) -> Result<Vec<ExportedFile>, ForeignError> {
        // All stages of a run are in one folder, and its reader looks for them there.
        let mut files = Vec::new();
        for (stage, level) in levels.iter().enumerate() {
            let document = write::document(level, self.key())?.to_pretty();
            let name = format!("stage_{stage}_lifecycle_metrics.json");
            files.push(ExportedFile { name, bytes: document.into_bytes() });
        }
        if levels.iter().any(|level| !level.tapes.is_empty()) {
            let name = "per_request_lifecycle_metrics.json".to_owned();
            files.push(ExportedFile { name, bytes: write::requests(levels).into_bytes() });
        }
        Ok(files)
    }
}

/// Which stage a document is of; those without a number come last.
fn stage_number(name: &str) -> u64 {
    let number = name.strip_prefix("stage_").and_then(|rest| rest.split('_').next());
    number.and_then(|number| number.parse().ok()).unwrap_or(u64::MAX)
}

/// The document of a stage, or of all together.
#[derive(Debug, Deserialize)]
struct Document {
    load_summary: LoadSummary,
    successes: Successes,
    failures: Option<Failures>,
}

#[derive(Debug, Deserialize)]
struct LoadSummary {
    concurrency: Option<u64>,
    requested_rate: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Successes {
    count: u64,
    throughput: Option<Throughput>,
    latency: Option<Latencies>,
}

#[derive(Debug, Deserialize)]
struct Throughput {
    requests_per_sec: Option<f64>,
    output_tokens_per_sec: Option<f64>,
    total_tokens_per_sec: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Latencies {
    time_to_first_token: Option<Statistics>,
    time_per_output_token: Option<Statistics>,
    request_latency: Option<Statistics>,
}

#[derive(Debug, Deserialize)]
struct Failures {
    count: Option<u64>,
}

/// A document, and where it stands.
struct Stage<'a> {
    document: Document,
    record: Record<'a>,
    file: &'a ForeignFile<'a>,
}

impl Stage<'_> {
    fn counts(&self) -> StageCounts {
        let failed = self.document.failures.as_ref().and_then(|failures| failures.count);
        StageCounts { completed: self.document.successes.count, failed }
    }

    fn load(&self) -> ImportedLoad {
        let LoadSummary { concurrency, requested_rate } = self.document.load_summary;
        let cap = concurrency.filter(|cap| *cap > 0);
        // Of a closed loop the rate is a number that the tool makes up to schedule it.
        ImportedLoad::from_rate_and_cap(requested_rate.filter(|_| cap.is_none()), cap)
    }

    /// With what its requests did, or with why that is not known.
    fn level(
        &self,
        requests: Result<Option<&Requests<'_>>, &str>,
    ) -> Result<ImportedLevel, ForeignError> {
        let StageCounts { completed, failed } = self.counts();
        let own = requests.ok().flatten();
        let level = ImportedLevel {
            load: self.load(),
            about: ImportedAbout {
                model: own.and_then(Requests::model),
                ..ImportedAbout::default()
            },
            counts: ImportedCounts {
                completed,
                failed,
                input_tokens: own.map(Requests::input_tokens),
                output_tokens: own.map(Requests::output_tokens),
                duration_s: None,
                held_back: None,
            },
            not_known: not_known(requests.err()),
            tapes: own.map(Requests::tapes).transpose()?.unwrap_or_default(),
            ..blank(&self.record, self.file, "inference-perf")
        };
        Ok(self.document.successes.figures().finish(level))
    }
}

impl Successes {
    fn figures(&self) -> FigureSheet {
        let mut sheet = FigureSheet::new(self.count);
        if let Some(rates) = &self.throughput {
            sheet.put("requests_per_s", rates.requests_per_sec);
            sheet.put("output_tps", rates.output_tokens_per_sec);
            sheet.put("total_tps", rates.total_tokens_per_sec);
        }
        if let Some(latencies) = &self.latency {
            for (metric, of) in [
                ("ttft", &latencies.time_to_first_token),
                ("tpot", &latencies.time_per_output_token),
                ("e2el", &latencies.request_latency),
            ] {
                of.iter().for_each(|of| of.put(&mut sheet, metric, 1e3));
            }
        }
        sheet.caveat("E2EL runs to the end of the stream, so it is at least ours");
        sheet.caveat("TTFT and TPOT are of replies of two tokens or more");
        sheet.caveat(
            "TPOT divides by all tokens but one; ours leaves out every token of the first event",
        );
        sheet.caveat("tokens are those of inference-perf's tokenizer");
        sheet.not_known("itl", "inference-perf has a gap of 0 between tokens of one chunk");
        sheet
    }
}

/// `why` is why no tapes are there.
fn not_known(why: Option<&str>) -> Vec<UnknownFact> {
    let mut all = match why {
        None => vec![
            UnknownFact::new("the requested length of each reply", "not in the file"),
            UnknownFact::new(
                "tokens of each event",
                "each chunk has those that inference-perf's tokenizer found in it, or an even share where these do not come to the reply's",
            ),
        ],
        Some(why) => vec![UnknownFact::new(
            "tapes",
            format!("{why}: figures cannot be computed again and have no intervals"),
        )],
    };
    all.extend([
        UnknownFact::new("the client's accuracy", "the file does not say how busy it was"),
        UnknownFact::new("the date and the data set", "not in the file"),
        UnknownFact::new(
            "goodput",
            "its share is of the requests that succeeded, ours of all requests",
        ),
    ]);
    all
}
