//! GuideLLM's statistics of tapes, each of the requests that succeeded, of those that failed, and of all.

use fizeau_core::{Nanos, Stamp, Tape, Tokens};
use fizeau_metrics::{Percent, sort_weighted_numbers, weighted_percentile_of_sorted};
use serde_json::{Map, Value, json};

use crate::peers::run as by_vllm;

/// Values with their weights, of one group of requests.
type Values = Vec<(f64, u64)>;

/// The requests of a level in four groups, as there. What a request lacks is zero in the figures of each, as there.
pub(super) struct SentTapes<'a> {
    /// Those that succeeded.
    pub(super) good: Vec<&'a Tape>,
    /// Those that failed.
    pub(super) bad: Vec<&'a Tape>,
    /// Those that this client cancelled.
    pub(super) called_off: Vec<&'a Tape>,
    pub(super) all: Vec<&'a Tape>,
}

impl<'a> SentTapes<'a> {
    pub(super) fn of(tapes: &[&'a Tape]) -> Self {
        let (good, rest): (Vec<&Tape>, Vec<&Tape>) =
            tapes.iter().copied().partition(|tape| tape.is_success());
        let (called_off, bad): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|tape| by_vllm::was_called_off(tape));
        let all = [&*good, &*bad, &*called_off].concat();
        Self { good, bad, called_off, all }
    }

    /// A figure of each group.
    fn figure(&self, values: &dyn Fn(&[&Tape]) -> Values) -> Value {
        json!({
            "successful": summary(values(&self.good)),
            "errored": summary(values(&self.bad)),
            "incomplete": summary(values(&self.called_off)),
            "total": summary(values(&self.all)),
        })
    }

    /// A value of each request with its weight.
    fn each(&self, of: &dyn Fn(&Tape) -> (f64, u64)) -> Value {
        self.figure(&|tapes| tapes.iter().map(|tape| of(tape)).collect())
    }

    /// A value of each request, all of one weight.
    fn alike(&self, of: &dyn Fn(&Tape) -> Option<f64>) -> Value {
        self.each(&|tape| (of(tape).unwrap_or_default(), 1))
    }

    /// What all requests have together, over `seconds`.
    fn rate(&self, seconds: f64, of: &dyn Fn(&Tape) -> u64) -> Value {
        self.figure(&|tapes| {
            let sum = tapes.iter().map(|tape| of(tape)).fold(0, u64::saturating_add);
            vec![(if seconds > 0.0 { sum as f64 / seconds } else { 0.0 }, 1)]
        })
    }
}

pub(super) fn metrics(groups: &SentTapes<'_>, totals: &Value, seconds: f64) -> Value {
    let input = |tape: &Tape| tape.input_tokens().map_or(0, Tokens::get);
    let both = |tape: &Tape| input(tape).saturating_add(tokens(tape));
    let end = |tape: &Tape| span(tape, tape.marks.end.or_else(|| tape.last_output()));
    let first = |tape: &Tape| ms(span(tape, tape.first_token()));
    let visible = |tape: &Tape| ms(span(tape, tape.first_visible()));
    let mut all = json!({
        "request_totals": totals,
        "requests_per_second": groups.rate(seconds, &|_| 1),
        "prompt_tokens_per_second": groups.rate(seconds, &input),
        "output_tokens_per_second": groups.rate(seconds, &tokens),
        "tokens_per_second": groups.rate(seconds, &both),
        "request_concurrency": groups.figure(&in_flight),
        "request_latency": groups.alike(&end),
        "request_streaming_iterations_count": groups.alike(&|tape| Some(events(tape) as f64)),
        "prompt_token_count": groups.alike(&|tape| Some(input(tape) as f64)),
        "output_token_count": groups.alike(&|tape| Some(tokens(tape) as f64)),
        "total_token_count": groups.alike(&|tape| Some(both(tape) as f64)),
        "time_to_first_token_ms": groups.alike(&first),
        "time_to_first_output_token_ms": groups.alike(&visible),
        "time_per_output_token_ms": groups.each(&per_token),
        "inter_token_latency_ms": groups.each(&per_later_token),
        "output_tokens_per_iteration": groups.each(&|tape| share(tokens(tape), events(tape))),
        "iter_tokens_per_iteration": groups.each(&|tape| {
            share(tokens(tape).saturating_sub(1), events(tape).saturating_sub(1))
        }),
        "time_to_last_round_trip_ms": groups.alike(&|_| None),
        "avg_round_trip_time_ms": groups.alike(&|_| None),
    });
    for (kind, parts) in MEDIA {
        let parts = parts.iter().map(|part| ((*part).to_owned(), Value::Null));
        all[kind] = Value::Object(parts.collect());
    }
    all
}

/// `time_per_output_token_ms`, weighted by n: the time to the first token is in it.
fn per_token(tape: &Tape) -> (f64, u64) {
    let whole = ms(span(tape, tape.last_output())).filter(|_| tokens(tape) > 0);
    (whole.map_or(0.0, |ms| ms / tokens(tape) as f64), tokens(tape))
}

/// `inter_token_latency_ms`, weighted by n - 1.
fn per_later_token(tape: &Tape) -> (f64, u64) {
    let later = tokens(tape).saturating_sub(1);
    let decoding = tape.first_token().and_then(|first| tape.last_token()?.since(first));
    let decoding = decoding.filter(|_| later > 0).map(Nanos::as_millis_f64);
    (decoding.map_or(0.0, |ms| ms / later as f64), later)
}

/// So many over so many, which are its weight.
fn share(count: u64, of: u64) -> (f64, u64) {
    (count as f64 / of.max(1) as f64, of)
}

fn events(tape: &Tape) -> u64 {
    tape.arrivals.len() as u64
}

/// What its reader asks for, null here, of each kind of content.
const MEDIA: [(&str, &[&str]); 5] = [
    ("text", &["tokens", "words", "characters"]),
    ("image", &["tokens", "images", "pixels", "bytes"]),
    ("video", &["tokens", "frames", "seconds", "bytes"]),
    ("audio", &["tokens", "samples", "seconds", "bytes"]),
    ("tool_call", &["tokens", "mixed_tokens", "count"]),
];

/// How many were in flight, each number with the nanoseconds for which it held.
fn in_flight(tapes: &[&Tape]) -> Values {
    let mut edges: Vec<(Stamp, i64)> = Vec::with_capacity(2 * tapes.len());
    for tape in tapes {
        let sent = by_vllm::sent(tape);
        edges.push((sent, 1));
        edges.push((tape.marks.end.or_else(|| tape.last_output()).unwrap_or(sent).max(sent), -1));
    }
    edges.sort_unstable();
    let mut count = 0;
    let spans = edges.iter().zip(edges.iter().skip(1)).map(|((from, step), (to, _))| {
        count += step;
        (count as f64, to.saturating_since(*from).as_nanos())
    });
    spans.collect()
}

/// The server's count that is not zero, else the number of events.
pub(super) fn tokens(tape: &Tape) -> u64 {
    let reported = tape.usage.and_then(|usage| usage.completion_tokens).map(Tokens::get);
    reported.filter(|tokens| *tokens > 0).unwrap_or_else(|| events(tape))
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
    sort_weighted_numbers(&mut values);
    let weight = values.iter().fold(0, |sum: u64, (_, own)| sum.saturating_add(*own)) as f64;
    // The sum of no floats is -0.0.
    let sum = 0.0 + values.iter().map(|(value, own)| value * *own as f64).sum::<f64>();
    let share = |part: f64| if weight > 0.0 { part / weight } else { 0.0 };
    let mean = share(sum);
    let squares =
        0.0 + values.iter().map(|(value, own)| (value - mean).powi(2) * *own as f64).sum::<f64>();
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
