//! `fizeau bench`: one level, with the command line and the result of `vllm bench serve`.

mod arrivals;
mod files;
mod outcome;
mod prepare;
mod trial;
mod vllm;

pub(crate) use arrivals::{arrivals, arrivals_flag, cap};
pub(crate) use outcome::Outcome;
pub(crate) use trial::{Trial, nominal, settings, text_after};
pub(crate) use vllm::settled;

use fizeau::experiment::{ContextLimit, PreparedEndpoint, keep_run};
use fizeau::harness::Cancel;
use fizeau::record::RunFolder;
use fizeau::transport::{MonotonicClock, Route};
use fizeau::workload::Pacing;

use crate::args::BenchArgs;
use crate::commands::shared::calibrate;
use crate::commands::shared::client;
use crate::commands::shared::endpoint;
use crate::commands::shared::folder::Claim;
use crate::commands::shared::{live, probe, workload};
use crate::exit::{Exit, Fail};
use crate::terminal::progress::View;
use crate::terminal::say::say;
use crate::terminal::{interrupt, runtime};
use outcome::Measured;
use prepare::{base_urls, prepare};

/// Everything that is decided before anything is sent.
struct Job<'a> {
    called: PreparedEndpoint,
    trial: Trial<'a>,
}

pub(crate) fn run(args: &BenchArgs) -> Result<Exit, Fail> {
    let view = live::view(args.live)?;
    if args.calibrate && !calibrate::has_run(args) {
        say(calibrate::block(&calibrate::run(args, Route::Completions)?))?;
        return Ok(Exit::Good);
    }
    let stand_in = probe::stand_in(&args.endpoint);
    let job = prepare(args, stand_in.as_ref().unwrap_or(&args.endpoint))?;
    // Before anything is sent. What fails from here on leaves no empty folder.
    let out = args.level.result.out.as_deref().map(Claim::new).transpose()?;
    let done = found_out(job, args).and_then(|mut job| {
        let measured = press(&mut job, args, (out.as_ref(), view))?;
        job.trial.finish(out.as_ref().map(Claim::folder), measured).show(&args.trust)
    });
    done.inspect_err(|_| out.iter().for_each(Claim::give_back))
}

/// `job` with what is to be found out of the endpoint, where something is.
fn found_out<'a>(job: Job<'a>, args: &'a BenchArgs) -> Result<Job<'a>, Fail> {
    let (level, base_urls) = (&job.trial.level, base_urls(args));
    let requests = level.work.requests().get();
    endpoint::announce(&args.endpoint.connections, &base_urls);
    if args.endpoint.connections.new_connection_per_request {
        client::note_ports(&level.client, requests);
    }
    let is_open = matches!(level.work.plan().pacing(), Pacing::OpenLoop { .. });
    if level.load.max_in_flight.is_none() && is_open {
        client::note_backlog(&level.client, requests);
    }
    let (endpoint, found) = probe::settled(&args.endpoint, &base_urls)?;
    if found.is_none() {
        return Ok(job);
    }
    let job = prepare(args, &endpoint)?;
    Ok(Job { called: job.called.with_found(found), ..job })
}

/// Looks at the endpoint, then at the client where that was asked for, and measures.
fn press(
    job: &mut Job<'_>,
    args: &BenchArgs,
    (out, view): (Option<&Claim>, View),
) -> Result<Measured, Fail> {
    let runtime = runtime::single()?;
    runtime.block_on(check(job))?;
    if args.calibrate {
        if !matches!(&*args.level.workload.dataset_name, "random" | "vllm-random") {
            say(
                "note: calibrated with random prompts of --random-input-len and --random-output-len",
            )?;
        }
        let calibration = calibrate::run(args, job.called.target.route())?;
        say(calibrate::block(&calibration))?;
        let client = &mut job.trial.level.client;
        *client = std::mem::take(client).calibrated(calibration);
    }
    runtime.block_on(measure(job, args, (out.map(Claim::folder), view)))
}

/// Runs the level.
async fn measure(
    job: &Job<'_>,
    args: &BenchArgs,
    (folder, view): (Option<&RunFolder>, View),
) -> Result<Measured, Fail> {
    let (clock, trial) = (MonotonicClock::new(), &job.trial);
    announce(trial, args)?;
    let cancel = Cancel::new();
    let level = &trial.level;
    let tokenizer = level.work.tokenizer();
    let crew = level.client.start(&job.called.target, clock, tokenizer, &cancel)?;
    crew.preconnect(level.level().connections_ahead()).await.map_err(Fail::endpoint)?;
    if let Some(folder) = folder {
        let document = job.called.measured(level.document()?, &level.client, &clock)?;
        keep_run(folder, &document, level.light.as_ref().ok()).map_err(Fail::broken)?;
    }
    interrupt::listen(cancel.clone())?;
    trial.measure(crew, folder, &cancel, view).await
}

/// Says what is about to be sent.
fn announce(trial: &Trial<'_>, args: &BenchArgs) -> Result<(), Fail> {
    let level = &trial.level;
    say(match level.warmups() {
        0 => "no warm-up (--num-warmups)".to_owned(),
        n => format!("{n} warm-up requests first; they do not count (--num-warmups)"),
    })?;
    say(workload::describe_salt(level.settings.workload.salt, level.work.salt()))?;
    level.work.repeated().map_or(Ok(()), |repeated| say(format!("note: {repeated}")))?;
    workload::notes(&level.work, &args.level.workload)
        .iter()
        .for_each(|note| tell!("note: {note}"));
    Ok(())
}

/// One request before the first, on a connection of its own.
async fn check(job: &Job<'_>) -> Result<(), Fail> {
    let (target, level) = (&job.called.target, &job.trial.level);
    let fits = |limit: &ContextLimit| Ok(level.check(limit)?);
    endpoint::check(target, level.limit.as_ref(), level.work.plan(), fits).await
}
