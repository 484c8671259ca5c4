//! The client's proof of innocence: in `summary.json`, and as lines of a block.

use fizeau_core::StampSource;
use fizeau_metrics::{CeilingLimit, Distribution};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::LevelReport;

/// The part `client` of `summary.json`: what its machine saw, and beside it the latencies that are its own doing.
#[derive(Debug)]
pub(super) struct Client<'a>(pub(super) &'a LevelReport);

impl Serialize for Client<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Parts<'a> {
            #[serde(flatten)]
            proof: &'a fizeau_metrics::ClientProof,
            send_lateness_ms: Tail<'a>,
            connection_wait_ms: Tail<'a>,
            read_lag_ms: Tail<'a>,
            ceiling_share: Option<f64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            ceiling_share_reason: Option<&'static str>,
        }
        let Self(level) = self;
        if level.is_simulated() {
            return nobody(to, level, NOBODY);
        }
        if level.unseen.is_some() {
            return nobody(to, level, ANOTHER);
        }
        let metrics = &level.summary.metrics;
        let ceiling_share = level.ceiling_share();
        let parts = Parts {
            proof: &level.client,
            send_lateness_ms: Tail { of: &metrics.send_lateness, empty: "nothing was sent" },
            connection_wait_ms: Tail { of: &metrics.connection_wait, empty: "nothing was sent" },
            read_lag_ms: Tail { of: &metrics.read_lag, empty: "the kernel stamped no arrival" },
            ceiling_share,
            ceiling_share_reason: ceiling_share
                .is_none()
                .then_some("no ceiling is known, or no tokens came"),
        };
        parts.serialize(to)
    }
}

#[cfg(feature = "schema")]
fizeau_core::object_schema!(
    Client<'_>,
    "Client",
    "What the client saw of itself; of a simulation null but for `stamps`, since nobody measured.",
    |o| o
        .field::<StampSource>("stamps")
        .each(
            &["threads", "connections_fresh", "connections_replaced"],
            fizeau_core::schema::ObjectSchema::or_reason::<u64>
        )
        .each(
            &["cpu_share", "run_delay_share"],
            fizeau_core::schema::ObjectSchema::or_reason::<f64>
        )
        .or_reason::<fizeau_metrics::Headroom>("headroom")
        .or_reason::<fizeau_metrics::Ceiling>("ceiling")
        .each(
            &["send_lateness_ms", "connection_wait_ms", "read_lag_ms"],
            fizeau_core::schema::ObjectSchema::or_reason::<Tail<'_>>
        )
        .or_reason::<f64>("ceiling_share")
);

#[cfg(feature = "schema")]
fizeau_core::object_schema!(
    Tail<'_>,
    "Tail",
    "Median, tail and greatest; in full in `metrics`.",
    |o| o.each(&["p50", "p99", "max"], fizeau_core::schema::ObjectSchema::or_reason::<f64>)
);

/// In virtual time there is no client whose own doing could be in a figure, and that of another tool says nothing of itself but, now
/// and then, how late it sent.
fn nobody<S: Serializer>(
    to: S,
    level: &LevelReport,
    reason: &'static str,
) -> Result<S::Ok, S::Error> {
    let absent = [
        "threads",
        "connections_fresh",
        "connections_replaced",
        "cpu_share",
        "run_delay_share",
        "headroom",
        "ceiling",
        "ceiling_share",
        "send_lateness_ms",
        "connection_wait_ms",
        "read_lag_ms",
    ];
    let mut map = to.serialize_map(None)?;
    map.serialize_entry("stamps", &level.client.stamps)?;
    let lateness = &level.summary.metrics.send_lateness;
    for name in absent {
        if name == "send_lateness_ms" && level.unseen.is_some() && lateness.n > 0 {
            map.serialize_entry(name, &Tail { of: lateness, empty: reason })?;
            continue;
        }
        map.serialize_entry(name, &None::<f64>)?;
        map.serialize_entry(&format!("{name}_reason"), reason)?;
    }
    map.end()
}

const NOBODY: &str = "simulated in virtual time: nobody measured";
const ANOTHER: &str = "another tool measured, and its file does not tell";

/// The median and the tail of a distribution that stands in full in `metrics`.
#[derive(Debug)]
struct Tail<'a> {
    of: &'a Distribution,
    empty: &'static str,
}

impl Serialize for Tail<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let sample = self.of;
        let reason = if sample.n == 0 { self.empty } else { "too few values: see metrics" };
        let mut map = to.serialize_map(None)?;
        let parts = [("p50", sample.p50.value()), ("p99", sample.p99.value()), ("max", sample.max)];
        for (name, value) in parts {
            map.serialize_entry(name, &value)?;
            if value.is_none() {
                map.serialize_entry(&format!("{name}_reason"), reason)?;
            }
        }
        map.end()
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
        self.client.stamps == StampSource::Simulated
    }
}
