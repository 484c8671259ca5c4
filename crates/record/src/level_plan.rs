//! What a level is to be, for its record.

use fizeau_core::Millis;
use fizeau_core::{LevelLoad, document};
use fizeau_metrics::WindowChoice;
use serde::{Deserialize, Serialize};

use crate::ArrivalMoments;

document! {
    /// What a level is to be, as `run.json` has it of every level that is planned ahead, and `level.json` (schema
    /// `fizeau.level/1`) of the one beside whose tapes it lies. What is absent is not limited, or does not apply.
    pub struct LevelPlan {
        /// Its load; absent of a run that is no sweep.
        pub load?: LevelLoad,
        /// How many times this load was measured before; absent of a run that is no sweep.
        pub visit?: u32,
        /// What it is for, where it is not a level of the curve.
        pub role?: LevelRole,
        /// The most requests that it has.
        pub requests: u64,
        /// How many are sent first that never count; absent of an import, which does not say.
        pub warmup_requests?: u64,
        /// The cap on requests in flight.
        pub max_in_flight?: u32,
        /// How many slots all shards of a closed loop had together, by which its sessions were dealt: session `s` to slot `s` modulo this,
        /// and that slot to the shard of its number modulo their count. Absent where sessions were dealt to shards one by one, and where one
        /// client sent them all.
        pub slots_of_all?: u32,
        /// When requests of an open loop come.
        pub arrivals?: ArrivalMoments,
        /// It releases nothing after this.
        pub release_for_ms?: Millis,
        /// Its own seed, in a sweep and in an A/B run.
        pub seed?: u64,
        /// Which part of it is looked at beside the whole; absent of an import.
        pub window?: WindowPlan,
        /// What is to be known before it ends; its requests are then the most that are sent.
        pub until?: String,
    }
}

/// The name of the folder of a level within a sweep: as [`LevelLoad::folder`], and of a sustained run
/// `sustained-concurrency-0008`.
#[must_use]
pub fn level_folder(load: LevelLoad, visit: u32, role: Option<LevelRole>) -> String {
    match role {
        None => load.folder(visit),
        Some(LevelRole::Sustained) => format!("sustained-{}", load.folder(0)),
    }
}

/// What a level is for, where it is not a level of the curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LevelRole {
    /// It shows whether the load of the operating point can be kept up.
    Sustained,
}

/// What to cut at both ends for the figures of the steady state, as given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct WindowPlan {
    /// At the beginning.
    pub warmup: String,
    /// At the end.
    pub cooldown: String,
}

impl From<WindowChoice> for WindowPlan {
    fn from(choice: WindowChoice) -> Self {
        Self { warmup: choice.warmup.to_string(), cooldown: choice.cooldown.to_string() }
    }
}

/// The schema of `level.json`.
pub(crate) const LEVEL: &str = "fizeau.level/1";

document! {
    /// `level.json`: what the level beside it is to be, written before its first request.
    pub struct LevelDocument as "Level",
    /// Of a level that is to be as `to_be` has it.
    #[must_use]
    pub fn new(to_be: LevelPlan) {} {
        #[cfg_attr(feature = "schema", schemars(extend("const" = LEVEL)))]
        schema: String = LEVEL.to_owned(),
        version: String = env!("CARGO_PKG_VERSION").to_owned(),
        /// What it is to be.
        #[serde(flatten)]
        pub plan: LevelPlan = to_be,
    }
}
