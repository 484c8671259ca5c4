//! `fizeau simulate`: a bench or a sweep in virtual time, against a simulated engine.

mod place;

use fizeau::experiment::{PromptReader, ResumedLevels, WallTime, check_goals, keep_run};
use fizeau::harness::{Cancel, Rig, SelfWatch};
use fizeau::metrics::Slo;
use fizeau::record::RunFolder;
use fizeau::record::{Decision, OperatingPoint, Profile, Setup, SweepReport};
use fizeau::sim::{SimTransport, VirtualTime};

use crate::args::{SeriesArgs, SimulateArgs, TrustArgs};
use crate::commands::bench::{self, Trial, text_after};
use crate::commands::report::PAGE;
use crate::commands::search;
use crate::commands::shared::folder::{self, Claim};
use crate::commands::shared::{checklist, record, workload};
use crate::commands::sweep::{self, Series, simulated_protocol_of};
use crate::exit::{Exit, Fail, Named};
use crate::terminal::interrupt;
use crate::terminal::progress::View;
use crate::terminal::say::say;
use place::Simulation;

/// What came of a simulation.
pub(crate) struct Simulated {
    /// What was simulated, in one line.
    pub(crate) description: String,
    /// What of workload and engine is not as one might think, each in one line.
    pub(crate) notes: Vec<String>,
    /// What was run, and on what.
    pub(crate) setup: Setup,
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
    let slo = args.sweep.goals.slo()?;
    args.check()?;
    let goals = args.level.result.goodput.join(" ").parse().named("--goodput")?;
    check_goals(Some(&slo), args.sweep.choosing.choice().over(Profile::GENERAL), &goals)?;
    let is_sweep = args.search.is_some() || args.is_sweep();
    let by_default = || is_sweep.then(|| folder::by_default(WallTime::now(), "simulate"));
    let out = args.level.result.out.clone().or_else(by_default);
    let out = out.as_deref().map(Claim::new).transpose()?;
    let folder = out.as_ref().map(Claim::folder);
    // What fails before there is anything to keep leaves no folder.
    let done = simulate(args, folder, &cancel);
    let simulated = done.inspect_err(|_| out.iter().for_each(Claim::give_back))?;
    let asked = args.sweep.goals.is_given().then_some(slo);
    simulated.show(folder, asked, &args.trust)
}

/// Runs the one configuration that `args` name. Nothing is printed; files go to `folder`.
pub(crate) fn simulate(
    args: &SimulateArgs,
    folder: Option<&RunFolder>,
    cancel: &Cancel,
) -> Result<Simulated, Fail> {
    let simulation = Simulation::new(args)?;
    match args.search.is_none() && !args.is_sweep() {
        true => level(args, &simulation, folder, cancel),
        false => series(args, &simulation, folder, cancel),
    }
}

fn level(
    args: &SimulateArgs,
    simulation: &Simulation,
    folder: Option<&RunFolder>,
    cancel: &Cancel,
) -> Result<Simulated, Fail> {
    let (description, level) = (simulation.describe(), simulation.workload_of(&args.level));
    let time = VirtualTime::new();
    let keep = bench::settings(&level)?.workload.keep_text(text_after(&level));
    let transport = simulation.transport(&time, keep);
    let (target, answering) = (simulation.target(), simulation.answering());
    let trial = Trial::new(&level, (target, target.model()), answering, &record::origin())?;
    if let Some(folder) = folder {
        let (document, light) = (trial.level.document()?, trial.level.light.as_ref().ok());
        keep_run(folder, &document, light).map_err(Fail::broken)?;
    }
    let measuring = trial.measure(rig(&transport, &time, cancel), folder, cancel, View::Lines);
    let measured = time.block_on(measuring).map_err(Fail::broken)??;
    let (mut notes, setup) = (trial.notes(), trial.level.setup.clone());
    notes.extend(preempted(&transport));
    let devices = simulation.devices();
    let report = Report::Level(Box::new(trial.finish(folder, measured)));
    Ok(Simulated { description, notes, setup, devices, report })
}

/// A sweep, or a search.
fn series(
    args: &SimulateArgs,
    simulation: &Simulation,
    folder: Option<&RunFolder>,
    cancel: &Cancel,
) -> Result<Simulated, Fail> {
    let (description, level) = (simulation.describe(), simulation.workload_of(&args.level));
    let (plan, verdict) = (args.levels(), args.verdict());
    let asked = SeriesArgs {
        workload: &level.workload,
        window: &level.window,
        plan: &plan,
        verdict: &verdict,
    };
    let reader = PromptReader::Simulation;
    let mut settings = asked.settings(simulated_protocol_of(&args.protocol)?, reader)?;
    let wanted = match args.search {
        None => None,
        Some(over) => {
            settings.loads = settings.loads.with_burstiness(level.arrivals.burstiness)?;
            let slo = args.sweep.goals.slo()?;
            Some(search::wanted(over.into(), &args.searched, slo, &settings, reader)?)
        }
    };
    let refused = workload::refused(asked.nominal(), "--levels");
    let read = settings.read(simulation.target()).map_err(&refused)?;
    let time = VirtualTime::new();
    let transport = simulation.transport(&time, settings.workload.keep_text(text_after(&level)));
    let sweep = settings.prepare(read, simulation.answering(), &record::origin());
    let mut sweep = sweep.map_err(&refused)?;
    if wanted.is_some() {
        sweep = sweep.of_loads_to_come();
    }
    let series = Series { args: asked, sweep, view: View::default() };
    if let Some(folder) = folder {
        let (document, light) = (series.sweep.document()?, series.sweep.light.as_ref().ok());
        keep_run(folder, &document, light).map_err(Fail::broken)?;
    }
    let with = rig(&transport, &time, cancel);
    let report = match wanted {
        Some(wanted) => {
            let measuring = search::carry_out(wanted, &series, with, folder, cancel);
            Report::Search(Box::new(time.block_on(measuring).map_err(Fail::broken)??))
        }
        None => {
            let measuring = series.measure(with, folder, (cancel, ResumedLevels::default()));
            Report::Sweep(Box::new(time.block_on(measuring).map_err(Fail::broken)??))
        }
    };
    let (mut notes, setup) = (series.notes(), series.sweep.setup.clone());
    notes.extend(preempted(&transport));
    let devices = simulation.devices();
    Ok(Simulated { description, notes, setup, devices, report })
}

/// That requests lost their places, which no figure says.
fn preempted(transport: &SimTransport) -> Option<String> {
    let often = transport.gauges().preemptions;
    (often > 0).then(|| {
        format!(
            "the key-value cache was full, and {often} times a request lost its place in it and was read again: fewer \
             requests at once, shorter ones or --reserve would spare that"
        )
    })
}

const fn rig<'a>(
    transport: &'a SimTransport,
    timer: &'a VirtualTime,
    cancel: &'a Cancel,
) -> Rig<'a, SimTransport, VirtualTime> {
    Rig { transport, timer, watch: SelfWatch::Off, cancel }
}

/// Says how the goals that were asked for came out at the one level.
fn judged(exit: Exit, asked: Option<&SweepReport>) -> Result<Exit, Fail> {
    let Some(asked) = asked else { return Ok(exit) };
    let goals = asked.operating_point();
    match goals {
        OperatingPoint::Unjudged { reason } => say(format!("--slo: {reason}"))?,
        goals if goals.goals().is_empty() => {
            say("--slo: not judged, since the level cannot stand")?;
        }
        _ => {}
    }
    if asked.decisions().iter().any(Decision::is_loose_only) {
        say("--slo: met at the loose end only")?;
    }
    goals.goals().iter().try_for_each(|goal| say(goal.words_simulated()))?;
    Ok(if exit == Exit::Good && goals.level().is_none() { Exit::Missed } else { exit })
}

impl Simulated {
    /// Prints what `fizeau bench` or `fizeau sweep` would.
    fn show(
        self,
        folder: Option<&RunFolder>,
        slo: Option<Slo>,
        trust: &TrustArgs,
    ) -> Result<Exit, Fail> {
        self.notes.iter().for_each(|note| tell!("note: {note}"));
        match self.report {
            Report::Level(outcome) => {
                say(format!("simulated in virtual time, not measured: {}", self.description))?;
                let goals = slo.map(|slo| {
                    let levels = vec![outcome.report.clone()];
                    SweepReport::new(self.setup, levels, Some(slo))
                });
                judged(outcome.show(trust)?, goals.as_ref())
            }
            Report::Search(outcome) => search::end(&outcome, folder.map(RunFolder::path), trust),
            Report::Sweep(outcome) => {
                let page = folder.map(|folder| folder.path().join(PAGE));
                sweep::show(&outcome.report, page.as_deref(), trust)?;
                Ok(checklist::enforce(&outcome.report.checklist(), trust, outcome.exit))
            }
        }
    }
}
