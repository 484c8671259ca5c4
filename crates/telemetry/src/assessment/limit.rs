//! What limits a server.

use fizeau_roofline::{LimitingResource, PassTime};
use serde::{Deserialize, Serialize};

/// What limits what a server generates: what to change first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum ServingLimit {
    /// Nothing was asked of it.
    Idle,
    /// More requests wait than a tenth of those that run: there are too few replicas, or each admits too few.
    Queue,
    /// Steps wait for the weights, and memory has room for twice the requests, which would share the reading: there are too many
    /// replicas for the load.
    BatchTooSmall,
    /// Steps wait for the weights, and there is no room for many more requests.
    Weights,
    /// Steps wait for the key-value cache.
    Cache,
    /// Steps wait for arithmetic.
    Compute,
}

fizeau_core::words! {
    /// The name used in files.
    pub ServingLimit::as_str, all {
        Idle = "idle", Queue = "queue", BatchTooSmall = "batch_too_small", Weights = "weights", Cache = "cache",
        Compute = "compute",
    }
}

impl std::fmt::Display for ServingLimit {
    /// For a reader: `batch too small`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BatchTooSmall => f.write_str("batch too small"),
            _ => f.write_str(self.as_str()),
        }
    }
}

impl From<LimitingResource> for ServingLimit {
    fn from(resource: LimitingResource) -> Self {
        match resource {
            LimitingResource::Weights => Self::Weights,
            LimitingResource::Kv => Self::Cache,
            // Of links, room and power no bound's pass waits.
            _ => Self::Compute,
        }
    }
}

/// What a limit is judged by.
pub(super) struct Signs<'a> {
    pub(super) running: f64,
    pub(super) waiting: Option<f64>,
    pub(super) kv_use: Option<f64>,
    /// How many such requests memory holds.
    pub(super) most: Option<f64>,
    /// The mean pass.
    pub(super) step: Option<&'a PassTime>,
    pub(super) is_working: bool,
}

pub(super) fn judge(signs: &Signs<'_>) -> ServingLimit {
    if signs.waiting.is_some_and(|waiting| waiting >= 1.0 && waiting > 0.1 * signs.running) {
        return ServingLimit::Queue;
    }
    if !signs.is_working {
        return ServingLimit::Idle;
    }
    match signs.step.map(|step| step.binding.limit().into()) {
        Some(ServingLimit::Weights) if has_room(signs) => ServingLimit::BatchTooSmall,
        Some(other) => other,
        // Prompts alone, or requests too short for the gauge to see any.
        None if signs.running > 0.0 => ServingLimit::Compute,
        None => ServingLimit::BatchTooSmall,
    }
}

/// Whether memory holds twice the requests that run, as far as anything says so.
fn has_room(signs: &Signs<'_>) -> bool {
    let by_use = signs.kv_use.map(|share| share <= 0.5);
    by_use.or_else(|| Some(signs.most? >= 2.0 * signs.running)).unwrap_or(false)
}
