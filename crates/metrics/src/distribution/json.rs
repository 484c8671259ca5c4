//! A distribution in JSON.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{Distribution, Quantile};
use crate::json::known_or_reason;

const EMPTY: &str = "no values";

impl Serialize for Distribution {
    /// One flat object: `n`, `mean`, `std`, `min`, `p50`, `p90`, `p95`, `p99`, `p999`, `max`, `resolution`. A figure
    /// that is unknown is null and has a sibling `..._reason` (`"p99": null, "p99_reason": "needs 100 values, has
    /// 18"`); a percentile whose interval is known has a sibling `..._ci`, a pair of its ends.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        OrReason { distribution: self, empty: EMPTY }.serialize(serializer)
    }
}

/// A distribution, with the reason to give where it has no values.
pub(crate) struct OrReason<'a> {
    pub(crate) distribution: &'a Distribution,
    pub(crate) empty: &'a str,
}

impl Serialize for OrReason<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { distribution: sample, empty } = *self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("n", &sample.n)?;
        known_or_reason(&mut map, "mean", sample.mean, empty)?;
        known_or_reason(&mut map, "std", sample.std, empty)?;
        known_or_reason(&mut map, "min", sample.min, empty)?;
        let percentiles = [
            ("p50", sample.p50),
            ("p90", sample.p90),
            ("p95", sample.p95),
            ("p99", sample.p99),
            ("p999", sample.p999),
        ];
        for (key, quantile) in percentiles {
            self.percentile(&mut map, key, quantile)?;
        }
        known_or_reason(&mut map, "max", sample.max, empty)?;
        map.serialize_entry("resolution", sample.resolution.as_str())?;
        map.end()
    }
}

impl OrReason<'_> {
    fn percentile<M: SerializeMap>(
        &self,
        map: &mut M,
        key: &str,
        quantile: Quantile,
    ) -> Result<(), M::Error> {
        let reason = match quantile {
            Quantile::Withheld { needs } => {
                format!("needs {needs} values, has {}", self.distribution.n)
            }
            Quantile::Absent | Quantile::Known { .. } => self.empty.to_owned(),
        };
        known_or_reason(map, key, quantile.value(), &reason)?;
        if let Some(interval) = quantile.interval() {
            map.serialize_entry(&format!("{key}_ci"), &[interval.low, interval.high])?;
        }
        Ok(())
    }
}
