//! From flags to the settings of a sweep, whoever answers.

use fizeau::core::Nanos;
use fizeau::experiment::{
    LEVEL_TIME, LEVEL_TIME_UNTIL_KNOWN, LevelSize, PromptReader, Rates, StopRule, SweepLoads,
    SweepProtocol, SweepSettings, level_size,
};
use fizeau::record::Profile;

use crate::args::{LevelsArgs, ProtocolArgs, SeriesArgs, SweepArgs};
use crate::commands::shared::workload::{self, Nominal};
use crate::exit::{Fail, Named};

impl<'a> SeriesArgs<'a> {
    /// The sweep that is asked for, whoever answers.
    pub(crate) fn settings(
        self,
        protocol: SweepProtocol,
        reader: PromptReader,
    ) -> Result<SweepSettings, Fail> {
        let (plan, verdict) = (self.plan, self.verdict);
        let mut settings = SweepSettings::default();
        settings.slo = Some(verdict.goals.slo()?);
        settings.goals = verdict.goodput.join(" ").parse().named("--goodput")?;
        settings.profile = verdict.choosing.choice().over(Profile::GENERAL);
        settings.protocol = protocol;
        settings.check()?;
        settings.loads = loads_of(plan)?;
        settings.until = plan.until.as_deref().map(str::parse).transpose().named("--until")?;
        settings.size = size_of(plan, reader)?;
        settings.workload = workload::spec(self.workload, self.nominal())?;
        settings.window = self.window.choice();
        settings.price.clone_from(&verdict.price.gpu_hour);
        Ok(settings)
    }

    /// The two flags of lengths.
    pub(crate) fn nominal(self) -> Nominal<'a> {
        let (input, output) = (&*self.plan.isl, &*self.plan.osl);
        Nominal { input: ("--isl", input), output: ("--osl", output) }
    }
}

/// The loads that are asked for.
fn loads_of(plan: &LevelsArgs) -> Result<SweepLoads, Fail> {
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
fn size_of(plan: &LevelsArgs, reader: PromptReader) -> Result<LevelSize, Fail> {
    let time = match (plan.level_seconds, &plan.until, reader) {
        (Some(seconds), ..) => Some(Nanos::from_secs_f64(seconds).named("--level-seconds")?),
        (None, _, PromptReader::Simulation) => None,
        (None, Some(_), _) => Some(LEVEL_TIME_UNTIL_KNOWN),
        (None, None, _) => Some(LEVEL_TIME),
    };
    Ok(level_size(plan.num_prompts, time, plan.num_warmups)?)
}

/// How a sweep goes on that takes its time.
pub(super) fn protocol_of(args: &SweepArgs) -> Result<SweepProtocol, Fail> {
    let stop = (!args.protocol.no_stop).then(StopRule::default);
    let budget = args.time.budget.map(Nanos::from);
    Ok(SweepProtocol { stop, budget, ..simulated_protocol_of(&args.protocol)? })
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
