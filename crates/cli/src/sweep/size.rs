//! How large the levels are.

use std::num::{NonZeroU32, NonZeroU64};

use fizeau::core::Nanos;
use fizeau::harness::LevelSize;
use fizeau::metrics::Precision;

use super::SeriesArgs;
use crate::args::LevelsArgs;
use crate::exit::{Fail, Named};
use crate::workload;

/// How long a level lasts, in seconds, where nobody says so.
const SECONDS: f64 = 18.0;
/// The same, where it may go on until a figure is known: half as wide an interval takes four times as long.
const SECONDS_UNTIL_KNOWN: f64 = 180.0;

/// The concurrencies that were asked for, rising.
pub(super) fn levels_of(levels: &[u32]) -> Result<Vec<NonZeroU32>, Fail> {
    let checked: Option<Vec<NonZeroU32>> = levels.iter().copied().map(NonZeroU32::new).collect();
    let mut checked =
        checked.ok_or_else(|| Fail::usage("--levels: 0 is not a concurrency; the least is 1"))?;
    checked.sort_unstable();
    checked.dedup();
    Ok(checked)
}

/// The most requests in flight at any level.
pub(super) fn most(levels: &[NonZeroU32]) -> u64 {
    levels.iter().map(|level| level.get().into()).max().unwrap_or(1)
}

/// How large a level is at most.
pub(super) fn size_of(plan: &LevelsArgs) -> Result<LevelSize, Fail> {
    let requests = match plan.num_prompts {
        None => None,
        Some(n) => Some(NonZeroU64::new(n).ok_or_else(|| {
            Fail::usage("--num-prompts: 0 requests measure nothing; the least is 1")
        })?),
    };
    let by_default = if plan.until.is_some() { SECONDS_UNTIL_KNOWN } else { SECONDS };
    let time = plan.level_seconds.unwrap_or(by_default);
    let time = Nanos::from_secs_f64(time).named("--level-seconds")?;
    if time == Nanos::ZERO {
        return Err(Fail::usage("--level-seconds: a level takes some time; give more than 0"));
    }
    Ok(LevelSize { requests, time: Some(time), warmup: plan.num_warmups })
}

/// The most requests of any level; none for as many as the data set has.
pub(super) fn most_requests(args: SeriesArgs<'_>) -> Result<Option<u64>, Fail> {
    let (levels, size) = (levels_of(&args.plan.levels)?, size_of(args.plan)?);
    if args.plan.until.is_some() && size.requests.is_none() {
        return Ok(workload::most_until_known(args.workload));
    }
    Ok(levels.iter().map(|&slots| size.requests_at(slots.into()).get()).max())
}

/// What is to be known before a level ends.
pub(super) fn until_of(plan: &LevelsArgs) -> Result<Option<Precision>, Fail> {
    plan.until.as_deref().map(str::parse).transpose().named("--until")
}
