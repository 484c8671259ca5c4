//! `fizeau ab`.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::Args;
use fizeau::core::Nanos;

use super::values::time;
use super::{
    ArrivalArgs, ClientArgs, DecisionArgs, EndpointArgs, GoalArgs, InFlightArgs, LiveArgs,
    SamplingArgs, ShardArgs, VerbosityArgs, WorkloadArgs,
};

#[derive(Debug, Args)]
pub(crate) struct AbArgs {
    #[command(flatten)]
    pub(crate) sides: SidesArgs,
    #[command(flatten)]
    pub(crate) rounds: RoundsArgs,
    #[command(flatten)]
    pub(crate) endpoint: EndpointArgs,
    #[command(flatten)]
    pub(crate) workload: WorkloadArgs,
    #[command(flatten)]
    pub(crate) arrivals: ArrivalArgs,
    #[command(flatten)]
    pub(crate) sampling: SamplingArgs,
    #[command(flatten)]
    pub(crate) client: ClientArgs,
    #[command(flatten)]
    pub(crate) shards: ShardArgs,
    #[command(flatten)]
    pub(crate) goals: GoalArgs,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
    #[command(flatten)]
    pub(crate) live: LiveArgs,
    #[command(flatten)]
    pub(crate) output: VerbosityArgs,
}

/// The two endpoints. Flags of endpoints that name no side are for both.
#[derive(Debug, Args)]
#[command(next_help_heading = "Sides")]
pub(crate) struct SidesArgs {
    /// The address of the first server, the baseline. Several identical servers are separated by commas.
    #[arg(long, value_name = "URL", value_delimiter = ',', required = true)]
    pub(crate) a: Vec<String>,
    /// The address of the second server, the candidate.
    #[arg(
        long,
        value_name = "URL",
        value_delimiter = ',',
        required_unless_present = "toggle",
        conflicts_with = "toggle"
    )]
    pub(crate) b: Vec<String>,
    /// Measure A alone, with something off (A) and on (B) in turns. scrape: the reading of its page of metrics, as bench and sweep read
    /// it, to see whether that moves its latencies.
    #[arg(long, value_name = "WHAT", value_parser = ["scrape"])]
    pub(crate) toggle: Option<String>,
    /// The model of A, where it is not --model.
    #[arg(long, value_name = "NAME")]
    pub(crate) a_model: Option<String>,
    /// The model of B, where it is not --model.
    #[arg(long, value_name = "NAME")]
    pub(crate) b_model: Option<String>,
    /// The kind of server A, where it is not --backend.
    #[arg(long, value_name = "KIND")]
    pub(crate) a_backend: Option<String>,
    /// The kind of server B, where it is not --backend.
    #[arg(long, value_name = "KIND")]
    pub(crate) b_backend: Option<String>,
    /// The name of A in the report, in a word or two.
    #[arg(long, value_name = "TEXT")]
    pub(crate) a_name: Option<String>,
    /// The name of B in the report.
    #[arg(long, value_name = "TEXT")]
    pub(crate) b_name: Option<String>,
    /// Give each side prompts of its own, of the same lengths: for two sides with one prefix cache, which would help whoever is
    /// second. This is the default where A and B are the same address.
    #[arg(long, conflicts_with = "reuse_prompts")]
    pub(crate) salt_sides: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Rounds")]
pub(crate) struct RoundsArgs {
    /// The number of rounds, at least 5. In each both sides are measured, one after the other; the side that begins alternates.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) rounds: u32,
    /// The pause before each side's turn and its warm-up: 2s, 500ms, 0s.
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "2s")]
    pub(crate) settle: Nanos,
    /// The number of requests of a turn; by default ten for each of --max-concurrency, and at least 100, which a p99 needs.
    #[arg(long, value_name = "N")]
    pub(crate) num_prompts: Option<NonZeroU64>,
    #[command(flatten)]
    pub(crate) in_flight: InFlightArgs,
    /// The number of requests before each turn that never count; by default a tenth of --num-prompts, at most 50.
    #[arg(long, value_name = "N")]
    pub(crate) num_warmups: Option<u64>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Answer")]
pub(crate) struct AnswerArgs {
    #[command(flatten)]
    pub(crate) decision: DecisionArgs,
    /// The folder that the run is written to; by default one named by the date under fizeau-runs/.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print ab.json instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}
