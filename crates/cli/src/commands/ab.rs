//! `fizeau ab`: two endpoints in turns, with the same requests, and whether they differ.

mod prepare;

use std::num::NonZeroU32;

use fizeau::experiment::{AbSide, ContextLimit, PreparedAb, WallTime};
use fizeau::harness::{Cancel, Pacer, WorkerPool, connections_ahead};
use fizeau::metrics::Verdict;
use fizeau::record::{AbPlan, AbReport, ClientPlan, Json, LevelPlan, RunDocument};
use fizeau::report::Shown;
use fizeau::transport::{MonotonicClock, RequestError};

use crate::args::AbArgs;
use crate::commands::shared::{endpoint, live, record, workload};
use crate::exit::{Exit, Fail};
use crate::terminal::progress::{Progress, Title, View};
use crate::terminal::say::say;
use crate::terminal::{interrupt, runtime};
use prepare::{Job, prepare};

pub(crate) fn run(args: &AbArgs) -> Result<Exit, Fail> {
    let view = live::view(args.live)?;
    let job = prepare(args)?;
    // What fails before there is anything to keep leaves no folder.
    let measured = runtime::single()?.block_on(measure(&job, args, view));
    let (report, interrupted) = measured.inspect_err(|_| job.out.give_back())?;
    if args.answer.json {
        say(report.to_json().map_err(Fail::broken)?.trim_end())?;
    } else {
        say(Shown(&report).text())?;
        say(format!("run folder: {}", job.out.folder().path().display()))?;
    }
    Ok(if interrupted {
        Exit::Interrupted
    } else if report.verdict() == Verdict::Invalid
        || (args.answer.fail_on_worse && report.is_worse())
    {
        Exit::Missed
    } else {
        Exit::Good
    })
}

/// Measures all turns; each is on disk before the next begins. Says whether the run was interrupted.
async fn measure(job: &Job, args: &AbArgs, view: View) -> Result<(AbReport, bool), Fail> {
    let (clock, ab) = (MonotonicClock::new(), &job.ab);
    let [a, b] = &ab.sides;
    check(ab, a).await?;
    check(ab, b).await?;
    announce(ab, args)?;
    let cancel = Cancel::new();
    let crew_a = crew(ab, a, clock, &cancel).await?;
    let crew_b = crew(ab, b, clock, &cancel).await?;
    let folder = job.out.folder();
    folder
        .write_run(&document(ab, args, WallTime::epoch_unix_ns(&clock))?)
        .map_err(Fail::broken)?;
    interrupt::listen(cancel.clone())?;
    let (a_url, b_url) = (a.endpoint.describe().base_url, b.endpoint.describe().base_url);
    let title = Title { command: "ab", subject: format!("A {a_url}, B {b_url}") };
    let mut progress = Progress::new(view, title, &cancel);
    let report = ab.run(crew_a, crew_b, Pacer::new(clock), Some(folder), &mut progress).await?;
    Ok((report, cancel.is_cancelled()))
}

/// What is to be known before the first request that counts.
fn announce(ab: &PreparedAb, args: &AbArgs) -> Result<(), Fail> {
    ab.notes.iter().for_each(|note| tell!("note: {note}"));
    if args.answer.json {
        return Ok(());
    }
    let asked = workload::prompt_salt(&args.workload);
    say(workload::describe_salt_of_levels(asked, ab.sample.salt()))
}

/// One request before the first, on a connection of its own.
async fn check(ab: &PreparedAb, side: &AbSide) -> Result<(), Fail> {
    let fits = |limit: &ContextLimit| Ok(ab.sample.check(limit)?);
    endpoint::check(&side.endpoint.target, ab.limit.as_ref(), ab.sample.plan(), fits).await
}

/// The threads that measure a side, with their connections.
async fn crew(
    ab: &PreparedAb,
    side: &AbSide,
    clock: MonotonicClock,
    cancel: &Cancel,
) -> Result<WorkerPool<RequestError>, Fail> {
    let tokenizer = ab.spec.tokenizer.clone();
    let crew = ab.client.start(&side.endpoint.target, clock, tokenizer, cancel)?;
    let (plan, cap) = (ab.sample.plan(), ab.spec.load.max_in_flight);
    let ahead = connections_ahead(plan.requests().get(), cap, plan.pacing());
    crew.preconnect(ahead).await.map_err(Fail::endpoint)?;
    Ok(crew)
}

fn document(ab: &PreparedAb, args: &AbArgs, epoch_unix_ns: u64) -> Result<RunDocument, Fail> {
    let (spec, [a, b]) = (&ab.spec, &ab.sides);
    let level = |round: u32| LevelPlan {
        load: None,
        visit: None,
        role: None,
        arrivals: None,
        requests: spec.workload.requests.get(),
        warmup_requests: Some(spec.warmup),
        max_in_flight: spec.load.max_in_flight.map(NonZeroU32::get),
        release_for_ms: None,
        seed: Some(spec.seed_of(round).0),
        until: None,
        window: Some(fizeau::metrics::WindowChoice::default().into()),
    };
    // Both turns of a round are alike.
    let levels = (1..=spec.rounds.get()).flat_map(|round| [level(round), level(round)]).collect();
    let (threads, thresholds) = (ab.client.threads(), args.client.threshold.clone());
    let client = ClientPlan { threads, thresholds, calibration: None };
    let document = record::asked(&ab.setup, &ab.sample, levels, &args.answer.goodput)?;
    let mut document = record::measured(document, &a.endpoint, client, epoch_unix_ns)?;
    let probed = b.endpoint.found.as_ref().map(Json::of).transpose();
    document.ab = Some(AbPlan {
        rounds: spec.rounds.get(),
        settle_ms: spec.settle.to_millis(),
        prompts: spec.prompts,
        a_name: a.name.clone(),
        b_name: b.name.clone(),
        b_endpoint: b.endpoint.describe(),
        b_probed: probed.map_err(Fail::broken)?,
    });
    Ok(document)
}
