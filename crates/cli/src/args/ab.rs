//! `fizeau ab`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::Resettable;

use super::level::LengthArgs;
use super::{
    ArrivalArgs, ClientArgs, DecisionArgs, EndpointArgs, LiveArgs, SamplingArgs, WorkloadArgs,
};

/// What names one server, one share of a run or a trace has no place here, and is refused by name where it is given.
#[derive(Debug, Args)]
#[command(
    mut_arg("base_url", |arg| arg.hide(true).env(Resettable::Reset)),
    mut_arg("trace_speedup", |arg| arg.hide(true)),
    mut_arg("ignore_trace_times", |arg| arg.hide(true)),
    mut_arg("probe_request_rate", |arg| arg.hide(true)),
    mut_arg("probe_input_len", |arg| arg.hide(true)),
    mut_arg("probe_output_len", |arg| arg.hide(true)),
)]
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
    pub(crate) lengths: LengthArgs,
    #[command(flatten)]
    pub(crate) arrivals: ArrivalArgs,
    #[command(flatten)]
    pub(crate) sampling: SamplingArgs,
    #[command(flatten)]
    pub(crate) client: ClientArgs,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
    #[command(flatten)]
    pub(crate) live: LiveArgs,
}

/// The two endpoints. Flags of endpoints that name no side are for both.
#[derive(Debug, Args)]
#[command(next_help_heading = "Sides")]
pub(crate) struct SidesArgs {
    /// The baseline: where the first server is. Several alike with commas between them.
    #[arg(long, value_name = "URL", value_delimiter = ',', required = true)]
    pub(crate) a: Vec<String>,
    /// The candidate: where the second server is.
    #[arg(long, value_name = "URL", value_delimiter = ',', required = true)]
    pub(crate) b: Vec<String>,
    /// The model of A, where it is not --model.
    #[arg(long, value_name = "NAME")]
    pub(crate) a_model: Option<String>,
    /// The model of B, where it is not --model.
    #[arg(long, value_name = "NAME")]
    pub(crate) b_model: Option<String>,
    /// What server A is, where it is not --backend.
    #[arg(long, value_name = "BACKEND")]
    pub(crate) a_backend: Option<String>,
    /// What server B is, where it is not --backend.
    #[arg(long, value_name = "BACKEND")]
    pub(crate) b_backend: Option<String>,
    /// What A is called in the report, in a word or two.
    #[arg(long, value_name = "TEXT")]
    pub(crate) a_name: Option<String>,
    /// What B is called in the report.
    #[arg(long, value_name = "TEXT")]
    pub(crate) b_name: Option<String>,
    /// Give each side prompts of its own, of the same lengths: where both have one prefix cache, which would serve whoever is
    /// second. Done unasked where A and B are the same address.
    #[arg(long, conflicts_with = "reuse_prompts")]
    pub(crate) salt_sides: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Rounds")]
pub(crate) struct RoundsArgs {
    /// How many rounds, at least 5. In each both sides are measured, one after the other; who is first alternates.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) rounds: u32,
    /// A pause before each side's turn, before its warm-up: 2s, 500ms, 0s.
    #[arg(long, value_name = "TIME", default_value = "2s")]
    pub(crate) settle: String,
    /// Requests of a turn; by default ten for each slot of --max-concurrency, and at least 100, which a p99 needs.
    #[arg(long)]
    pub(crate) num_prompts: Option<u64>,
    /// The most requests in flight at once; by default there is no limit.
    #[arg(long)]
    pub(crate) max_concurrency: Option<i64>,
    /// Requests sent before each turn that never count; by default a tenth of --num-prompts, at most 50.
    #[arg(long)]
    pub(crate) num_warmups: Option<u64>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Answer")]
pub(crate) struct AnswerArgs {
    /// Per-request goals in milliseconds, such as ttft:500 tpot:50; gives goodput.
    #[arg(long, value_name = "METRIC:MS", num_args = 1..)]
    pub(crate) goodput: Vec<String>,
    #[command(flatten)]
    pub(crate) decision: DecisionArgs,
    /// End with exit code 1 if any metric of B is worse.
    #[arg(long)]
    pub(crate) fail_on_worse: bool,
    /// A folder for the run; by default one named by the date under fizeau-runs/.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print ab.json instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}
