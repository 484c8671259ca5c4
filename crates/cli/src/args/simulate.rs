//! `fizeau simulate`.

use clap::builder::ArgPredicate;
use clap::{Arg, ArgAction, Args};
use fizeau::core::{LoadKind, Nanos};
use fizeau::experiment::LoadSearchSpec;

use super::choice::choice;
use super::engine::time;
use super::protocol::refuse;
use super::search::KINDS;
use super::{
    ChoosingArgs, EngineArgs, GoalArgs, LevelArgs, LevelsArgs, ProtocolArgs, SearchFlags,
    SystemArgs, TrustArgs, VerdictArgs, goal, whatif,
};
use crate::exit::Fail;

/// What a sweep has no use for: the load of one level, and vLLM's JSON.
const ONE_LEVEL: [&str; 24] = [
    "request_rate",
    "arrival_rescale",
    "ramp_up_strategy",
    "ramp_up_start_rps",
    "ramp_up_end_rps",
    "ramp_up_seconds",
    "request_rate_series",
    "burst",
    "diurnal",
    "trace_speedup",
    "ignore_trace_times",
    "probe_request_rate",
    "probe_input_len",
    "probe_output_len",
    "max_concurrency",
    "save_result",
    "save_detailed",
    "append_result",
    "result_dir",
    "result_filename",
    "metadata",
    "label",
    "percentile_metrics",
    "metric_percentiles",
];

/// What needs a server has no place here.
#[derive(Debug, Clone, Args)]
#[command(
    mut_arg("shard", |arg| arg.hide(true)),
    mut_arg("random_input_len", |arg| arg.alias("isl")
        .default_value_ifs([("levels", ArgPredicate::IsPresent, Some("250")), ("rates", ArgPredicate::IsPresent, Some("250"))])
        .help("Prompt length in tokens, by default 1024 and with --levels 250; or a law, as with `fizeau bench`")
        .hide_default_value(true)),
    mut_arg("random_output_len", |arg| arg.alias("osl")
        .default_value_ifs([("levels", ArgPredicate::IsPresent, Some("250")), ("rates", ArgPredicate::IsPresent, Some("250"))])
        .help("Output length in tokens, by default 128 and with --levels 250; or a law")
        .hide_default_value(true)),
    mut_arg("num_prompts", |arg| arg
        .help("How many requests to send: by default 1000, of a smaller data set as many as it has, of a trace all; of each \
               level of --levels ten for each slot, and at least 100")),
    mut_arg("num_warmups", |arg| arg
        .help("Requests sent first that never count, 0 for none; by default a tenth of --num-prompts, before a level of \
               --levels as many as its slots; at most 50")),
    mut_arg("out", |arg| arg
        .help("A folder for the run: run.json, tapes.jsonl, summary.json, histograms; with --levels a sweep's, by default one \
               named by the date under fizeau-runs/")),
    // What it asks for is read before the rest: see `whatif`.
    mut_arg("from", |arg| arg.requires("search")),
    mut_arg("to", |arg| arg.requires("search")),
    mut_arg("max_runs", |arg| arg.requires("search")),
    mut_arg("tolerance", |arg| arg.requires("search")),
    mut_arg("confidence", |arg| arg.requires("search")),
    mut_arg("confirm", |arg| arg.requires("search")),
    arg(Arg::new("case").long("case").value_name("FLAGS").action(ArgAction::Append).help_heading("What if").help(whatif::help())),
)]
pub(crate) struct SimulateArgs {
    #[command(flatten)]
    pub(crate) system: SystemArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) level: LevelArgs,
    #[command(flatten)]
    pub(crate) sweep: SimulatedSweepArgs,
    #[command(flatten)]
    pub(crate) protocol: ProtocolArgs,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    /// Search the highest rate, or the highest concurrency, within --slo, as `fizeau search` does.
    #[arg(long, value_parser = choice(&KINDS), value_name = "OVER", num_args = 0..=1, require_equals = false, default_missing_value = "rate",
          conflicts_with = "levels", help_heading = "Search")]
    pub(crate) search: Option<LoadKind>,
    #[command(flatten)]
    pub(crate) searched: SearchFlags,
    /// How long a request is on its way to the engine: a number with ns, us, ms or s. Above 0, what follows the end of a reply comes
    /// too late for the step that begins then, as it does in life, where it is at least loopback's time.
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "50us", help_heading = "Load")]
    pub(crate) network_delay: Nanos,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Sweep", mut_arg("slo", |arg| goal::with_help(arg,
    "The goal that the operating point, or without --levels the level, must meet: p99 ttft<500ms, p99 tpot<20ms. A range such \
     as p99 ttft<500ms..800ms has a tight and a loose end: both are answered, and the exit code is 1 where not even the loose \
     end is met")))]
pub(crate) struct SimulatedSweepArgs {
    /// Sweep these concurrencies and find the frontier, as `fizeau sweep` does; without it one level is run, as by
    /// `fizeau bench`.
    #[arg(long, alias = "concurrency", value_delimiter = ',', value_name = "N,...",
          conflicts_with_all = ONE_LEVEL)]
    pub(crate) levels: Vec<u32>,
    /// Sweep these rates of open loops, as `fizeau sweep` does, beside or without --levels: 1,2,4.5; or auto:8, eight of them
    /// up to 1.2 times what the closed loops reach at most. --burstiness says how regular they are.
    #[arg(long, value_name = "RPS,...", conflicts_with_all = ONE_LEVEL)]
    pub(crate) rates: Option<String>,
    /// A level releases no further request after this many seconds of virtual time; by default there is no such limit.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) level_seconds: Option<f64>,
    #[command(flatten)]
    pub(crate) goals: GoalArgs,
    #[command(flatten)]
    pub(crate) choosing: ChoosingArgs,
}

impl SimulateArgs {
    /// Whether several levels are asked for.
    pub(crate) const fn is_sweep(&self) -> bool {
        !self.sweep.levels.is_empty() || self.sweep.rates.is_some()
    }

    /// Refuses what one level has no use for.
    pub(crate) fn check(&self) -> Result<(), Fail> {
        if self.is_sweep() {
            return Ok(());
        }
        let is_long = self.sweep.level_seconds.is_some() && self.search.is_none();
        let given = self.protocol.given().into_iter().chain([("--level-seconds", is_long)]);
        refuse(given, "it is of a sweep: give --levels or --rates")
    }

    /// The levels of a sweep, as `fizeau sweep` has them.
    pub(crate) fn levels(&self) -> LevelsArgs {
        let LevelArgs { lengths, load, .. } = &self.level;
        LevelsArgs {
            levels: match self.search {
                Some(_) => vec![LoadSearchSpec::FIRST.get()],
                None => self.sweep.levels.clone(),
            },
            rates: self.sweep.rates.clone(),
            // A search has its rates, and how regular they are, by itself.
            burstiness: if self.search.is_some() { 1.0 } else { self.level.arrivals.burstiness },
            isl: lengths.random_input_len.clone(),
            osl: lengths.random_output_len.clone(),
            num_prompts: load.num_prompts,
            until: load.until.clone(),
            level_seconds: self.sweep.level_seconds,
            num_warmups: load.num_warmups,
        }
    }

    /// What a sweep is held against, as `fizeau sweep` has it.
    pub(crate) fn verdict(&self) -> VerdictArgs {
        let result = &self.level.result;
        VerdictArgs {
            goals: self.sweep.goals.clone(),
            choosing: self.sweep.choosing.clone(),
            goodput: result.goodput.clone(),
            out: result.out.clone(),
            engine: None,
            price: result.price.clone(),
        }
    }
}
