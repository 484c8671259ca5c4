//! `fizeau sweep`: a frontier, from an endpoint or from the embedded engine.

mod outcome;
mod settings;

pub(crate) use outcome::{ended, show};
pub(crate) use settings::simulated_protocol_of;

use std::ops::ControlFlow;
use std::path::Path;

use fizeau::experiment::{
    EmbeddedEngine, EndpointKind, Experiment, PreparedRun as _, SystemUnderTest,
};
use settings::protocol_of;

use crate::args::{EndpointArgs, MeasureArgs, SweepArgs};
use crate::commands::report::PAGE;
use crate::commands::shared::opening::Opening;
use crate::commands::shared::shards::{Measured, Meeting};
use crate::commands::shared::{checklist, client, endpoint, opening, shards, speed, workload};
use crate::exit::{Exit, Fail};
use crate::terminal::progress::{Progress, title};
use crate::terminal::say::say;

pub(crate) fn run(args: &SweepArgs) -> Result<Exit, Fail> {
    let MeasureArgs { trust, .. } = &args.measure;
    let series = args.measure.series(&args.levels);
    series.check()?;
    let mut settings = series.settings(protocol_of(args)?)?;
    let meeting = meeting(&args.measure, "sweep", args.resume.as_deref())?;
    // The others measure what shard 0 says that is left.
    if meeting.shards.has_report() {
        settings.resume.clone_from(&args.resume);
    }
    let (report, folder, gone) = match measure(&args.measure, settings, "sweep", &meeting)? {
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

/// Who measures the levels of `command`, going on with the run in the folder `resume` where there is one.
pub(crate) fn meeting(
    args: &MeasureArgs,
    command: &'static str,
    resume: Option<&Path>,
) -> Result<Meeting, Fail> {
    let (out, precision) = (&args.verdict.out, &args.subject.precision);
    let meeting = Meeting::of(command, &args.shards, out, precision, resume)?;
    // Each would start an engine of its own.
    if meeting.shards.spec().is_some() && args.target.urls().is_empty() {
        bail!("--base-url: name the server that all shards measure");
    }
    Ok(meeting)
}

/// A model is one of a server's: where no server is named, an engine is simulated, which has its own.
fn refuse_without_server(args: &MeasureArgs, urls: &[String]) -> Result<(), Fail> {
    let EndpointArgs { model, served_model_name, .. } = &args.endpoint;
    if !urls.is_empty() {
        return Ok(());
    }
    if let Some(model) = model.as_ref().or(served_model_name.as_ref()) {
        bail!(
            "--base-url is missing: name the server that serves {model}; without --model, a simulated engine is started here and measured"
        );
    }
    tell!("No server is named (--base-url), so a simulated engine is started here and measured.");
    Ok(())
}

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
    refuse_without_server(args, &urls)?;
    let embedded = urls.is_empty().then(EmbeddedEngine::start).transpose()?;
    let mut endpoint = endpoint::spec(&args.endpoint, urls, &args.sampling)?;
    endpoint.profiled_level = args.telemetry.profile_level;
    let engine = &args.subject.engine;
    let light = speed::from_args(&args.speed_of_light, engine.as_deref())?;
    let system = match &embedded {
        None => SystemUnderTest::server(engine.clone(), light),
        Some(embedded) => embedded.stand_for(&mut endpoint, light),
    };
    let experiment = Experiment::new(endpoint)
        .settings(settings)
        .system(system)
        .client(client::spec(&args.client)?)
        .telemetry(args.telemetry.spec()?);
    meeting.measure(experiment, refused, Opening::default(), |prepared| {
        let (basis, asked) = (prepared.prepared().basis(), &args.workload);
        let (work, salt) = (&basis.work, workload::prompt_salt(asked));
        if args.trust.output.verbose {
            say(workload::describe_salt_of_levels(salt, work.salt()))?;
        }
        workload::say_notes(work, asked)?;
        Ok(Progress::new(view, title(command, &basis.setup), &meeting.cancel))
    })
}
