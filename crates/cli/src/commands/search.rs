//! `fizeau search`: the highest rate or concurrency within goals.

mod outcome;

pub(crate) use outcome::{Outcome, end, measure as carry_out};

use fizeau::core::{LoadKind, Nanos};
use fizeau::experiment::{LoadSearch, LoadSearchSpec, PromptReader, SweepSettings, WallTime};

use fizeau::metrics::Slo;

use crate::args::{SearchArgs, SearchFlags};
use crate::commands::shared::folder;
use crate::commands::sweep::{self, Begun, Job};
use crate::exit::{Exit, Fail, Named};
use crate::terminal::runtime;

pub(crate) fn run(args: &mut SearchArgs) -> Result<Exit, Fail> {
    if args.sweep.plan.until.is_some() {
        return Err(Fail::usage("--until: a search says itself when it knows enough: --tolerance"));
    }
    args.sweep.check_for_search()?;
    let by_default = || folder::by_default(WallTime::now(), "search");
    args.sweep.verdict.out.get_or_insert_with(by_default);
    let settings = sweep::settings(&args.sweep)?;
    let (over, slo) = (args.over.into(), args.sweep.verdict.goals.slo()?);
    let wanted = wanted(over, &args.search, slo, &settings, PromptReader::Server)?;
    let mut job = sweep::prepare(&args.sweep, &settings, None)?;
    job.series.sweep = job.series.sweep.of_loads_to_come();
    let runtime = runtime::single()?;
    // What fails before there is anything to keep leaves no folder.
    let measured = runtime.block_on(measure(&job, wanted)).inspect_err(|_| job.out.give_back());
    end(&measured?, Some(job.out.folder().path()), &args.sweep.trust)
}

/// The search that the flags ask for, of levels as `settings` have them.
pub(crate) fn wanted(
    over: LoadKind,
    flags: &SearchFlags,
    slo: Slo,
    settings: &SweepSettings,
    reader: PromptReader,
) -> Result<LoadSearch, Fail> {
    let (from, to) = (flags.from, flags.to);
    if let Some((from, to)) = from.zip(to).filter(|(from, to)| from > to) {
        return Err(Fail::usage(format!("--from {from} --to {to}: the lower load comes first")));
    }
    let confirm = Nanos::from_secs_f64(flags.confirm).named("--confirm")?;
    let spec = LoadSearchSpec {
        from,
        to,
        most_levels: flags.max_runs,
        tolerance: flags.tolerance,
        confidence: flags.confidence,
        ..LoadSearchSpec::new(over, slo)
    };
    LoadSearch::new(spec.sized(settings, reader, Some(confirm))).map_err(Fail::usage)
}

async fn measure(job: &Job<'_>, wanted: LoadSearch) -> Result<Outcome, Fail> {
    let Begun { crew, cancel, .. } = sweep::begin(job).await?;
    outcome::measure(wanted, &job.series, crew, Some(job.out.folder()), &cancel).await
}
