//! What was asked for of a load, as figures to stand beside what was sent.

use fizeau_core::PerSec;
use fizeau_metrics::CacheExpectation;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// What was asked for of a load, as figures to stand beside what was sent. Lengths are not among them: the tapes have what
/// was asked of each request.
///
/// ```
/// use fizeau_core::PerSec;
/// use fizeau_record::{Asked, AskedArrivals};
///
/// let poisson = AskedArrivals { rate: Some(PerSec::new(100.0)), cv_squared: Some(1.0) };
/// let asked = Asked { arrivals: Some(poisson), ..Asked::default() };
/// # assert!(asked.arrivals.is_some());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Asked {
    /// The law of arrivals; absent in a closed loop, where the endpoint sets the pace.
    pub arrivals: Option<AskedArrivals>,
    /// What a prefix cache was expected to supply.
    pub cache: CacheExpectation,
}

/// A law of arrivals by its first two moments.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct AskedArrivals {
    /// Mean arrivals per second; absent where all arrive at once, or the law has no one rate.
    pub rate: Option<PerSec>,
    /// Squared coefficient of variation of the gaps: 0 for an even spacing, 1 for Poisson, one over the burstiness for
    /// gamma; absent where the law has no one number.
    pub cv_squared: Option<f64>,
}

impl Serialize for Asked {
    /// An object of `arrivals`, `cache` (`none`, `share` or `reuse`) and `cached_share`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (cache, share, reason) = match self.cache {
            CacheExpectation::None => ("none", None, "no prompts were to begin alike"),
            CacheExpectation::Share(share) => ("share", Some(share), ""),
            CacheExpectation::Reuse => {
                ("reuse", None, "prompts repeat earlier ones, or begin with them, on purpose")
            }
        };
        let mut map = serializer.serialize_map(None)?;
        let closed = "a closed loop: the endpoint sets the pace";
        known_or_reason(&mut map, "arrivals", self.arrivals, closed)?;
        map.serialize_entry("cache", cache)?;
        known_or_reason(&mut map, "cached_share", share, reason)?;
        map.end()
    }
}

#[cfg(feature = "schema")]
fizeau_core::object_schema!(
    Asked,
    "Asked",
    "What was asked for, to stand beside what was sent.",
    |o| o
        .or_reason::<AskedArrivals>("arrivals")
        .word("cache", &["none", "share", "reuse"])
        .or_reason::<f64>("cached_share")
);

#[cfg(feature = "schema")]
fizeau_core::object_schema!(
    AskedArrivals,
    "AskedArrivals",
    "A law of arrivals by two moments.",
    |o| o.or_reason::<PerSec>("rate_per_s").or_reason::<f64>("cv_squared")
);

impl Serialize for AskedArrivals {
    /// An object of `rate_per_s` and `cv_squared`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let no_rate = "all at once, or not one rate";
        known_or_reason(&mut map, "rate_per_s", self.rate, no_rate)?;
        known_or_reason(&mut map, "cv_squared", self.cv_squared, "not one number")?;
        map.end()
    }
}

fn known_or_reason<M: SerializeMap, T: Serialize + Copy>(
    map: &mut M,
    key: &str,
    value: Option<T>,
    reason: &str,
) -> Result<(), M::Error> {
    map.serialize_entry(key, &value)?;
    if value.is_none() {
        map.serialize_entry(&format!("{key}_reason"), reason)?;
    }
    Ok(())
}
