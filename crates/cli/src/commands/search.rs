//! `fizeau search`: the highest rate or concurrency within goals.

mod outcome;
mod wanted;

pub(crate) use outcome::{Outcome, end};
pub(crate) use wanted::{Clock, Wanted};

use fizeau::experiment::WallTime;

use crate::args::SearchArgs;
use crate::commands::shared::folder;
use crate::commands::sweep::{self, Begun, Job};
use crate::exit::{Exit, Fail};
use crate::terminal::runtime;

pub(crate) fn run(args: &mut SearchArgs) -> Result<Exit, Fail> {
    if args.sweep.plan.until.is_some() {
        return Err(Fail::usage("--until: a search says itself when it knows enough: --tolerance"));
    }
    let by_default = || folder::by_default(WallTime::now(), "search");
    args.sweep.verdict.out.get_or_insert_with(by_default);
    args.sweep.plan.level_seconds.get_or_insert(SECONDS);
    let wanted = Wanted::new(args.over.into(), &args.search, args.sweep.series(), Clock::Wall)?;
    args.sweep.check_for_search()?;
    let job = sweep::prepare(&args.sweep, None)?.of_loads_to_come();
    let runtime = runtime::single()?;
    // What fails before there is anything to keep leaves no folder.
    let measured = runtime.block_on(measure(&job, wanted)).inspect_err(|_| job.out.give_back());
    end(&measured?, Some(job.out.folder().path()), &args.sweep.trust)
}

async fn measure(job: &Job<'_>, wanted: Wanted) -> Result<Outcome, Fail> {
    let Begun { crew, cancel, .. } = sweep::begin(job).await?;
    wanted.measure(&job.series, crew, (&job.client, Some(job.out.folder())), &cancel).await
}

/// How long a level lasts, where nobody says so.
const SECONDS: f64 = 60.0;
