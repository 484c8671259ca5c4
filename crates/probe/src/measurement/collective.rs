//! Collectives: what they are, and how their bandwidths follow from one another.

use fizeau_core::Bytes;
use serde::{Deserialize, Serialize};

/// A collective among ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum CollectiveOp {
    /// Every rank has the sum of all.
    AllReduce,
    /// Every rank has what each had.
    AllGather,
    /// Every rank has its part of the sum.
    ReduceScatter,
    /// Every rank has something for each.
    AllToAll,
    /// The same with lengths that differ.
    AllToAllV,
    /// One rank has the parts of all.
    Gather,
    /// One rank gives each its part.
    Scatter,
    /// All have what one has.
    Broadcast,
    /// One rank has the sum.
    Reduce,
    /// Each sends to the next.
    SendRecv,
    /// Pairs along each bit of the rank.
    HyperCube,
    /// Tokens to their experts.
    Dispatch,
    /// Tokens back from their experts.
    Combine,
}

fizeau_core::words! {
    /// The name in files: `all_reduce`.
    pub CollectiveOp::as_str, all, shown {
        AllReduce = "all_reduce", AllGather = "all_gather", ReduceScatter = "reduce_scatter",
        AllToAll = "all_to_all", AllToAllV = "all_to_all_v", Gather = "gather",
        Scatter = "scatter", Broadcast = "broadcast", Reduce = "reduce", SendRecv = "send_recv",
        HyperCube = "hyper_cube", Dispatch = "dispatch", Combine = "combine",
    }
}

impl CollectiveOp {
    /// Bus bandwidth over algorithm bandwidth among `ranks`, as nccl-tests define it for algorithms from point to point. With
    /// one rank nothing crosses a link where the factor has `n - 1`.
    #[must_use]
    pub fn bus_factor(self, ranks: u32) -> f64 {
        let ranks = f64::from(ranks.max(1));
        let others = (ranks - 1.0) / ranks;
        match self {
            Self::AllReduce => 2.0 * others,
            Self::AllGather
            | Self::ReduceScatter
            | Self::AllToAll
            | Self::AllToAllV
            | Self::Gather
            | Self::Scatter => others,
            Self::Broadcast
            | Self::Reduce
            | Self::SendRecv
            | Self::HyperCube
            | Self::Dispatch
            | Self::Combine => 1.0,
        }
    }
}

/// In which state a collective finds its ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CollectiveRegime {
    /// Devices idle before each: what a single operation takes.
    FreshEntry,
    /// One after the other without waiting for the host: what a decode loop pays. A time is an inverse rate then.
    Chained,
}

fizeau_core::words! {
    /// The name in files: `fresh_entry`.
    pub CollectiveRegime::as_str, all, shown { FreshEntry = "fresh_entry", Chained = "chained" }
}

/// Which of its ranks' times is a collective's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RankRule {
    /// The longest, of each operation: what those who wait for all see.
    Longest,
    /// The mean over ranks.
    Mean,
    /// The shortest.
    Shortest,
    /// That of rank 0.
    First,
}

/// One collective.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CollectiveShape {
    /// Which.
    pub op: CollectiveOp,
    /// How many take part.
    pub ranks: u32,
    /// The larger of a rank's two buffers.
    #[serde(rename = "message_bytes")]
    pub message: Bytes,
    /// On how many nodes, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    /// Whether the result overwrites what was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_place: Option<bool>,
    /// How it came to be chosen: `RING/LL`, `NVLS/SIMPLE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<String>,
    /// In which state it found its ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regime: Option<CollectiveRegime>,
    /// Which rank's time it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank_rule: Option<RankRule>,
    /// Over which links: `scale_up`, `scale_out`, `loopback`, `shared_memory`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<String>,
}

impl CollectiveShape {
    /// `op` among `ranks`, of which the larger buffer has `message` bytes. The rest is not known.
    #[must_use]
    pub const fn new(op: CollectiveOp, ranks: u32, message: Bytes) -> Self {
        Self {
            op,
            ranks,
            message,
            nodes: None,
            in_place: None,
            algorithm: None,
            regime: None,
            rank_rule: None,
            links: None,
        }
    }
}
