//! What goes on record about a run: when, with what command line, on which machine.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use fizeau::core::{Clock as _, Millis, Nanos, Stamp, UsdPerHour};
use fizeau::harness;
use fizeau::record::LevelPlan;
use fizeau::report::{Endpoint, Host, Setup, ToolVersion};
use fizeau::roofline::HourlyRate;
use fizeau::transport::MonotonicClock;
use fizeau::workload::Spec;
use serde::Serialize;

use crate::calibrate::Calibration;
use crate::endpoint::Called;
use crate::exit::Fail;
use crate::probe::Found;
use crate::speed::Spread;
use crate::workload::AskedLength;

/// The wall clock, read once per run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WallTime {
    year: u64,
    month: u64,
    day: u64,
    second_of_day: u64,
}

impl WallTime {
    /// Now, in UTC.
    pub(crate) fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::from_unix(since.as_secs())
    }

    /// Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": `civil_from_days`, for days from 1970 on.
    const fn from_unix(seconds: u64) -> Self {
        let day = seconds / 86_400 + 719_468;
        let era = day / 146_097;
        let day_of_era = day % 146_097;
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        let january_or_february = if month <= 2 { 1 } else { 0 };
        Self {
            year: year_of_era + era * 400 + january_or_february,
            month,
            day: day_of_year - (153 * shifted_month + 2) / 5 + 1,
            second_of_day: seconds % 86_400,
        }
    }

    fn clock(self) -> (u64, u64, u64) {
        let s = self.second_of_day;
        (s / 3_600, s / 60 % 60, s % 60)
    }

    /// `2026-11-20T18:45:00Z`.
    pub(crate) fn rfc3339(self) -> String {
        let (h, m, s) = self.clock();
        format!("{:04}-{:02}-{:02}T{h:02}:{m:02}:{s:02}Z", self.year, self.month, self.day)
    }

    /// `20261120-184500`, as vLLM dates its results.
    pub(crate) fn compact(self) -> String {
        let (h, m, s) = self.clock();
        format!("{:04}{:02}{:02}-{h:02}{m:02}{s:02}", self.year, self.month, self.day)
    }

    /// The folder of a run that was given none: `fizeau-runs/20261120-184500-sweep`, and `...-sweep-2` where another began in the
    /// same second.
    pub(crate) fn folder(self, what: &str) -> PathBuf {
        let name = format!("{}-{what}", self.compact());
        let first = PathBuf::from("fizeau-runs").join(&name);
        let next = |count: u32| first.with_file_name(format!("{name}-{count}"));
        let mut further = (2..1_000).map(next);
        match first.exists() {
            true => further.find(|path| !path.exists()).unwrap_or(first),
            false => first,
        }
    }
}

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
    lengths: Lengths,
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
    sampling: Option<&'a serde_json::Value>,
    /// The time limits of a request; what is not among them is not limited.
    timeouts: BTreeMap<&'static str, Millis>,
    /// Per-request goals, as they were given.
    goodput: &'a [String],
    /// Absent where nobody measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<ClientPlan<'a>>,
    /// What `--backend auto` found out.
    #[serde(skip_serializing_if = "Option::is_none")]
    probed: Option<&'a Found>,
    /// Of an A/B run, how its sides take turns. The endpoint above is A's.
    #[serde(skip_serializing_if = "Option::is_none")]
    ab: Option<AbPlan<'a>>,
    /// How the model lies on its devices, where there is a speed of light: with the config and the device's file beside it, all
    /// that it is computed from.
    #[serde(skip_serializing_if = "Option::is_none")]
    speed_of_light: Option<&'a Spread>,
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
    pub(crate) b_probed: Option<&'a Found>,
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
    pub(crate) plan: serde_json::Value,
    /// Of prompts and of outputs.
    pub(crate) lengths: (AskedLength, AskedLength),
    /// The stream of probes beside it.
    pub(crate) probe: Option<&'a Spec>,
    /// Which share of it is sent from here, as given.
    pub(crate) shard: Option<&'a str>,
}

/// Lengths by their law and as quantiles.
#[derive(Debug, Serialize)]
struct Lengths {
    input: AskedLength,
    output: AskedLength,
}

impl<'a> RunDocument<'a> {
    /// What is asked, in virtual time unless it [is measured](Self::measured).
    pub(crate) fn new(
        setup: &'a Setup,
        asked: AskedPlan<'a>,
        levels: Vec<LevelPlan>,
        goodput: &'a [String],
    ) -> Result<Self, Fail> {
        let AskedPlan { plan, lengths: (input, output), probe, shard } = asked;
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
            lengths: Lengths { input, output },
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
        called: &'a Called,
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
            sampling: Some(&called.sampling).filter(|body| **body != serde_json::json!({})),
            timeouts: limits.collect(),
            client: Some(client),
            probed: called.found.as_ref(),
            ..self
        }
    }

    /// With what its speed of light is computed from.
    pub(crate) fn with_spread(self, speed_of_light: Option<&'a Spread>) -> Self {
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

/// What the wall clock showed at the epoch of `clock`, in nanoseconds since 1970.
pub(crate) fn epoch_unix_ns(clock: &MonotonicClock) -> u64 {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let since = Nanos::from(wall).saturating_sub(clock.now().saturating_since(Stamp::EPOCH));
    since.as_nanos()
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
    use super::{WallTime, redact};

    #[test]
    fn dates_are_those_of_the_calendar() {
        // `date -u -d @SECONDS +%Y-%m-%dT%H:%M:%SZ` of GNU coreutils.
        let cases = [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (1_795_200_300, "2026-11-20T18:45:00Z"),
        ];
        for (unix, text) in cases {
            assert_eq!(WallTime::from_unix(unix).rfc3339(), text);
        }
        assert_eq!(WallTime::from_unix(1_795_200_300).compact(), "20261120-184500");
    }

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
