//! The text format of Prometheus, version 0.0.4.

use std::fmt::Write;

use super::{Exposition, MetricKind, MetricSeries, MetricValue};

impl Exposition {
    /// The metrics as Prometheus reads them: the text format, version 0.0.4
    /// (<https://prometheus.io/docs/instrumenting/exposition_formats/>).
    #[must_use]
    pub fn to_prometheus(&self) -> String {
        let mut out = String::new();
        for family in &self.families {
            let kind = match family.kind {
                MetricKind::Gauge => "gauge",
                MetricKind::Summary => "summary",
            };
            // Writing to a string does not fail.
            let _ = writeln!(out, "# HELP {} {}", family.name, family.help);
            let _ = writeln!(out, "# TYPE {} {kind}", family.name);
            for series in &family.series {
                series.put(family.name, &mut out);
            }
        }
        out
    }
}

impl MetricSeries {
    fn put(&self, name: &str, out: &mut String) {
        let mut line = |name: &str, quantile: Option<f64>, value: f64| {
            let own =
                self.labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
            let quantile = quantile.map(|quantile| format!("quantile=\"{quantile}\""));
            let labels: Vec<String> = own.chain(quantile).collect();
            let _ = writeln!(out, "{name}{{{}}} {value}", labels.join(","));
        };
        match &self.value {
            MetricValue::Number(value) => line(name, None, *value),
            MetricValue::Sample { count, sum, quantiles } => {
                quantiles.iter().for_each(|(share, value)| line(name, Some(*share), *value));
                line(&format!("{name}_sum"), None, *sum);
                line(&format!("{name}_count"), None, *count as f64);
            }
        }
    }
}

/// A label's value: names come from strangers.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
