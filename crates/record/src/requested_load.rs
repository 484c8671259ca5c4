//! What was asked for of a load, as figures to stand beside what was sent.

use fizeau_core::PerSec;
use fizeau_metrics::CacheExpectation;
use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use crate::reasons::listed;
use crate::reasons::reasons;

/// What was asked for of a load, as figures to stand beside what was sent. Lengths are not among them: the tapes have what
/// was asked of each request.
///
/// ```
/// use fizeau_core::PerSec;
/// use fizeau_record::{RequestedLoad, ArrivalMoments};
///
/// let poisson = ArrivalMoments { rate: Some(PerSec::new(100.0)), cv_squared: Some(1.0) };
/// let asked = RequestedLoad { arrivals: Some(poisson), ..RequestedLoad::default() };
/// # assert!(asked.arrivals.is_some());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(from = "RequestedLoadJson", into = "RequestedLoadJson")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestedLoad {
    /// The law of arrivals; absent in a closed loop, where the endpoint sets the pace.
    pub arrivals: Option<ArrivalMoments>,
    /// What a prefix cache was expected to supply.
    pub cache: CacheExpectation,
}

/// A law of arrivals by its first two moments.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(remote = "Self")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = listed::<Self>))]
pub struct ArrivalMoments {
    /// Mean arrivals per second; absent where all arrive at once, or the law has no one rate.
    #[serde(rename = "rate_per_s")]
    pub rate: Option<PerSec>,
    /// Squared coefficient of variation of the gaps: 0 for an even spacing, 1 for Poisson, one over the burstiness for
    /// gamma; absent where the law has no one number.
    pub cv_squared: Option<f64>,
}

reasons!(ArrivalMoments, |law| {
    rate as "rate_per_s" => "all requests leave at once, or the rate changes";
    cv_squared => "not one number";
});

/// As it is written: what the cache is expected to supply in two fields.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(remote = "Self")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = listed::<Self>))]
struct RequestedLoadJson {
    arrivals: Option<ArrivalMoments>,
    #[serde(default)]
    cache: Cache,
    cached_share: Option<f64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
enum Cache {
    #[default]
    None,
    Share,
    Reuse,
}

reasons!(RequestedLoadJson, |requested| {
    arrivals => "a closed loop: the endpoint sets the pace";
    cached_share => match requested.cache {
        Cache::Reuse => "prompts repeat earlier ones, or begin with them, on purpose",
        Cache::None | Cache::Share => "no prompts were meant to share a prefix",
    };
});

impl From<RequestedLoad> for RequestedLoadJson {
    fn from(RequestedLoad { arrivals, cache }: RequestedLoad) -> Self {
        let (cache, cached_share) = match cache {
            CacheExpectation::None => (Cache::None, None),
            CacheExpectation::Share(share) => (Cache::Share, Some(share)),
            CacheExpectation::Reuse => (Cache::Reuse, None),
        };
        Self { arrivals, cache, cached_share }
    }
}

impl From<RequestedLoadJson> for RequestedLoad {
    fn from(RequestedLoadJson { arrivals, cache, cached_share }: RequestedLoadJson) -> Self {
        let cache = match (cache, cached_share) {
            (Cache::Share, Some(share)) => CacheExpectation::Share(share),
            (Cache::Reuse, _) => CacheExpectation::Reuse,
            (Cache::None | Cache::Share, _) => CacheExpectation::None,
        };
        Self { arrivals, cache }
    }
}
