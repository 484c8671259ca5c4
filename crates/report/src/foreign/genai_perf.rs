//! GenAI-Perf: `profile_export_genai_perf.json`.
//!
//! Keys and units are those of GenAI-Perf 0.0.16 (`genai_perf/metrics/statistics.py`, `genai_perf/export_data/json_exporter.py`).

use std::collections::BTreeMap;

use fizeau_core::PerSec;
use fizeau_metrics::Peer;
use serde_json::{Value, json};

use super::fields::levels_of;
use super::vllm::{self, kept, map_of, source};
use super::{
    ExportLevel, ExportedFile, Fields, FigureSheet, ForeignError, ForeignFile, ForeignFormat,
    ImportedAbout, ImportedCounts, ImportedLevel, ImportedLoad, NotKnown, Object, lists,
    statistics,
};
use crate::RequestRate;

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
        levels_of(files, TOOL, |fields, file| import(fields, file, self.key()))
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

fn import(
    fields: &Fields<'_>,
    file: &ForeignFile<'_>,
    format: &str,
) -> Result<ImportedLevel, ForeignError> {
    let completed = statistics::count(fields, "request_count")?
        .ok_or_else(|| fields.missing("request_count.avg"))?;
    let config = fields.get("input_config");
    let mut level = ImportedLevel {
        source: source(file, format, TOOL),
        load: load(config),
        about: about(config),
        counts: ImportedCounts {
            completed,
            failed: None,
            input_tokens: tokens(fields, "input_sequence_length", completed)?,
            output_tokens: tokens(fields, "output_sequence_length", completed)?,
            duration_s: None,
        },
        figures: BTreeMap::new(),
        greatest_for_p99: Vec::new(),
        caveats: Vec::new(),
        not_known: not_known(),
        record: kept(fields.map(), false),
        tapes: Vec::new(),
    };
    figures(fields, completed)?.finish(&mut level);
    Ok(level)
}

/// All tokens from their mean over the requests.
fn tokens(fields: &Fields<'_>, tag: &str, completed: u64) -> Result<Option<u64>, ForeignError> {
    let mean = statistics::single(fields, tag)?;
    let total = mean.map(|mean| (mean * completed as f64).round());
    // Beyond 2^53 a floating number is no count any more.
    Ok(total.filter(|total| *total <= 9_007_199_254_740_992.0).map(|total| total as u64))
}

fn figures(fields: &Fields<'_>, completed: u64) -> Result<FigureSheet, ForeignError> {
    let mut sheet = FigureSheet::new(completed);
    sheet.put("requests_per_s", statistics::single(fields, "request_throughput")?);
    sheet.put("output_tps", statistics::single(fields, "output_token_throughput")?);
    let latencies = [
        ("ttft", "time_to_first_token"),
        ("tpot", "inter_token_latency"),
        ("e2el", "request_latency"),
    ];
    for (metric, tag) in latencies {
        statistics::timed(&mut sheet, metric, fields, tag)?;
    }
    sheet.caveat("tokens are those of GenAI-Perf's tokenizer");
    sheet.caveat(
        "TPOT is shared over all tokens but one, and rounded to nanoseconds: ours leaves out those of the first event",
    );
    sheet.caveat(
        "a reply that broke off counts as a whole one, and a request without a reply in the rate",
    );
    sheet.not_known("itl", "GenAI-Perf's inter_token_latency is TPOT");
    Ok(sheet)
}

fn not_known() -> Vec<NotKnown> {
    vec![
        NotKnown::new(
            "tapes",
            "the file has figures alone: no figure can be computed again, none has an interval",
        ),
        NotKnown::new("failed requests", "not in the file"),
        NotKnown::new("the date, and how long it took", "not in the file"),
        NotKnown::new(
            "the client's own proof",
            "how late it sent and how busy it was is not in the file",
        ),
        NotKnown::new("goodput", "what it is of is not in the file"),
    ]
}

/// The load: under `perf_analyzer` since the configuration file came, before that at the top.
fn load(config: Option<&Value>) -> ImportedLoad {
    let of = |paths: [&str; 2]| {
        let mut found = paths.iter().filter_map(|path| config?.pointer(path)?.as_f64());
        found.find(|value| *value > 0.0 && value.is_finite())
    };
    let cap = of(["/perf_analyzer/stimulus/concurrency", "/concurrency"]);
    let rate = of(["/perf_analyzer/stimulus/request_rate", "/request_rate"]);
    ImportedLoad::told(
        rate.map(PerSec::new),
        cap.filter(|cap| *cap >= 1.0).map(|cap| cap.min(f64::from(u32::MAX)) as u32),
    )
}

fn about(config: Option<&Value>) -> ImportedAbout {
    let text = |paths: [&str; 3]| {
        let mut found = paths.iter().filter_map(|path| match config?.pointer(path)? {
            Value::Array(all) => all.first()?.as_str(),
            other => other.as_str(),
        });
        found.find(|text| !text.is_empty()).map(str::to_owned)
    };
    ImportedAbout {
        model: text(["/model_names", "/formatted_model_name", "/model"]),
        backend: text(["/endpoint/type", "/endpoint_type", "/service_kind"]),
        ..ImportedAbout::default()
    }
}

fn document(level: &ExportLevel<'_>, format: &'static str) -> Result<Object, ForeignError> {
    if let Some(own) = level.own_record(format) {
        return Ok(Object::of(map_of(&own.record)));
    }
    let tapes = lists::by_request(level.with_tapes(format)?);
    let report = Peer::GenAiPerf.figures(tapes.iter().copied(), &level.peer_settings());
    let completed = tapes.iter().filter(|tape| tape.is_success()).count();
    if completed < tapes.len() {
        let why = "GenAI-Perf tells broken replies and whole ones not apart, so a run with failed requests has no figures of it";
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
    let stimulus = match (run.request_rate, run.max_concurrency) {
        (RequestRate::Limited(rate), _) => json!({"request_rate": rate.get()}),
        (_, cap) => json!({"concurrency": cap}),
    };
    let kind = if run.backend.contains("chat") { "chat" } else { "completions" };
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
