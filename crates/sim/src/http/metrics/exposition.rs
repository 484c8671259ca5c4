//! Prometheus's text format, version 0.0.4
//! (<https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format>).

use std::fmt::Write as _;

use super::histogram::Histogram;

/// How the format is named to clients.
pub(in super::super) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A text that grows family by family. Writing to a string cannot fail, hence the results dropped here.
pub(super) struct Exposition {
    text: String,
    /// What each sample is labelled with, `a="b",c="d"`.
    labels: String,
}

impl Exposition {
    /// An empty one whose samples are all labelled so.
    pub(super) fn new(labels: &[(&str, &str)]) -> Self {
        let labels = labels.iter().map(|(name, value)| label(name, value));
        Self { text: String::with_capacity(16 << 10), labels: labels.collect::<Vec<_>>().join(",") }
    }

    pub(super) fn gauge(&mut self, name: &str, help: &str, value: f64) {
        self.family(name, help, "gauge");
        self.sample(name, None, value);
    }

    /// `name` ends with `_total`.
    pub(super) fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.family(name, help, "counter");
        self.sample(name, None, value as f64);
    }

    /// A counter for each value of a label.
    pub(super) fn counters(&mut self, name: &str, help: &str, by: &str, values: &[(&str, u64)]) {
        self.family(name, help, "counter");
        for (value, count) in values {
            self.sample(name, Some(&label(by, value)), *count as f64);
        }
    }

    pub(super) fn histogram(&mut self, name: &str, help: &str, histogram: &Histogram) {
        self.family(name, help, "histogram");
        let bucket = format!("{name}_bucket");
        for (edge, count) in histogram.cumulative() {
            let edge = if edge.is_finite() { format!("{edge:?}") } else { "+Inf".to_owned() };
            self.sample(&bucket, Some(&label("le", &edge)), count as f64);
        }
        let (count, sum) = histogram.total();
        self.sample(&format!("{name}_count"), None, count as f64);
        self.sample(&format!("{name}_sum"), None, sum);
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    fn family(&mut self, name: &str, help: &str, kind: &str) {
        let help = help.replace('\\', r"\\").replace('\n', r"\n");
        write!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}\n").ok();
    }

    fn sample(&mut self, name: &str, more: Option<&str>, value: f64) {
        let comma = if more.is_some() { "," } else { "" };
        let (labels, more) = (&self.labels, more.unwrap_or_default());
        writeln!(self.text, "{name}{{{labels}{comma}{more}}} {value:?}").ok();
    }
}

/// `name="value"`, with the three characters escaped that have to be.
fn label(name: &str, value: &str) -> String {
    let value = value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
    format!("{name}=\"{value}\"")
}
