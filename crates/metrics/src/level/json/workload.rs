//! What was sent, in JSON: arrivals, lengths, models, the probe.

use std::collections::BTreeMap;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::super::{
    Arrivals, Gaps, LengthCheck, LengthChecks, LengthDifference, ModelName, ModelSummary,
    ProbeSummary,
};
use crate::distribution::OrReason;
use crate::json::known_or_reason;

impl Serialize for Arrivals {
    /// An object of the fields' names.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        BTreeMap::from([("intended", self.intended), ("sent", self.sent)]).serialize(serializer)
    }
}

impl Serialize for Gaps {
    /// An object of `n`, `rate_per_s`, `cv_squared`, `lag1`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const NO_GAPS: &str = "fewer than two arrivals, or all at one instant";
        const NO_LAG: &str = "fewer than three gaps, or all alike";
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("n", &self.n)?;
        known_or_reason(&mut map, "rate_per_s", self.rate, NO_GAPS)?;
        known_or_reason(&mut map, "cv_squared", self.cv_squared, NO_GAPS)?;
        known_or_reason(&mut map, "lag1", self.lag1, NO_LAG)?;
        map.end()
    }
}

impl Serialize for LengthChecks {
    /// An object of `prompt` and `output`, each with `asked`, `seen` and `difference`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("prompt", &self.prompt)?;
        map.serialize_entry("output", &self.output)?;
        map.end()
    }
}

impl Serialize for LengthCheck {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let reason = match (self.asked.n, self.seen.n) {
            (0, 0) => "neither the asked nor the seen length is known of any request",
            (0, _) => "the asked length is known of no request",
            (_, 0) => "the server told the length of no completed request",
            _ => "no completed request has both lengths",
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("asked", &self.asked)?;
        map.serialize_entry("seen", &self.seen)?;
        known_or_reason(&mut map, "difference", self.difference.as_ref(), reason)?;
        map.end()
    }
}

impl Serialize for LengthDifference {
    /// An object of the fields' names and `constant`, `share`; `histogram` is an object of the buckets' names.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("n", &self.n)?;
        map.serialize_entry("asked_mean", &self.asked_mean)?;
        map.serialize_entry("seen_mean", &self.seen_mean)?;
        map.serialize_entry("absolute_mean", &self.absolute_mean)?;
        known_or_reason(&mut map, "share", self.share(), "no tokens were asked for")?;
        map.serialize_entry("min", &self.min)?;
        map.serialize_entry("max", &self.max)?;
        known_or_reason(&mut map, "constant", self.constant(), "it is not the same for all")?;
        map.serialize_entry("past_one_percent", &self.past_one_percent)?;
        map.serialize_entry("histogram", &Histogram(&self.histogram))?;
        map.end()
    }
}

struct Histogram<'a>(&'a [u64; 11]);

impl Serialize for Histogram<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(LengthDifference::BUCKETS.iter().zip(self.0))
    }
}

impl Serialize for ModelSummary {
    /// An object of `model`, `sent`, `completed`, `failed`, `output_tokens`, `ttft_ms`; `model` is null, with the reason,
    /// for what has no name of its own.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (name, reason) = match &self.model {
            ModelName::Named(name) => (Some(&**name), ""),
            ModelName::Own => (None, "the endpoint's own"),
            ModelName::Others => (None, "all beyond the first 100 by name"),
        };
        let mut map = serializer.serialize_map(None)?;
        known_or_reason(&mut map, "model", name, reason)?;
        map.serialize_entry("sent", &self.sent)?;
        map.serialize_entry("completed", &self.completed)?;
        map.serialize_entry("failed", &self.failed)?;
        map.serialize_entry("output_tokens", &self.output)?;
        map.serialize_entry("ttft_ms", &OrReason { distribution: &self.ttft, empty: "no values" })?;
        map.end()
    }
}

impl Serialize for ProbeSummary {
    /// An object of `requests` and latencies, whose names end in `_ms`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const EMPTY: &str = "no values";
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("requests", &self.requests)?;
        let latencies = [
            ("ttft_ms", &self.ttft),
            ("ttft_scheduled_ms", &self.ttft_scheduled),
            ("tpot_ms", &self.tpot),
            ("e2el_ms", &self.e2el),
        ];
        for (name, distribution) in latencies {
            map.serialize_entry(name, &OrReason { distribution, empty: EMPTY })?;
        }
        map.end()
    }
}
