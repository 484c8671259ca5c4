//! What a metric is about.

macro_rules! meanings {
    ($($(#[$doc:meta])* $name:ident $shape:ident $word:literal,)+) => {
        /// What a metric is about, whatever its name. Each says its unit; [`MetricMeaning::shape`] says how it is counted.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum MetricMeaning {
            $($(#[$doc])* $name,)+
        }

        impl MetricMeaning {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// How it is counted.
            #[must_use]
            pub const fn shape(self) -> MetricShape {
                match self {
                    $(Self::$name => MetricShape::$shape,)+
                }
            }

            /// In words, for tables and sentences.
            #[must_use]
            pub const fn words(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)+
                }
            }
        }
    };
}

/// How a metric is counted, whatever its page declares: exporters declare energy as a gauge, and llama.cpp counts requests as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricShape {
    /// It only grows.
    Counter,
    /// It goes up and down.
    Gauge,
    /// Buckets, a count and a sum.
    Histogram,
    /// Its labels say it.
    Info,
}

impl MetricMeaning {
    /// Whether a [`ServingAssessment`](crate::ServingAssessment) or the figures of devices depend on it.
    #[cfg_attr(not(feature = "http"), expect(dead_code, reason = "no page is asked for"))]
    pub(crate) const fn is_assessed(self) -> bool {
        use MetricMeaning::*;
        !matches!(
            self,
            WaitingByReason
                | PromptTokensBySource
                | Ttft
                | E2el
                | DecodeTime
                | InferenceTime
                | IterationTokens
                | DraftTokens
                | AcceptedByPosition
                | EstimatedFlops
                | EstimatedReadBytes
                | EstimatedWriteBytes
        )
    }
}

meanings! {
    /// Requests in the running batch.
    Running Gauge "running requests",
    /// Requests that have no token yet, whether they wait or are in prefill, where running ones are counted with these.
    AwaitingFirstToken Gauge "requests before their first token",
    /// Requests that wait to be scheduled.
    Waiting Gauge "waiting requests",
    /// Likewise by the label `reason`: for room, or held back on purpose.
    WaitingByReason Gauge "waiting requests by reason",
    /// The share of the KV cache in use, 0 to 1.
    KvUse Gauge "KV cache in use",
    /// Labels that say how large the KV cache is: `num_gpu_blocks`, `block_size`.
    CacheConfig Info "cache configuration",
    /// Blocks of the KV cache in use.
    KvBlocksUsed Gauge "KV blocks in use",
    /// Blocks of the KV cache.
    KvBlocks Gauge "KV blocks",
    /// Tokens that the KV cache holds.
    KvTokens Gauge "KV cache tokens",
    /// Tokens in a block of the KV cache.
    KvBlockSize Gauge "tokens a KV block",
    /// Requests put off to make room, which are computed again.
    Preemptions Counter "preemptions",
    /// Tokens of prompts found in the prefix cache, or blocks of them.
    PrefixHits Counter "prefix-cache hits",
    /// Tokens of prompts looked up in it, or blocks.
    PrefixQueries Counter "prefix-cache queries",
    /// Tokens found in a cache outside the engine.
    ExternalPrefixHits Counter "external prefix-cache hits",
    /// Tokens looked up there.
    ExternalPrefixQueries Counter "external prefix-cache queries",
    /// Tokens of prompts.
    PromptTokens Counter "prompt tokens",
    /// Likewise by the label `source`: computed, from the cache, from elsewhere.
    PromptTokensBySource Counter "prompt tokens by source",
    /// Tokens of prompts that came from a cache.
    PromptTokensCached Counter "cached prompt tokens",
    /// Generated tokens.
    GenerationTokens Counter "generated tokens",
    /// Requests that ended well.
    Requests Counter "requests",
    /// Tokens of the prompt of each request, as a rule of those that ended.
    RequestPromptTokens Histogram "prompt tokens a request",
    /// Tokens that each request generated.
    RequestGenerationTokens Histogram "generated tokens a request",
    /// Time to first token as the server sees it, in milliseconds.
    Ttft Histogram "server TTFT",
    /// Inter-token latency as the server sees it, in milliseconds.
    Itl Histogram "server ITL",
    /// Time per output token of each request as the server sees it, in milliseconds.
    Tpot Histogram "server TPOT",
    /// End-to-end latency as the server sees it, in milliseconds.
    E2el Histogram "server E2EL",
    /// Time in the queue, in milliseconds.
    QueueTime Histogram "queue time",
    /// Time from being scheduled to the first token, in milliseconds.
    PrefillTime Histogram "prefill time",
    /// Time from the first token to the last, in milliseconds.
    DecodeTime Histogram "decode time",
    /// Time from being scheduled to the end, in milliseconds.
    InferenceTime Histogram "inference time",
    /// Tokens that one iteration of the engine works on.
    IterationTokens Histogram "tokens an iteration",
    /// Iterations of the engine.
    Iterations Counter "iterations",
    /// Rounds of drafting.
    Drafts Counter "drafts",
    /// Drafted tokens.
    DraftTokens Counter "drafted tokens",
    /// Drafted tokens that were accepted.
    AcceptedTokens Counter "accepted tokens",
    /// Likewise by the label `position`.
    AcceptedByPosition Counter "accepted tokens by position",
    /// Tokens that a round of drafting gives, as the server averages it.
    AcceptLength Gauge "accepted length",
    /// Floating-point operations of one GPU, as the engine estimates them.
    EstimatedFlops Counter "estimated FLOPs a GPU",
    /// Bytes that one GPU reads, likewise.
    EstimatedReadBytes Counter "estimated bytes read a GPU",
    /// Bytes that one GPU writes, likewise.
    EstimatedWriteBytes Counter "estimated bytes written a GPU",

    /// Power of a device, in watts.
    Power Gauge "power",
    /// Energy of a device since it began to count, in joules.
    Energy Counter "energy",
    /// The clock of the multiprocessors, in hertz.
    ComputeClock Gauge "compute clock",
    /// The clock of the memory, in hertz.
    MemoryClock Gauge "memory clock",
    /// Why clocks are lowered, as NVIDIA's set of bits.
    ThrottleReasons Gauge "throttle reasons",
    /// Time in which power held clocks down, in the exporter's own unit, which differs by version: only whether it grew is sure.
    PowerThrottled Counter "time throttled by power",
    /// Time in which heat held clocks down, likewise.
    ThermalThrottled Counter "time throttled by heat",
    /// The share of time in which any kernel was resident, 0 to 1: not how busy the device is.
    Utilization Gauge "GPU utilization",
    /// The share of time in which memory was read or written, 0 to 1, as the driver samples it.
    MemoryCopyUtilization Gauge "memory utilization",
    /// The share of cycles in which the memory's interface moved data, 0 to 1: times the peak bandwidth a measured rate.
    DramActive Gauge "DRAM activity",
    /// The share of cycles in which the tensor pipe worked, 0 to 1.
    TensorActive Gauge "tensor activity",
    /// The share of cycles in which a multiprocessor had a warp, 0 to 1.
    SmActive Gauge "SM activity",
    /// Device memory in use, in bytes.
    MemoryUsed Gauge "device memory in use",
    /// Device memory that is free, in bytes.
    MemoryFree Gauge "device memory free",
    /// Temperature of the device, in degrees Celsius.
    Temperature Gauge "temperature",
    /// Temperature of its memory, in degrees Celsius.
    MemoryTemperature Gauge "memory temperature",

    /// Seconds of processors by the labels `cpu` and `mode`.
    HostCpu Counter "host CPU time",
    /// Memory of the host that can be had, in bytes.
    HostMemoryAvailable Gauge "host memory available",
    /// Memory of the host, in bytes.
    HostMemory Gauge "host memory",
    /// TCP segments sent.
    TcpSegments Counter "TCP segments",
    /// TCP segments sent again.
    TcpRetransmits Counter "TCP retransmits",
}
