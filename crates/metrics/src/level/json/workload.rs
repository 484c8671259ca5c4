//! What was sent, in JSON: arrivals, lengths, models, the probe.

use std::collections::BTreeMap;

use super::super::{GapSummary, LengthCheck, LengthDifference, ModelName, ModelSummary};
use crate::json::strange;

const NO_GAPS: &str = "fewer than two arrivals, or all at one instant";

json_object!(GapSummary, "Gaps between consecutive instants.", |gaps| {
    "n": is(n),
    "rate_per_s": or(rate, NO_GAPS),
    "cv_squared": or(cv_squared, NO_GAPS),
    "lag1": or(lag1, "fewer than three gaps, or all alike"),
} => Ok(GapSummary { n, rate, cv_squared, lag1 }));

json_object!(LengthCheck, "Lengths in tokens, requested and seen.", |check| {
    "requested": is(requested),
    "seen": is(seen),
    "difference": or(difference, check.why_none()),
} => Ok(LengthCheck { requested, seen, difference }));

impl LengthCheck {
    const fn why_none(&self) -> &'static str {
        match (self.requested.n, self.seen.n) {
            (0, 0) => "no request has a known requested or actual length",
            (0, _) => "no request has a known requested length",
            (_, 0) => "the server reported no length for any completed request",
            _ => "no completed request has both lengths",
        }
    }
}

json_object!(LengthDifference, "Tokens seen less tokens requested.", |off| {
    "n": is(n),
    "requested_mean": is(requested_mean),
    "seen_mean": is(seen_mean),
    "absolute_mean": is(absolute_mean),
    "share": told_or(f64, off.share(), "no tokens were requested"),
    "min": is(min),
    "max": is(max),
    "constant": told_or(i64, off.constant(), "it is not the same for all"),
    "past_one_percent": is(past_one_percent),
    "histogram": via(buckets: BTreeMap<String, u64> = off.buckets()),
} => Ok(LengthDifference {
    n, requested_mean, seen_mean, absolute_mean, min, max, past_one_percent,
    histogram: LengthDifference::BUCKETS.map(|name| buckets.get(name).copied().unwrap_or_default()),
}));

/// The histogram by the names of its buckets, in their order.
struct Buckets<'a>(&'a [u64; 11]);

/// By hand, since the keys are the names of the buckets.
impl serde::Serialize for Buckets<'_> {
    /// By hand, since a map that keeps the order of its keys is no type of the standard library.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(LengthDifference::BUCKETS.iter().zip(self.0))
    }
}

impl LengthDifference {
    const fn buckets(&self) -> Buckets<'_> {
        Buckets(&self.histogram)
    }
}

json_object!(ModelSummary, "One model of a mix.", |model| {
    "model": via_or(name: String = model.name(), model.why_unnamed()),
    "sent": is(sent),
    "completed": is(completed),
    "failed": is(failed),
    "output_tokens": is(output),
    "ttft_ms": is(ttft),
} => {
    let model = match name {
        (Some(name), _) => ModelName::Named(name.into()),
        (None, why) if why == OWN => ModelName::Own,
        (None, why) if why == OTHERS => ModelName::Others,
        (None, why) => return Err(strange(why)),
    };
    Ok(ModelSummary { model, sent, completed, failed, output, ttft })
});

const OWN: &str = "the endpoint's own";
const OTHERS: &str = "all beyond the first 100 by name";

impl ModelSummary {
    fn name(&self) -> Option<&str> {
        match &self.model {
            ModelName::Named(name) => Some(name),
            ModelName::Own | ModelName::Others => None,
        }
    }

    const fn why_unnamed(&self) -> &'static str {
        match self.model {
            ModelName::Others => OTHERS,
            ModelName::Named(_) | ModelName::Own => OWN,
        }
    }
}
