//! How a measurement was made: what nobody stores together.

use fizeau_core::{Bytes, Millis};
use serde::{Deserialize, Serialize};

/// How a measurement was made. What is not known is absent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Method {
    /// Operations that were carried out before the first that counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up_operations: Option<u64>,
    /// For how long, where warm-up went by time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up_ms: Option<Millis>,
    /// Whether operands lay in a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheState>,
    /// What the operands were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<DataPattern>,
    /// The instructions of its inner loop: `avx2`, `avx512`, `neon`, `amx`, `ptx`, the name of a library; `copy` where a copy of as many bytes stands for the
    /// operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Bytes of one load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_width_bytes: Option<u32>,
    /// Loads of an iteration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unroll: Option<u32>,
    /// Blocks on each multiprocessor of a GPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks_per_multiprocessor: Option<u32>,
    /// Threads of the host that worked on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// The processors that they were held to, in order of threads; empty where they were free to move or it is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<u32>,
    /// Who wrote the arrays first, which decides on what node of memory they lie.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_touch: Option<FirstTouch>,
    /// In what pages the arrays lay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<ArrayPages>,
    /// Who took the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed_by: Option<TimedBy>,
    /// Whether the cost of a launch is within the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch: Option<LaunchCost>,
}

/// Whether operands lay in a cache when an operation began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CacheState {
    /// The same operands again, which may lie in any cache that holds them.
    Warm,
    /// Copies in turn, more than caches hold.
    ColdByRotation,
    /// Caches were flushed outside the time.
    ColdByFlush,
    /// Operands are larger than the caches.
    ColdBySize,
}

/// What operands were filled with. Zeros make memory and arithmetic look faster than they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DataPattern {
    /// Numbers that look normally distributed.
    Normal,
    /// Numbers that look uniformly distributed.
    Uniform,
    /// One number in all places, other than zero.
    Constant,
    /// Small whole numbers.
    Integers,
    /// A random cycle of pointers.
    Pointers,
    /// Zeros.
    Zeros,
}

/// Who wrote arrays first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FirstTouch {
    /// Each thread its own part.
    OwnThread,
    /// One thread everything: on machines with several nodes of memory this measures one of them.
    OneThread,
}

/// In what pages arrays lay.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ArrayPages {
    /// The pages that the system was asked for.
    #[serde(alias = "asked")]
    pub requested: PageAdvice,
    /// How much of the arrays lay in huge pages while it was measured, where the system says.
    #[serde(rename = "huge_bytes", default, skip_serializing_if = "Option::is_none")]
    pub huge: Option<Bytes>,
    /// How much there was in all.
    #[serde(rename = "array_bytes")]
    pub arrays: Bytes,
}

/// What a system was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum PageAdvice {
    /// Nothing.
    Default,
    /// Huge pages.
    Huge,
    /// No huge pages.
    Small,
}

fizeau_core::words! {
    /// The name in files: `huge`.
    pub PageAdvice::as_str, shown { Default = "default", Huge = "huge", Small = "small" }
}

/// Who took the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TimedBy {
    /// The host's monotonic clock around work that the host waits for.
    Host,
    /// Events on the device's own queue.
    DeviceEvents,
    /// A profiler's record of kernels.
    Profiler,
}

/// Whether the cost of a launch is within the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum LaunchCost {
    /// Nothing is launched: a function is called.
    NothingLaunched,
    /// It is part of each operation's time.
    Inside,
    /// Work was queued before the clock started, or launched once for many.
    Outside,
}
