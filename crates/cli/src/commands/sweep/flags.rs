//! From flags to typed loads, sizes and protocols.

use fizeau::core::Nanos;
use fizeau::experiment::{
    LEVEL_TIME, LEVEL_TIME_UNTIL_KNOWN, LevelSize, Rates, StopRule, SweepLoads, SweepProtocol,
    level_size,
};
use fizeau::metrics::Precision;

use crate::args::{BudgetArgs, LevelsArgs, ProtocolArgs, SeriesArgs};
use crate::commands::shared::workload;
use crate::exit::{Fail, Named};

/// The loads that are asked for.
pub(super) fn loads_of(plan: &LevelsArgs) -> Result<SweepLoads, Fail> {
    if plan.burstiness != 1.0 && plan.rates.is_none() {
        return Err(Fail::usage(
            "--burstiness: it is of open loops, and --levels are closed ones: give --rates too",
        ));
    }
    let rates: Option<Rates> = plan.rates.as_deref().map(str::parse).transpose()?;
    let loads = SweepLoads::new(&plan.levels, rates.unwrap_or_default())?;
    Ok(loads.with_burstiness(plan.burstiness)?)
}

/// How large a level is at most.
pub(super) fn size_of(plan: &LevelsArgs) -> Result<LevelSize, Fail> {
    let by_default = if plan.until.is_some() { LEVEL_TIME_UNTIL_KNOWN } else { LEVEL_TIME };
    let time = match plan.level_seconds {
        Some(seconds) => Nanos::from_secs_f64(seconds).named("--level-seconds")?,
        None => by_default,
    };
    Ok(level_size(plan.num_prompts, Some(time), plan.num_warmups)?)
}

/// The most requests of any level that is no longer than it must be; none for as many as the data set has.
pub(super) fn most_requests(args: SeriesArgs<'_>) -> Result<Option<u64>, Fail> {
    let (loads, size) = (loads_of(args.plan)?, size_of(args.plan)?);
    if args.plan.until.is_some() && size.requests.is_none() {
        return Ok(workload::most_until_known(args.workload));
    }
    Ok(loads.known().iter().map(|&load| size.requests_at(load).get()).max())
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

/// How a sweep goes on that takes its time.
pub(crate) fn protocol_of(args: &ProtocolArgs, time: &BudgetArgs) -> Result<SweepProtocol, Fail> {
    let stop = (!args.no_stop).then(StopRule::default);
    let budget = time.budget.map(Nanos::from);
    Ok(SweepProtocol { stop, budget, ..simulated_protocol_of(args)? })
}

/// The same in virtual time, which costs nobody any: what lies beyond saturation is had for nothing.
pub(crate) fn simulated_protocol_of(args: &ProtocolArgs) -> Result<SweepProtocol, Fail> {
    let protocol = SweepProtocol {
        stop: args.stop_at_saturation.then(StopRule::default),
        repeats: args.repeats,
        refine: args.refine,
        sustain: args.sustain.map(Nanos::from_secs_f64).transpose().named("--sustain")?,
        budget: None,
    };
    protocol.check()?;
    Ok(protocol)
}
