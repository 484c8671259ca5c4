//! What the client can do at most, and how near a level came to that.

use std::fmt;

use fizeau_core::PerSec;

use crate::LevelSummary;

/// What this client can do at most on this machine, with replies of the same shape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClientCeiling {
    /// How many streams were open at a time against a server that sends as fast as it can.
    pub streams: u64,
    /// Tokens received from it per second, over all streams; a read brings many of them.
    pub tokens_per_s: PerSec,
    /// The most that it does on time against a server that sends tokens one by one; absent where the search ended before
    /// that was found.
    pub on_time: Option<OnTimeLimit>,
}

/// The most paced streams that the client serves on time.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OnTimeLimit {
    /// How many streams were open at a time, on average.
    pub streams: u64,
    /// Tokens received per second, over all streams; each came alone.
    pub tokens_per_s: PerSec,
}

/// One of the limits of which a [`ClientCeiling`] consists.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CeilingLimit {
    /// Tokens per second, flat out.
    FlatOut(PerSec),
    /// Streams in flight, on time.
    Streams(u64),
    /// Tokens per second, one by one and on time.
    OneByOne(PerSec),
}

impl fmt::Display for CeilingLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FlatOut(most) => write!(f, "{:.0} tokens/s", most.get()),
            Self::Streams(most) => write!(f, "{most} streams on time"),
            Self::OneByOne(most) => write!(f, "{:.0} tokens/s one by one", most.get()),
        }
    }
}

impl ClientCeiling {
    /// What both can do at most side by side, each on a machine of its own. Paced streams have a limit where both have one.
    #[must_use]
    pub fn beside(self, other: Self) -> Self {
        Self {
            streams: self.streams.saturating_add(other.streams),
            tokens_per_s: self.tokens_per_s + other.tokens_per_s,
            on_time: self.on_time.zip(other.on_time).map(|(one, other)| OnTimeLimit {
                streams: one.streams.saturating_add(other.streams),
                tokens_per_s: one.tokens_per_s + other.tokens_per_s,
            }),
        }
    }

    /// The limit to which `level` came nearest, and the share of it that was reached, from 0 upwards; none where there is
    /// neither a limit nor a figure above zero. The level's streams are those in flight on average: completed requests
    /// per second times their mean latency (Little's law).
    #[must_use]
    pub fn nearest(&self, level: &LevelSummary) -> Option<(CeilingLimit, f64)> {
        let tokens = level.throughput.output_tokens_per_s;
        let mut shares =
            vec![(CeilingLimit::FlatOut(self.tokens_per_s), tokens / self.tokens_per_s)];
        if let Some(on_time) = &self.on_time {
            let seconds = level.metrics.e2el.mean.map_or(0.0, |mean| mean.get() / 1e3);
            let streams = level.throughput.requests_per_s.get() * seconds;
            shares.push((CeilingLimit::Streams(on_time.streams), streams / on_time.streams as f64));
            shares.push((
                CeilingLimit::OneByOne(on_time.tokens_per_s),
                tokens / on_time.tokens_per_s,
            ));
        }
        let known = shares.into_iter().filter(|(_, share)| share.is_finite() && *share > 0.0);
        known.max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

json_object!(ClientCeiling, "What the client can do at most on its machine.", |ceiling| {
    "streams": is(streams),
    "tokens_per_s": is(tokens_per_s),
    "on_time": or(on_time, "no limit was found"),
} => Ok(ClientCeiling { streams, tokens_per_s, on_time }));
