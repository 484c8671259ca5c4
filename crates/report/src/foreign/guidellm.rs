//! GuideLLM: `benchmarks.json`, one document with a benchmark a load.
//!
//! Keys are those of GuideLLM 0.8.1 (`guidellm/benchmark/schemas`, `guidellm/schemas/base`); earlier versions have `args` where
//! this one has `config`.

mod metrics;
mod requests;
mod write;

use std::collections::BTreeMap;

use fizeau_core::PerSec;
use serde_json::{Map, Value};

use super::date::iso_of_unix;
use super::vllm::source;
use super::{
    ExportLevel, ExportedFile, Fields, FigureSheet, ForeignError, ForeignFile, ForeignFormat,
    ImportedAbout, ImportedCounts, ImportedLevel, ImportedLoad, ImportedSource, NotKnown,
};
use requests::Requests;

/// The form of GuideLLM's files.
pub(super) struct GuideLlm;

const TOOL: &str = "GuideLLM";

impl ForeignFormat for GuideLlm {
    fn key(&self) -> &'static str {
        "guidellm"
    }

    fn about(&self) -> &'static str {
        "GuideLLM: benchmarks.json"
    }

    fn recognises(&self, file: &ForeignFile<'_>) -> bool {
        let benchmarks = file.first().and_then(|first| first.get("benchmarks"));
        let first = benchmarks.and_then(Value::as_array).and_then(|all| all.first());
        first.is_some_and(|first| {
            first.get("scheduler_metrics").is_some() || first.get("metrics").is_some()
        })
    }

    fn import(&self, files: &[ForeignFile<'_>]) -> Result<Vec<ImportedLevel>, ForeignError> {
        let mut levels = Vec::new();
        for file in files {
            for report in Fields::all(file, TOOL)? {
                let benchmarks = report.list("benchmarks")?;
                let benchmarks = benchmarks.ok_or_else(|| report.missing("benchmarks"))?;
                for (index, value) in benchmarks.iter().enumerate() {
                    let Some(map) = value.as_object() else {
                        let name = format!("benchmarks[{index}]");
                        return Err(report.wrong(&name, value, "an object"));
                    };
                    let place = format!("{} benchmark {}", file.name(), index + 1);
                    levels.push(import(&report, &Fields::new(place, TOOL, map), file)?);
                }
            }
        }
        Ok(levels)
    }

    fn export(&self, levels: &[ExportLevel<'_>]) -> Result<Vec<ExportedFile>, ForeignError> {
        let text = write::document(levels, self.key())?;
        Ok(vec![ExportedFile { name: "benchmarks.json".to_owned(), bytes: text.into_bytes() }])
    }
}

fn import(
    report: &Fields<'_>,
    fields: &Fields<'_>,
    file: &ForeignFile<'_>,
) -> Result<ImportedLevel, ForeignError> {
    let metrics = fields.object("metrics")?.ok_or_else(|| fields.missing("metrics"))?;
    let totals = metrics
        .object("request_totals")?
        .ok_or_else(|| fields.missing("metrics.request_totals"))?;
    let completed = totals.whole("successful")?;
    let all = Requests::read(fields)?;
    // A sample of the requests, or none of them, is no record of the run.
    let whole = all.filter(|all| all.completed() == completed);
    let version = report.object("metadata")?.and_then(|own| own.text("guidellm_version"));
    let strategy = strategy(fields);
    let mut level = ImportedLevel {
        source: ImportedSource { version, ..source(file, "guidellm", TOOL) },
        load: load(strategy),
        about: about(report, fields)?,
        counts: ImportedCounts {
            completed,
            failed: Some(totals.maybe_whole("errored")?.unwrap_or_default()),
            input_tokens: tokens(&metrics, "prompt_token_count")?,
            output_tokens: tokens(&metrics, "output_token_count")?,
            duration_s: fields.maybe_number("duration")?,
        },
        figures: BTreeMap::new(),
        greatest_for_p99: Vec::new(),
        caveats: Vec::new(),
        not_known: not_known(whole.is_some()),
        record: kept(fields.map()),
        tapes: Vec::new(),
    };
    let mut sheet = FigureSheet::new(completed);
    rates(&metrics, &mut sheet)?;
    match whole {
        Some(requests) => {
            requests.figures(&mut sheet);
            level.tapes = requests.tapes(fields)?;
        }
        None => latencies(&metrics, &mut sheet)?,
    }
    if let Some(called_off) = totals.maybe_whole("incomplete")?.filter(|count| *count > 0) {
        sheet.caveat(format!(
            "{called_off} requests were under way at the end, and are in no figure"
        ));
    }
    sheet.finish(&mut level);
    Ok(level)
}

/// A benchmark without its single requests, which became tapes or are a sample.
fn kept(map: &Map<String, Value>) -> String {
    let fields = map.iter().filter(|(key, _)| *key != "requests");
    let kept: Map<String, Value> =
        fields.map(|(key, value)| (key.clone(), value.clone())).collect();
    Value::Object(kept).to_string()
}

/// The statistics of the requests that succeeded.
fn successful<'a>(metrics: &Fields<'a>, name: &str) -> Result<Option<Fields<'a>>, ForeignError> {
    match metrics.object(name)? {
        Some(of) => of.object("successful"),
        None => Ok(None),
    }
}

fn tokens(metrics: &Fields<'_>, name: &str) -> Result<Option<u64>, ForeignError> {
    let Some(of) = successful(metrics, name)? else { return Ok(None) };
    let total = of.maybe_number("total_sum")?;
    // Beyond 2^53 a floating number is no count any more.
    Ok(total.filter(|total| *total <= 9_007_199_254_740_992.0).map(|total| total.round() as u64))
}

fn rates(metrics: &Fields<'_>, sheet: &mut FigureSheet) -> Result<(), ForeignError> {
    for (name, key) in [
        ("requests_per_s", "requests_per_second"),
        ("output_tps", "output_tokens_per_second"),
        ("total_tps", "tokens_per_second"),
    ] {
        if let Some(of) = successful(metrics, key)? {
            sheet.put(name, of.maybe_number("mean")?);
        }
    }
    sheet.caveat("rates are means over the window between GuideLLM's warm-up and its cool-down");
    Ok(())
}

/// Of a file without its requests.
fn latencies(metrics: &Fields<'_>, sheet: &mut FigureSheet) -> Result<(), ForeignError> {
    for (metric, key, scale) in
        [("ttft", "time_to_first_token_ms", 1.0), ("e2el", "request_latency", 1e3)]
    {
        let Some(of) = successful(metrics, key)? else { continue };
        for (ours, theirs) in [("mean", "mean"), ("p50", "median"), ("max", "max")] {
            sheet.latency(metric, ours, of.maybe_number(theirs)?.map(|value| value * scale));
        }
        if let Some(percentiles) = of.object("percentiles")? {
            for percentile in ["p90", "p99"] {
                let value = percentiles.maybe_number(percentile)?;
                sheet.latency(metric, percentile, value.map(|value| value * scale));
            }
        }
    }
    sheet.caveat("a percentile is the value of one request, without interpolation");
    sheet.caveat("a request without a first token has a TTFT of 0 in the file's statistics");
    sheet.caveat("E2EL runs to the end of the stream: at least what ours is");
    sheet.not_known(
        "tpot",
        "GuideLLM weighs inter_token_latency_ms by tokens, ours counts each request once; its time_per_output_token_ms has the time to the first token in it",
    );
    sheet.not_known("itl", "GuideLLM spreads tokens evenly between the first and the last");
    Ok(())
}

fn strategy<'a>(fields: &Fields<'a>) -> Option<&'a Map<String, Value>> {
    let config = fields.map().get("config").or_else(|| fields.map().get("args"));
    let scheduler = fields.map().get("scheduler");
    let found = config.and_then(|config| config.get("strategy"));
    found.or_else(|| scheduler.and_then(|own| own.get("strategy")))?.as_object()
}

fn load(strategy: Option<&Map<String, Value>>) -> ImportedLoad {
    let number = |name: &str| {
        let number = strategy.and_then(|strategy| strategy.get(name)).and_then(Value::as_f64);
        number.filter(|number| *number > 0.0 && number.is_finite())
    };
    let kind = strategy.and_then(|strategy| strategy.get("type_")).and_then(Value::as_str);
    let cap = match kind {
        Some("synchronous") => Some(1.0),
        Some("concurrent") => number("streams"),
        _ => number("max_concurrency"),
    };
    let rate = number("rate").filter(|_| matches!(kind, Some("constant" | "poisson")));
    let cap = cap.filter(|cap| *cap >= 1.0).map(|cap| cap.min(f64::from(u32::MAX)) as u32);
    let told = ImportedLoad::told(rate.map(PerSec::new), cap);
    // As much as it can, all at once.
    ImportedLoad { is_unknown: told.is_unknown && kind != Some("throughput"), ..told }
}

fn about(report: &Fields<'_>, fields: &Fields<'_>) -> Result<ImportedAbout, ForeignError> {
    let own = fields.get("config").or_else(|| fields.get("args"));
    let whole = report.get("config").or_else(|| report.get("args"));
    let text = |paths: &[&str]| {
        let found = [own, whole].into_iter().flatten();
        let mut found = found.flat_map(|from| paths.iter().filter_map(|path| from.pointer(path)));
        let found = found.find_map(|value| match value {
            Value::Array(all) => all.first()?.as_str(),
            other => other.as_str(),
        });
        found.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    // An epoch that nobody knew is no date.
    let start = fields.maybe_number("start_time")?.filter(|at| (1e9..4e9).contains(at));
    Ok(ImportedAbout {
        model: text(&["/backend/model", "/spec/backend/model", "/model"]),
        backend: text(&["/backend/request_format", "/backend/kind", "/backend/type_", "/backend"]),
        dataset: text(&["/spec/data/0/source", "/spec/data/0/kind", "/data"]),
        date: start.map(|at| iso_of_unix(at as u64)),
        ..ImportedAbout::default()
    })
}

fn not_known(has_tapes: bool) -> Vec<NotKnown> {
    let mut all = match has_tapes {
        true => vec![
            NotKnown::new(
                "when each token came",
                "the file has the first and the last of a reply, and how many chunks; tapes have them evenly between, so that gaps \
                 and stalls of this run are made up",
            ),
            NotKnown::new("the length that was asked of each reply", "not in the file"),
        ],
        false => vec![NotKnown::new(
            "tapes",
            "the file has not all requests (sample_size): no figure can be computed again, none has an interval",
        )],
    };
    all.push(NotKnown::new("the client's own proof", "how busy it was is not in the file"));
    all
}
