//! How a simulated engine is set up, for `fizeau serve` and `fizeau simulate`.

use std::num::{NonZeroU64, NonZeroUsize};

use clap::Args;
use fizeau::core::Nanos;
use fizeau::roofline::{CacheTransfer, Serving};
use fizeau::sim::{AdmissionOrder, Policy, ReplicaRouting};

use super::EngineConstantsArgs;
use super::choice::choice;
use super::values::{efficiency, share};

/// How a simulated engine is set up. The flags have vLLM's spellings as aliases where it has them.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Engine")]
pub(crate) struct EngineArgs {
    /// The most tokens of a step, those of prompts and those decoded together.
    #[arg(long, alias = "chunked-prefill-size", value_name = "TOKENS", default_value_t = Serving::BATCHED_TOKENS.get())]
    pub(crate) max_num_batched_tokens: u64,
    /// The number of tokens of a block of the key-value cache.
    #[arg(long, alias = "page-size", value_name = "TOKENS", default_value_t = 16)]
    pub(crate) block_size: u64,
    /// The number of blocks of the key-value cache, in each group of --dp; by default as many as memory holds.
    #[arg(long, alias = "num-gpu-blocks-override", value_name = "N")]
    pub(crate) num_gpu_blocks: Option<NonZeroU64>,
    /// What a step does first.
    #[arg(long, value_parser = choice::<Policy>(), value_name = "POLICY", default_value = "mixed")]
    pub(crate) policy: Policy,
    /// Read each prompt whole in one step.
    #[arg(long, alias = "no-enable-chunked-prefill")]
    pub(crate) no_chunked_prefill: bool,
    /// Reserve cache for all of a request's output when it is admitted, so that no request is ever preempted.
    #[arg(long)]
    pub(crate) reserve: bool,
    /// Reuse from the cache what a prompt shares with an earlier one. Only with `fizeau serve --ttft-ms` it takes a number: how
    /// many blocks of 16 tokens are kept, by default all.
    #[arg(long, alias = "prefix-cache", value_name = "BLOCKS")]
    pub(crate) enable_prefix_caching: Option<Option<NonZeroUsize>>,
    /// Which waiting request is admitted first.
    #[arg(long, value_parser = choice::<AdmissionOrder>(), value_name = "ORDER", default_value = "fcfs")]
    pub(crate) scheduling_policy: AdmissionOrder,
    /// The most requests that may wait; further ones are refused. By default there is no limit.
    #[arg(long, alias = "max-queued-requests", value_name = "N")]
    pub(crate) max_waiting: Option<u64>,
    /// The batch sizes with a captured CUDA graph: a step that only decodes is padded to the next of them. One number stands for
    /// 1, 2, 4, each multiple of 8 up to it and from 256 on each multiple of 16, as with vLLM. By default nothing is padded.
    #[arg(long, aliases = ["cudagraph-capture-sizes", "cuda-graph-bs"])]
    #[arg(value_name = "SIZES", value_delimiter = ',', num_args = 1..)]
    pub(crate) cuda_graph_sizes: Vec<u64>,
    /// Which of the --replicas a request is sent to.
    #[arg(long, value_parser = choice::<ReplicaRouting>(), value_name = "HOW", default_value = "least-in-flight", conflicts_with = "disaggregate")]
    pub(crate) router: ReplicaRouting,
    /// The seed of everything random in the engine: the same seed gives the same run.
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub(crate) engine_seed: u64,
    #[command(flatten)]
    pub(crate) drafts: DraftArgs,
    #[command(flatten)]
    pub(crate) apart: ApartArgs,
    #[command(flatten)]
    pub(crate) step: StepArgs,
}

/// How long a step takes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Time of a step")]
pub(crate) struct StepArgs {
    /// The share of the peak memory bandwidth that the engine reaches, from 0.001 to 1.
    #[arg(long, value_name = "SHARE", value_parser = efficiency, default_value_t = 0.85, conflicts_with_all = CONSTANTS)]
    pub(crate) bandwidth_efficiency: f64,
    /// The share of the peak arithmetic that the engine reaches, from 0.001 to 1.
    #[arg(long, value_name = "SHARE", value_parser = efficiency, default_value_t = 0.7, conflicts_with_all = CONSTANTS)]
    pub(crate) compute_efficiency: f64,
    /// The time that each step takes besides, for scheduling, launching and sampling, with ns, us, ms or s.
    #[arg(long, value_name = "TIME", default_value = "150us", conflicts_with_all = CONSTANTS)]
    pub(crate) per_step: Nanos,
    /// The time that each sequence adds to a step.
    #[arg(long, value_name = "TIME", default_value = "2us", conflicts_with_all = CONSTANTS)]
    pub(crate) per_sequence: Nanos,
    /// The time that each layer adds to a step.
    #[arg(long, value_name = "TIME", default_value = "0us", conflicts_with_all = CONSTANTS)]
    pub(crate) per_layer: Nanos,
    /// The time that each collective adds to a step beyond that of its bytes and hops.
    #[arg(long, value_name = "TIME", default_value = "0us", conflicts_with_all = CONSTANTS)]
    pub(crate) per_collective: Nanos,
    #[command(flatten)]
    pub(crate) constants: EngineConstantsArgs,
    /// The most power that a device may draw: watts, a share of its own limit such as 70%, or tdp for that limit. Memory and arithmetic
    /// are assumed to draw their peak power while they work, however little of their peak rate they reach.
    #[arg(long, value_name = "WATTS", conflicts_with_all = CONSTANTS)]
    pub(crate) power_limit: Option<String>,
}

/// Whose constants take the place of those of the six flags above.
const CONSTANTS: [&str; 2] = ["calibration", "engine"];

// Who guesses tokens ahead, and who reads prompts apart: what `fizeau sol` computes and a simulated engine does.

/// Speculative decoding.
#[derive(Debug, Clone, Args)]
pub(crate) struct DraftArgs {
    /// Speculative decoding: the number of tokens of a draft. For `fizeau sol`, 0 is the length that is expected to be best.
    #[arg(long, value_name = "TOKENS")]
    pub(crate) draft: Option<u32>,
    /// The probability that a drafted token is accepted if those before it were; several values are for the first, the second and so
    /// on, and the last of them for all that follow.
    #[arg(long, value_name = "SHARE", value_parser = share, value_delimiter = ',', default_value = "0.8")]
    #[arg(requires = "draft")]
    pub(crate) acceptance: Vec<f64>,
    /// What makes the drafts: mtp (the model's own module), lookup (a search in the text, which costs nothing), a number such as 0.1 (each
    /// token costs that share of a decode step), or a smaller model's config.json. By default mtp where the model has it, else lookup.
    #[arg(long, value_name = "WHO", requires = "draft")]
    pub(crate) drafter: Option<String>,
}

/// Prefill and decode apart.
#[derive(Debug, Clone, Args)]
pub(crate) struct ApartArgs {
    /// Run prefill and decode on instances of their own, each deployed as the flags above say: the number for prefill and the number
    /// for decode, such as 2:1.
    #[arg(long, value_name = "P:D")]
    pub(crate) disaggregate: Option<String>,
    /// With --disaggregate: when the cache of a request is sent.
    #[arg(long, value_parser = choice::<CacheTransfer>(), value_name = "WHEN", default_value = "first", requires = "disaggregate")]
    pub(crate) transfer: CacheTransfer,
}
