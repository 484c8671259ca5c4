//! AIPerf's figures of a run.

use std::collections::BTreeMap;

use fizeau_core::PerSec;
use serde_json::Value;

use super::TOOL;
use super::records::Records;
use crate::foreign::vllm::{kept, source};
use crate::foreign::{
    Fields, FigureSheet, ForeignError, ForeignFile, ImportedAbout, ImportedCounts, ImportedLevel,
    ImportedLoad, ImportedSource, NotKnown, statistics,
};

/// The level of a summary, with what its requests did where that is beside it.
pub(super) fn level(
    fields: &Fields<'_>,
    file: &ForeignFile<'_>,
    records: Option<&Records>,
) -> Result<ImportedLevel, ForeignError> {
    let counts = counts(fields)?;
    let tapes = records.map(|records| records.tapes.clone()).unwrap_or_default();
    let mut sheet = figures(fields, counts.completed)?;
    if fields.get("was_cancelled") == Some(&Value::Bool(true)) {
        sheet.caveat("the run was called off before its end");
    }
    if fields.get("is_complete") == Some(&Value::Bool(false)) {
        sheet.caveat("AIPerf marks the run as incomplete");
    }
    if file.content().starts_with(b"Metric,") {
        sheet.caveat("figures come from a table of two decimals");
    }
    let config = fields.get("input_config");
    let mut level = ImportedLevel {
        source: ImportedSource {
            version: fields.text("aiperf_version"),
            ..source(file, "aiperf", TOOL)
        },
        load: load(config),
        about: about(fields, config),
        counts,
        figures: BTreeMap::new(),
        greatest_for_p99: Vec::new(),
        caveats: Vec::new(),
        not_known: not_known(fields, records),
        record: kept(fields.map(), false),
        tapes,
    };
    sheet.finish(&mut level);
    Ok(level)
}

fn counts(fields: &Fields<'_>) -> Result<ImportedCounts, ForeignError> {
    let completed = statistics::count(fields, "request_count")?;
    let errors = match statistics::count(fields, "error_request_count")? {
        // Nothing is written of what is zero, but the list of errors is there.
        None => fields.list("error_summary")?.filter(|list| list.is_empty()).map(|_| 0),
        errors => errors,
    };
    Ok(ImportedCounts {
        completed: completed.ok_or_else(|| fields.missing("request_count.avg"))?,
        failed: errors,
        input_tokens: tokens(fields, "total_isl", "input_sequence_length")?,
        output_tokens: tokens(fields, "total_osl", "output_sequence_length")?,
        duration_s: statistics::single(fields, "benchmark_duration")?,
    })
}

/// The total where there is one, else the sum of the lengths.
fn tokens(fields: &Fields<'_>, total: &str, lengths: &str) -> Result<Option<u64>, ForeignError> {
    match (statistics::count(fields, total)?, fields.object(lengths)?) {
        (None, Some(lengths)) => lengths.maybe_whole("sum"),
        (total, _) => Ok(total),
    }
}

fn figures(fields: &Fields<'_>, completed: u64) -> Result<FigureSheet, ForeignError> {
    let mut sheet = FigureSheet::new(completed);
    for (name, tag) in [
        ("requests_per_s", "request_throughput"),
        ("output_tps", "output_token_throughput"),
        ("total_tps", "total_token_throughput"),
    ] {
        sheet.put(name, statistics::single(fields, tag)?);
    }
    for (metric, tag) in super::LATENCIES {
        statistics::timed(&mut sheet, metric, fields, tag)?;
    }
    explain(&mut sheet);
    Ok(sheet)
}

/// In what the definitions differ.
pub(super) fn explain(sheet: &mut FigureSheet) {
    sheet.caveat(
        "tokens are those of AIPerf's tokenizer, unless it was told to use the server's count",
    );
    sheet.caveat(
        "TPOT is shared over all tokens but one: ours leaves out those of the first event, which are more where it has several",
    );
    sheet.not_known(
        "itl",
        "AIPerf's inter_chunk_latency is the gap between chunks, whatever they carry, and its inter_token_latency is TPOT",
    );
}

/// The phase that was measured: the schema of 2026 lists phases, files before it have one `loadgen`.
fn load(config: Option<&Value>) -> ImportedLoad {
    let of = |name: &str, legacy: &str| {
        let config = config?;
        let phases = config.get("phases").and_then(Value::as_array);
        let is_measured = |phase: &&Value| {
            let is = |key: &str| phase.get(key).and_then(Value::as_str) == Some("profiling");
            is("kind") || is("name")
        };
        let measured = phases.and_then(|all| all.iter().find(is_measured).or_else(|| all.last()));
        let found = measured.and_then(|phase| phase.get(name)).filter(|value| !value.is_null());
        found.or_else(|| config.get("loadgen")?.get(legacy))?.as_f64()
    };
    let rate = of("rate", "request_rate").filter(|rate| *rate > 0.0 && rate.is_finite());
    let cap = of("concurrency", "concurrency").filter(|cap| *cap >= 1.0);
    ImportedLoad::told(rate.map(PerSec::new), cap.map(|cap| cap.min(f64::from(u32::MAX)) as u32))
}

/// Settings of a sweep that say how hard a run pressed, by the last part of their path.
const LOAD: [&str; 6] =
    ["concurrency", "rate", "request_rate", "requests", "request_count", "duration"];

fn about(fields: &Fields<'_>, config: Option<&Value>) -> ImportedAbout {
    let text = |path: &str| {
        let text = config.and_then(|config| config.pointer(path)).and_then(Value::as_str);
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let varied = fields.get("run_info").and_then(|info| info.get("variation_values"));
    let varied = varied.and_then(Value::as_object).into_iter().flatten();
    let setting = |(path, value): (&String, &Value)| {
        let name = path.rsplit('.').next().unwrap_or(path);
        let words = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        (!LOAD.contains(&name)).then(|| (name.to_owned(), words))
    };
    let info = fields.get("run_info").and_then(|info| info.get("run_label"));
    ImportedAbout {
        model: text("/models/items/0/name").or_else(|| text("/endpoint/model_names/0")),
        backend: text("/endpoint/type"),
        dataset: text("/datasets/0/name").or_else(|| text("/datasets/0/type")),
        date: fields.text("start_time"),
        label: info.and_then(Value::as_str).map(str::to_owned),
        devices: None,
        settings: varied.filter_map(setting).collect(),
    }
}

fn not_known(fields: &Fields<'_>, records: Option<&Records>) -> Vec<NotKnown> {
    let mut all = match records {
        None => vec![NotKnown::new(
            "tapes",
            "profile_export.jsonl is not there: no figure can be computed again, none has an interval",
        )],
        Some(records) => records.not_known.clone(),
    };
    all.push(NotKnown::new(
        "the client's own proof",
        "how late it sent and how busy it was is not in the file",
    ));
    all.push(NotKnown::new(
        "peaks of requests in flight and of tokens per second",
        "AIPerf's effective_* weigh the edges of the run by a rule of their own",
    ));
    if fields.has("goodput") {
        let why = "AIPerf takes any metric for a goal; what came of each request says more";
        all.push(NotKnown::new("goodput", why));
    }
    all
}
