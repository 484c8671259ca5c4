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
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("n", &self.n)?;
        known_or_reason(&mut map, "mean", self.mean, EMPTY)?;
        known_or_reason(&mut map, "std", self.std, EMPTY)?;
        known_or_reason(&mut map, "min", self.min, EMPTY)?;
        let percentiles = [
            ("p50", self.p50),
            ("p90", self.p90),
            ("p95", self.p95),
            ("p99", self.p99),
            ("p999", self.p999),
        ];
        for (key, quantile) in percentiles {
            self.percentile(&mut map, key, quantile)?;
        }
        known_or_reason(&mut map, "max", self.max, EMPTY)?;
        map.serialize_entry("resolution", self.resolution.as_str())?;
        map.end()
    }
}

impl Distribution {
    fn percentile<M: SerializeMap>(
        &self,
        map: &mut M,
        key: &str,
        quantile: Quantile,
    ) -> Result<(), M::Error> {
        let reason = match quantile {
            Quantile::Withheld { needs } => format!("needs {needs} values, has {}", self.n),
            Quantile::Absent | Quantile::Known { .. } => EMPTY.to_owned(),
        };
        known_or_reason(map, key, quantile.value(), &reason)?;
        if let Some(interval) = quantile.interval() {
            map.serialize_entry(&format!("{key}_ci"), &[interval.low, interval.high])?;
        }
        Ok(())
    }
}
