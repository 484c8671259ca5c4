//! `fizeau ab`: two endpoints in turns, with the same requests, and whether they differ.

mod prepare;

use std::num::NonZeroU32;

use fizeau::experiment::{AbPrompts, ContextLimit, PreparedAb, WallTime};
use fizeau::harness::{Cancel, Crew, Pacer, connections_ahead};
use fizeau::metrics::{Pace, Verdict};
use fizeau::record::LevelPlan;
use fizeau::record::{AbParty, AbReport};
use fizeau::report::Shown;
use fizeau::transport::{MonotonicClock, RequestError};
use fizeau::workload::Pacing;

use crate::args::AbArgs;
use crate::commands::shared::{endpoint, levels, live, record, workload};
use crate::exit::{Exit, Fail};
use crate::terminal::progress::{Progress, Title, View};
use crate::terminal::say::say;
use crate::terminal::{interrupt, runtime};
use prepare::{Job, Party, prepare};

pub(crate) fn run(args: &AbArgs) -> Result<Exit, Fail> {
    let view = live::view(args.live)?;
    let job = prepare(args)?;
    // What fails before there is anything to keep leaves no folder.
    let measured = runtime::single()?.block_on(measure(&job, args, view));
    let (report, interrupted) = measured.inspect_err(|_| job.out.give_back())?;
    let folder = job.out.folder();
    let written = folder.write_json("ab.json", &report).map_err(Fail::broken);
    if args.answer.json {
        say(report.to_json().map_err(Fail::broken)?.trim_end())?;
    } else {
        say(Shown(&report).text())?;
        say(format!("run folder: {}", folder.path().display()))?;
    }
    written?;
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
    let clock = MonotonicClock::new();
    check(job, &job.a).await?;
    check(job, &job.b).await?;
    announce(job, args)?;
    let cancel = Cancel::new();
    let a = crew(job, &job.a, clock, &cancel).await?;
    let b = crew(job, &job.b, clock, &cancel).await?;
    let folder = job.out.folder();
    folder
        .write_json("run.json", &document(job, args, WallTime::epoch_unix_ns(&clock))?)
        .map_err(Fail::broken)?;
    interrupt::listen(cancel.clone())?;
    let prepared = prepared(job);
    let (a_url, b_url) = (job.a.called.describe().base_url, job.b.called.describe().base_url);
    let title = Title { command: "ab", subject: format!("A {a_url}, B {b_url}") };
    let mut progress = Progress::new(view, title, &cancel);
    let report = prepared.run(a, b, Pacer::new(clock), Some(folder), &mut progress).await?;
    Ok((report, cancel.is_cancelled()))
}

/// The run as whoever measures it has it.
fn prepared(job: &Job) -> PreparedAb<'_> {
    let party =
        |side: &Party| AbParty { name: side.name.clone(), endpoint: side.called.describe() };
    PreparedAb {
        spec: job.spec.clone(),
        setup: job.setup.clone(),
        a: party(&job.a),
        b: party(&job.b),
        settings: job.settings.clone(),
        figures: job.asked.clone(),
        pace: match job.sample.plan().pacing() {
            Pacing::ClosedLoop => Pace::ClosedLoop,
            Pacing::AtOnce => Pace::AllAtOnce,
            Pacing::OpenLoop { .. } => Pace::OpenLoop,
        },
        load: job.load_point,
        no_light: levels::NO_PHYSICS,
        client: &job.client,
        sample: &job.sample,
    }
}

/// What is to be known before the first request that counts.
fn announce(job: &Job, args: &AbArgs) -> Result<(), Fail> {
    job.notes.iter().for_each(|note| tell!("note: {note}"));
    if args.answer.json {
        return Ok(());
    }
    let asked = workload::prompt_salt(&args.workload);
    say(workload::describe_salt_of_levels(asked, job.sample.salt()))
}

/// One request before the first, on a connection of its own.
async fn check(job: &Job, side: &Party) -> Result<(), Fail> {
    let target = &side.called.target;
    let fits = |limit: &ContextLimit| Ok(job.sample.check(limit)?);
    endpoint::check(target, job.limit.as_ref(), job.sample.plan(), fits).await
}

/// The threads that measure a side, with their connections.
async fn crew(
    job: &Job,
    side: &Party,
    clock: MonotonicClock,
    cancel: &Cancel,
) -> Result<Crew<RequestError>, Fail> {
    let tokenizer = job.spec.tokenizer.clone();
    let crew = job.client.start(&side.called.target, clock, tokenizer, cancel)?;
    let (plan, cap) = (job.sample.plan(), job.spec.load.max_in_flight);
    let ahead = connections_ahead(plan.requests().get(), cap, plan.pacing());
    crew.preconnect(ahead).await.map_err(Fail::endpoint)?;
    Ok(crew)
}

fn document<'a>(
    job: &'a Job,
    args: &'a AbArgs,
    epoch_unix_ns: u64,
) -> Result<record::RunDocument<'a>, Fail> {
    let spec = &job.spec;
    let level = |round: u32| LevelPlan {
        load: None,
        visit: None,
        role: None,
        arrivals: None,
        requests: spec.workload.requests.get(),
        warmup_requests: spec.warmup,
        max_in_flight: spec.load.max_in_flight.map(NonZeroU32::get),
        release_for_ms: None,
        seed: Some(spec.seed_of(round).0),
        until: None,
        window: fizeau::metrics::WindowChoice::default().into(),
    };
    // Both turns of a round are alike.
    let levels = (1..=spec.rounds.get()).flat_map(|round| [level(round), level(round)]).collect();
    let thresholds = &*args.client.threshold;
    let client =
        record::ClientPlan { threads: job.client.threads(), thresholds, calibration: None };
    let asked = record::AskedPlan {
        plan: job.sample.record()?,
        lengths: job.sample.asked_lengths(),
        probe: None,
        shard: None,
    };
    let goodput = &*args.answer.goodput;
    let document = record::RunDocument::new(&job.setup, asked, levels, goodput)?;
    let document = document.measured(&job.a.called, client, epoch_unix_ns);
    Ok(document.with_ab(record::AbPlan {
        rounds: spec.rounds.get(),
        settle_ms: spec.settle.to_millis(),
        prompts: match spec.prompts {
            AbPrompts::Same => "same",
            AbPrompts::OwnBySide => "own_by_side",
        },
        a_name: job.a.name.as_deref(),
        b_name: job.b.name.as_deref(),
        b_endpoint: job.b.called.describe(),
        b_probed: job.b.called.found.as_ref(),
    }))
}
