//! Statistics that a file nests under the name of what they are of: `{"time_to_first_token": {"unit": "ms", "avg": 20}}`.

use crate::{PeerFigure, PeerReport, PeerUnit};
use fizeau_core::Tape;
use fizeau_metrics::{Percent, PercentileRule, sort_numbers};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::read::{Lenient, Record};
use super::{FigureSheet, ForeignError};
use crate::vllm::object::{Field, Object};

/// What a tool has of a sample, by the names of AIPerf, GenAI-Perf, GuideLLM or inference-perf.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Statistics {
    unit: Lenient<String>,
    #[serde(alias = "mean")]
    avg: Option<f64>,
    #[serde(alias = "median")]
    p50: Option<f64>,
    p90: Option<f64>,
    p99: Option<f64>,
    max: Option<f64>,
}

/// The one number of a metric that has no statistics.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Single<T> {
    #[serde(default)]
    pub(super) unit: Lenient<String>,
    #[serde(alias = "value")]
    pub(super) avg: Option<T>,
}

impl Statistics {
    /// What of it is a latency of ours, in milliseconds after `scale`.
    pub(super) fn put(&self, sheet: &mut FigureSheet, metric: &str, scale: f64) {
        let all = [
            ("mean", self.avg),
            ("p50", self.p50),
            ("p90", self.p90),
            ("p99", self.p99),
            ("max", self.max),
        ];
        for (statistic, value) in all {
            sheet.latency(metric, statistic, value.map(|value| value * scale));
        }
    }
}

/// Latencies as AIPerf and GenAI-Perf write them, with their units: our name of each, and the tool's.
pub(super) fn timed(
    sheet: &mut FigureSheet,
    record: &Record<'_>,
    latencies: &[(&str, &str)],
) -> Result<(), ForeignError> {
    for (metric, tag) in latencies {
        let Some(of) = record.field::<Statistics>(tag)? else { continue };
        of.put(sheet, metric, millis_in(of.unit.0.as_deref(), record, tag)?);
    }
    Ok(())
}

/// How many milliseconds a `unit` of the field `tag` is.
pub(super) fn millis_in(
    unit: Option<&str>,
    record: &Record<'_>,
    tag: &str,
) -> Result<f64, ForeignError> {
    match unit {
        Some("ms") => Ok(1.0),
        Some("sec" | "s") => Ok(1e3),
        Some("us") => Ok(1e-3),
        Some("ns") => Ok(1e-6),
        other => {
            let found = other.map_or(Value::Null, Value::from).to_string();
            Err(record.wrong(&format!("{tag}.unit"), &found, "ms, sec, us or ns"))
        }
    }
}

/// The one number of a metric: its `avg`.
pub(super) fn single<'a, T: Deserialize<'a>>(
    record: &Record<'a>,
    tag: &str,
) -> Result<Option<T>, ForeignError> {
    Ok(record.field::<Single<T>>(tag)?.and_then(|of| of.avg))
}

const PERCENTILES: [u8; 9] = [1, 5, 10, 25, 50, 75, 90, 95, 99];

/// What AIPerf and GenAI-Perf write of values: numpy's percentiles, and a deviation that divides by n. Null of none.
pub(super) fn of_values(unit: &str, values: impl Iterator<Item = f64>) -> Value {
    let mut values: Vec<f64> = values.collect();
    sort_numbers(&mut values);
    let (Some(min), Some(max)) = (values.first(), values.last()) else { return Value::Null };
    let count = values.len() as f64;
    let sum: f64 = values.iter().sum();
    let mean = sum / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let mut all =
        json!({"unit": unit, "avg": mean, "min": min, "max": max, "std": (squares / count).sqrt()});
    for percent in PERCENTILES {
        let at = Percent::new(f64::from(percent)).ok();
        let value = at.and_then(|at| PercentileRule::Linear.of_sorted(&values, at));
        all[format!("p{percent}")] = json!(value);
    }
    all
}

/// Lengths of the prompts of the requests that succeeded.
pub(super) fn inputs<'a>(tapes: &'a [&'a Tape]) -> impl Iterator<Item = f64> + 'a {
    let good = tapes.iter().filter(|tape| tape.is_success());
    good.map(|tape| tape.input_tokens().map_or(0.0, |tokens| tokens.get() as f64))
}

/// Lengths of their replies by the tokens on the tape, as the sums of these tools count.
pub(super) fn outputs<'a>(tapes: &'a [&'a Tape]) -> impl Iterator<Item = f64> + 'a {
    let good = tapes.iter().filter(|tape| tape.is_success());
    good.map(|tape| tape.output_tokens().get() as f64)
}

/// Each known figure under its tag: `time_to_first_token.p99`.
pub(super) fn set(object: &mut Object, report: &PeerReport, unit: fn(&str) -> &'static str) {
    for figure in &report.figures {
        let (Some((tag, word)), Some(_)) = (figure.name.rsplit_once('.'), figure.value.get())
        else {
            continue;
        };
        let mut metric = match object.get(tag) {
            Some(Field::Value(known)) => known.clone(),
            _ => json!({"unit": unit(tag)}),
        };
        metric[word] = value(figure);
        object.set(tag.to_owned(), metric);
    }
}

/// Those of each metric whose names have both: `median_ttft_ms`.
pub(super) fn put_each(object: &mut Object, report: &PeerReport, metrics: &[&str], words: &[&str]) {
    for metric in metrics {
        for word in words {
            let key = format!("{word}_{metric}_ms");
            let value = figure(report, &key);
            object.set(key, value);
        }
    }
}

/// Figures whose names begin with `group`, nested at each dot; what is not known is null.
pub(super) fn nested(report: &PeerReport, group: &str) -> Value {
    let mut root = Value::Object(Map::new());
    for known in &report.figures {
        let rest = known.name.strip_prefix(group).and_then(|rest| rest.strip_prefix('.'));
        let Some(path) = rest else { continue };
        let mut at = &mut root;
        for key in path.split('.') {
            if !at.is_object() {
                *at = json!({});
            }
            at = &mut at[key];
        }
        *at = value(known);
    }
    root
}

/// A figure by the tool's own rule; a count is written as one.
pub(super) fn figure(report: &PeerReport, name: &str) -> Value {
    report.get(name).map_or(Value::Null, value)
}

fn value(figure: &PeerFigure) -> Value {
    match (figure.value.get(), figure.unit) {
        (Some(value), PeerUnit::Count) if value.fract() == 0.0 => json!(value as u64),
        (value, _) => json!(value),
    }
}
