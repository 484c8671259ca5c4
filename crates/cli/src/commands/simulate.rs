//! `fizeau simulate`: a bench or a sweep in virtual time, against a simulated engine.

use fizeau::core::Tokens;
use fizeau::experiment::{
    CacheBlocks, ContextLimit, DetailWatcher, EndpointKind, Experiment, LimitSource,
    PreparedExperiment, PreparedRun, PromptReader, SystemUnderTest, WallTime, Watcher, check_goals,
};
use fizeau::harness::{Cancel, Rig, SelfWatch};
use fizeau::interop::DetailTally;
use fizeau::record::{ClaimedFolder, Profile, RunFolder, RunSetup, SpeedOfLightReference};
use fizeau::report::Verbosity;
use fizeau::sim::{AdmissionOrder, Scenario, SimTransport, VirtualTime};
use fizeau::transport::{Backend, KeepText, Target};

use crate::args::{LevelArgs, SeriesArgs, SimulateArgs, TrustArgs};
use crate::commands::bench::{self, LevelOutputs};
use crate::commands::report::PAGE;
use crate::commands::shared::folder;
use crate::commands::shared::{checklist, record, scenario, speed, workload};
use crate::commands::{search, sweep};
use crate::exit::{Exit, Fail, Named};
use crate::terminal::interrupt;
use crate::terminal::progress::{Progress, Title, View};
use crate::terminal::say::say;

/// What came of a simulation.
pub(crate) struct Simulated {
    /// What was simulated, in one line.
    pub(crate) description: String,
    /// What of workload and engine is not as one might think, each in one line.
    pub(crate) notes: Vec<String>,
    /// What was run, and on what.
    pub(crate) setup: RunSetup,
    /// How many devices that takes.
    pub(crate) devices: u64,
    pub(crate) report: Report,
}

/// One level, or several, or those of a search.
pub(crate) enum Report {
    Level(Box<bench::Outcome>),
    Sweep(Box<sweep::Outcome>),
    Search(Box<search::Outcome>),
}

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
    let by_default = || args.is_sweep().then(|| folder::by_default(WallTime::now(), "simulate"));
    let out = args.level.result.out.clone().or_else(by_default);
    let out = out.as_deref().map(folder::claim).transpose()?;
    let folder = out.as_ref().map(ClaimedFolder::folder);
    simulate(args, folder, &cancel)?.show(folder, &args.trust)
}

/// Runs the one configuration that `args` name. Nothing is printed; files go to `folder`.
pub(crate) fn simulate(
    args: &SimulateArgs,
    folder: Option<&RunFolder>,
    cancel: &Cancel,
) -> Result<Simulated, Fail> {
    let simulation = Simulation::new(args, folder, cancel)?;
    match args.search.is_none() && !args.is_sweep() {
        true => level(args, &simulation),
        false => series(args, &simulation),
    }
}

fn level(args: &SimulateArgs, simulation: &Simulation<'_>) -> Result<Simulated, Fail> {
    let level = workload_of(&args.level);
    let refused = workload::refused(bench::arrivals_flag(&level.arrivals));
    let experiment = simulation.experiment().settings(bench::settings(&level)?);
    let prepared = experiment.prepare().map_err(refused)?;
    let kept = LevelOutputs::new(&level, simulation.scenario.model_name(), prepared.prepared())?;
    let notes = prepared.prepared().basis.notes();
    let mut watcher =
        kept.watcher(prepared.prepared(), simulation.folder, View::Simulated, simulation.cancel);
    let keep = EndpointKind::keep_text(&prepared.prepared().settings);
    let (measured, simulated) = simulation.run(prepared, keep, &mut watcher)?;
    let outcome = kept.finish(simulation.folder, measured, watcher, simulation.cancel);
    Ok(simulated.done(notes, &level, Report::Level(Box::new(outcome))))
}

/// A sweep, or a search.
fn series(args: &SimulateArgs, simulation: &Simulation<'_>) -> Result<Simulated, Fail> {
    let (level, levels, size) = (workload_of(&args.level), args.levels(), args.size());
    let LevelArgs { workload, goals, window, result, .. } = &level;
    let (choosing, price) = (&args.choosing, &result.price);
    let asked =
        SeriesArgs { levels: &levels, size: &size, workload, goals, choosing, price, window };
    if args.search.is_none() {
        asked.check()?;
    }
    let protocol = sweep::simulated_protocol_of(&args.protocol)?;
    let settings = asked.settings(protocol, PromptReader::Simulation)?;
    let refused = workload::refused("--levels");
    let Simulation { folder, cancel, .. } = *simulation;
    let mut details = folder.map(|_| DetailWatcher::<DetailTally>::new(&settings.goals));
    let keep = settings.keep_text();
    let Some(over) = args.search else {
        let prepared = simulation.experiment().settings(settings).prepare().map_err(refused)?;
        let notes = prepared.prepared().basis.notes();
        let progress = progress("sweep", &prepared.prepared().basis.setup, cancel);
        let (report, simulated) = simulation.run(prepared, keep, &mut (progress, details))?;
        let outcome = sweep::Outcome::of(report, folder, goals, cancel)?;
        return Ok(simulated.done(notes, &level, Report::Sweep(Box::new(outcome))));
    };
    let mut settings = search::settings(over, &args.searched, goals.of_search()?, settings)?;
    settings.search.budget = args.budget;
    let prepared = simulation.experiment().settings(settings).prepare().map_err(refused)?;
    let notes = prepared.prepared().basis().notes();
    let progress = progress("search", &prepared.prepared().basis().setup, cancel);
    let (outcome, simulated) = simulation.run(prepared, keep, &mut (progress, &mut details))?;
    let outcome = search::Outcome::of(outcome, folder, cancel)?;
    Ok(simulated.done(notes, &level, Report::Search(Box::new(outcome))))
}

fn progress(command: &'static str, setup: &RunSetup, cancel: &Cancel) -> Progress {
    Progress::new(View::Simulated, Title::of(command, setup), cancel)
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
struct Simulation<'a> {
    args: &'a SimulateArgs,
    folder: Option<&'a RunFolder>,
    cancel: &'a Cancel,
    scenario: Scenario,
    light: SpeedOfLightReference,
    /// Nobody is there: it says what kinds of prompt there may be.
    target: Target,
}

/// What is known of a simulation that is over.
struct Run {
    description: String,
    devices: u64,
    setup: RunSetup,
    /// That requests lost their places, which no figure says.
    preempted: Option<String>,
}

impl<'a> Simulation<'a> {
    /// The engine that `args` describe. Files are read.
    fn new(
        args: &'a SimulateArgs,
        folder: Option<&'a RunFolder>,
        cancel: &'a Cancel,
    ) -> Result<Self, Fail> {
        if args.engine.scheduling_policy == AdmissionOrder::Priority {
            return Err(Fail::usage(
                "--scheduling-policy priority: the requests of a simulation have no priorities; leave it out (those that \
                 `fizeau serve` gets may have some)",
            ));
        }
        let scenario = scenario::of(&args.system, &args.engine)?;
        let scenario = match args.level.workload.max_model_len {
            Some(most) => scenario.with_max_context(Tokens::new(most)).named("--max-model-len")?,
            None => scenario,
        };
        let light = speed::of_scenario(&args.system, &scenario)?;
        let target = Target::new("http://127.0.0.1:1", Backend::Vllm, scenario.model_name());
        let target = target.named("--model-config")?;
        Ok(Self { args, folder, cancel, scenario, light, target })
    }

    fn experiment(&self) -> Experiment {
        let (description, name) = (self.scenario.describe(), self.scenario.model_name());
        let mut system = SystemUnderTest::simulated(description, name);
        system.light = Ok(self.light.clone());
        system.limit = self.limit();
        let experiment = Experiment::new(self.target.clone()).system(system);
        let experiment = experiment.origin(record::origin());
        match self.folder {
            Some(folder) => experiment.folder(folder.path()),
            None => experiment,
        }
    }

    fn limit(&self) -> Option<ContextLimit> {
        let (tokens, cache) = self.scenario.longest_request()?;
        let cache = cache.map(|(blocks, block)| CacheBlocks { blocks, block });
        Some(ContextLimit::new(tokens, LimitSource::SimulatedEngine).with_cache(cache))
    }

    /// Runs `prepared` in virtual time, on an engine that nothing was asked of before.
    fn run<K: EndpointKind>(
        &self,
        prepared: PreparedExperiment<K>,
        keep: KeepText,
        watcher: &mut impl Watcher,
    ) -> Result<(<K::Prepared as PreparedRun>::Outcome, Run), Fail> {
        let time = VirtualTime::new();
        let transport = SimTransport::new(&time, self.scenario.serve());
        let transport = transport.with_delay(self.args.network_delay);
        let transport = match keep {
            KeepText::Yes => transport.keeping_text(),
            KeepText::No => transport,
        };
        let setup = prepared.prepared().basis().setup.clone();
        let rig =
            Rig { transport: &transport, timer: &time, watch: SelfWatch::Off, cancel: self.cancel };
        let outcome = time.block_on(prepared.run_with(rig, watcher)).map_err(Fail::broken)??;
        let often = transport.gauges().preemptions;
        let preempted = (often > 0).then(|| {
            format!(
                "the key-value cache was full, and {often} times a request was evicted from it \
                 and prefilled again; fewer requests at once, shorter ones or --reserve avoid \
                 that"
            )
        });
        let (description, devices) = (self.scenario.describe(), self.scenario.devices());
        Ok((outcome, Run { description, devices, setup, preempted }))
    }
}

impl Run {
    /// With what came of it, which asked what `level` says.
    fn done(self, notes: Vec<String>, level: &LevelArgs, report: Report) -> Simulated {
        let Self { description, devices, setup, preempted } = self;
        let notes = notes.into_iter().chain(workload::unread(&level.workload)).chain(preempted);
        Simulated { description, notes: notes.collect(), setup, devices, report }
    }
}

impl Simulated {
    /// Prints what `fizeau bench` or `fizeau sweep` would.
    fn show(self, folder: Option<&RunFolder>, trust: &TrustArgs) -> Result<Exit, Fail> {
        self.notes.iter().for_each(|note| tell!("note: {note}"));
        match self.report {
            Report::Level(outcome) => {
                let description = match trust.output.verbosity() {
                    Verbosity::Brief => self.description.split(';').next().unwrap_or_default(),
                    Verbosity::Full => &self.description,
                };
                say(format!("simulated in virtual time, not measured: {description}"))?;
                outcome.show(trust)
            }
            Report::Search(outcome) => outcome.show(folder.map(RunFolder::path), trust),
            Report::Sweep(outcome) => {
                let page = folder.map(|folder| folder.path().join(PAGE));
                sweep::show(&outcome.report, page.as_deref(), trust)?;
                Ok(checklist::enforce(&outcome.report.checklist(), trust, outcome.exit))
            }
        }
    }
}
