//! `fizeau ab`: two endpoints in turns, with the same requests, and whether they differ.

mod compare;
mod prepare;

use std::num::{NonZeroU32, NonZeroU64};

use fizeau::experiment::{Ab, AbPrompts, AbTurn, Rounds, turn_name};
use fizeau::harness::{Cancel, Crew, Pacer, connections_ahead};
use fizeau::metrics::{Side, Verdict};
use fizeau::record::LevelPlan;
use fizeau::report::{AbParty, AbReport, AbRound, LevelReport, Shown};
use fizeau::transport::{HttpTransport, MonotonicClock, RequestError};

use crate::args::AbArgs;
use crate::client::Counting;
use crate::exit::{Exit, Fail};
use crate::levels::{Kept, Yardstick, released};
use crate::progress::{Progress, Title, View};
use crate::say::say;
use crate::{endpoint, interrupt, levels, record, runtime, workload};
use prepare::{Job, Party, prepare};

pub(crate) fn run(args: &AbArgs) -> Result<Exit, Fail> {
    let view = args.live.view()?;
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
    check(job, &job.a, clock).await?;
    check(job, &job.b, clock).await?;
    announce(job, args)?;
    let cancel = Cancel::new();
    let a = crew(job, &job.a, clock, &cancel).await?;
    let b = crew(job, &job.b, clock, &cancel).await?;
    let folder = job.out.folder();
    folder
        .write_json("run.json", &document(job, args, record::epoch_unix_ns(&clock))?)
        .map_err(Fail::broken)?;
    interrupt::listen(cancel.clone())?;
    let mut ab = Ab::new(a, b, Pacer::new(clock), &job.spec, Some(folder));
    let (a, b) = (job.a.called.describe().base_url, job.b.called.describe().base_url);
    let title = Title { command: "ab", subject: format!("A {a}, B {b}") };
    let mut progress = Progress::new(view, title, &cancel);
    let mut rounds: Vec<AbRound> = Vec::new();
    loop {
        let mut kept = Kept::new(Some(folder), None);
        let next = ab.next_turn(&mut (&mut progress, &mut kept)).await;
        let Some(turn) = next.map_err(Fail::broken)? else { break };
        let level = level(job, &turn, &kept)?;
        add(&mut rounds, &turn, level);
    }
    drop(progress);
    Ok((report(job, rounds)?, cancel.is_cancelled()))
}

/// What is to be known before the first request that counts.
fn announce(job: &Job, args: &AbArgs) -> Result<(), Fail> {
    job.notes.iter().for_each(|note| tell!("note: {note}"));
    if args.answer.json {
        return Ok(());
    }
    say(workload::describe_salt_of_levels(&args.workload, job.sample.salt()))
}

/// One request before the first, on a connection of its own.
async fn check(job: &Job, side: &Party, clock: MonotonicClock) -> Result<(), Fail> {
    let target = &side.called.target;
    endpoint::check_context(target, job.limit.as_ref(), |limit| job.sample.check(limit)).await?;
    let http = HttpTransport::new(target.clone(), clock);
    endpoint::check(&http, &Pacer::new(clock), job.sample.plan()).await.map(drop)
}

/// The threads that measure a side, with their connections.
async fn crew(
    job: &Job,
    side: &Party,
    clock: MonotonicClock,
    cancel: &Cancel,
) -> Result<Crew<RequestError>, Fail> {
    let counting = Counting { tokenizer: job.spec.tokenizer.clone() };
    let crew = job.client.start(&side.called.target, clock, &counting, cancel)?;
    let (plan, cap) = (job.sample.plan(), job.spec.load.max_in_flight);
    let ahead = connections_ahead(plan.requests().get(), cap, plan.pacing());
    crew.preconnect(ahead).await.map_err(Fail::endpoint)?;
    Ok(crew)
}

/// The report of a turn, once it is on disk.
fn level(job: &Job, turn: &AbTurn, kept: &Kept) -> Result<LevelReport, Fail> {
    let repeated = turn.plan.repeats().map(|repeats| repeats.to_string());
    let yardstick = Yardstick {
        physics: Err(levels::NO_PHYSICS),
        client: &job.client,
        asked: job
            .sample
            .of_level(turn.plan.clone())
            .asked_of(NonZeroU64::MIN, released(&turn.run)),
        abandoned: turn.run.driven.abandoned,
        repeated: repeated.as_deref(),
    };
    let name = turn_name(turn.side, turn.round);
    let report = levels::report(&turn.run, kept, job.load_point, yardstick, Some(name));
    if let Some(folder) = &turn.folder {
        levels::write(folder, &turn.run, kept, &report)?;
    }
    Ok(report)
}

/// Puts a turn into its round.
fn add(rounds: &mut Vec<AbRound>, turn: &AbTurn, level: LevelReport) {
    let (a, b) = match turn.side {
        Side::Baseline => (Some(level), None),
        Side::Candidate => (None, Some(level)),
    };
    match rounds.last_mut().filter(|round| round.number == turn.round) {
        Some(round) => {
            (round.a, round.b) = (a.or_else(|| round.a.take()), b.or_else(|| round.b.take()));
        }
        None => {
            rounds.push(AbRound { number: turn.round, first: Rounds::first_of(turn.round), a, b })
        }
    }
}

fn report(job: &Job, rounds: Vec<AbRound>) -> Result<AbReport, Fail> {
    let comparison = compare::rounds(job, &rounds);
    let requests = match &comparison {
        Ok(_) => Some(compare::requests(job, &rounds)?),
        Err(_) => None,
    };
    let party =
        |side: &Party| AbParty { name: side.name.clone(), endpoint: side.called.describe() };
    Ok(AbReport {
        setup: job.setup.clone(),
        a: party(&job.a),
        b: party(&job.b),
        planned: job.spec.rounds.get(),
        settle: job.spec.settle.to_millis(),
        rounds,
        comparison,
        requests,
    })
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
        plan: job.sample.record(args.workload.tokenizer.as_deref())?,
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
