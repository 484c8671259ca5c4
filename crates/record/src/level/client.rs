//! The client's proof of innocence, in `summary.json`.

use fizeau_core::{Millis, StampSource, document};
use fizeau_metrics::{CeilingLimit, ClientProof, Distribution};
use serde::{Deserialize, Serialize};

use super::LevelReport;
#[cfg(feature = "schema")]
use crate::reasons::listed;
use crate::reasons::reasons;

/// What the client saw of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Client"))]
pub(crate) enum ClientDocument {
    /// Of a client of ours.
    Own(Box<OwnClient>),
    /// Where there was none, or another tool's: null but for `stamps`, and now and then for how late it sent.
    Other(Box<OtherClient>),
}

document! {
    /// What the client's machine saw, and beside it the latencies that are its own doing.
    pub(crate) struct OwnClient, from |level: &LevelReport| {
        let metrics = &level.summary.metrics;
    } {
        #[serde(flatten)]
        pub(crate) proof: ClientProof = level.client,
        stamps_reason?: String = level.client.stamps.is_none().then(|| "nothing arrived".to_owned()),
        send_lateness_ms: TailFigures = TailFigures::of(&metrics.send_lateness, "nothing was sent"),
        connection_wait_ms: TailFigures = TailFigures::of(&metrics.connection_wait, "nothing was sent"),
        read_lag_ms: TailFigures = TailFigures::of(&metrics.read_lag, "the kernel stamped no arrival"),
        ceiling_share, ceiling_share_reason: f64 =
            level.ceiling_share().ok_or("no ceiling is known, or no tokens came"),
    }
}

/// In virtual time there is no client whose own doing could be in a figure, and that of another tool says nothing of itself but,
/// now and then, how late it sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = listed::<Self>))]
pub(crate) struct OtherClient {
    stamps: Option<StampSource>,
    threads: Option<f64>,
    connections_fresh: Option<f64>,
    connections_replaced: Option<f64>,
    cpu_share: Option<f64>,
    run_delay_share: Option<f64>,
    steal_share: Option<f64>,
    headroom: Option<f64>,
    ceiling: Option<f64>,
    ceiling_share: Option<f64>,
    send_lateness_ms: Option<TailFigures>,
    connection_wait_ms: Option<f64>,
    read_lag_ms: Option<f64>,
}

reasons!(OtherClient, |of| {
    stamps, threads, connections_fresh, connections_replaced, cpu_share, run_delay_share, steal_share, headroom, ceiling,
    ceiling_share, send_lateness_ms, connection_wait_ms, read_lag_ms => of.reason()
});

document! {
    /// Median, tail and greatest of a distribution that stands in full in `metrics`.
    pub(crate) struct TailFigures as "Tail", fn of(sample: &Distribution, empty: &str) {
        let why = if sample.n == 0 { empty } else { "too few values: see metrics" };
    } {
        p50, p50_reason: Millis = sample.p50.value().ok_or(why),
        p99, p99_reason: Millis = sample.p99.value().ok_or(why),
        max, max_reason: Millis = sample.max.ok_or(why),
    }
}

impl ClientDocument {
    pub(super) fn of(level: &LevelReport) -> Self {
        let lateness = &level.summary.metrics.send_lateness;
        if level.is_simulated() || level.unseen.is_some() {
            let is_known = level.unseen.is_some() && lateness.n > 0;
            return Self::Other(Box::new(OtherClient {
                stamps: level.client.stamps,
                send_lateness_ms: is_known.then(|| TailFigures::of(lateness, "")),
                ..OtherClient::NOTHING
            }));
        }
        Self::Own(Box::new(level.into()))
    }

    /// What a client of ours saw of itself; none of any other.
    pub(crate) fn proof(&self) -> Option<&ClientProof> {
        match self {
            Self::Own(own) => Some(&own.proof),
            Self::Other(_) => None,
        }
    }
}

impl OtherClient {
    const NOTHING: Self = Self {
        stamps: None,
        threads: None,
        connections_fresh: None,
        connections_replaced: None,
        cpu_share: None,
        run_delay_share: None,
        steal_share: None,
        headroom: None,
        ceiling: None,
        ceiling_share: None,
        send_lateness_ms: None,
        connection_wait_ms: None,
        read_lag_ms: None,
    };

    fn reason(&self) -> &'static str {
        match self.stamps {
            Some(StampSource::Simulated) => "simulated in virtual time: nobody measured",
            _ => "another tool measured it, and its file does not have it",
        }
    }
}

impl LevelReport {
    /// The share of the client's own ceiling that the level reached; none where no ceiling is known.
    #[must_use]
    pub fn ceiling_share(&self) -> Option<f64> {
        self.nearest_limit().map(|(_, share)| share)
    }

    /// The limit of the client that the level came nearest to, with the share of it that was reached.
    #[must_use]
    pub fn nearest_limit(&self) -> Option<(CeilingLimit, f64)> {
        self.client.watch.ceiling?.nearest(&self.summary)
    }

    /// Whether an engine was simulated in virtual time, and nothing measured.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.client.stamps == Some(StampSource::Simulated)
    }
}
