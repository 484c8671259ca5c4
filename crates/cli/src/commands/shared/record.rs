//! What goes on record about a run: when, with what command line, on which machine.

use std::collections::BTreeMap;

use fizeau::core::{Millis, UsdPerHour};
use fizeau::experiment::{
    AskedLengths, DeploymentRecord, DetectedEndpoint, PreparedEndpoint, WorkloadRecord,
};
use fizeau::harness;
use fizeau::record::LevelPlan;
use fizeau::record::{Endpoint, Host, Setup, ToolVersion};
use fizeau::roofline::HourlyRate;
use fizeau::workload::Spec;
use serde::Serialize;

use crate::commands::shared::calibrate::Calibration;
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
    pub(crate) calibration: Option<&'a Calibration>,
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
    pub(crate) fn with_deployment(self, speed_of_light: Option<&'a DeploymentRecord>) -> Self {
        Self { speed_of_light, ..self }
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

/// This program.
pub(crate) fn tool() -> ToolVersion {
    ToolVersion { name: "fizeau".into(), version: env!("CARGO_PKG_VERSION").into(), commit: None }
}

/// This machine.
pub(crate) fn host() -> Host {
    let here = harness::Host::here();
    Host {
        os: here.system,
        cpu: here.cpu,
        cores: here.logical_cpus.and_then(|n| u32::try_from(n).ok()),
    }
}

/// The command line with the values of headers left out, and user names, passwords and queries out of URLs.
pub(crate) fn command_line() -> Vec<String> {
    redact(std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()))
}

fn redact(args: impl Iterator<Item = String>) -> Vec<String> {
    let mut in_headers = false;
    args.map(|arg| {
        let arg = hide_query(arg);
        if let Some((flag, value)) = arg.split_once('=')
            && flag == "--header"
        {
            return format!("{flag}={}", hide_value(value));
        }
        if arg.starts_with("--") {
            in_headers = arg == "--header";
            return hide_user(&arg);
        }
        if in_headers { hide_value(&arg) } else { hide_user(&arg) }
    })
    .collect()
}

/// `NAME=VALUE` without the value.
fn hide_value(header: &str) -> String {
    let name = header.split(['=', ':']).next().unwrap_or_default();
    format!("{name}=...")
}

/// `/v1/completions?key=...` without what comes after the question mark: some servers take their key there.
fn hide_query(arg: String) -> String {
    match arg.split_once('?') {
        Some((path, query)) if query.contains('=') => format!("{path}?..."),
        _ => arg,
    }
}

/// `http://user:password@host` without what comes before the `@`.
fn hide_user(arg: &str) -> String {
    match arg.split_once("://") {
        Some((scheme, rest)) => {
            let authority = rest.split('/').next().unwrap_or_default();
            match authority.rsplit_once('@') {
                Some((user, _)) => format!("{scheme}://...{}", &rest[user.len()..]),
                None => arg.to_owned(),
            }
        }
        None => arg.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::redact;

    #[test]
    fn secrets_stay_out_of_the_record() {
        let line = "fizeau bench --header Authorization=Bearer-s3cret X-Key:s3cret --header=A=s3cret \
                    --base-url http://me:s3cret@host:8000/v1 --model m --endpoint /v1/completions?key=s3cret \
                    --endpoint=/x?k=s3cret";
        let kept = redact(line.split_whitespace().map(str::to_owned)).join(" ");
        assert!(!kept.contains("s3cret"), "{kept}");
        assert!(kept.contains("Authorization=... X-Key=... --header=A=..."), "{kept}");
        assert!(kept.contains("http://...@host:8000/v1 --model m"), "{kept}");
        assert!(kept.ends_with("--endpoint /v1/completions?... --endpoint=/x?..."), "{kept}");
    }
}
