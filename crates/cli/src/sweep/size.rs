//! How large the levels are.

use std::num::NonZeroU64;

use fizeau::core::Nanos;
use fizeau::experiment::LevelSize;
use fizeau::metrics::Precision;

use super::SeriesArgs;
use super::loads::levels_of;
use crate::args::LevelsArgs;
use crate::exit::{Fail, Named};
use crate::workload;

/// How long a level lasts, in seconds, where nobody says so.
pub(super) const SECONDS: f64 = 60.0;
/// The same, where it may go on until a figure is known: half as wide an interval takes four times as long.
const SECONDS_UNTIL_KNOWN: f64 = 180.0;

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

/// The most requests of any level that is no longer than it must be; none for as many as the data set has.
pub(super) fn most_requests(args: SeriesArgs<'_>) -> Result<Option<u64>, Fail> {
    let (levels, size) = (levels_of(args.plan)?, size_of(args.plan)?);
    if args.plan.until.is_some() && size.requests.is_none() {
        return Ok(workload::most_until_known(args.workload));
    }
    Ok(levels.iter().map(|&load| size.requests_at(load).get()).max())
}

/// Whether a closed loop goes on until its time is up: where nobody says how many requests it has, and there is no end of them.
pub(super) fn is_by_time(args: SeriesArgs<'_>) -> bool {
    let plan = args.plan;
    let is_endless = workload::most_until_known(args.workload).is_some();
    plan.num_prompts.is_none() && plan.until.is_none() && is_endless
}

/// What is to be known before a level ends.
pub(super) fn until_of(plan: &LevelsArgs) -> Result<Option<Precision>, Fail> {
    plan.until.as_deref().map(str::parse).transpose().named("--until")
}
