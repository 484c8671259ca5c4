//! From flags to typed loads, sizes and protocols.

use fizeau::core::Nanos;
use fizeau::experiment::{
    LEVEL_TIME, LEVEL_TIME_UNTIL_KNOWN, LevelSize, PromptReader, Rates, StopRule, SweepLoads,
    SweepProtocol, level_size,
};

use crate::args::{BudgetArgs, LevelsArgs, ProtocolArgs};
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

/// How large a level is at most; time that is not said takes as long as it does where nobody waits.
pub(super) fn size_of(plan: &LevelsArgs, reader: PromptReader) -> Result<LevelSize, Fail> {
    let time = match (plan.level_seconds, &plan.until, reader) {
        (Some(seconds), ..) => Some(Nanos::from_secs_f64(seconds).named("--level-seconds")?),
        (None, _, PromptReader::Simulation) => None,
        (None, Some(_), _) => Some(LEVEL_TIME_UNTIL_KNOWN),
        (None, None, _) => Some(LEVEL_TIME),
    };
    Ok(level_size(plan.num_prompts, time, plan.num_warmups)?)
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
