//! What the client saw of itself.

use fizeau_core::StampSource;

use super::ClientCeiling;
use crate::LevelTally;

/// What the client saw of itself while it measured, beside the latencies that are its own doing
/// ([`MetricTable`](crate::MetricTable): send lateness, send delay, connection wait, read lag).
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ClientProof {
    /// Who stamped the arrivals: the least trustworthy source that any request had; absent where nothing arrived.
    pub stamps: Option<StampSource>,
    /// Connections made for a request.
    pub connections_fresh: u64,
    /// Requests that were sent again: their idle connection was closed as they were sent, or the server refused them unseen.
    pub connections_replaced: u64,
    /// Replies that were over while the server left their bodies open, so that their connections were not free for another request.
    #[serde(default, skip_serializing_if = "is_none")]
    pub replies_left_open: u64,
    /// What its machine saw.
    #[serde(flatten)]
    pub watch: ClientWatch,
}

impl ClientProof {
    /// What `watch` saw of a client whose arrivals `stamps` stamped, and that made no connection.
    #[must_use]
    pub const fn new(stamps: StampSource, watch: ClientWatch) -> Self {
        let (connections_fresh, connections_replaced, replies_left_open) = (0, 0, 0);
        let stamps = Some(stamps);
        Self { stamps, connections_fresh, connections_replaced, replies_left_open, watch }
    }

    /// How many requests were sent again, and what that did to their figures, in a sentence; none where none were.
    #[must_use]
    pub fn sent_again(&self) -> Option<String> {
        let count = self.connections_replaced;
        let (requests, they, them, their) = match count {
            0 => return None,
            1 => ("request was", "it was", "it", "its"),
            2.. => ("requests were", "they were", "them", "their"),
        };
        Some(format!(
            "{count} {requests} sent again because the server closed an idle connection as {they} \
             sent, or refused {them} unseen, so {their} TTFT and E2EL include the failed try and a \
             new connection"
        ))
    }
}

/// For serde, which wants a reference.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_none(count: &u64) -> bool {
    *count == 0
}

impl LevelTally {
    /// The client's proof for this level: what the tapes say of the client, beside what its machine saw.
    #[must_use]
    pub const fn proof(&self, watch: ClientWatch) -> ClientProof {
        let (stamps, [connections_fresh, connections_replaced, replies_left_open]) = self.client();
        ClientProof { stamps, connections_fresh, connections_replaced, replies_left_open, watch }
    }
}

/// What the client's machine saw of it.
///
/// ```
/// let watch = fizeau_metrics::ClientWatch { cpu_share: Some(0.4), ..Default::default() };
/// assert_eq!(watch.threads, 1);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClientWatch {
    /// How many threads measured.
    pub threads: u32,
    /// CPU time over wall time of the measuring thread that used most, from 0 to 1; absent where the system does not
    /// tell.
    pub cpu_share: Option<f64>,
    /// Time ready to run without a CPU over wall time, of the measuring thread that waited most, from 0 to 1; absent
    /// where the system does not report it.
    pub run_delay_share: Option<f64>,
    /// CPU time that a hypervisor gave to others while somebody wanted it here, over all the time in which somebody did, on the CPUs
    /// where the client may run, from 0 to 1; absent where the system does not report it.
    pub steal_share: Option<f64>,
    /// What the system allows, as checked before the run; absent where it was not.
    pub headroom: Option<SystemHeadroom>,
    /// What this client can do at most on this machine; absent where that was not measured.
    pub ceiling: Option<ClientCeiling>,
}

impl Default for ClientWatch {
    /// One thread of which nothing is known.
    fn default() -> Self {
        Self {
            threads: 1,
            cpu_share: None,
            run_delay_share: None,
            steal_share: None,
            headroom: None,
            ceiling: None,
        }
    }
}

/// What the run needs of the system, and what the system allows. Checked before anything is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SystemHeadroom {
    /// File descriptors; absent where the system does not report it.
    pub file_descriptors: Option<ResourceNeed>,
    /// Local ports towards one address; absent where the system does not report it.
    pub ports: Option<ResourceNeed>,
}

impl SystemHeadroom {
    /// Of each resource what is scarcest on any of several machines; none where nothing is known of any.
    ///
    /// ```
    /// use fizeau_metrics::{ResourceNeed, SystemHeadroom};
    /// let ports = |needed| SystemHeadroom {
    ///     ports: Some(ResourceNeed { needed, limit: 1000 }),
    ///     ..Default::default()
    /// };
    /// assert_eq!(SystemHeadroom::scarcest([ports(10), ports(900)]), Some(ports(900)));
    /// assert_eq!(SystemHeadroom::scarcest([SystemHeadroom::default()]), None);
    /// ```
    #[must_use]
    pub fn scarcest(machines: impl IntoIterator<Item = Self>) -> Option<Self> {
        let scarcer = |one: Option<ResourceNeed>, other: Option<ResourceNeed>| {
            let need = |of: &ResourceNeed| of.needed as f64 / of.limit.max(1) as f64;
            one.into_iter().chain(other).max_by(|a, b| need(a).total_cmp(&need(b)))
        };
        let scarcest = machines.into_iter().reduce(|one, other| Self {
            file_descriptors: scarcer(one.file_descriptors, other.file_descriptors),
            ports: scarcer(one.ports, other.ports),
        });
        scarcest.filter(|found| *found != Self::default())
    }
}

/// How much is needed, and how much there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResourceNeed {
    /// What the run needs at most.
    pub needed: u64,
    /// What the system allows.
    pub limit: u64,
}

const NO_ACCOUNT: &str = "the system does not report it, or the level was too short";

json_object!(ClientWatch, "What the client's machine recorded during the level.", |watch| {
    "threads": is(threads),
    "cpu_share": or(cpu_share, NO_ACCOUNT),
    "run_delay_share": or(run_delay_share, NO_ACCOUNT),
    "steal_share": or(steal_share, NO_ACCOUNT),
    "headroom": or(headroom, "it was not checked"),
    "ceiling": or(ceiling, "it was not measured on this machine"),
} => Ok(ClientWatch { threads, cpu_share, run_delay_share, steal_share, headroom, ceiling }));

json_object!(SystemHeadroom, "What the run needs of the system, and what it allows.", |room| {
    "file_descriptors": or(file_descriptors, "the system does not report it"),
    "ports": or(ports, "the system does not report it"),
} => Ok(SystemHeadroom { file_descriptors, ports }));
