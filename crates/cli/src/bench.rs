//! `fizeau bench`: one level, with the command line and the result of `vllm bench serve`.

mod files;
mod load;

use std::num::NonZeroU32;
use std::sync::Arc;

use fizeau::core::PerSec;
use fizeau::harness::{
    Cancel, LevelRun, Load, Measure, Notice, Observer, Pacer, PlannedLevel, RunFolder, TextAfter,
};
use fizeau::metrics::{GoodputGoals, Verdict};
use fizeau::report::{
    Detail, Engine, LevelReport, LoadPoint, RequestRate, Selection, Setup, VllmResult, VllmRun,
    VllmTally, Workload,
};
use fizeau::transport::{HttpTransport, MonotonicClock, Route};
use fizeau::workload::{Arrivals, Pacing, Plan, TextCodec};

use crate::args::{BenchArgs, EndpointArgs};
use crate::calibrate::{self, Calibration};
use crate::client::{self, Client, Counting};
use crate::endpoint::{self, Called};
use crate::exit::{Exit, Fail, Named};
use crate::folder::Claim;
use crate::levels::{Kept, Yardstick};
use crate::progress::Progress;
use crate::say::say;
use crate::speed::Physics;
use crate::{interrupt, levels, probe, record, runtime, workload};
use load::{arrivals, cap, load_point};

/// Everything that is decided before anything is sent.
struct Job {
    called: Called,
    client: Client,
    /// What the client can do at most, where that was asked for.
    calibration: Option<Calibration>,
    plan: Plan,
    /// Counts where the server does not.
    tokenizer: Option<Arc<dyn TextCodec>>,
    load: Load,
    load_point: LoadPoint,
    goals: GoodputGoals,
    selection: Selection,
    physics: Option<Physics>,
    setup: Setup,
    vllm: VllmRun,
    /// Where vLLM's JSON goes.
    result: Option<files::ResultFile>,
}

pub(crate) fn run(args: &BenchArgs) -> Result<Exit, Fail> {
    if args.calibrate && !calibrate::has_run(args) {
        say(calibrate::run(args, Route::Completions)?)?;
        return Ok(Exit::Good);
    }
    let stand_in = probe::stand_in(&args.endpoint);
    let job = prepare(args, stand_in.as_ref().unwrap_or(&args.endpoint))?;
    // Before anything is sent. What fails from here on leaves no empty folder.
    let out = args.result.out.as_deref().map(Claim::new).transpose()?;
    let done = found_out(job, args).and_then(|mut job| {
        let measured = press(&mut job, args, out.as_ref())?;
        finish(&job, out.as_ref(), measured)
    });
    done.inspect_err(|_| out.iter().for_each(Claim::give_back))
}

/// `job` with what is to be found out of the endpoint, where something is.
fn found_out(job: Job, args: &BenchArgs) -> Result<Job, Fail> {
    let (requests, base_urls) = (args.load.num_prompts, base_urls(args));
    endpoint::announce(&args.endpoint.connections, &base_urls);
    if args.endpoint.connections.new_connection_per_request {
        job.client.note_ports(requests);
    }
    if job.load.max_in_flight.is_none() && args.load.request_rate.is_finite() {
        job.client.note_backlog(requests);
    }
    let (endpoint, found) = probe::settled(&args.endpoint, &base_urls)?;
    if found.is_none() {
        return Ok(job);
    }
    let job = prepare(args, &endpoint)?;
    Ok(Job { called: job.called.with_found(found), ..job })
}

/// Looks at the endpoint, then at the client where that was asked for, and measures.
fn press(job: &mut Job, args: &BenchArgs, out: Option<&Claim>) -> Result<Measured, Fail> {
    let runtime = runtime::single()?;
    runtime.block_on(check(job))?;
    if args.calibrate {
        let calibration = calibrate::run(args, job.called.target.route())?;
        say(calibration)?;
        job.client.ceiling = Some(calibration.ceiling());
        job.calibration = Some(calibration);
    }
    runtime.block_on(measure(job, args, out.map(Claim::folder)))
}

/// Says what was measured, on disk and on the screen.
fn finish(job: &Job, out: Option<&Claim>, measured: Measured) -> Result<Exit, Fail> {
    let Measured { run, kept, vllm, interrupted } = measured;
    let yardstick = Yardstick {
        physics: job.physics.as_ref(),
        client: &job.client,
        shared_prefix: job.plan.spec().prefix.tokens(),
    };
    let report = levels::report(&run, &kept, job.load_point, yardstick, None);
    let result = vllm.finish(job.vllm.clone());
    // On disk before on the screen: who closes the pipe loses nothing, and a full disk hides nothing.
    let folder = out.map(Claim::folder);
    let files = keep(job, folder, &run, &kept, &report, &result);
    if run.summary.requests.sent == 0 {
        say("nothing was measured: no request was sent that counts")?;
    } else {
        say(result.block())?;
        say(report.block())?;
    }
    for line in files? {
        say(line)?;
    }
    Ok(if interrupted {
        Exit::Interrupted
    } else if report.validity.verdict == Verdict::Invalid {
        Exit::Missed
    } else {
        Exit::Good
    })
}

/// Writes the files that were asked for. Gives a line for each.
fn keep(
    job: &Job,
    folder: Option<&RunFolder>,
    run: &LevelRun,
    kept: &Kept,
    report: &LevelReport,
    result: &VllmResult,
) -> Result<Vec<String>, Fail> {
    let mut lines = Vec::new();
    if let Some(folder) = folder {
        levels::write(folder, run, kept, report)?;
        lines.push(format!("run folder: {}", folder.path().display()));
    }
    if let Some(file) = &job.result {
        let path = file.path().display();
        if run.is_partial() {
            // vLLM's format has no mark for a part of a run.
            lines.push(format!("not written, since the run was interrupted: {path}"));
        } else {
            file.write(&result.to_json().map_err(Fail::broken)?)?;
            lines.push(format!("result: {path}"));
        }
    }
    Ok(lines)
}

/// All that can be decided of a run against `endpoint`. Nothing is sent.
fn prepare(args: &BenchArgs, endpoint: &EndpointArgs) -> Result<Job, Fail> {
    let now = record::WallTime::now();
    let lengths = (args.lengths.random_input_len, args.lengths.random_output_len);
    let goals: GoodputGoals = args.result.goodput.join(" ").parse().named("--goodput")?;
    let cap = cap(args)?;
    let arrivals = arrivals(args)?;
    let (metrics, percentiles) = (&args.result.percentile_metrics, &args.result.metric_percentiles);
    let selection = Selection::parse(&metrics.join(","), &percentiles.join(","))
        .named("--percentile-metrics/--metric-percentiles")?;
    let hardware = (args.result.model_config.as_deref(), args.result.hardware.as_deref());
    let physics = Physics::from_args(hardware.0, hardware.1, lengths)?;
    let (requests, base_urls) = (args.load.num_prompts, base_urls(args));
    let called = call(args, endpoint, &base_urls)?;
    let in_flight = client::in_flight(requests, cap, pacing(&arrivals));
    let wanted = endpoint::wanted(&endpoint.connections, &base_urls, in_flight);
    let client = Client::new(&args.client, wanted)?;
    let ask = workload::ask(&args.workload, &called.target, requests, lengths, arrivals)?;
    let plan = endpoint::plan(ask.spec, ask.tokenizer.as_ref()).map_err(Fail::usage)?;
    let vllm = vllm_run(args, &called, cap, now)?;
    let setup = setup(args, &called, &plan, physics.as_ref(), now);
    // As in vLLM, to append is to save.
    let result = (args.result.save_result || args.result.append_result)
        .then(|| result_file(args, &vllm))
        .transpose()?;
    Ok(Job {
        load: Load { max_in_flight: cap, stop_after: None },
        load_point: load_point(args, cap, requests),
        called,
        client,
        calibration: None,
        plan,
        tokenizer: ask.tokenizer,
        goals,
        selection,
        physics,
        setup,
        vllm,
        result,
    })
}

fn base_urls(args: &BenchArgs) -> Vec<String> {
    let host = args.host.host.as_deref().unwrap_or("127.0.0.1");
    let port = args.host.port.unwrap_or(8000);
    match &*args.endpoint.base_url {
        [] if host.contains(':') => vec![format!("http://[{host}]:{port}")],
        [] => vec![format!("http://{host}:{port}")],
        urls => urls.to_vec(),
    }
}

fn call(args: &BenchArgs, endpoint: &EndpointArgs, base_urls: &[String]) -> Result<Called, Fail> {
    let name = endpoint.served_model_name.as_ref().or(endpoint.model.as_ref());
    let name = name.ok_or_else(|| Fail::usage("--model: name the model as the server knows it"))?;
    let keep_text = endpoint::keep_text(text_after(args), args.workload.tokenizer.as_deref());
    let extra = workload::sampling_body(&args.sampling)?;
    endpoint::call(endpoint, base_urls, name, &extra, keep_text)
}

/// What becomes of the text of replies.
pub(crate) const fn text_after(args: &BenchArgs) -> TextAfter {
    if args.result.save_detailed { TextAfter::Keep } else { TextAfter::Drop }
}

fn vllm_run(
    args: &BenchArgs,
    called: &Called,
    cap: Option<NonZeroU32>,
    now: record::WallTime,
) -> Result<VllmRun, Fail> {
    let pair = |pair: &String| match pair.split_once('=') {
        Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
        None => Err(Fail::usage(format!("--metadata {pair}: write KEY=VALUE"))),
    };
    let model = args.endpoint.model.as_deref().unwrap_or_else(|| called.target.model());
    let rate = args.load.request_rate;
    Ok(VllmRun {
        date: now.compact(),
        backend: called.target.backend().as_str().to_owned(),
        label: args.result.label.clone(),
        model_id: model.to_owned(),
        tokenizer_id: args.workload.tokenizer.clone(),
        metadata: args.result.metadata.iter().map(pair).collect::<Result<_, _>>()?,
        request_rate: if rate.is_finite() {
            RequestRate::Limited(PerSec::new(rate))
        } else {
            RequestRate::Unlimited
        },
        burstiness: args.load.burstiness,
        max_concurrency: cap.map(NonZeroU32::get),
    })
}

fn result_file(args: &BenchArgs, run: &VllmRun) -> Result<files::ResultFile, Fail> {
    let name = args.result.result_filename.clone().unwrap_or_else(|| run.file_name());
    let mode = if args.result.append_result { files::Mode::Append } else { files::Mode::Replace };
    files::ResultFile::prepare(args.result.result_dir.as_deref(), &name, mode)
}

fn setup(
    args: &BenchArgs,
    called: &Called,
    plan: &Plan,
    physics: Option<&Physics>,
    now: record::WallTime,
) -> Setup {
    let spec = plan.spec();
    let (input_tokens, output_tokens) = workload::describe_lengths(&spec.lengths);
    Setup {
        tool: record::tool(),
        started: now.rfc3339(),
        command_line: record::command_line(),
        endpoint: called.describe(),
        engine: Engine::Remote { description: None },
        workload: Workload {
            dataset: args.workload.dataset_name.clone(),
            input_tokens,
            output_tokens,
            seed: args.workload.seed,
            arrivals: workload::describe_arrivals(&spec.arrivals),
        },
        host: record::host(),
        model_config: physics.map(|physics| physics.model_name().to_owned()),
        hardware: physics.map(|physics| physics.device_name().to_owned()),
    }
}

/// A tenth of the run, at most the fifty that good methodology asks for.
fn warmups(args: &BenchArgs) -> u64 {
    let tenth = args.load.num_prompts.div_ceil(10);
    args.load.num_warmups.unwrap_or_else(|| tenth.min(50))
}

fn document<'a>(job: &'a Job, args: &'a BenchArgs) -> Result<record::RunDocument<'a>, Fail> {
    let level = record::LevelPlan {
        requests: args.load.num_prompts,
        warmup_requests: warmups(args),
        max_in_flight: job.load.max_in_flight.map(NonZeroU32::get),
        release_for_ms: None,
    };
    let client = record::ClientPlan {
        threads: job.client.threads(),
        thresholds: &args.client.threshold,
        calibration: job.calibration.as_ref(),
    };
    record::RunDocument::new(
        &job.setup,
        job.plan.spec(),
        vec![level],
        &job.called,
        &args.result.goodput,
        client,
    )
}

/// What came of the run.
struct Measured {
    run: LevelRun,
    kept: Kept,
    vllm: VllmTally,
    interrupted: bool,
}

/// Runs the level.
async fn measure(
    job: &Job,
    args: &BenchArgs,
    folder: Option<&RunFolder>,
) -> Result<Measured, Fail> {
    let clock = MonotonicClock::new();
    say(match warmups(args) {
        0 => "no warm-up (--num-warmups)".to_owned(),
        n => format!("{n} warm-up requests first; they do not count (--num-warmups)"),
    })?;
    let cancel = Cancel::new();
    let counting = Counting { tokenizer: job.tokenizer.clone() };
    let mut crew = job.client.start(&job.called.target, clock, &counting, &cancel)?;
    let level = PlannedLevel {
        warmup: warmups(args),
        goals: &job.goals,
        text: text_after(args),
        ..PlannedLevel::new(&job.plan, job.load)
    };
    crew.preconnect(level.connections_ahead()).await.map_err(Fail::endpoint)?;
    if let Some(folder) = folder {
        folder.write_json("run.json", &document(job, args)?).map_err(Fail::broken)?;
        levels::write_config(folder, job.physics.as_ref())?;
    }
    interrupt::listen(cancel.clone())?;
    let mut progress = Progress::new();
    progress.start("bench", args.load.num_prompts);
    let mut sink = folder.map(RunFolder::tapes).transpose().map_err(Fail::broken)?;
    let detail = if args.result.save_detailed { Detail::Full } else { Detail::Brief };
    let mut vllm = VllmLevel(VllmTally::new(&job.selection, &job.goals, detail));
    let mut kept = Kept::new(folder, job.physics.as_ref());
    let mut observer = (progress, (&mut kept, &mut vllm));
    let run = crew.measure(level, &mut sink, &mut observer).await.map_err(Fail::broken)?;
    drop(observer);
    Ok(Measured { run, kept, vllm: vllm.0, interrupted: cancel.is_cancelled() })
}

/// One request before the first, on a connection of its own.
async fn check(job: &Job) -> Result<(), Fail> {
    let clock = MonotonicClock::new();
    let http = HttpTransport::new(job.called.target.clone(), clock);
    endpoint::check(&http, &Pacer::new(clock), &job.plan).await.map(drop)
}

/// vLLM's figures, added up as requests end.
struct VllmLevel(VllmTally);

impl Observer for VllmLevel {
    fn notice(&mut self, notice: Notice<'_>) {
        if let Notice::RequestEnded(tape) = notice {
            self.0.add(tape);
        }
    }
}

/// What releases requests under `arrivals`.
fn pacing(arrivals: &Arrivals) -> Pacing {
    match *arrivals {
        Arrivals::ClosedLoop => Pacing::ClosedLoop,
        Arrivals::AllAtOnce => Pacing::AtOnce,
        Arrivals::Constant { rate } | Arrivals::Gamma { rate, .. } => {
            Pacing::OpenLoop { peak: Some(rate) }
        }
        _ => Pacing::OpenLoop { peak: None },
    }
}
