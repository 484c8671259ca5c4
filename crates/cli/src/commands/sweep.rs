//! `fizeau sweep`: a frontier, from an endpoint or from the embedded engine.

mod flags;
mod outcome;
mod resume;
mod series;

pub(crate) use flags::simulated_protocol_of;
pub(crate) use outcome::Outcome;
pub(crate) use series::Series;

use std::path::Path;

use fizeau::experiment::{
    Answering, ContextLimit, LEVEL_TIME, PreparedEndpoint, PreparedSweep, PromptReader,
    ResumedLevels, SweepSettings, keep_run,
};
use fizeau::harness::{Cancel, TextAfter, WorkerPool};
use fizeau::record::{Engine, StoredRun, SweepReport};
use fizeau::report::{Shown, Terminal};
use fizeau::transport::{KeepText, MonotonicClock, RequestError};

use crate::args::{EndpointArgs, SweepArgs, TrustArgs};
use crate::commands::report::PAGE;
use crate::commands::shared::client;
use crate::commands::shared::embedded::Embedded;
use crate::commands::shared::endpoint;
use crate::commands::shared::folder::{self, Claim};
use crate::commands::shared::record::NO_PHYSICS;
use crate::commands::shared::speed;
use crate::commands::shared::workload;
use crate::commands::shared::{checklist, live, probe, record};
use crate::exit::{Exit, Fail};
use crate::terminal::say::say;
use crate::terminal::screen::Screen;
use crate::terminal::{interrupt, runtime};
use flags::protocol_of;

/// Everything that is decided before anything is sent.
pub(crate) struct Job<'a> {
    called: PreparedEndpoint,
    pub(crate) series: Series<'a>,
    pub(crate) out: Claim,
    /// The most requests in flight at any level.
    most: u64,
    /// The sweep that is gone on with.
    before: Option<StoredRun>,
    /// The embedded engine, where no endpoint was given; it ends with the job.
    _embedded: Option<Embedded>,
}

pub(crate) fn run(args: &mut SweepArgs) -> Result<Exit, Fail> {
    let before = resume::settle(args)?;
    let job = prepare(args, &settings(args)?, before)?;
    let runtime = runtime::single()?;
    // What fails before there is anything to keep leaves no folder.
    let measured = runtime.block_on(measure(&job)).inspect_err(|_| job.out.give_back());
    let Outcome { report, exit } = measured?;
    show(&report, Some(&job.out.folder().path().join(PAGE)), &args.trust)?;
    Ok(checklist::enforce(&report.checklist(), &args.trust, exit))
}

/// What `args` ask for, whoever answers.
pub(crate) fn settings(args: &SweepArgs) -> Result<SweepSettings, Fail> {
    args.series().settings(protocol_of(&args.protocol, &args.time)?, PromptReader::Server)
}

pub(crate) fn prepare<'a>(
    args: &'a SweepArgs,
    settings: &SweepSettings,
    before: Option<StoredRun>,
) -> Result<Job<'a>, Fail> {
    let (view, series) = (live::view(args.live)?, args.series());
    let refused = workload::refused(series.nominal(), "--levels");
    let most = settings.loads.most_connections(settings.size);
    let urls = &*args.endpoint.base_url;
    let wanted = endpoint::reached(&args.endpoint.connections).needs(urls, most);
    let client = client::spec(&args.client)?.prepare(wanted)?;
    let light = speed::from_args(&args.physics)?;
    let mut origin = record::origin();
    origin.precision.clone_from(&args.precision);
    let out = args.time.resume.clone().or_else(|| args.verdict.out.clone());
    let out = out.unwrap_or_else(|| folder::by_default(origin.started, "sweep"));
    let claim = || match &before {
        Some(_) => Ok(Claim::again(&out)),
        None => Claim::new(&out),
    };
    let keep = settings.workload.keep_text(TextAfter::Drop);
    if let Some(stand_in) = probe::stand_in(&args.endpoint).filter(|_| !urls.is_empty()) {
        // Whatever else is wrong is found before the endpoint is asked what it is.
        call(args, &stand_in, None, keep)?;
        settings.read(&endpoint::nowhere(&stand_in)?).map_err(&refused)?;
        claim()?.give_back();
    }
    let (endpoint, found) = match urls {
        [] => (probe::embedded(&args.endpoint), None),
        urls => {
            endpoint::announce(&args.endpoint.connections, urls);
            probe::settled(&args.endpoint, urls)?
        }
    };
    // The workload is checked before an engine is started.
    let workload = settings.read(&endpoint::nowhere(&endpoint)?).map_err(&refused)?;
    let embedded = match urls {
        [_, ..] => None,
        [] => Some(Embedded::start()?),
    };
    let called = call(args, &endpoint, embedded.as_ref(), keep)?.with_found(found);
    let engine = match &embedded {
        Some(embedded) => Engine::Simulated { description: embedded.describe() },
        None => Engine::Remote { description: args.verdict.engine.clone() },
    };
    let mut answering = Answering::new(called.describe(), engine);
    let light = light.or_else(|| embedded.as_ref().map(Embedded::physics));
    answering.light = light.ok_or_else(|| NO_PHYSICS.to_owned());
    let mut sweep = settings.prepare(workload, answering, &origin).map_err(&refused)?;
    sweep.client = client;
    before.iter().for_each(|run| resume::begun_by(run, &mut sweep.setup));
    let series = Series { args: series, sweep, view };
    Ok(Job { called, series, out: claim()?, most, before, _embedded: embedded })
}

/// The endpoint that was named, or the embedded engine.
fn call(
    args: &SweepArgs,
    endpoint: &EndpointArgs,
    embedded: Option<&Embedded>,
    keep_text: KeepText,
) -> Result<PreparedEndpoint, Fail> {
    let (base_urls, model) = match (embedded, &*endpoint.base_url) {
        (None, urls @ [_, ..]) => {
            let name = endpoint.served_model_name.as_ref().or(endpoint.model.as_ref());
            let name =
                name.ok_or_else(|| Fail::usage("--model: name the model as the server knows it"))?;
            (urls.to_vec(), name.clone())
        }
        (Some(embedded), _) => (vec![embedded.base_url()], embedded.model().to_owned()),
        (None, []) => return Err(Fail::usage("--base-url: name the server")),
    };
    let extra = workload::sampling_body(&args.sampling)?;
    endpoint::call(endpoint, &base_urls, &model, &extra, keep_text)
}

/// What a run measures with.
pub(crate) struct Begun {
    pub(crate) crew: WorkerPool<RequestError>,
    /// Thrown when somebody interrupts.
    pub(crate) cancel: Cancel,
    /// What was measured before.
    resumed: ResumedLevels,
}

async fn measure(job: &Job<'_>) -> Result<Outcome, Fail> {
    let Begun { crew, cancel, resumed } = begin(job).await?;
    job.series.measure(crew, Some(job.out.folder()), (&cancel, resumed)).await
}

/// Says what is about to be sent, makes ready to send it, and puts it on record.
pub(crate) async fn begin(job: &Job<'_>) -> Result<Begun, Fail> {
    let (clock, series, sweep) = (MonotonicClock::new(), &job.series, &job.series.sweep);
    check(job).await?;
    let cancel = Cancel::new();
    let (sample, workload) = (&sweep.sample, series.args.workload);
    say(workload::describe_salt_of_levels(workload::prompt_salt(workload), sample.salt()))?;
    sample.repeated().map_or(Ok(()), |repeated| say(format!("note: {repeated}")))?;
    workload::notes(sample, workload).iter().for_each(|note| tell!("note: {note}"));
    let tokenizer = sweep.spec.tokenizer.clone();
    let crew = sweep.client.start(&job.called.target, clock, tokenizer, &cancel)?;
    crew.preconnect(job.most).await.map_err(Fail::endpoint)?;
    let folder = job.out.folder();
    let document = job.called.measured(sweep.document()?, &sweep.client, &clock)?;
    let resumed = match &job.before {
        Some(run) => {
            resume::check(run, &document)?;
            let resumed = resume::read(run)?;
            say(match resumed.len() {
                1 => "resumed: 1 level is finished".to_owned(),
                many => format!("resumed: {many} levels are finished"),
            })?;
            resumed
        }
        None => {
            keep_run(folder, &document, sweep.light.as_ref().ok()).map_err(Fail::broken)?;
            ResumedLevels::default()
        }
    };
    note_short(sweep);
    interrupt::listen(cancel.clone())?;
    Ok(Begun { crew, cancel, resumed })
}

/// Says so where levels are shorter than what shows whether they are steady.
fn note_short(sweep: &PreparedSweep) {
    let (time, needs) = (sweep.spec.size.time, LEVEL_TIME.as_secs_f64());
    if let Some(time) = time.filter(|time| sweep.is_by_time && *time < LEVEL_TIME) {
        let seconds = time.as_secs_f64();
        tell!(
            "note: levels of {seconds} s: what takes longer to build up is not seen; --level-seconds {needs} or more would"
        );
    }
}

/// One request before the first, on a connection of its own.
async fn check(job: &Job<'_>) -> Result<(), Fail> {
    let (target, sweep) = (&job.called.target, &job.series.sweep);
    let fits = |limit: &ContextLimit| Ok(sweep.sample.check(limit)?);
    endpoint::check(target, sweep.limit.as_ref(), sweep.sample.plan(), fits).await
}

/// Prints the report, as wide as the terminal is, and where its page is.
pub(crate) fn show(
    report: &SweepReport,
    page: Option<&Path>,
    trust: &TrustArgs,
) -> Result<(), Fail> {
    let page = page.map(|page| page.display().to_string());
    let Screen { width, style, charset } = Screen::of_stdout(PIPE_WIDTH);
    let terminal =
        Terminal { width, style, charset, checklist: trust.rows(), report: page.as_deref() };
    say(Shown(report).terminal(&terminal).trim_end())
}

/// The width of what goes into a file or a pipe: all columns, and the same everywhere.
const PIPE_WIDTH: usize = 120;
