//! A distribution in JSON.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use fizeau_core::Interval;

use super::{Distribution, EarlyStopping, Quantile};
use crate::Support;
use crate::json::known_or_reason;

const EMPTY: &str = "no values";

impl Serialize for Distribution {
    /// One flat object: `n`, `mean`, `std`, `min`, `p50`, `p90`, `p95`, `p99`, `p999`, `max`, `resolution`. A figure
    /// that is unknown is null and has a sibling `..._reason` (`"p99": null, "p99_reason": "needs 100 values, has
    /// 18"`). The mean and the percentiles have a sibling `..._ci`, a pair of the ends of the interval, or null and a reason;
    /// where it is not known how the values hang together there is none. With `mean_ci` comes `effective_n`, and with
    /// MLPerf's bounds `early_stopping`.
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
        interval_or_reason(&mut map, "mean", sample.mean_interval)?;
        if let Some(worth) = sample.effective_n {
            map.serialize_entry("effective_n", &worth)?;
        }
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
        if let Some(bounds) = &sample.early_stopping {
            map.serialize_entry("early_stopping", bounds)?;
        }
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
        match quantile {
            Quantile::Known { interval, .. } => interval_or_reason(map, key, interval),
            Quantile::Absent | Quantile::Withheld { .. } => Ok(()),
        }
    }
}

/// Writes `KEY_ci`: the ends of an interval, or null and a reason; nothing where there is none to be had.
pub(crate) fn interval_or_reason<M: SerializeMap, T: Serialize + Copy>(
    map: &mut M,
    key: &str,
    interval: Option<Support<Interval<T>>>,
) -> Result<(), M::Error> {
    let Some(interval) = interval else { return Ok(()) };
    let ends = interval.known().map(Interval::ends);
    known_or_reason(map, &format!("{key}_ci"), ends, &reason(&interval))
}

/// Why there is no interval.
fn reason<T>(support: &Support<T>) -> String {
    match support {
        Support::Known(_) => String::new(),
        Support::NotSupported { needs, has } => format!("needs about {needs} values, has {has}"),
    }
}

impl Serialize for EarlyStopping {
    /// An object of `p90` and `p99`, in milliseconds.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, bound) in [("p90", self.p90), ("p99", self.p99)] {
            let reason = match bound {
                Support::Known(_) => String::new(),
                Support::NotSupported { needs, has } => {
                    format!("needs {needs} requests, has {has}")
                }
            };
            known_or_reason(&mut map, key, bound.known(), &reason)?;
        }
        map.end()
    }
}
