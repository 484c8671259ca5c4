//! inference-perf: `stage_N_lifecycle_metrics.json`, their `summary_lifecycle_metrics.json`, and
//! `per_request_lifecycle_metrics.json`.
//!
//! Keys are those of inference-perf 0.7.0 (`inference_perf/reportgen`, `inference_perf/apis/base.py`); earlier versions have what
//! came back of a request beside its prompt. All times are seconds.

mod requests;
mod write;

use std::collections::BTreeMap;

use fizeau_core::PerSec;

use super::vllm::{kept, source};
use super::{
    ExportLevel, ExportedFile, Fields, FigureSheet, ForeignError, ForeignFile, ForeignFormat,
    ImportedAbout, ImportedCounts, ImportedLevel, ImportedLoad, NotKnown, statistics,
};
use requests::{Requests, StageCounts};

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
        let (requests, others): (Vec<_>, Vec<_>) =
            files.iter().partition(|file| requests::is_requests(file));
        let (mut stages, pooled): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|file| file.file_name().starts_with("stage_"));
        stages.sort_by_key(|file| stage_number(file.file_name()));
        // The summary is of all stages together.
        let mut documents = Vec::new();
        for file in if stages.is_empty() { pooled } else { stages } {
            for fields in Fields::all(file, TOOL)? {
                documents.push(Stage::read(fields, file)?);
            }
        }
        let requests = match requests.first() {
            Some(file) if documents.is_empty() => {
                let why = "single requests, and no summary or stage (*_lifecycle_metrics.json) that says of what";
                let (file, why) = (file.name().to_owned(), why.to_owned());
                return Err(ForeignError::Damaged { file, why });
            }
            Some(file) => {
                let counts: Vec<_> = documents.iter().map(|stage| stage.counts).collect();
                Requests::read(file)?.by_stage(&counts)
            }
            None => {
                Err("the single requests (per_request_lifecycle_metrics.json) are not there"
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
struct Stage<'a> {
    fields: Fields<'a>,
    file: &'a ForeignFile<'a>,
    successes: Fields<'a>,
    counts: StageCounts,
}

impl<'a> Stage<'a> {
    fn read(fields: Fields<'a>, file: &'a ForeignFile<'a>) -> Result<Self, ForeignError> {
        let successes = fields.object("successes")?.ok_or_else(|| fields.missing("successes"))?;
        let failed = match fields.object("failures")? {
            Some(failures) => failures.maybe_whole("count")?,
            None => None,
        };
        let counts = StageCounts { completed: successes.whole("count")?, failed };
        Ok(Self { fields, file, successes, counts })
    }

    fn load(&self) -> Result<ImportedLoad, ForeignError> {
        let fields = &self.fields;
        let load = fields.object("load_summary")?.ok_or_else(|| fields.missing("load_summary"))?;
        let cap = load.maybe_whole("concurrency")?.and_then(|cap| u32::try_from(cap).ok());
        let cap = cap.filter(|cap| *cap > 0);
        // Of a closed loop the rate is a number that the tool makes up to schedule it.
        let rate = load.maybe_number("requested_rate")?.filter(|rate| *rate > 0.0 && cap.is_none());
        Ok(ImportedLoad::told(rate.map(PerSec::new), cap))
    }

    /// With what its requests did, or with why that is not known.
    fn level(
        &self,
        requests: Result<Option<&Requests<'_>>, &str>,
    ) -> Result<ImportedLevel, ForeignError> {
        let completed = self.counts.completed;
        let own = requests.ok().flatten();
        let mut level = ImportedLevel {
            source: source(self.file, "inference-perf", TOOL),
            load: self.load()?,
            about: ImportedAbout {
                model: own.and_then(Requests::model),
                ..ImportedAbout::default()
            },
            counts: ImportedCounts {
                completed,
                failed: self.counts.failed,
                input_tokens: own.map(Requests::input_tokens),
                output_tokens: own.map(Requests::output_tokens),
                duration_s: None,
            },
            figures: BTreeMap::new(),
            greatest_for_p99: Vec::new(),
            caveats: Vec::new(),
            not_known: not_known(requests.err()),
            record: kept(self.fields.map(), false),
            tapes: own.map(Requests::tapes).transpose()?.unwrap_or_default(),
        };
        figures(&self.successes, completed)?.finish(&mut level);
        Ok(level)
    }
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

/// `why` is why no tapes are there.
fn not_known(why: Option<&str>) -> Vec<NotKnown> {
    let mut all = match why {
        None => vec![
            NotKnown::new("the length that was asked of each reply", "not in the file"),
            NotKnown::new("tokens of each event", "those of a reply are spread over its instants"),
        ],
        Some(why) => vec![NotKnown::new(
            "tapes",
            format!("{why}: no figure can be computed again, none has an interval"),
        )],
    };
    all.extend([
        NotKnown::new("the client's own proof", "how busy it was is not in the file"),
        NotKnown::new("the date and the data set", "not in the file"),
        NotKnown::new("goodput", "its share is of the requests that succeeded, ours of all"),
    ]);
    all
}
