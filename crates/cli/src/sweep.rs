//! `fizeau sweep`: a frontier, from an endpoint or from the embedded engine.

mod size;

use std::io::IsTerminal;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::Path;

use fizeau::core::Nanos;
use fizeau::harness::{Cancel, Pacer, Sweep, SweepSpec, SweptLevel, TextAfter};
use fizeau::metrics::{GoodputGoals, Precision, Slo, Verdict};
use fizeau::report::{
    Engine, LevelReport, LoadPoint, OperatingPoint, Setup, Style, SweepReport, Terminal,
};
use fizeau::transport::{HttpTransport, MonotonicClock};
use fizeau::workload::{Arrivals, TracePacing};

use crate::args::{EndpointArgs, SweepArgs};
use crate::client::{Client, Counting};
use crate::embedded::Embedded;
use crate::endpoint::{self, Called};
use crate::exit::{Exit, Fail, Named};
use crate::folder::Claim;
use crate::levels::{Kept, Yardstick, released};
use crate::progress::Progress;
use crate::say::say;
use crate::speed::Physics;
use crate::workload::{self, Ask, Limit, Nominal, Wish, Work};
use crate::{interrupt, levels, probe, record, runtime};
use size::{levels_of, most, most_requests, size_of, until_of};

/// The goal where none is given: what a person who chats would call prompt and fluent.
pub(crate) const DEFAULT_SLO: &str = "p99 ttft<500ms, p99 tpot<20ms";

/// Everything that is decided before anything is sent.
struct Job {
    called: Called,
    client: Client,
    spec: SweepSpec,
    /// A plan of the workload, for the request before the first.
    sample: Work,
    /// What sets its prompts apart, in one line.
    prompts: String,
    /// What of it is not as one might think.
    notes: Vec<String>,
    /// The most tokens that the model takes, where that is known before the server is asked.
    limit: Option<Limit>,
    slo: Slo,
    physics: Option<Physics>,
    setup: Setup,
    out: Claim,
    /// The tokenizer's name, as it was given.
    tokenizer: Option<String>,
    /// Per-request goals, as they were given.
    goodput: Vec<String>,
    /// The thresholds of the verdict, as they were given.
    thresholds: Vec<String>,
    /// The embedded engine, where no endpoint was given; it ends with the job.
    _embedded: Option<Embedded>,
}

pub(crate) fn run(args: &SweepArgs) -> Result<Exit, Fail> {
    let job = prepare(args)?;
    let runtime = runtime::single()?;
    // What fails before there is anything to keep leaves no folder.
    let measured = runtime.block_on(measure(&job)).inspect_err(|_| job.out.give_back());
    let (report, interrupted) = measured?;
    show(&report, Some(job.out.folder().path()))?;
    Ok(if interrupted {
        Exit::Interrupted
    } else if report.verdict() == Verdict::Invalid || missed(&report, args) || !report.is_precise()
    {
        Exit::Missed
    } else {
        Exit::Good
    })
}

/// Whether a goal was missed that somebody asked for: the default one is a suggestion.
fn missed(report: &SweepReport, args: &SweepArgs) -> bool {
    args.verdict.slo != DEFAULT_SLO
        && !matches!(report.operating_point(), OperatingPoint::Met { .. })
}

fn prepare(args: &SweepArgs) -> Result<Job, Fail> {
    let slo: Slo = args.verdict.slo.parse().named("--slo")?;
    let goals: GoodputGoals = args.verdict.goodput.join(" ").parse().named("--goodput")?;
    let levels = levels_of(&args.plan.levels)?;
    let until = until_of(args)?;
    let mut size = size_of(args)?;
    let urls = &*args.endpoint.base_url;
    let wanted = endpoint::wanted(&args.endpoint.connections, urls, most(&levels));
    let client = Client::new(&args.client, wanted)?;
    let physics = Physics::from_args(&args.physics)?;
    let now = record::WallTime::now();
    let out = args.verdict.out.clone().unwrap_or_else(|| now.folder("sweep"));
    if let Some(stand_in) = probe::stand_in(&args.endpoint).filter(|_| !urls.is_empty()) {
        // Whatever else is wrong is found before the endpoint is asked what it is.
        call(args, &stand_in, None)?;
        ask(args, &stand_in)?;
        Claim::new(&out)?.give_back();
    }
    let (endpoint, found) = match urls {
        [] => (probe::embedded(&args.endpoint), None),
        urls => {
            endpoint::announce(&args.endpoint.connections, urls);
            probe::settled(&args.endpoint, urls)?
        }
    };
    // The workload is checked before an engine is started.
    let (workload, sample) = ask(args, &endpoint)?;
    if until.is_some() {
        size.requests = Some(sample.requests());
    }
    let typical = sample.typical();
    let limit =
        workload::limit(args.workload.max_model_len, physics.as_ref().and_then(Physics::config));
    limit.iter().try_for_each(|limit| sample.check(limit))?;
    let embedded = match &*args.endpoint.base_url {
        [_, ..] => None,
        [] => Some(Embedded::start()?),
    };
    let called = call(args, &endpoint, embedded.as_ref())?.with_found(found);
    let physics = match (&embedded, physics) {
        (Some(embedded), None) => Some(embedded.physics(typical)),
        (_, given) => given.map(|physics| physics.for_prompts_of(typical)),
    };
    let mut setup = setup(args, &called, &sample, embedded.as_ref(), now);
    physics.iter().for_each(|physics| physics.describe_in(&mut setup));
    let Ask { spec: workload, tokenizer, dataset, .. } = workload;
    let window = args.window.choice();
    let spec = SweepSpec { levels, workload, tokenizer, dataset, size, goals, window, until };
    let out = Claim::new(&out)?;
    Ok(Job {
        called,
        client,
        spec,
        prompts: workload::describe_salt_of_levels(&args.workload, sample.salt()),
        notes: sample.notes(&args.workload),
        sample,
        limit,
        slo,
        physics,
        setup,
        out,
        tokenizer: args.workload.tokenizer.clone(),
        goodput: args.verdict.goodput.clone(),
        thresholds: args.client.threshold.clone(),
        _embedded: embedded,
    })
}

fn setup(
    args: &SweepArgs,
    called: &Called,
    sample: &Work,
    embedded: Option<&Embedded>,
    now: record::WallTime,
) -> Setup {
    Setup {
        tool: record::tool(),
        started: now.rfc3339(),
        command_line: record::command_line(),
        endpoint: called.describe(),
        engine: match embedded {
            Some(embedded) => Engine::Simulated { description: embedded.describe() },
            None => Engine::Remote { description: args.verdict.engine.clone() },
        },
        workload: sample.described(&args.workload, NonZeroU64::MIN),
        host: record::host(),
        model_config: None,
        hardware: None,
        deployment: None,
    }
}

/// The workload for `endpoint`, and a plan of the largest level.
fn ask(args: &SweepArgs, endpoint: &EndpointArgs) -> Result<(Ask, Work), Fail> {
    let target = endpoint::nowhere(endpoint)?;
    let wish = Wish {
        args: &args.workload,
        nominal: Nominal { input: ("--isl", &args.plan.isl), output: ("--osl", &args.plan.osl) },
        requests: most_requests(args)?,
        arrivals: Arrivals::ClosedLoop,
        arrivals_flag: "--levels",
        replay: TracePacing::ClosedLoop,
    };
    let ask = wish.ask(&target)?;
    Ok((ask.clone(), Work::Plan { plan: ask.plan()?, ask: Box::new(ask) }))
}

/// The endpoint that was named, or the embedded engine.
fn call(
    args: &SweepArgs,
    endpoint: &EndpointArgs,
    embedded: Option<&Embedded>,
) -> Result<Called, Fail> {
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
    let keep_text = endpoint::keep_text(TextAfter::Drop, &args.workload);
    endpoint::call(endpoint, &base_urls, &model, &extra, keep_text)
}

fn document(job: &Job, epoch_unix_ns: u64) -> Result<record::RunDocument<'_>, Fail> {
    let size = &job.spec.size;
    let level = |&slots: &NonZeroU32| record::LevelPlan {
        requests: size.requests_at(slots).get(),
        warmup_requests: size.warmup_at(slots),
        max_in_flight: Some(slots.get()),
        release_for_ms: size.time.map(Nanos::to_millis),
        seed: Some(job.spec.seed_at(slots).0),
        window: job.spec.window.into(),
        until: job.spec.until.as_ref().map(Precision::to_string),
    };
    let levels = job.spec.levels.iter().map(level).collect();
    let (threads, thresholds) = (job.client.threads(), &*job.thresholds);
    let client = record::ClientPlan { threads, thresholds, calibration: None };
    let asked = record::AskedPlan {
        plan: job.sample.record(job.tokenizer.as_deref())?,
        lengths: job.sample.asked_lengths(),
        probe: None,
        shard: None,
        epoch_unix_ns,
    };
    let physics = job.physics.as_ref().map(Physics::spread);
    let document =
        record::RunDocument::new(&job.setup, asked, levels, &job.called, &job.goodput, client);
    Ok(document?.with_spread(physics))
}

/// Runs the levels; each is on disk before the next begins. Says whether it was interrupted.
async fn measure(job: &Job) -> Result<(SweepReport, bool), Fail> {
    let clock = MonotonicClock::new();
    check(job, clock).await?;
    let cancel = Cancel::new();
    let counting = Counting { tokenizer: job.spec.tokenizer.clone() };
    say(&job.prompts)?;
    job.sample.repeated().map_or(Ok(()), |repeated| say(format!("note: {repeated}")))?;
    job.notes.iter().for_each(|note| eprintln!("note: {note}"));
    let crew = job.client.start(&job.called.target, clock, &counting, &cancel)?;
    crew.preconnect(most(&job.spec.levels)).await.map_err(Fail::endpoint)?;
    let folder = job.out.folder();
    let epoch = record::epoch_unix_ns(&clock);
    folder.write_json("run.json", &document(job, epoch)?).map_err(Fail::broken)?;
    levels::write_config(folder, job.physics.as_ref())?;
    interrupt::listen(cancel.clone())?;
    let mut sweep = Sweep::new(crew, &job.spec, Some(folder));
    let mut progress = Progress::new();
    let mut reports: Vec<LevelReport> = Vec::new();
    let mut lengths = job.physics.as_ref().map(Physics::lengths);
    loop {
        let mut kept = Kept::new(Some(folder), job.physics.as_ref());
        let next = sweep.next_level(&mut (&mut progress, &mut kept)).await;
        let Some(level) = next.map_err(Fail::broken)? else { break };
        reports.push(report(job, &level, &kept)?);
        kept.add_lengths_to(lengths.as_mut());
    }
    drop(progress);
    let unmeasured = job.spec.levels.iter().skip(reports.len());
    let unmeasured = unmeasured.map(|level| LoadPoint::Concurrency(level.get())).collect();
    let curve = job.physics.as_ref().zip(lengths.as_ref());
    let curve = curve.and_then(|(physics, lengths)| physics.curve(lengths, &reports));
    let report = SweepReport::new(job.setup.clone(), reports, Some(job.slo.clone()))
        .with_unmeasured(unmeasured)
        .with_curve(curve);
    folder.write_json("sweep.json", &report).map_err(Fail::broken)?;
    folder.write_text("report.html", &report.page()).map_err(Fail::broken)?;
    Ok((report, cancel.is_cancelled()))
}

/// One request before the first, on a connection of its own.
async fn check(job: &Job, clock: MonotonicClock) -> Result<(), Fail> {
    endpoint::check_context(&job.called.target, job.limit.as_ref(), |limit| {
        job.sample.check(limit)
    })
    .await?;
    let http = HttpTransport::new(job.called.target.clone(), clock);
    endpoint::check(&http, &Pacer::new(clock), job.sample.plan()).await.map(drop)
}

/// The report of a level, once it is on disk.
fn report(job: &Job, level: &SweptLevel, kept: &Kept) -> Result<LevelReport, Fail> {
    let load = LoadPoint::Concurrency(level.concurrency.get());
    let name = fizeau::harness::level_name(level.concurrency);
    let repeated = level.plan.repeats().map(|repeats| repeats.to_string());
    let yardstick = Yardstick {
        physics: job.physics.as_ref(),
        client: &job.client,
        asked: job
            .sample
            .of_level(level.plan.clone())
            .asked_of(NonZeroU64::MIN, released(&level.run)),
        abandoned: level.run.driven.abandoned,
        repeated: repeated.as_deref(),
    };
    let report = levels::report(&level.run, kept, load, yardstick, Some(name));
    if let Some(folder) = &level.folder {
        levels::write(folder, &level.run, kept, &report)?;
    }
    Ok(report)
}

/// Prints the report, as wide as the terminal is.
pub(crate) fn show(report: &SweepReport, out: Option<&Path>) -> Result<(), Fail> {
    let page = out.map(|out| out.join("report.html").display().to_string());
    let is_terminal = std::io::stdout().is_terminal();
    let width = terminal_size::terminal_size().filter(|_| is_terminal);
    let colours = is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let terminal = Terminal {
        width: width.map_or(PIPE_WIDTH, |(width, _)| width.0.into()),
        style: if colours { Style::Ansi } else { Style::Plain },
        report: page.as_deref(),
    };
    say(report.terminal(&terminal).trim_end())
}

/// The width of what goes into a file or a pipe: all columns, and the same everywhere.
const PIPE_WIDTH: usize = 120;
