//! GuideLLM's document of tapes.

use fizeau_core::{Nanos, Outcome, Stamp, Tape, Tokens};
use fizeau_metrics::{Percent, weighted_percentile_of_sorted};
use serde_json::{Map, Value, json};

use crate::RequestRate;
use crate::foreign::vllm::map_of;
use crate::foreign::{ExportLevel, ForeignError, lists};
use crate::vllm::figures as by_vllm;

/// One benchmark a level.
pub(super) fn document(
    levels: &[ExportLevel<'_>],
    format: &'static str,
) -> Result<String, ForeignError> {
    let benchmark = |(index, level): (usize, &ExportLevel<'_>)| benchmark(level, format, index);
    let benchmarks: Vec<Value> =
        levels.iter().enumerate().map(benchmark).collect::<Result<_, _>>()?;
    let model = levels.first().map(|level| level.run.model_id.as_str()).unwrap_or_default();
    let version = levels.iter().find_map(|level| level.own_record(format)?.source.version.clone());
    let report = json!({
        "metadata": {
            "version": 2, "guidellm_version": version.unwrap_or_else(|| "0.8.1".to_owned()),
            "python_version": "", "platform": "",
        },
        "config": {"spec": {
            "backend": {"kind": "openai_http", "target": "http://localhost", "model": model},
            "profile": {"kind": "concurrent"},
            "data": [{"kind": "synthetic_text"}],
        }},
        "benchmarks": benchmarks,
    });
    Ok(report.to_string())
}

fn benchmark(
    level: &ExportLevel<'_>,
    format: &'static str,
    index: usize,
) -> Result<Value, ForeignError> {
    let own = level.own_record(format);
    let tapes = match own {
        Some(_) => lists::by_request(level.tapes),
        None => lists::by_request(level.with_tapes(format)?),
    };
    let epoch = level.epoch_unix.map_or(0.0, Nanos::as_secs_f64);
    let (good, bad): (Vec<&Tape>, Vec<&Tape>) =
        tapes.iter().copied().partition(|tape| tape.is_success());
    let each =
        |tapes: &[&Tape]| -> Value { tapes.iter().map(|tape| request(tape, epoch)).collect() };
    let requests = json!({
        "successful": each(&good), "errored": each(&bad), "incomplete": [], "total": null,
    });
    let mut benchmark = match own {
        Some(own) => map_of(&own.record),
        None => computed(level, &good, &bad, index),
    };
    benchmark.insert("requests".to_owned(), requests);
    Ok(Value::Object(benchmark))
}

fn computed(
    level: &ExportLevel<'_>,
    good: &[&Tape],
    bad: &[&Tape],
    index: usize,
) -> Map<String, Value> {
    let epoch = level.epoch_unix.map_or(0.0, Nanos::as_secs_f64);
    let all = || good.iter().chain(bad);
    let from = all().map(|tape| start(tape, epoch)).fold(f64::INFINITY, f64::min);
    let to = all().map(|tape| end(tape, epoch)).fold(from, f64::max);
    let run = &level.run;
    let strategy = match (run.request_rate, run.max_concurrency) {
        (RequestRate::Limited(rate), cap) => {
            json!({"type_": "poisson", "rate": rate.get(), "max_concurrency": cap})
        }
        (_, Some(streams)) => json!({"type_": "concurrent", "streams": streams}),
        (_, None) => json!({"type_": "throughput", "max_concurrency": null}),
    };
    let totals = json!({
        "successful": good.len(), "errored": bad.len(), "incomplete": 0,
        "total": good.len() + bad.len(),
    });
    let document = json!({
        "type_": "generative_benchmark",
        "config": {
            "id_": format!("{}-{index}", level.name), "run_id": level.name, "run_index": index,
            "strategy": strategy, "constraints": {}, "profile": {}, "requests": {},
            "backend": {"kind": "openai_http", "model": run.model_id}, "environment": {},
        },
        "scheduler_metrics": {
            "start_time": from, "request_start_time": from, "measure_start_time": from,
            "measure_end_time": to, "request_end_time": to, "end_time": to,
            "requests_made": totals,
        },
        "metrics": metrics(good, bad, &totals, (to - from).max(0.0)),
        "start_time": from, "end_time": to, "duration": to - from,
    });
    document.as_object().cloned().unwrap_or_default()
}

/// Values with their weights, of one group of requests.
type Values = Vec<(f64, u64)>;

/// Each in four groups, as there. What a request lacks is zero in them, as there.
fn metrics(good: &[&Tape], bad: &[&Tape], totals: &Value, duration: f64) -> Value {
    let grouped = |of: &dyn Fn(&Tape) -> (f64, u64)| -> Value {
        let values = |tapes: &[&Tape]| -> Values { tapes.iter().map(|tape| of(tape)).collect() };
        let (good, bad) = (values(good), values(bad));
        let total = good.iter().chain(&bad).copied().collect();
        json!({
            "successful": summary(good), "errored": summary(bad),
            "incomplete": summary(Vec::new()), "total": summary(total),
        })
    };
    let alike = |value: Option<f64>| (value.unwrap_or_default(), 1);
    let later = |tape: &Tape| tokens(tape).saturating_sub(1);
    let rate = |of: &dyn Fn(&Tape) -> u64| -> Value {
        let each = |tapes: &[&Tape]| -> Value {
            let sum = tapes.iter().map(|tape| of(tape)).fold(0, u64::saturating_add);
            let rate = if duration > 0.0 { sum as f64 / duration } else { 0.0 };
            summary(vec![(rate, 1)])
        };
        let total: Vec<&Tape> = good.iter().chain(bad).copied().collect();
        json!({
            "successful": each(good), "errored": each(bad), "incomplete": each(&[]),
            "total": each(&total),
        })
    };
    let input = |tape: &Tape| tape.input_tokens().map_or(0, Tokens::get);
    json!({
        "request_totals": totals,
        "requests_per_second": rate(&|_| 1),
        "prompt_tokens_per_second": rate(&input),
        "output_tokens_per_second": rate(&tokens),
        "tokens_per_second": rate(&|tape| input(tape).saturating_add(tokens(tape))),
        "request_latency": grouped(&|tape| alike(span(tape, tape.marks.end.or(tape.last_output())))),
        "prompt_token_count": grouped(&|tape| (input(tape) as f64, 1)),
        "output_token_count": grouped(&|tape| (tokens(tape) as f64, 1)),
        "total_token_count": grouped(&|tape| (input(tape).saturating_add(tokens(tape)) as f64, 1)),
        "time_to_first_token_ms": grouped(&|tape| alike(ms(span(tape, tape.first_token())))),
        "time_to_first_output_token_ms": grouped(&|tape| alike(ms(span(tape, tape.first_visible())))),
        "time_per_output_token_ms": grouped(&|tape| {
            let whole = ms(span(tape, tape.last_output())).filter(|_| tokens(tape) > 0);
            (whole.map_or(0.0, |ms| ms / tokens(tape) as f64), tokens(tape))
        }),
        "inter_token_latency_ms": grouped(&|tape| {
            let first = tape.first_token();
            let decoding = first.and_then(|first| tape.last_token()?.since(first));
            let decoding = ms(decoding.map(Nanos::as_secs_f64)).filter(|_| later(tape) > 0);
            (decoding.map_or(0.0, |ms| ms / later(tape) as f64), later(tape))
        }),
    })
}

/// The server's count, else the number of events.
fn tokens(tape: &Tape) -> u64 {
    let reported = tape.usage.and_then(|usage| usage.completion_tokens).map(Tokens::get);
    reported.unwrap_or(tape.arrivals.len() as u64)
}

fn span(tape: &Tape, to: Option<Stamp>) -> Option<f64> {
    Some(to?.since(by_vllm::sent(tape))?.as_secs_f64())
}

fn ms(seconds: Option<f64>) -> Option<f64> {
    seconds.map(|seconds| seconds * 1e3)
}

/// The names of percentiles there, and what share each is.
const PERCENTILES: [(&str, f64); 11] = [
    ("p001", 0.1),
    ("p01", 1.0),
    ("p05", 5.0),
    ("p10", 10.0),
    ("p25", 25.0),
    ("p50", 50.0),
    ("p75", 75.0),
    ("p90", 90.0),
    ("p95", 95.0),
    ("p99", 99.0),
    ("p999", 99.9),
];

/// `DistributionSummary`: moments and percentiles by weight; zeros of nothing, as there.
fn summary(mut values: Values) -> Value {
    values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let weight = values.iter().fold(0, |sum: u64, (_, own)| sum.saturating_add(*own)) as f64;
    let sum: f64 = values.iter().map(|(value, own)| value * *own as f64).sum();
    let share = |part: f64| if weight > 0.0 { part / weight } else { 0.0 };
    let mean = share(sum);
    let squares: f64 = values.iter().map(|(value, own)| (value - mean).powi(2) * *own as f64).sum();
    let at = |percent: f64| {
        let percent = Percent::new(percent).ok();
        percent.and_then(|percent| weighted_percentile_of_sorted(&values, percent)).unwrap_or(0.0)
    };
    let percentiles: Map<String, Value> = PERCENTILES
        .iter()
        .map(|(name, percent)| ((*name).to_owned(), json!(at(*percent))))
        .collect();
    let heaviest = values.iter().max_by_key(|(_, own)| *own).map_or(0.0, |(value, _)| *value);
    json!({
        "mean": mean, "median": at(50.0), "mode": heaviest,
        "variance": share(squares), "std_dev": share(squares).sqrt(),
        "min": values.first().map_or(0.0, |(value, _)| *value),
        "max": values.last().map_or(0.0, |(value, _)| *value),
        "count": weight as u64, "total_sum": sum, "percentiles": percentiles, "pdf": null,
    })
}

fn at(stamp: Stamp, epoch: f64) -> f64 {
    epoch + stamp.saturating_since(Stamp::EPOCH).as_secs_f64()
}

fn start(tape: &Tape, epoch: f64) -> f64 {
    at(by_vllm::sent(tape), epoch)
}

fn end(tape: &Tape, epoch: f64) -> f64 {
    let end = tape.marks.end.or(tape.last_output());
    end.map_or_else(|| start(tape, epoch), |end| at(end, epoch))
}

fn request(tape: &Tape, epoch: f64) -> Value {
    let when = |stamp: Option<Stamp>| stamp.map(|stamp| at(stamp, epoch));
    let error = match &tape.outcome {
        Outcome::Complete(_) => None,
        Outcome::Failed(failure) => Some(failure.to_string()),
    };
    json!({
        "type_": "generative_request_stats",
        "request_id": tape.request.0.to_string(),
        "output": tape.text,
        "info": {
            "request_id": tape.request.0.to_string(),
            "turn_index": tape.turn,
            "error": error,
            "timings": {
                "targeted_start": when(Some(tape.marks.intended)),
                "request_start": start(tape, epoch),
                "first_token_iteration": when(tape.first_token()),
                "first_output_token_iteration": when(tape.first_visible()),
                "last_token_iteration": when(tape.last_token()),
                "token_iterations": tape.arrivals.len(),
                "request_end": end(tape, epoch),
                "resolve_end": end(tape, epoch),
            },
        },
        "input_metrics": {"text_tokens": tape.input_tokens().map(Tokens::get)},
        "output_metrics": {"text_tokens": tokens(tape)},
    })
}
