//! `fizeau sweep`: a frontier, from an endpoint or from the embedded engine.

mod outcome;
mod settings;

pub(crate) use outcome::{ended, show};
pub(crate) use settings::simulated_protocol_of;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use fizeau::experiment::{
    EmbeddedEngine, EndpointKind, Experiment, PreparedRun, RunOrigin, RunShards, ShardAbsence,
    ShardOutcome, SystemUnderTest,
};
use fizeau::harness::Cancel;
use fizeau::record::{EngineRecord, NoReference, RunFolder};
use settings::protocol_of;

use crate::args::{MeasureArgs, SweepArgs};
use crate::commands::report::PAGE;
use crate::commands::shared::opening::Opening;
use crate::commands::shared::shards::LevelsOfCommand;
use crate::commands::shared::{
    checklist, client, endpoint, folder, opening, shards, speed, workload,
};
use crate::exit::{Exit, Fail};
use crate::terminal::progress::{Progress, title};
use crate::terminal::say::say;
use crate::terminal::{interrupt, runtime};

pub(crate) fn run(args: &SweepArgs) -> Result<Exit, Fail> {
    let MeasureArgs { trust, .. } = &args.measure;
    let series = args.measure.series(&args.levels);
    series.check()?;
    let mut settings = series.settings(protocol_of(args)?)?;
    let meeting = Meeting::resuming(&args.measure, "sweep", args.resume.as_deref())?;
    // The others measure what shard 0 says that is left.
    if meeting.shards.has_report() {
        settings.resume.clone_from(&args.resume);
    }
    let is_until = args.levels.until.is_some();
    shards::refuse(&meeting.shards, "--until", is_until, shards::NO_UNTIL)?;
    let measured = measure(&args.measure, settings, "sweep", &meeting)?;
    let (report, folder, gone) = match measured {
        ControlFlow::Continue(whole) => whole,
        ControlFlow::Break(part) => return Ok(part),
    };
    let shown = || {
        let exit = ended(&report, Some(&folder), &meeting.cancel)?;
        show(&report, Some(&folder.path().join(PAGE)), trust)?;
        client::tell_need(&report, &args.measure.client)?;
        Ok(checklist::enforce(&report.checklist(), trust, exit))
    };
    shards::without(gone, shown())
}

/// Who measures the levels of a command, and where they are kept.
pub(crate) struct Meeting {
    pub(crate) shards: RunShards,
    origin: RunOrigin,
    out: PathBuf,
    pub(crate) cancel: Cancel,
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
        shards::have_to_meet(&shards)?;
        // Each would start an engine of its own.
        if shards.group().is_some() && args.target.urls().is_empty() {
            bail!("--base-url: name the server that all shards measure");
        }
        Ok(Self { shards, origin, out, cancel })
    }
}

/// What came of levels that were measured, the folder that has them, and the shard that was gone in their midst.
type Measured<K> =
    (<<K as EndpointKind>::Prepared as PreparedRun>::Outcome, RunFolder, Option<Box<ShardAbsence>>);

/// Measures what `settings` say, for `command`: a sweep, or a search. What came of it is in the folder that it gives back; where other
/// shards have that, how the command ends.
pub(crate) fn measure<K: EndpointKind>(
    args: &MeasureArgs,
    settings: K,
    command: &'static str,
    meeting: &Meeting,
) -> Result<ControlFlow<Exit, Measured<K>>, Fail> {
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
    system.light = light.ok_or(NoReference::NotGiven);
    let Meeting { shards, origin, out, cancel } = meeting;
    let experiment = Experiment::new(endpoint)
        .settings(settings)
        .system(system)
        .client(client::spec(&args.client)?)
        .telemetry(args.telemetry.spec()?)
        .origin(origin.clone())
        .cancel(cancel.clone());
    let experiment = experiment.measured_by(shards);
    if !shards.has_report() {
        let prepared = experiment.prepare().map_err(refused)?;
        return shards::part(prepared, cancel, refused).map(ControlFlow::Break);
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
        ShardOutcome::Whole(outcome) => ControlFlow::Continue((outcome, folder, None)),
        ShardOutcome::Cut { outcome, why } => ControlFlow::Continue((outcome, folder, Some(why))),
        ShardOutcome::Part(part) => ControlFlow::Break(shards::show(&part)?),
    })
}
