//! What is searched, checked before anything is sent.

use std::num::NonZeroU64;

use fizeau::core::{LoadKind, Nanos};
use fizeau::experiment::LevelSize;
use fizeau::experiment::{LoadSearch, LoadSearchSpec};
use fizeau::metrics::{Slo, Statistic};

use crate::args::{SearchFlags, SeriesArgs};
use crate::commands::shared::workload;
use crate::exit::{Fail, Named};

/// A search, decided.
pub(crate) struct Wanted {
    pub(super) search: LoadSearch,
}

/// Whose time passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clock {
    /// Everybody's.
    Wall,
    /// Nobody's: levels may be as long as the goals need.
    Virtual,
}

impl Wanted {
    /// Of the flags of a search, and of those of a sweep that it has too.
    pub(crate) fn new(
        over: LoadKind,
        flags: &SearchFlags,
        series: SeriesArgs<'_>,
        clock: Clock,
    ) -> Result<Self, Fail> {
        let slo = series.verdict.goals.slo()?;
        let (from, to) = (flags.from, flags.to);
        if let Some((from, to)) = from.zip(to).filter(|(from, to)| from > to) {
            return Err(Fail::usage(format!(
                "--from {from} --to {to}: the lower load comes first"
            )));
        }
        let size = size(over, series, clock, &slo)?;
        let confirm = confirm(over, flags.confirm, series)?;
        let spec = LoadSearchSpec {
            from,
            to,
            most_levels: flags.max_runs,
            tolerance: flags.tolerance,
            confidence: flags.confidence,
            size,
            confirm,
            ..LoadSearchSpec::new(over, slo)
        };
        Ok(Self { search: LoadSearch::new(spec).map_err(Fail::usage)? })
    }
}

/// How large a level is. In virtual time it has as many requests as the goals need; over HTTP it lasts as long as it is given.
fn size(
    over: LoadKind,
    series: SeriesArgs<'_>,
    clock: Clock,
    slo: &Slo,
) -> Result<LevelSize, Fail> {
    let plan = series.plan;
    let given = plan.num_prompts.and_then(NonZeroU64::new);
    if plan.num_prompts == Some(0) {
        return Err(Fail::usage("--num-prompts: 0 requests measure nothing; the least is 1"));
    }
    let time = plan.level_seconds.map(|seconds| time(seconds, "--level-seconds")).transpose()?;
    let by_default = || match (clock, time) {
        (Clock::Virtual, None) => Some(needed(slo)),
        _ => until_time_is_up(over, series),
    };
    Ok(LevelSize { requests: given.or_else(by_default), time, warmup: plan.num_warmups })
}

/// The long level at the end; none for 0 seconds.
fn confirm(
    over: LoadKind,
    seconds: f64,
    series: SeriesArgs<'_>,
) -> Result<Option<LevelSize>, Fail> {
    if seconds == 0.0 {
        return Ok(None);
    }
    let time = Some(time(seconds, "--confirm")?);
    let requests = until_time_is_up(over, series);
    Ok(Some(LevelSize { requests, time, warmup: series.plan.num_warmups }))
}

fn time(seconds: f64, flag: &str) -> Result<Nanos, Fail> {
    match Nanos::from_secs_f64(seconds).named(flag)? {
        Nanos::ZERO => {
            Err(Fail::usage(format!("{flag}: a level takes some time; give more than 0")))
        }
        time => Ok(time),
    }
}

/// A closed loop has requests until its time is up, but of a data set no more than it has; an open one those that come by then.
fn until_time_is_up(over: LoadKind, series: SeriesArgs<'_>) -> Option<NonZeroU64> {
    match over {
        LoadKind::Rate => None,
        LoadKind::Concurrency => {
            workload::most_until_known(series.workload).and_then(NonZeroU64::new)
        }
    }
}

/// Two hundred requests beyond a p99, a hundred beyond a p999. Near its capacity a queue takes thousands of requests to be as
/// long as it gets: of 2,000 the edge of a goal on p99 TTFT comes out several percent too high.
fn needed(slo: &Slo) -> NonZeroU64 {
    let is_far_out = |statistic| matches!(statistic, Statistic::P999 | Statistic::Max);
    let far_out = slo.goals().iter().any(|goal| is_far_out(goal.statistic));
    if far_out { FAR_OUT } else { USUAL }
}

const USUAL: NonZeroU64 = NonZeroU64::new(20_000).unwrap();
const FAR_OUT: NonZeroU64 = NonZeroU64::new(100_000).unwrap();
