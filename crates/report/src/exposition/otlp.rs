//! OTLP: a request of the metrics service, as JSON.

use fizeau_core::Nanos;
use serde_json::{Value, json};

use super::{Exposition, MetricFamily, MetricKind, MetricSeries, MetricValue};

impl Exposition {
    /// The metrics as an `ExportMetricsServiceRequest` of OTLP/HTTP in JSON, for `POST /v1/metrics`
    /// (<https://opentelemetry.io/docs/specs/otlp/>). `now` is the time since 1970 that the figures are stamped with.
    #[must_use]
    pub fn to_otlp(&self, now: Nanos) -> String {
        let version = env!("CARGO_PKG_VERSION");
        let metrics: Vec<Value> = self.families.iter().map(|family| metric(family, now)).collect();
        json!({ "resourceMetrics": [{
            "resource": { "attributes": [attribute("service.name", "fizeau")] },
            "scopeMetrics": [{
                "scope": { "name": "fizeau", "version": version },
                "metrics": metrics,
            }],
        }]})
        .to_string()
    }
}

fn metric(family: &MetricFamily, now: Nanos) -> Value {
    let unit = if family.name.ends_with("_seconds") { "s" } else { "" };
    let points: Vec<Value> = family.series.iter().map(|series| point(series, now)).collect();
    let kind = match family.kind {
        MetricKind::Gauge => "gauge",
        MetricKind::Summary => "summary",
    };
    json!({
        "name": family.name, "description": family.help, "unit": unit, kind: { "dataPoints": points },
    })
}

fn point(series: &MetricSeries, now: Nanos) -> Value {
    let attributes: Vec<Value> =
        series.labels.iter().map(|(name, value)| attribute(name, value)).collect();
    // 64 bits are text in the JSON of protocol buffers.
    let now = now.as_nanos().to_string();
    match &series.value {
        MetricValue::Number(value) => {
            json!({ "attributes": attributes, "timeUnixNano": now, "asDouble": value })
        }
        MetricValue::Sample { count, sum, quantiles } => {
            let quantile =
                |(share, value): &(f64, f64)| json!({ "quantile": share, "value": value });
            let quantiles: Vec<Value> = quantiles.iter().map(quantile).collect();
            json!({
                "attributes": attributes, "timeUnixNano": now, "count": count.to_string(), "sum": sum,
                "quantileValues": quantiles,
            })
        }
    }
}

fn attribute(name: &str, value: &str) -> Value {
    json!({ "key": name, "value": { "stringValue": value } })
}
