//! What goes on record about a run: when, with what command line, on which machine.

use std::collections::BTreeMap;

use fizeau::core::{Millis, UsdPerHour};
use fizeau::experiment::{
    AskedLengths, ClientCalibration, DeploymentRecord, DetectedEndpoint, PreparedEndpoint,
    RunOrigin, SpeedOfLightReference, WorkloadRecord,
};
use fizeau::record::LevelPlan;
use fizeau::record::{Endpoint, Setup};
use fizeau::roofline::HourlyRate;
use fizeau::workload::Spec;
use serde::Serialize;

use crate::exit::Fail;

/// `run.json`: what was asked, written before the first request that counts.
#[derive(Debug, Serialize)]
pub(crate) struct RunDocument<'a> {
    schema: &'static str,
    /// Of the tapes beside it.
    tapes_schema: &'static str,
    version: &'static str,
    /// What the wall clock showed at the epoch that all stamps count from, in nanoseconds since 1970: shards of a run on
    /// several machines are put on one axis by it, and nothing else is. Absent where time was not the wall's.
    #[serde(skip_serializing_if = "Option::is_none")]
    epoch_unix_ns: Option<u64>,
    /// `virtual` where an engine was simulated in a time of its own; absent for the wall's.
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<&'static str>,
    setup: &'a Setup,
    /// What is asked, but for the number of requests, which is each level's own.
    plan: serde_json::Value,
    /// The lengths that follow from it.
    lengths: AskedLengths,
    /// The stream of probes beside it, without an end of its own; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    probe: Option<serde_json::Value>,
    /// Which share of it was sent from here; absent for all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<&'a str>,
    /// In the order in which they are measured.
    levels: Vec<LevelPlan>,
    /// Fields that the body of each request had besides: what sampling flags and `--extra-body` gave; absent if nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    sampling: Option<serde_json::Value>,
    /// The time limits of a request; what is not among them is not limited.
    timeouts: BTreeMap<&'static str, Millis>,
    /// Per-request goals, as they were given.
    goodput: &'a [String],
    /// Absent where nobody measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<ClientPlan<'a>>,
    /// What `--backend auto` found out.
    #[serde(skip_serializing_if = "Option::is_none")]
    probed: Option<&'a DetectedEndpoint>,
    /// Of an A/B run, how its sides take turns. The endpoint above is A's.
    #[serde(skip_serializing_if = "Option::is_none")]
    ab: Option<AbPlan<'a>>,
    /// How the model lies on its devices, where there is a speed of light: with the config and the device's file beside it, all
    /// that it is computed from.
    #[serde(skip_serializing_if = "Option::is_none")]
    speed_of_light: Option<&'a DeploymentRecord>,
    /// What an hour of one device costs, as it was given; what was published is not the run's to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    gpu_hour_usd: Option<UsdPerHour>,
}

/// How the sides of an A/B run take turns.
#[derive(Debug, Serialize)]
pub(crate) struct AbPlan<'a> {
    pub(crate) rounds: u32,
    pub(crate) settle_ms: Millis,
    /// Whether both sides have the same prompts, or each side its own.
    pub(crate) prompts: &'static str,
    pub(crate) a_name: Option<&'a str>,
    pub(crate) b_name: Option<&'a str>,
    pub(crate) b_endpoint: Endpoint,
    /// What `--backend auto` found out of B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) b_probed: Option<&'a DetectedEndpoint>,
}

/// The client that was to measure.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct ClientPlan<'a> {
    /// How many threads were to measure.
    pub(crate) threads: usize,
    /// Where the verdict was to begin to doubt, as given; where nothing was, the defaults hold.
    pub(crate) thresholds: &'a [String],
    /// What it can do at most, where that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) calibration: Option<&'a ClientCalibration>,
}

/// What is asked.
pub(crate) struct AskedPlan<'a> {
    /// The whole specification.
    pub(crate) plan: WorkloadRecord,
    /// Of prompts and of outputs.
    pub(crate) lengths: AskedLengths,
    /// The stream of probes beside it.
    pub(crate) probe: Option<&'a Spec>,
    /// Which share of it is sent from here, as given.
    pub(crate) shard: Option<&'a str>,
}

impl<'a> RunDocument<'a> {
    /// What is asked, in virtual time unless it [is measured](Self::measured).
    pub(crate) fn new(
        setup: &'a Setup,
        asked: AskedPlan<'a>,
        levels: Vec<LevelPlan>,
        goodput: &'a [String],
    ) -> Result<Self, Fail> {
        let AskedPlan { plan, lengths, probe, shard } = asked;
        let plan = serde_json::to_value(plan).map_err(Fail::broken)?;
        let probe = probe.map(serde_json::to_value).transpose().map_err(Fail::broken)?;
        Ok(Self {
            schema: "fizeau.run/1",
            tapes_schema: "fizeau.tapes/1",
            epoch_unix_ns: None,
            time: Some("virtual"),
            version: env!("CARGO_PKG_VERSION"),
            setup,
            plan: without_requests(plan),
            probe: probe.map(without_requests),
            lengths,
            shard,
            levels,
            sampling: None,
            timeouts: BTreeMap::new(),
            goodput,
            client: None,
            probed: None,
            ab: None,
            speed_of_light: None,
            gpu_hour_usd: None,
        })
    }

    /// The record of a run that `client` measures at the endpoint that is `called`; the wall clock showed `epoch_unix_ns`
    /// at its epoch.
    pub(crate) fn measured(
        self,
        called: &'a PreparedEndpoint,
        client: ClientPlan<'a>,
        epoch_unix_ns: u64,
    ) -> Self {
        let timeouts = &called.timeouts;
        let limits = [
            ("connect_ms", timeouts.connect),
            ("first_token_ms", timeouts.first_token),
            ("idle_ms", timeouts.idle),
            ("total_ms", timeouts.total),
        ];
        let limits =
            limits.into_iter().filter_map(|(name, limit)| Some((name, limit?.to_millis())));
        Self {
            epoch_unix_ns: Some(epoch_unix_ns),
            time: None,
            sampling: sampling(&called.extra_body),
            timeouts: limits.collect(),
            client: Some(client),
            probed: called.found.as_ref(),
            ..self
        }
    }

    /// With what its speed of light is computed from.
    pub(crate) fn with_light(self, light: Option<&'a SpeedOfLightReference>) -> Self {
        Self { speed_of_light: light.map(SpeedOfLightReference::deployment), ..self }
    }

    /// With what an hour of a device costs, where somebody said.
    pub(crate) fn with_price(self, price: Option<&HourlyRate>) -> Self {
        Self { gpu_hour_usd: price.map(HourlyRate::low), ..self }
    }

    /// The record of an A/B run.
    pub(crate) fn with_ab(self, ab: AbPlan<'a>) -> Self {
        Self { ab: Some(ab), ..self }
    }
}

/// The fields of a body, where there are any.
fn sampling(body: &str) -> Option<serde_json::Value> {
    serde_json::from_str(body).ok().filter(|body| *body != serde_json::json!({}))
}

/// How many requests is each level's own.
fn without_requests(mut spec: serde_json::Value) -> serde_json::Value {
    if let Some(fields) = spec.as_object_mut() {
        fields.remove("requests");
    }
    spec
}

/// Who runs this, from now on.
pub(crate) fn origin() -> RunOrigin {
    let words = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned());
    RunOrigin::now().with_command_line(words)
}
