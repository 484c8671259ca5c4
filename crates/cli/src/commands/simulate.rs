//! `fizeau simulate`: a bench or a sweep in virtual time, against a simulated engine.

use std::path::PathBuf;

use fizeau::experiment::{
    CaseEngine, CaseOutcome, CaseSettings, CaseSpec, EndpointKind, Experiment, ExperimentError,
    InputError, LevelSettings, PreparedExperiment, PreparedRun, SimulatedSystem, WallTime, Watcher,
    check_goals,
};
use fizeau::harness::Cancel;
use fizeau::record::Profile;
use fizeau::record::text::wrap;
use fizeau::report::Verbosity;
use fizeau::sim::AdmissionOrder;

use crate::args::{LevelArgs, SeriesArgs, SimulateArgs};
use crate::commands::bench::LevelOutputs;
use crate::commands::report::PAGE;
use crate::commands::shared::{checklist, folder, scenario, workload};
use crate::commands::{bench, search, sweep};
use crate::exit::{Exit, Fail};
use crate::terminal::interrupt;
use crate::terminal::progress::{Progress, View, title};
use crate::terminal::say::say;

pub(crate) fn run(args: &SimulateArgs) -> Result<Exit, Fail> {
    let cancel = Cancel::new();
    interrupt::listen(cancel.clone())?;
    let slo = match args.search {
        Some(_) => args.level.goals.of_search()?,
        None => args.level.goals.slo()?,
    };
    args.check()?;
    let goals = args.level.goals.goodput()?;
    check_goals(Some(&slo), args.choosing.choice().over(Profile::GENERAL), &goals)?;
    // The tapes of a search in virtual time may take a gigabyte: they are kept where that was asked for.
    let out = args.level.result.out.as_ref();
    let is_kept = out.is_some() || args.is_sweep();
    let out = is_kept.then(|| folder::given_or_usual(out, WallTime::now(), "simulate"));
    let engine = Simulation::new(args, out, &cancel)?;
    match asked(args)? {
        CaseSettings::Level(settings) => level(&engine, *settings),
        settings => series(&CaseSpec { settings, engine }),
    }
}

/// What `args` ask for.
pub(crate) fn asked(args: &SimulateArgs) -> Result<CaseSettings, Fail> {
    let level = workload_of(&args.level);
    if args.is_level() {
        workload::check_lengths(&level.workload)?;
        return Ok(CaseSettings::Level(Box::new(bench::settings(&level)?)));
    }
    let (levels, size) = (args.levels(), args.size());
    let LevelArgs { workload, goals, window, result, .. } = &level;
    let (choosing, price) = (&args.choosing, &result.price);
    let asked =
        SeriesArgs { levels: &levels, size: &size, workload, goals, choosing, price, window };
    if args.search.is_none() {
        asked.check()?;
    }
    let protocol = sweep::simulated_protocol_of(&args.protocol)?;
    let settings = asked.settings(protocol)?;
    let Some(over) = args.search else { return Ok(CaseSettings::Sweep(Box::new(settings))) };
    let mut settings = search::settings(over, &args.searched, goals.of_search()?, settings)?;
    settings.search.budget = args.budget;
    Ok(CaseSettings::Search(Box::new(settings)))
}

/// Runs one level, and prints what `fizeau bench` would.
fn level(engine: &Simulation<'_>, settings: LevelSettings) -> Result<Exit, Fail> {
    let SimulateArgs { level, trust, .. } = engine.args;
    let prepared = engine.experiment().settings(settings).prepare().map_err(engine.refused())?;
    let kept =
        LevelOutputs::new(level, engine.system.scenario().model_name(), prepared.prepared())?;
    let folder = prepared.folder().cloned();
    let mut watcher =
        kept.watcher(prepared.prepared(), folder.as_ref(), View::Simulated, engine.cancel);
    let measured = engine.measure(prepared, &mut watcher)?;
    let outcome = kept.finish(folder.as_ref(), measured, watcher, engine.cancel);
    let description = engine.system.scenario().describe();
    let description = match trust.output.verbosity() {
        Verbosity::Brief => description.split(';').next().unwrap_or_default(),
        Verbosity::Full => &description,
    };
    say(wrap(&format!("Simulated in virtual time, not measured: {description}"), 80))?;
    outcome.show(trust)
}

/// Runs a sweep or a search, and prints what the command of that name would.
fn series(spec: &CaseSpec<Simulation<'_>>) -> Result<Exit, Fail> {
    let Simulation { args, cancel, .. } = spec.engine;
    let ran = spec.run(&mut ()).map_err(spec.engine.refused())?;
    let (trust, folder) = (&args.trust, ran.folder.as_ref());
    match ran.outcome {
        CaseOutcome::Sweep(report) => {
            let exit = sweep::ended(&report, folder, cancel)?;
            let page = folder.map(|folder| folder.path().join(PAGE));
            sweep::show(&report, page.as_deref(), trust)?;
            Ok(checklist::enforce(&report.checklist(), trust, exit))
        }
        CaseOutcome::Search(outcome) => search::show(&outcome, folder, cancel, trust),
        CaseOutcome::Level(_) => Err(broken!(
            "the simulation of a search or sweep ended as a \
            single level"
        )),
    }
}

/// What `args` ask, the same each time: there is no cache of an earlier run that prompts must be kept from.
fn workload_of(args: &LevelArgs) -> LevelArgs {
    let mut args = args.clone();
    if !args.workload.reuse_prompts {
        args.workload.salt.get_or_insert(1);
    }
    args
}

/// A simulated engine, and what is measured of it.
pub(crate) struct Simulation<'a> {
    args: &'a SimulateArgs,
    folder: Option<PathBuf>,
    cancel: &'a Cancel,
    system: SimulatedSystem,
}

impl<'a> Simulation<'a> {
    /// The engine that `args` describe, whose files go to `folder`. Files are read.
    pub(crate) fn new(
        args: &'a SimulateArgs,
        folder: Option<PathBuf>,
        cancel: &'a Cancel,
    ) -> Result<Self, Fail> {
        refuse_if!(
            args.engine.scheduling_policy == AdmissionOrder::Priority,
            "--scheduling-policy priority: the requests of a simulation have no priorities; leave it out (those that \
             `fizeau serve` gets may have some)"
        );
        let system = scenario::of(&args.system, &args.engine, args.level.workload.max_model_len)?;
        Ok(Self { args, folder, cancel, system: system.network_delay(args.network_delay) })
    }

    /// What is wrong with what it is asked, in flags.
    fn refused(&self) -> impl Fn(ExperimentError) -> Fail + Copy + use<> {
        workload::refused(match self.args.is_level() {
            true => bench::arrivals_flag(&self.args.level.arrivals),
            false => "--levels",
        })
    }

    /// The command that does the same with a server.
    const fn command(&self) -> &'static str {
        match self.args.search {
            Some(_) => "search",
            None if self.args.is_sweep() => "sweep",
            None => "bench",
        }
    }

    /// Runs `prepared`. What is not as one might think is said.
    fn measure<K: EndpointKind>(
        &self,
        prepared: PreparedExperiment<K>,
        watcher: &mut impl Watcher,
    ) -> Result<<K::Prepared as PreparedRun>::Outcome, ExperimentError> {
        workload::tell_notes(prepared.prepared().basis().notes(), &self.args.level.workload);
        self.system.run_prepared(prepared, watcher)
    }
}

impl CaseEngine for Simulation<'_> {
    fn experiment(&self) -> Experiment {
        let experiment = self.system.experiment().origin(folder::origin());
        let experiment = experiment.cancel(self.cancel.clone());
        match &self.folder {
            Some(folder) => experiment.folder(folder),
            None => experiment,
        }
    }

    fn devices(&self) -> u64 {
        self.system.devices()
    }

    fn run_prepared<K: EndpointKind>(
        &self,
        prepared: PreparedExperiment<K>,
        watcher: &mut impl Watcher,
    ) -> Result<<K::Prepared as PreparedRun>::Outcome, ExperimentError> {
        let title = title(self.command(), &prepared.prepared().basis().setup);
        let progress = Progress::new(View::Simulated, title, self.cancel);
        self.measure(prepared, &mut (watcher, progress))
    }

    fn refusal(&self, error: InputError) -> String {
        self.refused()(error.into()).message
    }
}
