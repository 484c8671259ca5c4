//! LLMPerf: `MODEL_IN_OUT_summary.json`, with `MODEL_IN_OUT_individual_responses.json` beside it.
//!
//! Keys are those of `token_benchmark_ray.py` and `llmperf/utils.py` (ray-project/llmperf).

use std::collections::BTreeMap;

use fizeau_core::{Failure, Nanos, Outcome, Tape, Tokens};
use fizeau_metrics::Peer;
use serde_json::{Value, json};

use super::date::iso_of_unix;
use super::fields::levels_of;
use super::vllm::{self, kept, map_of, source};
use super::vllm_rust::figure;
use super::{
    ExportLevel, ExportedFile, Fields, FigureSheet, ForeignError, ForeignFile, ForeignFormat,
    ImportedAbout, ImportedCounts, ImportedLevel, ImportedLoad, NotKnown, Object, lists,
    statistics,
};
use crate::vllm::figures as by_vllm;

/// The form of LLMPerf's files.
pub(super) struct LlmPerf;

const TOOL: &str = "LLMPerf";

/// Our names of statistics, and LLMPerf's.
const WORDS: [(&str, &str); 5] = [
    ("mean", "mean"),
    ("p50", "quantiles_p50"),
    ("p90", "quantiles_p90"),
    ("p99", "quantiles_p99"),
    ("max", "max"),
];

const INDIVIDUAL: &str = "_individual_responses.json";

impl ForeignFormat for LlmPerf {
    fn key(&self) -> &'static str {
        "llmperf"
    }

    fn about(&self) -> &'static str {
        "LLMPerf: *_summary.json"
    }

    fn recognises(&self, file: &ForeignFile<'_>) -> bool {
        file.has(&["results_ttft_s_mean"]) || is_individual(file)
    }

    fn import(&self, files: &[ForeignFile<'_>]) -> Result<Vec<ImportedLevel>, ForeignError> {
        let summaries = files.iter().filter(|file| !is_individual(file));
        let levels = levels_of(summaries, TOOL, |fields, file| import(fields, file, self.key()))?;
        match (levels.is_empty(), files.first()) {
            (true, Some(file)) => {
                let why =
                    "single responses, and not the summary (*_summary.json) that says of what";
                let (file, why) = (file.name().to_owned(), why.to_owned());
                Err(ForeignError::Damaged { file, why })
            }
            _ => Ok(levels),
        }
    }

    fn export(&self, levels: &[ExportLevel<'_>]) -> Result<Vec<ExportedFile>, ForeignError> {
        // What was asked is the same of all levels, though what came is not quite.
        let all: Vec<&Tape> =
            levels.iter().flat_map(|level| lists::by_request(level.tapes)).collect();
        let asked = [
            ("input", moments(statistics::inputs(&all))),
            ("output", moments(statistics::outputs(&all))),
        ];
        let mut files = Vec::new();
        for level in levels {
            let summary = summary(level, self.key(), asked)?;
            let name = |of: &str| summary.get(of).map(Value::to_string).unwrap_or_default();
            // As the tool makes its names.
            let model = level.run.model_id.replace(['/', '.'], "-");
            let stem =
                format!("{model}_{}_{}", name("mean_input_tokens"), name("mean_output_tokens"));
            let mut add = |end: &str, text: String| {
                let name = vllm::named(level, &format!("{stem}{end}"));
                files.push(ExportedFile { name, bytes: text.into_bytes() });
            };
            add("_summary.json", summary.to_pretty());
            if !level.tapes.is_empty() {
                let tapes = lists::by_request(level.tapes);
                let all: Value = tapes.iter().map(|tape| individual(tape)).collect();
                add(INDIVIDUAL, all.to_string());
            }
        }
        Ok(files)
    }
}

fn is_individual(file: &ForeignFile<'_>) -> bool {
    file.has(&["ttft_s", "end_to_end_latency_s"])
}

fn import(
    fields: &Fields<'_>,
    file: &ForeignFile<'_>,
    format: &str,
) -> Result<ImportedLevel, ForeignError> {
    let completed = fields.whole("results_num_completed_requests")?;
    let at = fields.maybe_whole("timestamp")?;
    let cap = fields.maybe_whole("num_concurrent_requests")?;
    let settings =
        ["mean_input_tokens", "stddev_input_tokens", "mean_output_tokens", "stddev_output_tokens"];
    let setting = |name: &str| Some((name.to_owned(), fields.words(name)?));
    let mut level = ImportedLevel {
        source: source(file, format, TOOL),
        load: ImportedLoad::told(
            None,
            cap.and_then(|cap| u32::try_from(cap).ok()).filter(|cap| *cap > 0),
        ),
        about: ImportedAbout {
            model: fields.text("model"),
            label: fields.text("name"),
            date: at.map(iso_of_unix),
            settings: settings.into_iter().filter_map(setting).collect(),
            ..ImportedAbout::default()
        },
        counts: ImportedCounts {
            completed,
            failed: Some(fields.whole("results_number_errors")?),
            input_tokens: None,
            output_tokens: None,
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

fn figures(fields: &Fields<'_>, completed: u64) -> Result<FigureSheet, ForeignError> {
    let mut sheet = FigureSheet::new(completed);
    let per_minute = fields.maybe_number("results_num_completed_requests_per_min")?;
    sheet.put("requests_per_s", per_minute.map(|rate| rate / 60.0));
    for (metric, key) in [("ttft", "ttft_s"), ("e2el", "end_to_end_latency_s")] {
        let words = WORDS.map(|(ours, word)| (ours, format!("results_{key}_{word}")));
        let words: Vec<(&str, &str)> =
            words.iter().map(|(ours, name)| (*ours, name.as_str())).collect();
        statistics::put(&mut sheet, metric, fields, &words, 1e3)?;
    }
    sheet.caveat("E2EL runs to the end of the stream: at least what ours is");
    sheet.caveat("rates are over the time from the first thread's start to the last one's end");
    sheet.not_known("itl", "LLMPerf's inter-token latency has the time to the first token in it");
    sheet.not_known("tpot", "LLMPerf's inter-token latency has the time to the first token in it");
    sheet.not_known(
        "output_tps",
        "LLMPerf counts the tokens of every model with one Llama tokenizer",
    );
    Ok(sheet)
}

fn not_known() -> Vec<NotKnown> {
    vec![
        NotKnown::new(
            "tapes",
            "the files do not say when each request was sent: no figure can be computed again, none has an interval",
        ),
        NotKnown::new(
            "the client's own proof",
            "how late it sent and how busy it was is not in the file",
        ),
    ]
}

fn summary(
    level: &ExportLevel<'_>,
    format: &'static str,
    asked: [(&str, (u64, u64)); 2],
) -> Result<Object, ForeignError> {
    if let Some(own) = level.own_record(format) {
        return Ok(Object::of(map_of(&own.record)));
    }
    let tapes = lists::by_request(level.with_tapes(format)?);
    let report = Peer::LlmPerf.figures(tapes.iter().copied(), &level.peer_settings());
    let mut object = Object::default();
    object.set("version", "2023-08-31");
    object.set("name", level.run.label.clone().unwrap_or_default());
    object.set("model", level.run.model_id.as_str());
    for (what, (mean, std)) in asked {
        object.set(format!("mean_{what}_tokens"), mean);
        object.set(format!("stddev_{what}_tokens"), std);
    }
    object.set("num_concurrent_requests", level.run.max_concurrency);
    for known in &report.figures {
        object.set(known.name.as_str(), figure(&report, &known.name));
    }
    object.set("results_error_code_frequency", error_codes(&tapes));
    if let Some(epoch) = level.epoch_unix {
        object.set("timestamp", epoch.as_nanos() / 1_000_000_000);
    }
    Ok(object)
}

/// Which codes failed requests had and how often, the most frequent first: a Python dictionary as its `str` has it.
fn error_codes(tapes: &[&Tape]) -> String {
    let mut counts: BTreeMap<i32, u64> = BTreeMap::new();
    for tape in tapes {
        if let Outcome::Failed(failure) = &tape.outcome {
            *counts.entry(error_code(failure)).or_default() += 1;
        }
    }
    let mut counts: Vec<(i32, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let each: Vec<String> = counts.iter().map(|(code, count)| format!("{code}: {count}")).collect();
    format!("{{{}}}", each.join(", "))
}

/// The HTTP status of a refusal; -1 of any other failure, as there.
fn error_code(failure: &Failure) -> i32 {
    failure.status.filter(|status| *status >= 400).map_or(-1, i32::from)
}

/// Mean and deviation in whole tokens, as they are asked for there.
fn moments(values: impl Iterator<Item = f64>) -> (u64, u64) {
    let values: Vec<f64> = values.collect();
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean.round() as u64, (squares / count).sqrt().round() as u64)
}

fn individual(tape: &Tape) -> Value {
    let seconds = |span: Option<Nanos>| span.map_or(0.0, Nanos::as_secs_f64);
    let sent = by_vllm::sent(tape);
    let (input, output) = (tape.input_tokens().map_or(0, Tokens::get), by_vllm::output_len(tape));
    match &tape.outcome {
        Outcome::Failed(failure) => json!({
            "error_code": error_code(failure), "error_msg": failure.to_string(),
            "inter_token_latency_s": 0, "ttft_s": 0, "end_to_end_latency_s": 0,
            "request_output_throughput_token_per_s": 0,
            "number_total_tokens": 0, "number_output_tokens": 0, "number_input_tokens": 0,
        }),
        Outcome::Complete(_) => {
            let end = tape.marks.end.or_else(|| tape.last_output()).and_then(|end| end.since(sent));
            let ttft = tape.first_token().and_then(|first| first.since(sent));
            let events = tape.arrivals.len().max(1) as f64;
            let latency = seconds(end);
            let speed = if latency > 0.0 { output as f64 / latency } else { 0.0 };
            json!({
                "error_code": Value::Null, "error_msg": "",
                "inter_token_latency_s": seconds(by_vllm::latency(tape)) / events,
                "ttft_s": seconds(ttft), "end_to_end_latency_s": latency,
                "request_output_throughput_token_per_s": speed,
                "number_total_tokens": input.saturating_add(output),
                "number_output_tokens": output, "number_input_tokens": input,
            })
        }
    }
}
