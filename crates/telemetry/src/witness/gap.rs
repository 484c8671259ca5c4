//! What the client saw and the server did not.

use fizeau_core::{Millis, Tokens, document};
use serde::{Deserialize, Serialize};

use crate::server::{ReportedHistogram, ServerWindow};

/// What the client counted and measured over the same window: all requests of it, those that failed too where they had tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ClientWindow {
    /// Tokens of prompts, by what the server said of each request; none where it did not say.
    pub prompt_tokens: Option<Tokens>,
    /// Tokens of replies whose server said how many; none where nobody counts.
    pub output_tokens: Option<Tokens>,
    /// Tokens of all other replies, such as those that broke off, by the client's own estimate.
    pub estimated_tokens: Tokens,
    /// Requests that ended well.
    pub completed: u64,
    /// Requests that ended otherwise: the server may have worked on them.
    pub failed: u64,
    /// The most that were in flight at once; none where that is not known.
    pub most_in_flight: Option<u64>,
    /// Time to first token, of all requests that had one: those that failed behind it too, and probes.
    pub ttft: ClientLatency,
    /// Time per output token, of those that ended well, each counting alike.
    pub tpot: ClientLatency,
    /// End-to-end latency, of those that ended well.
    pub e2el: ClientLatency,
}

/// A latency of the client's requests, added up.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ClientLatency {
    sum_ms: f64,
    requests: u64,
}

impl ClientLatency {
    /// Takes in that of one more request.
    pub fn add(&mut self, latency: Millis) {
        self.sum_ms += latency.get();
        self.requests += 1;
    }

    /// How many requests.
    #[must_use]
    pub const fn requests(&self) -> u64 {
        self.requests
    }

    /// Their mean; none without any.
    #[must_use]
    pub fn mean(&self) -> Option<Millis> {
        (self.requests > 0).then(|| Millis::new(self.sum_ms / self.requests as f64))
    }
}

impl FromIterator<Millis> for ClientLatency {
    fn from_iter<I: IntoIterator<Item = Millis>>(latencies: I) -> Self {
        let mut sum = Self::default();
        latencies.into_iter().for_each(|latency| sum.add(latency));
        sum
    }
}

/// A latency as both sides have it, of the same requests, in means, since those are what a histogram tells exactly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyGap {
    /// The client's mean.
    #[serde(rename = "client_ms")]
    pub client: Millis,
    /// The server's mean.
    #[serde(rename = "server_ms")]
    pub server: Millis,
    /// The client's less the server's: the network, HTTP, and queues before the server's own clock starts. Below zero where the server
    /// counts what the client does not.
    #[serde(rename = "gap_ms")]
    pub gap: Millis,
}

impl LatencyGap {
    /// Of two means.
    #[must_use]
    pub fn new(client: Millis, server: Millis) -> Self {
        Self { client, server, gap: Millis::new(client.get() - server.get()) }
    }

    /// None where the two are not of as many requests: the difference of their means would be that of the requests.
    fn of(client: ClientLatency, server: Option<&ReportedHistogram>) -> Option<Self> {
        let told = server.filter(|told| are_of_as_many(client, told))?;
        Some(Self::new(client.mean()?, Millis::new(told.figure.mean?)))
    }

    /// The gap as a share of the client's latency; none at zero.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        Some(self.gap / self.client).filter(|share| share.is_finite())
    }
}

/// Whether client and server have the latency of as many requests, within what is known of the server's count.
pub(super) fn are_of_as_many(client: ClientLatency, server: &ReportedHistogram) -> bool {
    let count = server.figure.count;
    (count.low.round()..=count.high.round()).contains(&(client.requests as f64))
}

document! {
    /// The gaps between client and server, by name.
    #[derive(Copy, Default)]
    #[non_exhaustive]
    pub struct ServerGaps {
        /// Time to first token.
        pub ttft?: LatencyGap,
        /// Time per output token.
        pub tpot?: LatencyGap,
        /// End-to-end latency.
        pub e2el?: LatencyGap,
    }
}

impl ServerGaps {
    /// Between what a client and what a server say of the same window.
    #[must_use]
    pub fn of(client: &ClientWindow, server: &ServerWindow) -> Self {
        Self {
            ttft: LatencyGap::of(client.ttft, server.ttft.as_ref()),
            tpot: LatencyGap::of(client.tpot, server.tpot.as_ref()),
            e2el: LatencyGap::of(client.e2el, server.e2el.as_ref()),
        }
    }
}
