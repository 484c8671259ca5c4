//! `fizeau simulate`.

use clap::{Arg, ArgAction, Args, Id};
use fizeau::core::{LoadKind, Nanos};
use fizeau::experiment::LoadSearchSpec;

use super::choice::choice;
use super::values::time;
use super::{
    ArrivalArgs, ChoosingArgs, EngineArgs, InFlightArgs, LevelArgs, LevelSizeArgs, LevelsArgs,
    LoadArgs, ProbeArgs, ProtocolArgs, ReplayArgs, SearchFlags, SystemArgs, TrustArgs, ids, whatif,
};
use crate::exit::Fail;

/// What a sweep has no use for: the load of one level, and vLLM's JSON.
fn of_one_level() -> Vec<Id> {
    const RESULT: &str = "save_result save_detailed append_result result_dir result_filename metadata label \
                          percentile_metrics metric_percentiles";
    let arrivals = ids(ArrivalArgs::augment_args).filter(|id| id != "burstiness");
    let load = ids(InFlightArgs::augment_args).chain(ids(ReplayArgs::augment_args));
    let all = arrivals.chain(load).chain(ids(ProbeArgs::augment_args));
    all.chain(RESULT.split_ascii_whitespace().map(Id::from)).collect()
}

/// The flags of a search need --search here.
fn of_search(arg: Arg) -> Arg {
    match ids(SearchFlags::augment_args).any(|id| id == *arg.get_id()) {
        true => arg.requires("search"),
        false => arg,
    }
}

#[derive(Debug, Clone, Args)]
#[command(
    mut_args(of_search),
    // What it asks for is read before the rest: see `whatif`.
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
    pub(crate) choosing: ChoosingArgs,
    #[command(flatten)]
    pub(crate) protocol: ProtocolArgs,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    /// Search the highest rate, or the highest concurrency, within --slo, as `fizeau search` does. Files are kept only with --out.
    #[arg(long, value_parser = choice::<LoadKind>(), value_name = "LOAD", num_args = 0..=1, require_equals = false, default_missing_value = "rate",
          conflicts_with = "levels", help_heading = "Search")]
    pub(crate) search: Option<LoadKind>,
    #[command(flatten)]
    pub(crate) searched: SearchFlags,
    /// The time for a whole search, such as 3m, 90s or 1h, divided among its levels and the long ones of --confirm.
    #[arg(long, value_name = "TIME", value_parser = time, requires = "search", help_heading = "Search")]
    pub(crate) budget: Option<Nanos>,
    /// The time that a request takes to reach the engine, with ns, us, ms or s. Above 0, a request that follows the end of a reply
    /// comes too late for the step that begins then, as in reality, where it takes at least the time of a loopback connection; and requests that are due at one instant arrive 10us apart.
    #[arg(long, value_name = "TIME", default_value = "50us", help_heading = "Load")]
    pub(crate) network_delay: Nanos,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Sweep")]
pub(crate) struct SimulatedSweepArgs {
    /// Sweep these concurrencies and find the frontier, as `fizeau sweep` does; without it one level is run, as by `fizeau bench`.
    /// A level then has ten requests for each in flight, and at least 100, and as many warm-up requests as are in flight, at most 50.
    /// The folder is by default one named by the date under fizeau-runs/.
    #[arg(long, value_delimiter = ',', value_name = "N,...", conflicts_with_all = of_one_level())]
    pub(crate) levels: Vec<u32>,
    /// Sweep these rates, as `fizeau sweep` does, beside or without --levels: 1,2,4.5; or auto:8 for eight rates up to 1.2 times the
    /// highest throughput of --levels. With conversations (--turns) every turn counts; --request-rate counts those that begin.
    #[arg(long, value_name = "RATE,...", conflicts_with_all = of_one_level())]
    pub(crate) rates: Option<String>,
}

impl SimulateArgs {
    /// Whether several levels are asked for.
    pub(crate) const fn is_sweep(&self) -> bool {
        !self.sweep.levels.is_empty() || self.sweep.rates.is_some()
    }

    /// Whether one level is asked for.
    pub(crate) const fn is_level(&self) -> bool {
        self.search.is_none() && !self.is_sweep()
    }

    /// Refuses what one level has no use for.
    pub(crate) fn check(&self) -> Result<(), Fail> {
        match self.is_sweep() {
            true => Ok(()),
            false => self
                .protocol
                .refuse("it works only in a sweep; use --levels or --rates to make it one"),
        }
    }

    /// The levels of a sweep, as `fizeau sweep` has them.
    pub(crate) fn levels(&self) -> LevelsArgs {
        let levels = match self.search {
            Some(_) => vec![LoadSearchSpec::FIRST.get()],
            None => self.sweep.levels.clone(),
        };
        let until = self.level.load.until.clone();
        LevelsArgs { levels, rates: self.sweep.rates.clone(), until, ..LevelsArgs::default() }
    }

    /// How large a level of a sweep is, as `fizeau sweep` has it.
    pub(crate) const fn size(&self) -> LevelSizeArgs {
        let LoadArgs { num_prompts, level_seconds, num_warmups, .. } = self.level.load;
        let spacing = self.level.arrivals.spacing;
        LevelSizeArgs { spacing, num_prompts, level_seconds, num_warmups }
    }
}
