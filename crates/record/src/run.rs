//! `run.json`: what was asked of a run, of whom, and who measured.

mod client;
mod deployment;
mod merged;
mod requested;

pub use client::{CalibrationEnd, ClientCalibration, ClientPlan, OnTimeStreams};
pub use deployment::{DeployError, DeploymentRecord, EngineChoices};
pub use merged::{ImportedFrom, ImportedSource, MergedShard};
pub use requested::{RequestTimeouts, RequestedLength, RequestedLengths};

use fizeau_core::{Millis, UsdPerHour, document};
use fizeau_metrics::{GoodputGoals, LoadPacing};
use fizeau_workload::{ArrivalLaw, Shard};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};

use crate::fields::told;
use crate::{ChangedField, DocumentFields, EndpointRecord, Json, LevelPlan, RunSetup};

/// The schema of `run.json`.
pub(crate) const RUN: &str = "fizeau.run/2";

/// The schema of the tapes beside it. A document that names none is from before there were others.
pub(crate) const TAPES: &str = "fizeau.tapes/2";

document! {
    /// `run.json` (schema `fizeau.run/2`): what was asked, written before the first request that counts, with all that a reader needs to
    /// judge a figure or to measure it again. What does not apply is left out.
    ///
    /// ```
    /// use fizeau_record::{RequestedLengths, Json, RunDocument, RunSetup};
    ///
    /// let mut document = RunDocument::new(RunSetup::default(), Json::default(), RequestedLengths::default());
    /// document.goodput = vec!["ttft:500".to_owned()];
    /// assert!(document.ab.is_none());
    /// ```
    #[non_exhaustive]
    pub struct RunDocument as "Run" {
        #[cfg_attr(feature = "schema", schemars(extend("const" = RUN)))]
        #[serde(deserialize_with = "present_schema")]
        schema: String,
        #[serde(default = "earliest_tapes")]
        #[cfg_attr(feature = "schema", schemars(extend("const" = TAPES)))]
        tapes_schema: String,
        /// The version of the program that wrote it.
        #[serde(default)]
        pub version: String,
        /// What the wall clock showed at the epoch that all stamps count from, in nanoseconds since 1970: shards of a run on
        /// several machines are put on one axis by it, and nothing else is. Absent where time was not the wall's.
        pub epoch_unix_ns?: u64,
        /// Whose time it was, where it was not the wall's.
        pub time?: RunTime,
        /// What was run, and on what.
        #[serde(default)]
        pub setup: RunSetup,
        /// What is asked, but for the number of requests, which is each level's own: the specification of a plan or of a trace.
        #[serde(default)]
        pub plan: Json,
        /// The lengths that follow from it.
        #[serde(default)]
        pub lengths: RequestedLengths,
        /// The specification of the stream of probes beside it, without an end of its own; absent if there is none.
        pub probe?: Json,
        /// Which share of it was sent from here, as given: `0/2`; absent for all of it.
        pub shard?: String,
        /// In the order in which they are measured.
        #[serde(default)]
        pub levels: Vec<LevelPlan>,
        /// Fields that the body of each request had besides; absent if none.
        pub sampling?: Json,
        /// The time limits of a request.
        #[serde(default)]
        pub timeouts: RequestTimeouts,
        /// Goals of each request, as they were given.
        #[serde(default)]
        pub goodput: Vec<String>,
        /// Goals of levels, as they were given; absent where nobody gave any, and of runs from before they were kept here.
        pub slo?: String,
        /// Who was to measure; absent where nobody did.
        pub client?: ClientPlan,
        /// What was found out of the endpoint before; absent if nobody asked.
        pub probed?: Json,
        /// Of an A/B run, how its sides take turns. The endpoint above is A's.
        pub ab?: AbPlan,
        /// How the model lies on its devices, where there is a speed of light: with the config and the device's file beside it, all
        /// that it is computed from.
        pub speed_of_light?: DeploymentRecord,
        /// How long the device's file beside it is, in bytes; absent where there is none. A shorter one still reads as a device, but as
        /// another one.
        pub device_file_bytes?: u64,
        /// What an hour of one device costs, as it was given; what was published is not the run's to say.
        pub gpu_hour_usd?: UsdPerHour,
        /// The shards that it was merged from; empty of any other run.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub merged: Vec<MergedShard>,
        /// Why they ought not to have been merged, where that was forced.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub merged_though: Vec<String>,
        /// Where it was imported from; absent of a run of our own.
        pub imported?: ImportedFrom,
    }
}

/// A time that is not the wall's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunTime {
    /// An engine was simulated in a time of its own.
    Virtual,
}

document! {
    /// How the sides of an A/B run take turns.
    pub struct AbPlan {
        /// How many rounds, of one turn a side.
        pub rounds: u32,
        /// The pause before each turn.
        pub settle_ms: Millis,
        /// What the requests to both sides have in common.
        pub prompts: AbPrompts,
        /// What A is called; absent if it has no name.
        pub a_name: Option<String>,
        /// What B is called.
        pub b_name: Option<String>,
        /// What was called for B.
        pub b_endpoint: EndpointRecord,
        /// What was found out of B before; absent if nobody asked.
        pub b_probed?: Json,
    }
}

/// What the requests to one side have in common with those to the other. Instants, lengths and order are always the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AbPrompts {
    /// The same prompts: the requests are identical.
    #[default]
    Same,
    /// Each side has words of its own. For two sides with one prefix cache (the same server with different options, two
    /// models of one server): there, whoever is second in a round would find all prompts of the first one cached.
    OwnBySide,
}

/// A document of an earlier schema is read as one of the present.
fn present_schema<'de, D: Deserializer<'de>>(schema: D) -> Result<String, D::Error> {
    IgnoredAny::deserialize(schema).map(|_| RUN.to_owned())
}

/// Of a document from before it named that of its tapes.
fn earliest_tapes() -> String {
    "fizeau.tapes/1".to_owned()
}

impl RunDocument {
    /// Of a run of `plan`, whose number of requests is each level's own, in the wall's time.
    #[must_use]
    pub fn new(setup: RunSetup, plan: Json, lengths: RequestedLengths) -> Self {
        Self {
            schema: RUN.to_owned(),
            tapes_schema: TAPES.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            epoch_unix_ns: None,
            time: None,
            setup,
            plan: plan.without("requests"),
            lengths,
            probe: None,
            shard: None,
            levels: Vec::new(),
            sampling: None,
            timeouts: RequestTimeouts::default(),
            goodput: Vec::new(),
            slo: None,
            client: None,
            probed: None,
            ab: None,
            speed_of_light: None,
            device_file_bytes: None,
            gpu_hour_usd: None,
            merged: Vec::new(),
            merged_though: Vec::new(),
            imported: None,
        }
    }

    /// The schema of the tapes beside it.
    pub(crate) fn tapes_schema(&self) -> &str {
        &self.tapes_schema
    }

    /// Whether its time was not the wall's.
    #[must_use]
    pub(crate) fn is_virtual(&self) -> bool {
        self.time == Some(RunTime::Virtual)
    }

    /// Which part of a run of several shards it is by itself; none of a whole run, and of parts that were merged.
    #[must_use]
    pub fn part(&self) -> Option<Shard> {
        let shard: Shard = self.shard.as_deref()?.parse().ok()?;
        (self.merged.is_empty() && shard != Shard::WHOLE).then_some(shard)
    }

    /// What sets its pace, as its plan has it.
    #[must_use]
    pub fn pace(&self) -> LoadPacing {
        match self.plan.get("arrivals").and_then(Json::text) {
            Some("closed_loop") => LoadPacing::ClosedLoop,
            Some("all_at_once") => LoadPacing::AllAtOnce,
            _ => LoadPacing::OpenLoop,
        }
    }

    /// The law of arrivals of its plan; none where that is the times of a trace. Each level of a sweep has one of its own.
    #[must_use]
    pub fn arrival_law(&self) -> Option<ArrivalLaw> {
        self.plan.get("arrivals")?.read()
    }

    /// What sets its prompts apart from those of other runs; none where its plan does not say.
    #[must_use]
    pub fn salt(&self) -> Option<u64> {
        self.plan.get("salt")?.whole()
    }

    /// The seed of its plan; a sweep has one for each level, too.
    #[must_use]
    pub fn seed(&self) -> Option<u64> {
        self.plan.get("seed")?.whole()
    }

    /// The tool that measured, where it was imported.
    #[must_use]
    pub(crate) fn imported_tool(&self) -> Option<&str> {
        Some(&self.imported.as_ref()?.source.as_ref()?.tool)
    }

    /// Of an A/B run, the same as B has it: its endpoint, and what was found out of that. Any other run is as it is.
    #[must_use]
    pub(crate) fn of_side_b(&self) -> Self {
        let mut own = self.clone();
        if let Some(ab) = &self.ab {
            own.setup.endpoint = ab.b_endpoint.clone();
            own.probed.clone_from(&ab.b_probed);
        }
        own
    }

    /// The fields in which a sweep that is resumed differs from what `now` is asked for, and must not: what is measured and how, but
    /// not when, by whom and with which client.
    #[must_use]
    pub fn differing_when_resumed(&self, now: &Self) -> Vec<ChangedField> {
        const SAME: [&str; 15] = [
            "setup.endpoint",
            "setup.engine",
            "setup.workload",
            "setup.model_config",
            "setup.hardware",
            "setup.deployment",
            "plan",
            "lengths",
            "levels",
            "sampling",
            "timeouts",
            "goodput",
            "slo",
            "speed_of_light",
            "time",
        ];
        let differing = self.fields().differing(&now.fields(), &SAME);
        told(&differing).cloned().collect()
    }

    /// Its leaves, to be compared with those of another: each goal in the one form that it has, however it was typed.
    #[must_use]
    pub fn fields(&self) -> DocumentFields {
        let mut document = self.clone();
        for goal in &mut document.goodput {
            if let Ok(plain) = goal.parse::<GoodputGoals>() {
                *goal = plain.to_string();
            }
        }
        DocumentFields::of(&document).unwrap_or_default()
    }
}
