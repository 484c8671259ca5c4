//! `vllm bench serve --save-result`, as the client written in Python writes it, and what the other vLLM forms share with it.
//!
//! The keys are those of vLLM 0.33 (`vllm/benchmarks/serve.py`); older versions have fewer.

use std::collections::BTreeMap;

use fizeau_core::PerSec;
use serde_json::{Map, Value};

use super::fields::levels_of;
use super::lists::{self, LISTS, Lists};
use super::name::{plain_file_name, plain_name};
use super::{
    ExportLevel, ExportedFile, Fields, FigureSheet, ForeignError, ForeignFile, ForeignFormat,
    ImportedAbout, ImportedCounts, ImportedLevel, ImportedLoad, ImportedSource, NotKnown, Object,
};
use crate::{Detail, Selection, VllmResult};

/// The form of the client written in Python.
pub(super) struct VllmPython;

impl ForeignFormat for VllmPython {
    fn key(&self) -> &'static str {
        "vllm"
    }

    fn about(&self) -> &'static str {
        "vllm bench serve --save-result [--save-detailed] (Python client)"
    }

    fn recognises(&self, file: &ForeignFile<'_>) -> bool {
        is_vllm(file)
    }

    fn import(&self, files: &[ForeignFile<'_>]) -> Result<Vec<ImportedLevel>, ForeignError> {
        import_files(files, self.key(), TOOL)
    }

    fn export(&self, levels: &[ExportLevel<'_>]) -> Result<Vec<ExportedFile>, ForeignError> {
        let file = |level: &ExportLevel<'_>| {
            Ok(ExportedFile {
                name: named(level, &level.run.file_name()),
                bytes: record(level, self.key(), Detail::Full)?.to_line().into_bytes(),
            })
        };
        levels.iter().map(file).collect()
    }
}

/// Whether it is a result of any of vLLM's clients.
pub(super) fn is_vllm(file: &ForeignFile<'_>) -> bool {
    file.has(&["model_id", "tokenizer_id"]) || file.has(&["model_id", "num_prompts"])
}

/// The levels of files of a vLLM form, which `tool` wrote.
pub(super) fn import_files(
    files: &[ForeignFile<'_>],
    format: &'static str,
    tool: &'static str,
) -> Result<Vec<ImportedLevel>, ForeignError> {
    levels_of(files, tool, |fields, file| import_record(fields, file, format))
}

pub(super) const TOOL: &str = "vllm bench serve";

/// The level of a record.
pub(super) fn import_record(
    fields: &Fields<'_>,
    file: &ForeignFile<'_>,
    format: &'static str,
) -> Result<ImportedLevel, ForeignError> {
    if fields.has("input_sequence_throughput") {
        let (file, why) =
            (file.name().to_owned(), "a result of embeddings, which are not read".to_owned());
        return Err(ForeignError::Damaged { file, why });
    }
    let lists = Lists::read(fields)?;
    let counts = ImportedCounts {
        completed: fields.whole("completed")?,
        failed: fields.maybe_whole("failed")?,
        input_tokens: Some(fields.whole("total_input_tokens")?),
        output_tokens: Some(fields.whole("total_output_tokens")?),
        duration_s: Some(fields.number("duration")?),
    };
    let sheet = figures(fields, lists.as_ref(), counts.completed)?;
    let tapes = lists.map(|lists| lists.tapes(fields)).transpose()?.unwrap_or_default();
    let mut level = ImportedLevel {
        source: source(file, format, fields.tool()),
        load: load(fields)?,
        about: about(fields),
        counts,
        figures: BTreeMap::new(),
        greatest_for_p99: Vec::new(),
        caveats: Vec::new(),
        not_known: not_known(fields, !tapes.is_empty()),
        record: kept(fields.map(), !tapes.is_empty()),
        tapes,
    };
    sheet.finish(&mut level);
    Ok(level)
}

/// Where a level of `file` comes from.
pub(super) fn source(file: &ForeignFile<'_>, format: &str, tool: &str) -> ImportedSource {
    ImportedSource {
        format: format.to_owned(),
        tool: tool.to_owned(),
        version: None,
        file: file.name().to_owned(),
        checksum: file.checksum(),
    }
}

/// A record as it came, without the lists that became tapes.
pub(super) fn kept(map: &Map<String, Value>, has_tapes: bool) -> String {
    let is_kept = |key: &str| !has_tapes || !LISTS.contains(&key);
    let fields = map.iter().filter(|(key, _)| is_kept(key));
    let kept: Map<String, Value> =
        fields.map(|(key, value)| (key.clone(), value.clone())).collect();
    Value::Object(kept).to_string()
}

fn load(fields: &Fields<'_>) -> Result<ImportedLoad, ForeignError> {
    let is_unlimited = fields.text("request_rate").is_some_and(|rate| rate == "inf");
    // Of a ramp the file has `inf` too, and no one rate.
    let rate = match is_unlimited {
        true => None,
        false => fields.maybe_number("request_rate")?,
    };
    let cap = match fields.maybe_whole("max_concurrency")? {
        None => fields.maybe_whole("multi_turn_concurrency")?,
        cap => cap,
    };
    let cap = cap.and_then(|cap| u32::try_from(cap).ok()).filter(|cap| *cap > 0);
    let told = ImportedLoad::told(rate.map(PerSec::new), cap);
    let is_ramp = fields.has("ramp_up_strategy");
    Ok(ImportedLoad { is_unknown: is_ramp || (told.is_unknown && !is_unlimited), ..told })
}

fn about(fields: &Fields<'_>) -> ImportedAbout {
    let settings = settings(fields);
    ImportedAbout {
        model: fields.text("model_id"),
        backend: fields.text("backend").or_else(|| fields.text("endpoint_type")),
        dataset: fields.text("dataset_name"),
        date: fields.text("date").map(|date| iso(&date)),
        label: fields.text("label"),
        devices: devices(&settings),
        settings,
    }
}

/// `20260801-120000` as `2026-08-01T12:00:00`, without a zone, since vLLM writes local time; anything else as it is.
pub(super) fn iso(date: &str) -> String {
    let digits = |range: std::ops::Range<usize>| {
        date.get(range).filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let parts = [0..4, 4..6, 6..8, 9..11, 11..13, 13..15].map(digits);
    match parts {
        [Some(y), Some(m), Some(d), Some(h), Some(min), Some(s)]
            if date.len() == 15 && date.get(8..9) == Some("-") =>
        {
            format!("{y}-{m}-{d}T{h}:{min}:{s}")
        }
        _ => date.to_owned(),
    }
}

/// The keys that vLLM itself writes, but for figures. Any other is the user's metadata, or a setting of a sweep.
const OWN: [&str; 44] = [
    "date",
    "endpoint_type",
    "backend",
    "label",
    "model_id",
    "tokenizer_id",
    "num_prompts",
    "dataset_name",
    "request_rate",
    "burstiness",
    "max_concurrency",
    "duration",
    "completed",
    "failed",
    "total_input_tokens",
    "total_output_tokens",
    "request_throughput",
    "request_goodput",
    "output_throughput",
    "input_throughput",
    "total_token_throughput",
    "max_output_tokens_per_s",
    "max_concurrent_requests",
    "rtfx",
    "max_model_len",
    "steady_state",
    "failed_requests",
    "run_number",
    "mode",
    "num_conversations",
    "turns_per_conversation",
    "multi_turn_concurrency",
    "inter_turn_delay_ms",
    "conversations_completed",
    "conversations_failed",
    "avg_turns_completed",
    "avg_conversation_duration_ms",
    "per_turn_metrics",
    "rps_change_events",
    "goodput",
    "total_input_sequences",
    "request_id_prefix",
    "server_queue_times",
    "server_ttfts",
];

const PREFIXES: [&str; 4] = ["ramp_up_", "probe_", "spec_decode_", "diffusion_"];

fn is_own(key: &str) -> bool {
    let is_percentile =
        key.strip_prefix('p').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let is_mean = ["mean_", "median_", "std_"].iter().any(|word| key.starts_with(word));
    let is_statistic = key.ends_with("_ms") && (is_percentile || is_mean);
    OWN.contains(&key)
        || LISTS.contains(&key)
        || is_statistic
        || PREFIXES.iter().any(|prefix| key.starts_with(prefix))
}

fn settings(fields: &Fields<'_>) -> BTreeMap<String, String> {
    // A sweep may spell a key of the result as the flag.
    let keys = fields.map().keys().filter(|key| !is_own(&key.replace('-', "_")));
    keys.filter_map(|key| Some((key.clone(), fields.words(key)?))).collect()
}

/// Tensor, pipeline and data parallel ranks, as vLLM's own `plot_pareto` counts devices; none where none of them is there.
fn devices(settings: &BTreeMap<String, String>) -> Option<u64> {
    const RANKS: [[&str; 2]; 3] = [
        ["tensor_parallel_size", "tp"],
        ["pipeline_parallel_size", "pp"],
        ["data_parallel_size", "dp"],
    ];
    let rank = |names: &[&str; 2]| {
        let mut own = settings.iter();
        let found = own.find(|(key, _)| names.contains(&key.replace('-', "_").as_str()));
        found.and_then(|(_, value)| value.parse::<u64>().ok()).filter(|rank| *rank > 0)
    };
    let ranks: Vec<u64> = RANKS.iter().filter_map(rank).collect();
    (!ranks.is_empty()).then(|| ranks.iter().fold(1_u64, |all, rank| all.saturating_mul(*rank)))
}

fn figures(
    fields: &Fields<'_>,
    lists: Option<&Lists>,
    completed: u64,
) -> Result<FigureSheet, ForeignError> {
    let mut sheet = FigureSheet::new(completed);
    sheet.rates(fields, "total_token_throughput")?;
    match lists {
        Some(lists) => lists.figures(&mut sheet),
        None => {
            for metric in ["ttft", "tpot", "e2el"] {
                for (statistic, word) in STATISTICS {
                    let value = fields.maybe_number(&format!("{word}_{metric}_ms"))?;
                    sheet.latency(metric, statistic, value);
                }
            }
            latencies(fields, &mut sheet, completed)?;
        }
    }
    sheet.caveat(
        "TPOT is shared over all tokens but one: ours leaves out those of the first event, which are more where it has several",
    );
    sheet.not_known(
        "itl",
        "vLLM's is the gap between chunks, whatever they carry; ours is between tokens",
    );
    Ok(sheet)
}

/// Our names of statistics, and vLLM's.
const STATISTICS: [(&str, &str); 4] =
    [("mean", "mean"), ("p50", "median"), ("p90", "p90"), ("p99", "p99")];

/// The Python client's file has the end-to-end latency of each request, whatever else it has.
fn latencies(
    fields: &Fields<'_>,
    sheet: &mut FigureSheet,
    completed: u64,
) -> Result<(), ForeignError> {
    let Some(all) = fields.numbers("latencies")? else { return Ok(()) };
    // Those that failed have zeros there.
    let good: Vec<f64> = all.into_iter().flatten().filter(|latency| *latency > 0.0).collect();
    if good.len() as u64 == completed {
        sheet.sample("e2el", good.into_iter().map(|seconds| seconds * 1e3));
    }
    Ok(())
}

fn not_known(fields: &Fields<'_>, has_tapes: bool) -> Vec<NotKnown> {
    let mut all = Vec::new();
    match has_tapes {
        true => all.extend([
            NotKnown::new("tokens of each event", "the file has the sum of a reply; it is spread over its events"),
            NotKnown::new("the length that was asked of each reply", "not in the file"),
            NotKnown::new("connections", "not in the file"),
        ]),
        false => all.push(NotKnown::new(
            "tapes",
            "the file has no start, first token and gaps of each request (--save-detailed): no figure can be \
             computed again, none has an interval",
        )),
    }
    all.push(NotKnown::new(
        "the client's own proof",
        "how late it sent and how busy it was is not in the file",
    ));
    all.push(NotKnown::new("warm-up", "not in the file"));
    all.push(NotKnown::new(
        "peaks of requests in flight and of tokens per second",
        "vLLM counts whatever touches a whole second, which can exceed the cap or be below the mean",
    ));
    if let Some(goodput) = fields.words("request_goodput") {
        let why = format!("the file has {goodput} requests/s, and not the goals that it is of");
        all.push(NotKnown::new("goodput", why));
    }
    if fields.has("steady_state") {
        let why = "vllm-rs counts chunks for tokens there";
        all.push(NotKnown::new("its steady state", why));
    }
    if fields.has("ramp_up_strategy") {
        all.push(NotKnown::new("the load", "the rate was ramped, and figures are of all of it"));
    }
    all
}

/// The record of a level: as it came where the same form is asked for, else by vLLM's definitions from the tapes.
pub(super) fn record(
    level: &ExportLevel<'_>,
    format: &'static str,
    detail: Detail,
) -> Result<Object, ForeignError> {
    if let Some(own) = level.own_record(format) {
        let mut object = Object::of(map_of(&own.record));
        if !level.tapes.is_empty() {
            let tapes = lists::by_request(level.tapes);
            lists::write(&mut object, &tapes);
            lists::write_times(&mut object, &tapes);
            lists::write_queued(&mut object, &tapes);
        }
        return Ok(object);
    }
    let tapes = lists::by_request(level.with_tapes(format)?);
    let selection = Selection::parse("ttft,tpot,itl,e2el", "50,90,95,99").unwrap_or_default();
    let result = VllmResult::of(level.run.clone(), tapes, &selection, level.goals, detail);
    let fields = result.fields();
    fields
        .map(Object::from)
        .map_err(|error| ForeignError::NotWritten { format, why: error.to_string() })
}

/// The fields of a record that was kept.
pub(super) fn map_of(record: &str) -> Map<String, Value> {
    serde_json::from_str(record).unwrap_or_default()
}

/// The name of a level's file; in a folder of its level's name, so that two do not meet. What of it comes from a file of
/// another tool leads nowhere else.
pub(super) fn named(level: &ExportLevel<'_>, file: &str) -> String {
    let file = plain_file_name(file);
    match level.name {
        "" => file,
        name => format!("{}/{file}", plain_name(name).unwrap_or_else(|| "level".to_owned())),
    }
}
