//! `fizeau sweep`: a frontier, from an endpoint or from the embedded engine.

mod outcome;
mod settings;

pub(crate) use outcome::{Outcome, show};
pub(crate) use settings::simulated_protocol_of;

use std::path::{Path, PathBuf};

use fizeau::experiment::{
    EmbeddedEngine, EndpointKind, Experiment, PreparedRun, RunOrigin, ShardAbsence, ShardOutcome,
    SystemUnderTest,
};
use fizeau::harness::Cancel;
use fizeau::record::{EngineRecord, RunFolder};
use settings::protocol_of;

use crate::args::{MeasureArgs, SweepArgs};
use crate::commands::report::PAGE;
use crate::commands::shared::opening::Opening;
use crate::commands::shared::shards::{LevelsOfCommand, Shards};
use crate::commands::shared::{
    checklist, client, endpoint, folder, opening, shards, speed, workload,
};
use crate::exit::{Exit, Fail};
use crate::terminal::progress::{Progress, title};
use crate::terminal::say::say;
use crate::terminal::{interrupt, runtime};

/// What came of levels that were measured at an endpoint.
pub(crate) struct Measured<O> {
    pub(crate) outcome: O,
    pub(crate) folder: RunFolder,
    pub(crate) cancel: Cancel,
    /// The shard that was gone in the midst of it.
    pub(crate) gone: Option<Box<ShardAbsence>>,
}

pub(crate) fn run(args: &SweepArgs) -> Result<Exit, Fail> {
    let MeasureArgs { verdict, trust, .. } = &args.measure;
    let series = args.measure.series(&args.levels);
    series.check()?;
    let mut settings = series.settings(protocol_of(args)?)?;
    let meeting = Meeting::resuming(&args.measure, "sweep", args.resume.as_deref())?;
    // The others measure what shard 0 says that is left.
    if meeting.shards.has_report() {
        settings.resume.clone_from(&args.resume);
    }
    meeting.shards.refuse_until(args.levels.until.is_some())?;
    let measured = measure(&args.measure, settings, "sweep", &meeting)?;
    let Measured { outcome, folder, cancel, gone } = match measured {
        Levels::Whole(measured) => measured,
        Levels::Part(exit) => return Ok(exit),
    };
    let shown = || {
        let outcome = Outcome::of(outcome, Some(&folder), &verdict.goals, &cancel)?;
        let Outcome { report, exit } = outcome;
        show(&report, Some(&folder.path().join(PAGE)), trust)?;
        client::tell_need(&report, &args.measure.client)?;
        Ok(checklist::enforce(&report.checklist(), trust, exit))
    };
    shards::without(gone, shown())
}

/// Levels that were measured: by this client and all others there are, or this one's part of them.
pub(crate) enum Levels<O> {
    Whole(Measured<O>),
    Part(Exit),
}

/// Who measures the levels of a command, and where they are kept.
pub(crate) struct Meeting {
    pub(crate) shards: Shards,
    origin: RunOrigin,
    out: PathBuf,
    cancel: Cancel,
}

impl Meeting {
    /// Of `command`: whoever is one of several waits here until all have come.
    pub(crate) fn of(args: &MeasureArgs, command: &'static str) -> Result<Self, Fail> {
        Self::resuming(args, command, None)
    }

    /// The same, going on with the run in the folder `resume` where there is one.
    fn resuming(
        args: &MeasureArgs,
        command: &'static str,
        resume: Option<&Path>,
    ) -> Result<Self, Fail> {
        let (cancel, mut origin) = (Cancel::new(), folder::origin());
        origin.precision.clone_from(&args.subject.precision);
        let by_default = || folder::by_default(origin.started, command);
        let out = args.verdict.out.clone().unwrap_or_else(by_default);
        let shards =
            shards::of(&args.shards, LevelsOfCommand::Several, resume, Some(out.clone()), &cancel)?;
        // What is resumed goes on where it is.
        let out = resume.map_or(out, Path::to_path_buf);
        shards.have_to_meet()?;
        // Each would start an engine of its own.
        if shards.group().is_some() && args.target.urls().is_empty() {
            bail!("--base-url: name the server that all shards measure");
        }
        Ok(Self { shards, origin, out, cancel })
    }
}

/// Measures what `settings` say, for `command`: a sweep, or a search.
pub(crate) fn measure<K: EndpointKind>(
    args: &MeasureArgs,
    settings: K,
    command: &'static str,
    meeting: &Meeting,
) -> Result<Levels<<K::Prepared as PreparedRun>::Outcome>, Fail> {
    let view = opening::view(args.live)?;
    let refused = workload::refused("--levels");
    // It ends with this.
    let urls = args.target.urls();
    let embedded = urls.is_empty().then(EmbeddedEngine::start).transpose()?;
    let mut endpoint = endpoint::spec(&args.endpoint, urls, &args.sampling)?;
    endpoint.profiled_level = args.telemetry.profile_level;
    let mut system = SystemUnderTest::default();
    system.engine = EngineRecord::Remote { description: args.subject.engine.clone() };
    let mut light = speed::from_args(&args.speed_of_light, args.subject.engine.as_deref())?;
    if let Some(embedded) = &embedded {
        embedded.stand_for(&mut endpoint);
        system.engine = EngineRecord::Simulated { description: embedded.describe() };
        light = light.or_else(|| Some(embedded.speed_of_light()));
    }
    system.light = light.ok_or_else(|| folder::NO_REFERENCE.to_owned());
    let Meeting { shards, origin, out, cancel } = meeting;
    let experiment = Experiment::new(endpoint)
        .settings(settings)
        .system(system)
        .client(client::spec(&args.client)?)
        .telemetry(args.telemetry.spec()?)
        .origin(origin.clone())
        .cancel(cancel.clone());
    let experiment = shards.share(experiment);
    if !shards.has_report() {
        let prepared = experiment.prepare().map_err(refused)?;
        return shards::part(prepared, cancel, refused).map(Levels::Part);
    }
    let experiment = experiment.folder(out);
    let prepared = experiment.prepare().map_err(refused)?;
    let runtime = runtime::single()?;
    let prepared = runtime.block_on(prepared.open(&mut Opening::default())).map_err(refused)?;
    let (basis, asked) = (prepared.prepared().basis(), &args.workload);
    let (work, salt) = (&basis.work, workload::prompt_salt(asked));
    if args.trust.output.verbose {
        say(workload::describe_salt_of_levels(salt, work.salt()))?;
    }
    work.repeated().map_or(Ok(()), |repeated| say(format!("note: {repeated}")))?;
    workload::notes(work, asked).iter().for_each(|note| tell!("note: {note}"));
    let folder = prepared.folder().cloned();
    let folder = folder.ok_or_else(|| broken!("the run has no folder"))?;
    let mut progress = Progress::new(view, title(command, &basis.setup), cancel);
    interrupt::listen(cancel.clone())?;
    Ok(match runtime.block_on(prepared.run_shared(&mut progress)).map_err(refused)? {
        ShardOutcome::Whole(outcome) => {
            Levels::Whole(Measured { outcome, folder, cancel: cancel.clone(), gone: None })
        }
        ShardOutcome::Cut { outcome, why } => {
            Levels::Whole(Measured { outcome, folder, cancel: cancel.clone(), gone: Some(why) })
        }
        ShardOutcome::Part(part) => Levels::Part(shards::show(&part)?),
    })
}

#[cfg(test)]
mod tests {
    use fizeau::experiment::CaseSpec;

    use super::*;
    use crate::args::{Command, parse};
    use crate::commands::simulate::{Simulation, asked};

    fn parsed(line: &str) -> Command {
        let words: Vec<_> = line.split_whitespace().map(Into::into).collect();
        parse(&words).unwrap_or_else(|_| panic!("{line}"))
    }

    #[test]
    fn levels_that_were_measured_hold_nothing_of_their_tapes_and_the_page_reads_it() {
        // As much as the program itself has: that of a test is too small for the command line.
        let stack = std::thread::Builder::new().stack_size(8 << 20);
        stack.spawn(levels_hold_nothing).unwrap().join().unwrap();
    }

    fn levels_hold_nothing() {
        let out = std::env::temp_dir().join(format!("fizeau-held-{}", std::process::id()));
        let line = format!("--num-prompts 32 --isl 8 --osl 4 --out {}", out.display());
        let Command::Sweep(args) = parsed(&format!("fizeau sweep --levels 1,2 {line}/sweep"))
        else {
            panic!("{line}")
        };
        let meeting = Meeting::of(&args.measure, "sweep").unwrap();
        let series = args.measure.series(&args.levels);
        let settings = series.settings(protocol_of(&args).unwrap()).unwrap();
        let measured = measure(&args.measure, settings, "sweep", &meeting).unwrap();
        let Levels::Whole(Measured { outcome: sweep, folder, .. }) = measured else {
            panic!("there is one client")
        };
        let mut pages = vec![(sweep, folder)];
        for kind in ["--levels 1,2", "--search concurrency --max-runs 3 --slo ttft<10s"] {
            let line = format!("fizeau simulate {kind} {line}/simulated{}", pages.len());
            let Command::Simulate(args) = parsed(&line) else { panic!("{line}") };
            let cancel = Cancel::new();
            let engine = Simulation::new(&args, args.level.result.out.clone(), &cancel).unwrap();
            let spec = CaseSpec { settings: asked(&args).unwrap(), engine };
            let ran = spec.run(&mut ()).unwrap();
            pages.push((ran.outcome.page().clone(), ran.folder.unwrap()));
        }
        for (report, folder) in pages {
            assert!(report.levels().len() >= 2);
            assert!(report.levels().iter().all(|level| level.detail.is_none()));
            crate::commands::report::write_page(&folder, &report).unwrap();
            let page = std::fs::read_to_string(folder.path().join(PAGE)).unwrap();
            assert!(page.contains("\"quantiles\":{\"") && !page.contains(": no tapes were read."));
        }
        std::fs::remove_dir_all(out).unwrap();
    }
}
