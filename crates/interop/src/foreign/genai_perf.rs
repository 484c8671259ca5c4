//! GenAI-Perf: `profile_export_genai_perf.json`.
//!
//! Keys and units are those of GenAI-Perf 0.0.16 (`genai_perf/metrics/statistics.py`, `genai_perf/export_data/json_exporter.py`).

use crate::Peer;
use serde::Deserialize;
use serde_json::json;

use super::read::{GREATEST_COUNT, Lenient, Record};
use super::statistics::{self, single};
use super::vllm::{self, blank, levels_of};
use super::{
    ExportLevel, ExportedFile, FigureSheet, ForeignError, ForeignFile, ForeignFormat,
    ImportedAbout, ImportedCounts, ImportedLevel, ImportedLoad, UnknownFact, lists,
};

use crate::vllm::object::Object;

/// The form of GenAI-Perf's files.
pub(super) struct GenAiPerf;

const TOOL: &str = "GenAI-Perf";

impl ForeignFormat for GenAiPerf {
    fn key(&self) -> &'static str {
        "genai-perf"
    }

    fn about(&self) -> &'static str {
        "GenAI-Perf: profile_export_genai_perf.json"
    }

    fn recognises(&self, file: &ForeignFile<'_>) -> bool {
        file.has(&["request_throughput", "request_latency", "input_config"])
    }

    fn import(&self, files: &[ForeignFile<'_>]) -> Result<Vec<ImportedLevel>, ForeignError> {
        levels_of(files, TOOL, |record, file| import(record, file, self.key()))
    }

    fn export(&self, levels: &[ExportLevel<'_>]) -> Result<Vec<ExportedFile>, ForeignError> {
        let file = |level: &ExportLevel<'_>| {
            let document = document(level, self.key())?;
            Ok(ExportedFile {
                name: vllm::named(level, "profile_export_genai_perf.json"),
                bytes: document.to_pretty().into_bytes(),
            })
        };
        levels.iter().map(file).collect()
    }
}

/// What was asked.
#[derive(Debug, Default, Deserialize)]
struct Config {
    /// Since the configuration file came; before that at the top.
    perf_analyzer: Lenient<PerfAnalyzer>,
    concurrency: Lenient<u64>,
    request_rate: Lenient<f64>,
    model_names: Lenient<Vec<String>>,
    formatted_model_name: Lenient<String>,
    model: Lenient<String>,
    endpoint: Lenient<Endpoint>,
    endpoint_type: Lenient<String>,
    service_kind: Lenient<String>,
}

#[derive(Debug, Deserialize)]
struct PerfAnalyzer {
    stimulus: Stimulus,
}

#[derive(Debug, Deserialize)]
struct Stimulus {
    concurrency: Lenient<u64>,
    request_rate: Lenient<f64>,
}

#[derive(Debug, Deserialize)]
struct Endpoint {
    #[serde(rename = "type")]
    kind: Lenient<String>,
}

impl Config {
    fn load(&self) -> ImportedLoad {
        let stimulus = self.perf_analyzer.0.as_ref().map(|analyzer| &analyzer.stimulus);
        let rate = stimulus.and_then(|stimulus| stimulus.request_rate.0);
        let cap = stimulus.and_then(|stimulus| stimulus.concurrency.0);
        ImportedLoad::from_rate_and_cap(rate.or(self.request_rate.0), cap.or(self.concurrency.0))
    }

    fn about(self) -> ImportedAbout {
        let said =
            |texts: [Option<String>; 3]| texts.into_iter().flatten().find(|text| !text.is_empty());
        let first = self.model_names.0.and_then(|names| names.into_iter().next());
        let kind = self.endpoint.0.and_then(|endpoint| endpoint.kind.0);
        ImportedAbout {
            model: said([first, self.formatted_model_name.0, self.model.0]),
            backend: said([kind, self.endpoint_type.0, self.service_kind.0]),
            ..ImportedAbout::default()
        }
    }
}

fn import(
    record: &Record<'_>,
    file: &ForeignFile<'_>,
    format: &str,
) -> Result<ImportedLevel, ForeignError> {
    let completed =
        single(record, "request_count")?.ok_or_else(|| record.missing("request_count.avg"))?;
    let config = record.field::<Lenient<Config>>("input_config")?.and_then(|config| config.0);
    let config = config.unwrap_or_default();
    let level = ImportedLevel {
        load: config.load(),
        about: config.about(),
        counts: ImportedCounts {
            completed,
            input_tokens: tokens(record, "input_sequence_length", completed)?,
            output_tokens: tokens(record, "output_sequence_length", completed)?,
            ..ImportedCounts::default()
        },
        not_known: not_known(),
        ..blank(record, file, format)
    };
    Ok(figures(record, completed)?.finish(level))
}

/// All tokens from their mean over the requests.
fn tokens(record: &Record<'_>, tag: &str, completed: u64) -> Result<Option<u64>, ForeignError> {
    let mean: Option<f64> = single(record, tag)?;
    let total = mean.map(|mean| (mean * completed as f64).round());
    Ok(total.filter(|total| *total <= GREATEST_COUNT).map(|total| total as u64))
}

fn figures(record: &Record<'_>, completed: u64) -> Result<FigureSheet, ForeignError> {
    let mut sheet = FigureSheet::new(completed);
    sheet.put("requests_per_s", single(record, "request_throughput")?);
    sheet.put("output_tps", single(record, "output_token_throughput")?);
    let latencies = [
        ("ttft", "time_to_first_token"),
        ("tpot", "inter_token_latency"),
        ("e2el", "request_latency"),
    ];
    statistics::timed(&mut sheet, record, &latencies)?;
    sheet.caveat("tokens are those of GenAI-Perf's tokenizer");
    sheet.caveat(
        "TPOT divides by all tokens but one and is rounded to nanoseconds; ours leaves out every \
         token of the first event",
    );
    sheet.caveat(
        "a reply that broke off counts as a whole one, and a request without a reply in the rate",
    );
    sheet.not_known("itl", "GenAI-Perf's inter_token_latency is TPOT");
    Ok(sheet)
}

fn not_known() -> Vec<UnknownFact> {
    vec![
        UnknownFact::new(
            "tapes",
            "the file has summary figures only: they cannot be computed again and have no intervals",
        ),
        UnknownFact::new("failed requests", "not in the file"),
        UnknownFact::new("the date, and how long it took", "not in the file"),
        UnknownFact::new(
            "the client's accuracy",
            "the file does not say how late it sent or how busy it was",
        ),
        UnknownFact::new("goodput", "the file does not show which requests it covers"),
    ]
}

fn document(level: &ExportLevel<'_>, format: &'static str) -> Result<Object, ForeignError> {
    if let Some(own) = level.own_record(format) {
        return Ok(Object::kept(&own.record));
    }
    let tapes = lists::by_request(level.with_tapes(format)?);
    let report = Peer::GenAiPerf.figures(tapes.iter().copied(), &level.peer_settings());
    let completed = tapes.iter().filter(|tape| tape.is_success()).count();
    if completed < tapes.len() {
        let why = "GenAI-Perf does not tell failed replies from whole ones, so a run with failed requests has none of its figures";
        return Err(ForeignError::NotWritten { format, why: why.to_owned() });
    }
    let mut object = Object::default();
    statistics::set(&mut object, &report, unit);
    for (tag, values) in [
        ("output_sequence_length", statistics::of_values("tokens", statistics::outputs(&tapes))),
        ("input_sequence_length", statistics::of_values("tokens", statistics::inputs(&tapes))),
    ] {
        object.set(tag, values);
    }
    object.set("request_count", json!({"unit": "count", "avg": completed}));
    let run = &level.run;
    let stimulus = match (level.arrivals.rate(), run.max_concurrency) {
        (Some(rate), _) => json!({"request_rate": rate.get()}),
        (None, cap) => json!({"concurrency": cap}),
    };
    let kind = level.request_format();
    object.set(
        "input_config",
        json!({
            "model_names": [run.model_id],
            "endpoint": {"type": kind, "streaming": true},
            "perf_analyzer": {"stimulus": stimulus},
        }),
    );
    Ok(object)
}

/// The unit that GenAI-Perf writes of a tag.
fn unit(tag: &str) -> &'static str {
    match tag {
        "request_throughput" | "request_goodput" => "requests/sec",
        "output_token_throughput" => "tokens/sec",
        "output_token_throughput_per_user" => "tokens/sec/user",
        _ => "ms",
    }
}
