//! `fizeau bench`: one level, with the command line and the result of `vllm bench serve`.

mod arrivals;
mod files;
mod prepare;
mod probe_stream;
mod vllm;

pub(crate) use arrivals::{arrivals, arrivals_flag, cap};
pub(crate) use prepare::{load_point, nominal, text_after, warmups_of};
pub(crate) use vllm::settled;

use std::num::NonZeroU64;

use fizeau::harness::{
    Cancel, LevelRun, Load, Measure, Notice, Observer, Pacer, PlannedLevel, Probe, RunFolder,
};
use fizeau::metrics::{GoodputGoals, Precision, Verdict};
use fizeau::report::{
    Detail, LevelReport, LoadPoint, Selection, Setup, VllmResult, VllmRun, VllmTally,
};
use fizeau::transport::{HttpTransport, MonotonicClock, Route};
use fizeau::workload::{Pacing, Plan, Shard};

use crate::args::BenchArgs;
use crate::calibrate::{self, Calibration};
use crate::client::{Client, Counting};
use crate::endpoint::{self, Called};
use crate::exit::{Exit, Fail};
use crate::folder::Claim;
use crate::levels::{Kept, Yardstick};
use crate::progress::Progress;
use crate::say::say;
use crate::speed::Physics;
use crate::workload::{Limit, Work};
use crate::{interrupt, levels, probe, record, runtime, workload};
use prepare::{base_urls, document, prepare, warmups};

/// Everything that is decided before anything is sent.
struct Job {
    called: Called,
    client: Client,
    /// What the client can do at most, where that was asked for.
    calibration: Option<Calibration>,
    work: Work,
    /// Which share of it is ours.
    shard: Shard,
    /// A thin stream beside it.
    probe: Option<Plan>,
    /// The most tokens that the model takes, where that is known before the server is asked.
    limit: Option<Limit>,
    load: Load,
    load_point: LoadPoint,
    goals: GoodputGoals,
    /// What is to be known before it ends.
    until: Option<Precision>,
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
    let (requests, base_urls) = (job.work.requests().get(), base_urls(args));
    endpoint::announce(&args.endpoint.connections, &base_urls);
    if args.endpoint.connections.new_connection_per_request {
        job.client.note_ports(requests);
    }
    let is_open = matches!(job.work.plan().pacing(), Pacing::OpenLoop { .. });
    if job.load.max_in_flight.is_none() && is_open {
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
        if !matches!(&*args.workload.dataset_name, "random" | "vllm-random") {
            say(
                "note: calibrated with random prompts of --random-input-len and --random-output-len",
            )?;
        }
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
    let repeated = job.work.repeated();
    let yardstick = Yardstick {
        physics: job.physics.as_ref(),
        client: &job.client,
        asked: job.work.asked_of(one_in(job.shard), levels::released(&run)),
        abandoned: run.driven.abandoned,
        repeated: repeated.as_deref(),
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
    } else if report.validity.verdict == Verdict::Invalid || !run.is_precise() {
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
    say(match warmups(job, args) {
        0 => "no warm-up (--num-warmups)".to_owned(),
        n => format!("{n} warm-up requests first; they do not count (--num-warmups)"),
    })?;
    say(workload::describe_salt(&args.workload, job.work.salt()))?;
    job.work.repeated().map_or(Ok(()), |repeated| say(format!("note: {repeated}")))?;
    job.work.notes(&args.workload).iter().for_each(|note| eprintln!("note: {note}"));
    let cancel = Cancel::new();
    let counting = Counting { tokenizer: job.work.tokenizer() };
    let mut crew = job.client.start(&job.called.target, clock, &counting, &cancel)?;
    let level = PlannedLevel {
        shard: job.shard,
        warmup: warmups(job, args),
        goals: &job.goals,
        until: job.until.as_ref(),
        window: args.window.choice(),
        text: text_after(args),
        probe: job.probe.as_ref().map(|plan| Probe { plan }),
        ..PlannedLevel::new(job.work.plan(), job.load)
    };
    crew.preconnect(level.connections_ahead()).await.map_err(Fail::endpoint)?;
    if let Some(folder) = folder {
        let epoch = record::epoch_unix_ns(&clock);
        folder.write_json("run.json", &document(job, args, epoch)?).map_err(Fail::broken)?;
        levels::write_config(folder, job.physics.as_ref())?;
    }
    interrupt::listen(cancel.clone())?;
    let mut progress = Progress::new();
    progress.start("bench", share(job));
    let mut sink = folder.map(RunFolder::tapes).transpose().map_err(Fail::broken)?;
    let detail = if args.result.save_detailed { Detail::Full } else { Detail::Brief };
    let mut vllm = VllmLevel(VllmTally::new(&job.selection, &job.goals, detail));
    let mut kept = Kept::new(folder, job.physics.as_ref());
    let mut observer = (progress, (&mut kept, &mut vllm));
    let run = crew.measure(level, &mut sink, &mut observer).await.map_err(Fail::broken)?;
    drop(observer);
    Ok(Measured { run, kept, vllm: vllm.0, interrupted: cancel.is_cancelled() })
}

/// How many requests are about ours: sessions are shared out, and some have more turns than others.
fn share(job: &Job) -> u64 {
    job.work.requests().get().div_ceil(one_in(job.shard).get())
}

/// Every how many-th session is ours.
fn one_in(shard: Shard) -> NonZeroU64 {
    NonZeroU64::new(shard.session(1) - shard.session(0)).unwrap_or(NonZeroU64::MIN)
}

/// One request before the first, on a connection of its own.
async fn check(job: &Job) -> Result<(), Fail> {
    let fits = |limit: &Limit| fits(&job.work, job.probe.as_ref(), limit);
    endpoint::check_context(&job.called.target, job.limit.as_ref(), fits).await?;
    let clock = MonotonicClock::new();
    let http = HttpTransport::new(job.called.target.clone(), clock);
    endpoint::check(&http, &Pacer::new(clock), job.work.plan()).await.map(drop)
}

/// Refuses requests and probes that are longer than `limit`.
fn fits(work: &Work, probe: Option<&Plan>, limit: &Limit) -> Result<(), Fail> {
    work.check(limit)?;
    probe.map_or(Ok(()), |probe| probe_stream::check(probe, limit))
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
