//! `fizeau ab`: two endpoints in turns, with the same requests, and whether they differ.

mod prepare;

use fizeau::experiment::{AbSide, ContextLimit, PreparedAb};
use fizeau::harness::{Cancel, Pacer, WorkerPool, connections_ahead};
use fizeau::metrics::Verdict;
use fizeau::record::AbReport;
use fizeau::report::Shown;
use fizeau::transport::{MonotonicClock, RequestError};

use crate::args::AbArgs;
use crate::commands::shared::{endpoint, live, workload};
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
    folder.write_run(&ab.document(&clock)?).map_err(Fail::broken)?;
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
