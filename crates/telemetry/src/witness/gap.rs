//! What the client saw and the server did not.

use fizeau_core::{Millis, Tokens};
use serde::{Deserialize, Serialize};

use crate::server::{ServerWindow, ToldHistogram};

/// What the client counted and measured over the same window: all requests of it, those that failed too where they had tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ClientWindow {
    /// Tokens of prompts, by what the server said of each request; none where it did not say.
    pub prompt_tokens: Option<Tokens>,
    /// Tokens of replies; none where they are an estimate.
    pub output_tokens: Option<Tokens>,
    /// Requests that ended well.
    pub completed: u64,
    /// Requests that ended otherwise: the server may have worked on them.
    pub failed: u64,
    /// The mean time to first token.
    pub mean_ttft: Option<Millis>,
    /// The mean time per output token, each request counting alike.
    pub mean_tpot: Option<Millis>,
    /// The mean end-to-end latency.
    pub mean_e2el: Option<Millis>,
}

/// A latency as both sides have it, in means, since those are what a histogram tells exactly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyGap {
    /// The client's mean.
    #[serde(rename = "client_ms")]
    pub client: Millis,
    /// The server's mean.
    #[serde(rename = "server_ms")]
    pub server: Millis,
    /// The client's less the server's: the network, HTTP, and queues before the server's own clock starts. Below zero where the two
    /// are not of the same requests, or the server counts what the client does not.
    #[serde(rename = "gap_ms")]
    pub gap: Millis,
}

impl LatencyGap {
    /// Of two means.
    #[must_use]
    pub fn new(client: Millis, server: Millis) -> Self {
        Self { client, server, gap: Millis::new(client.get() - server.get()) }
    }

    fn of(client: Option<Millis>, server: Option<&ToldHistogram>) -> Option<Self> {
        Some(Self::new(client?, Millis::new(server?.figure.mean?)))
    }

    /// The gap as a share of the client's latency; none at zero.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        Some(self.gap / self.client).filter(|share| share.is_finite())
    }
}

/// The gaps between client and server, by name.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ServerGaps {
    /// Time to first token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttft: Option<LatencyGap>,
    /// Time per output token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tpot: Option<LatencyGap>,
    /// End-to-end latency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub e2el: Option<LatencyGap>,
}

impl ServerGaps {
    /// Between what a client and what a server say of the same window.
    #[must_use]
    pub fn of(client: &ClientWindow, server: &ServerWindow) -> Self {
        Self {
            ttft: LatencyGap::of(client.mean_ttft, server.ttft.as_ref()),
            tpot: LatencyGap::of(client.mean_tpot, server.tpot.as_ref()),
            e2el: LatencyGap::of(client.mean_e2el, server.e2el.as_ref()),
        }
    }
}
