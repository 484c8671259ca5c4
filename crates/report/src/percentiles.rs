//! Percentiles by another rule, with ours beside them.

use fizeau_core::{RequestPurpose, Tape};
use fizeau_metrics::{Metric, Percent, PercentileRule, RequestMetrics};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// Latencies of requests, to read percentiles off by one rule and by ours, the linear one.
///
/// The unit matters for [`PercentileRule::Hdr`], which drops fractions: values are microseconds there, as in wrk2.
///
/// ```
/// use fizeau_core::{Arrival, Channel, Nanos, Stamp, Tape};
/// use fizeau_metrics::{Percent, PercentileRule};
/// use fizeau_report::PercentileTally;
///
/// let mut tally = PercentileTally::new(PercentileRule::FloorIndex, vec![Percent::P50]);
/// for ms in [10, 20, 30, 40] {
///     let mut tape = Tape::sent_at(Stamp::EPOCH);
///     let at = Stamp::EPOCH + Nanos::from_millis(ms);
///     tape.arrivals.push(Arrival::tokens(at, 1, Channel::Visible));
///     tally.add(&tape);
/// }
/// let line = "TTFT                       4         p50         30.000         25.000";
/// assert!(tally.table().text().contains(line));
/// ```
#[derive(Debug, Clone)]
pub struct PercentileTally {
    rule: PercentileRule,
    wanted: Vec<Percent>,
    samples: Vec<(Metric, Vec<f64>)>,
}

/// Percentiles by two rules.
///
/// It serializes as `rule` and, by metric and percentile, `value` and `linear`.
#[derive(Debug, Clone, PartialEq)]
pub struct PercentileTable {
    rule: PercentileRule,
    rows: Vec<Row>,
}

#[derive(Debug, Clone, PartialEq)]
struct Row {
    metric: Metric,
    n: u64,
    percent: Percent,
    /// By the rule, and linear; none where the sample does not support the percentile.
    found: Option<[f64; 2]>,
}

impl PercentileTally {
    /// Of nothing. `wanted` are the percentiles, in the order in which they are shown.
    #[must_use]
    pub fn new(rule: PercentileRule, wanted: Vec<Percent>) -> Self {
        let samples = Metric::series().map(|metric| (metric, Vec::new())).collect();
        Self { rule, wanted, samples }
    }

    /// Takes a tape in; one of a probe stream has no part in it.
    pub fn add(&mut self, tape: &Tape) {
        if tape.part == RequestPurpose::Probe {
            return;
        }
        let request = RequestMetrics::of(tape);
        for (metric, sample) in &mut self.samples {
            sample.extend(metric.of_request(&request));
        }
    }

    /// The percentiles of all that was taken in.
    #[must_use]
    pub fn table(mut self) -> PercentileTable {
        let mut rows = Vec::new();
        for (metric, sample) in &mut self.samples {
            sample.sort_unstable_by(f64::total_cmp);
            let n = sample.len() as u64;
            for &percent in &self.wanted {
                let found =
                    if n >= needed(percent) { read(sample, self.rule, percent) } else { None };
                rows.push(Row { metric: *metric, n, percent, found });
            }
        }
        PercentileTable { rule: self.rule, rows }
    }
}

/// By the rule, and linear.
fn read(sorted: &[f64], rule: PercentileRule, percent: Percent) -> Option<[f64; 2]> {
    let by_rule = if rule == PercentileRule::Hdr {
        let micros: Vec<f64> = sorted.iter().map(|ms| ms * 1e3).collect();
        rule.of_sorted(&micros, percent)? / 1e3
    } else {
        rule.of_sorted(sorted, percent)?
    };
    Some([by_rule, PercentileRule::Linear.of_sorted(sorted, percent)?])
}

/// How many values it takes for one to be expected beyond the percentile; the median and the extremes take one.
fn needed(percent: Percent) -> u64 {
    let beyond = percent.get().min(100.0 - percent.get());
    match beyond {
        b if b <= 0.0 || percent == Percent::P50 => 1,
        // A share such as 100 - 99.9 is a little off, which must not cost a value.
        b => (100.0 / b - 1e-9).ceil() as u64,
    }
}

impl PercentileTable {
    /// A line for each metric and percentile, in milliseconds. Without a newline after the last line.
    #[must_use]
    pub fn text(&self) -> String {
        let rule = self.rule.key();
        let is_ours = self.rule == PercentileRule::Linear;
        // One column is enough of the same figures.
        let linear = if is_ours { "" } else { "linear" };
        let head = format!("{:<16}{:>12}{:>12}{rule:>15}{linear:>15}", "ms", "n", "percentile");
        let mut lines = vec![head.trim_end().to_owned()];
        let mut before = None;
        for row in &self.rows {
            let is_first = before.replace(row.metric) != Some(row.metric);
            let (name, n) = match is_first {
                true => (row.metric.entry().label, row.n.to_string()),
                false => ("", String::new()),
            };
            let figures = match row.found {
                Some([by_rule, _]) if is_ours => format!("{by_rule:>15.3}"),
                Some([by_rule, linear]) => format!("{by_rule:>15.3}{linear:>15.3}"),
                None if row.n == 0 => format!("{:>30}", "- (no values)"),
                None => {
                    format!("{:>30}", format!("- (needs {} values)", needed(row.percent)))
                }
            };
            let percent = format!("p{}", row.percent.get());
            lines.push(format!("{name:<16}{n:>12}{percent:>12}{figures}"));
        }
        lines.join("\n")
    }
}

/// By hand, since its keys are the metrics that it has.
impl Serialize for PercentileTable {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("rule", self.rule.key())?;
        for rows in self.rows.chunk_by(|one, next| one.metric == next.metric) {
            let [first, ..] = rows else { continue };
            map.serialize_entry(first.metric.entry().json[1], rows)?;
        }
        map.end()
    }
}

/// By hand, since its keys are the percentiles that were asked for.
impl Serialize for Row {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("percent", &self.percent.get())?;
        map.serialize_entry("n", &self.n)?;
        map.serialize_entry("value", &self.found.map(|[by_rule, _]| by_rule))?;
        map.serialize_entry("linear", &self.found.map(|[_, linear]| linear))?;
        if self.found.is_none() {
            let reason = format!("needs {} values, has {}", needed(self.percent), self.n);
            map.serialize_entry("value_reason", &reason)?;
            map.serialize_entry("linear_reason", &reason)?;
        }
        map.end()
    }
}
