//! How a simulated engine is set up, for `fizeau serve` and `fizeau simulate`.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

use clap::Args;
use fizeau::core::Nanos;
use fizeau::sim::{Order, Policy, Routing};

use super::choice::{Word, choice};
use super::system::count;
use super::{ApartArgs, DraftArgs};

/// How a simulated engine is set up. The flags have vLLM's spellings as aliases where it has them.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Engine")]
pub(crate) struct EngineArgs {
    /// The most tokens of a step, decoded and of prompts together.
    #[arg(long, alias = "chunked-prefill-size", value_name = "TOKENS", default_value_t = 8192)]
    pub(crate) max_num_batched_tokens: u64,
    /// Tokens of a block of the key-value cache.
    #[arg(long, alias = "page-size", value_name = "TOKENS", default_value_t = 16)]
    pub(crate) block_size: u64,
    /// Blocks of the key-value cache, in each group of --dp; otherwise as many as memory holds.
    #[arg(long, alias = "num-gpu-blocks-override", value_name = "N", value_parser = count)]
    pub(crate) num_gpu_blocks: Option<NonZeroU64>,
    /// What a step does first.
    #[arg(long, value_parser = choice(&POLICIES), default_value = "mixed")]
    pub(crate) policy: Policy,
    /// Read each prompt in one step.
    #[arg(long, alias = "no-enable-chunked-prefill")]
    pub(crate) no_chunked_prefill: bool,
    /// Give a request room for all of its output as it is admitted, so that none is ever preempted.
    #[arg(long)]
    pub(crate) reserve: bool,
    /// Do not read again what a prompt shares with an earlier one, as far as it still is in the cache. Without an engine
    /// (--ttft-ms): as far as it is among so many blocks of 16 tokens, or without a number always.
    #[arg(long, alias = "prefix-cache", value_name = "BLOCKS")]
    pub(crate) enable_prefix_caching: Option<Option<NonZeroUsize>>,
    /// Who goes first: who came first, or who has the lower priority.
    #[arg(long, value_parser = choice(&ORDERS), default_value = "fcfs")]
    pub(crate) scheduling_policy: Order,
    /// The most requests that wait; further ones are refused. By default there is no limit.
    #[arg(long, alias = "max-queued-requests", value_name = "N")]
    pub(crate) max_waiting: Option<u64>,
    /// Batch sizes with a captured graph, to the next of which a step that only decodes is padded. One number stands for 1, 2, 4,
    /// each multiple of 8 up to it and from 256 on each of 16, as with vLLM. By default nothing is padded.
    #[arg(
        long,
        aliases = ["cudagraph-capture-sizes", "cuda-graph-bs"],
        value_name = "SIZES",
        value_delimiter = ',',
        num_args = 1..
    )]
    pub(crate) cuda_graph_sizes: Vec<u64>,
    /// Which of --replicas a request goes to.
    #[arg(long, value_parser = choice(&ROUTERS), default_value = "least-in-flight", conflicts_with = "disaggregate")]
    pub(crate) router: Routing,
    /// What chance is drawn from: the same seed gives the same run.
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
    /// The share of the peak memory bandwidth that is reached, from 0.001 to 1.
    #[arg(long, value_name = "SHARE", default_value_t = 0.85)]
    pub(crate) bandwidth_efficiency: f64,
    /// The share of the peak arithmetic that is reached, from 0.001 to 1.
    #[arg(long, value_name = "SHARE", default_value_t = 0.7)]
    pub(crate) compute_efficiency: f64,
    /// What each step takes besides: scheduling, launching, sampling. A number with ns, us, ms or s.
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "150us")]
    pub(crate) per_step: Nanos,
    /// What each sequence adds to a step.
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "2us")]
    pub(crate) per_sequence: Nanos,
    /// What each layer adds to a step.
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "0us")]
    pub(crate) per_layer: Nanos,
    /// What each collective adds to a step beyond its bytes and hops.
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "0us")]
    pub(crate) per_collective: Nanos,
    /// Take the constants of a step from a calibration that `fizeau sol --fit` wrote, instead of the six flags above.
    #[arg(long, value_name = "FILE", conflicts_with_all = OVERHEADS)]
    pub(crate) calibration: Option<PathBuf>,
    /// With --calibration: the engine, as it is called there; otherwise the constants are those of all engines on the device.
    #[arg(long, value_name = "NAME", requires = "calibration")]
    pub(crate) calibration_engine: Option<String>,
    /// No device draws more than this: watts, a share of its own limit such as 70%, or tdp for that limit. Memory and arithmetic are
    /// taken to draw as at their peak for as long as they are at work, however little of it is reached.
    #[arg(long, value_name = "WATTS", conflicts_with = "calibration")]
    pub(crate) power_limit: Option<String>,
}

const OVERHEADS: [&str; 6] = [
    "bandwidth_efficiency",
    "compute_efficiency",
    "per_step",
    "per_sequence",
    "per_layer",
    "per_collective",
];

const POLICIES: [Word<Policy>; 2] = [
    (
        "mixed",
        Policy::Mixed,
        "Tokens are decoded in each step, and what is left of its budget goes to prompts: vLLM, SGLang's mixed chunks",
    ),
    (
        "prefill-first",
        Policy::PrefillFirst,
        "Prompts are read first, and decoding waits: SGLang's default",
    ),
];

const ORDERS: [Word<Order>; 2] = [
    ("fcfs", Order::Arrival, "Who came first"),
    ("priority", Order::Priority, "Who has the lower priority; of equals, who came first"),
];

const ROUTERS: [Word<Routing>; 3] = [
    ("round-robin", Routing::RoundRobin, "To each in turn"),
    ("least-in-flight", Routing::LeastInFlight, "To the one with the fewest requests"),
    (
        "prefix-aware",
        Routing::PrefixAware,
        "To the one that holds most of the prompt, unless it has far more to do than others",
    ),
];

/// A length of time: a number with its unit.
pub(super) fn time(text: &str) -> Result<Nanos, String> {
    let wrong = || format!("`{text}`: it must be a number with ns, us, ms or s, such as 150us");
    let units = [("ns", 1e9), ("us", 1e6), ("ms", 1e3), ("s", 1.0)];
    let known = units.iter().find_map(|(unit, each)| Some((text.strip_suffix(unit)?, each)));
    let (number, each) =
        known.or_else(|| (text == "0").then_some((text, &1.0))).ok_or_else(wrong)?;
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    Nanos::from_secs_f64(number / each).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit() {
        for (text, nanos) in
            [("150us", 150_000), ("2 ms", 2_000_000), ("0", 0), ("7ns", 7), ("1.5s", 1_500_000_000)]
        {
            assert_eq!(time(text), Ok(Nanos::from_nanos(nanos)), "{text}");
        }
        for text in ["150", "-1ms", "us", "1m", "nans", "infs", ""] {
            assert!(time(text).unwrap_err().contains("such as 150us"), "{text}");
        }
    }
}
