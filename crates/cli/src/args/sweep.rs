//! `fizeau sweep`.

use std::path::PathBuf;

use clap::Args;

use crate::exit::Fail;

use super::protocol::refuse;
use super::{
    BudgetArgs, ChoosingArgs, ClientArgs, EndpointArgs, GoalArgs, LiveArgs, PhysicsArgs, PriceArgs,
    ProtocolArgs, SamplingArgs, TrustArgs, WindowArgs, WorkloadArgs,
};

#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    pub(crate) endpoint: EndpointArgs,
    #[command(flatten)]
    pub(crate) workload: WorkloadArgs,
    #[command(flatten)]
    pub(crate) plan: LevelsArgs,
    #[command(flatten)]
    pub(crate) protocol: ProtocolArgs,
    #[command(flatten)]
    pub(crate) time: BudgetArgs,
    #[command(flatten)]
    pub(crate) sampling: SamplingArgs,
    #[command(flatten)]
    pub(crate) client: ClientArgs,
    #[command(flatten)]
    pub(crate) verdict: VerdictArgs,
    #[command(flatten)]
    pub(crate) physics: PhysicsArgs,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) live: LiveArgs,
    /// The formats of weights and key-value cache, in a line of your own, for the report; with --model-config they are known.
    #[arg(long, value_name = "TEXT", help_heading = "Checklist")]
    pub(crate) precision: Option<String>,
}

impl SweepArgs {
    /// Refuses what a search decides by itself.
    pub(crate) fn check_for_search(&self) -> Result<(), Fail> {
        let (plan, time) = (&self.plan, &self.time);
        let given = self.protocol.given().into_iter().chain([
            ("--rates", plan.rates.is_some()),
            ("--burstiness", plan.burstiness != 1.0),
            ("--budget", time.budget.is_some()),
            ("--resume", time.resume.is_some()),
        ]);
        refuse(given, "it is of `fizeau sweep`; a search decides that by itself")
    }

    /// What is not of who answers.
    pub(crate) const fn series(&self) -> SeriesArgs<'_> {
        let Self { workload, plan, verdict, window, .. } = self;
        SeriesArgs { workload, plan, verdict, window }
    }
}

/// The flags of a sweep that are not of who answers.
#[derive(Clone, Copy)]
pub(crate) struct SeriesArgs<'a> {
    pub(crate) workload: &'a WorkloadArgs,
    pub(crate) plan: &'a LevelsArgs,
    pub(crate) verdict: &'a VerdictArgs,
    pub(crate) window: &'a WindowArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Levels")]
pub(crate) struct LevelsArgs {
    /// The concurrencies to measure, rising; by default 1,2,4,8,16,32,64,128, and none where --rates names rates.
    #[arg(
        long,
        alias = "concurrency",
        value_delimiter = ',',
        env = "FIZEAU_LEVELS",
        value_name = "N,..."
    )]
    pub(crate) levels: Vec<u32>,
    /// The rates of open loops to measure, rising, in requests per second, beside or without --levels: 1,2,4.5; or auto:8 for
    /// eight of them from a tenth to 1.2 times what the closed loops reach at most.
    #[arg(long, value_name = "RPS,...")]
    pub(crate) rates: Option<String>,
    /// How regular the arrivals of --rates are: 1 is Poisson, below 1 burstier, above 1 smoother, inf at equal distances.
    #[arg(long, default_value_t = 1.0)]
    pub(crate) burstiness: f64,
    /// Prompt length in tokens, or a law, as with `fizeau bench`.
    #[arg(
        long,
        alias = "random-input-len",
        alias = "input-len",
        value_name = "TOKENS|LAW",
        default_value = "250",
        conflicts_with_all = ["length_preset", "length_pairs"]
    )]
    pub(crate) isl: String,
    /// Output length in tokens, or a law.
    #[arg(
        long,
        alias = "random-output-len",
        alias = "output-len",
        value_name = "TOKENS|LAW",
        default_value = "250",
        conflicts_with_all = ["length_preset", "length_pairs"]
    )]
    pub(crate) osl: String,
    /// Requests of a level; by default as many as its time has room for, of a data set ten for each slot and at least 100,
    /// which a p99 needs.
    #[arg(long)]
    pub(crate) num_prompts: Option<u64>,
    /// End each level once a figure is known well enough, after at most --num-prompts requests (then by default 100000):
    /// ci=2% (the mean end-to-end latency), p99 ttft ci=5%, output_tps ci=1%. The number is half the width of its 95 %
    /// interval over the figure. Several are separated by commas. If a level does not come to it, the exit code is 1.
    #[arg(long, value_name = "FIGURE")]
    pub(crate) until: Option<String>,
    /// A level releases no further request after this many seconds; by default 60, with --until 180.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) level_seconds: Option<f64>,
    /// Requests sent before each level that never count; by default as many as its slots, of an open loop a tenth of the level,
    /// at most 50.
    #[arg(long)]
    pub(crate) num_warmups: Option<u64>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Verdict")]
pub(crate) struct VerdictArgs {
    #[command(flatten)]
    pub(crate) goals: GoalArgs,
    #[command(flatten)]
    pub(crate) choosing: ChoosingArgs,
    /// Per-request goals in milliseconds, such as ttft:500 tpot:50; gives goodput. A request is good if it meets all
    /// goals of one group; the word or begins another: ttft:500 tpot:50 or e2el:2000.
    #[arg(long, value_name = "METRIC:MS", num_args = 1..)]
    pub(crate) goodput: Vec<String>,
    /// A folder for the sweep; by default one named by the date under fizeau-runs/.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// What the endpoint runs on, in a line of your own, for the report.
    #[arg(long, value_name = "TEXT", env = "FIZEAU_ENGINE")]
    pub(crate) engine: Option<String>,
    #[command(flatten)]
    pub(crate) price: PriceArgs,
}
