//! Statistics that a file nests under the name of what they are of: `{"time_to_first_token": {"unit": "ms", "avg": 20}}`.

use fizeau_core::Tape;
use fizeau_metrics::{PeerReport, PeerUnit, Percent, PercentileRule};
use serde_json::{Map, Value, json};

use super::{Fields, FigureSheet, ForeignError, Object};

/// Our names of statistics, and those of AIPerf and GenAI-Perf.
const WORDS: [(&str, &str); 5] =
    [("mean", "avg"), ("p50", "p50"), ("p90", "p90"), ("p99", "p99"), ("max", "max")];

/// What of a metric's statistics is a latency of ours, in milliseconds after `scale`; `words` has our names and the tool's.
pub(super) fn put(
    sheet: &mut FigureSheet,
    metric: &str,
    of: &Fields<'_>,
    words: &[(&str, &str)],
    scale: f64,
) -> Result<(), ForeignError> {
    for (ours, theirs) in words {
        sheet.latency(metric, ours, of.maybe_number(theirs)?.map(|value| value * scale));
    }
    Ok(())
}

/// A latency as AIPerf and GenAI-Perf write it, with its unit.
pub(super) fn timed(
    sheet: &mut FigureSheet,
    metric: &str,
    fields: &Fields<'_>,
    tag: &str,
) -> Result<(), ForeignError> {
    let Some(of) = fields.object(tag)? else { return Ok(()) };
    let scale = match of.text("unit").as_deref() {
        Some("ms") => 1.0,
        Some("sec" | "s") => 1e3,
        Some("us") => 1e-3,
        Some("ns") => 1e-6,
        _ => {
            let found = of.get("unit").cloned().unwrap_or_default();
            return Err(of.wrong("unit", &found, "ms, sec, us or ns"));
        }
    };
    put(sheet, metric, &of, &WORDS, scale)
}

/// The one number of a metric that has no statistics: its `avg`.
pub(super) fn single(fields: &Fields<'_>, tag: &str) -> Result<Option<f64>, ForeignError> {
    match fields.object(tag)? {
        Some(of) => of.maybe_number("avg"),
        None => Ok(None),
    }
}

/// The same as a count.
pub(super) fn count(fields: &Fields<'_>, tag: &str) -> Result<Option<u64>, ForeignError> {
    match fields.object(tag)? {
        Some(of) => of.maybe_whole("avg"),
        None => Ok(None),
    }
}

const PERCENTILES: [u8; 9] = [1, 5, 10, 25, 50, 75, 90, 95, 99];

/// What AIPerf and GenAI-Perf write of values: numpy's percentiles, and a deviation that divides by n. Null of none.
pub(super) fn of_values(unit: &str, values: impl Iterator<Item = f64>) -> Value {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    let (Some(min), Some(max)) = (values.first(), values.last()) else { return Value::Null };
    let count = values.len() as f64;
    let sum: f64 = values.iter().sum();
    let mean = sum / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let mut map = Map::new();
    map.insert("unit".to_owned(), unit.into());
    map.insert("avg".to_owned(), mean.into());
    for percent in PERCENTILES {
        let at = Percent::new(f64::from(percent)).ok();
        let value = at.and_then(|at| PercentileRule::Linear.of_sorted(&values, at));
        map.insert(format!("p{percent}"), json!(value));
    }
    map.insert("min".to_owned(), json!(min));
    map.insert("max".to_owned(), json!(max));
    map.insert("std".to_owned(), (squares / count).sqrt().into());
    Value::Object(map)
}

/// Lengths of the prompts of the requests that succeeded.
pub(super) fn inputs<'a>(tapes: &'a [&'a Tape]) -> impl Iterator<Item = f64> + 'a {
    let good = tapes.iter().filter(|tape| tape.is_success());
    good.map(|tape| tape.input_tokens().map_or(0.0, |tokens| tokens.get() as f64))
}

/// Lengths of their replies.
pub(super) fn outputs<'a>(tapes: &'a [&'a Tape]) -> impl Iterator<Item = f64> + 'a {
    let good = tapes.iter().filter(|tape| tape.is_success());
    good.map(|tape| crate::vllm::figures::output_len(tape) as f64)
}

/// Each known figure under its tag: `time_to_first_token.p99`.
pub(super) fn set(object: &mut Object, report: &PeerReport, unit: fn(&str) -> &'static str) {
    for figure in &report.figures {
        let (Some((tag, word)), Some(value)) = (figure.name.rsplit_once('.'), figure.value.get())
        else {
            continue;
        };
        let mut metric = match object.get(tag).and_then(Value::as_object) {
            Some(known) => known.clone(),
            None => Map::from_iter([("unit".to_owned(), Value::from(unit(tag)))]),
        };
        let is_count = figure.unit == PeerUnit::Count && value.fract() == 0.0;
        let value = if is_count { json!(value as u64) } else { json!(value) };
        metric.insert(word.to_owned(), value);
        object.set(tag, Value::Object(metric));
    }
}
