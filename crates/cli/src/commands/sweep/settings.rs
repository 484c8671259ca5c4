//! From flags to the settings of a sweep, whoever answers.

use std::num::NonZeroU64;

use fizeau::core::Nanos;
use fizeau::experiment::{
    LevelSize, StopRule, SweepLoads, SweepProtocol, SweepRates, SweepSettings, level_size,
};
use fizeau::record::Profile;

use crate::args::{LevelSizeArgs, LevelsArgs, ProtocolArgs, SeriesArgs, SweepArgs};
use crate::commands::shared::workload;
use crate::exit::{Fail, Named, parsed};

impl SeriesArgs<'_> {
    /// Refuses what says how regular rates are, where there are none, and what could be a cap on them.
    pub(crate) fn check(self) -> Result<(), Fail> {
        refuse_if!(
            !self.levels.max_concurrency.is_empty() && self.levels.rates.is_some(),
            "--max-concurrency: a sweep caps no rate; use --levels N,... to measure these numbers in flight beside --rates, or \
             `fizeau bench --request-rate RATE --max-concurrency N` for a rate under a cap"
        );
        refuse_if!(
            self.size.spacing.burstiness != 1.0 && self.levels.rates.is_none(),
            "--burstiness: it works only with --rates; a level of --levels sends a request whenever one ends"
        );
        Ok(())
    }

    /// The sweep that is asked for, whoever answers.
    pub(crate) fn settings(self, protocol: SweepProtocol) -> Result<SweepSettings, Fail> {
        let mut settings = SweepSettings::default();
        settings.slo = self.goals.given()?;
        settings.goals = self.goals.goodput()?;
        settings.profile = self.choosing.choice().over(Profile::GENERAL);
        settings.protocol = protocol;
        settings.check()?;
        settings.loads = self.loads()?;
        settings.until = parsed(&self.levels.until).named("--until")?;
        settings.size = self.level_size()?;
        workload::check_lengths(self.workload)?;
        settings.workload = workload::spec(self.workload)?;
        settings.window = self.window.choice();
        settings.price.clone_from(&self.price.gpu_hour);
        Ok(settings)
    }

    /// The loads that are asked for.
    fn loads(self) -> Result<SweepLoads, Fail> {
        let rates: Option<SweepRates> = parsed(&self.levels.rates)?;
        let LevelsArgs { levels, max_concurrency, .. } = self.levels;
        // Only one of them is given.
        let concurrencies = [levels.as_slice(), max_concurrency].concat();
        let loads = SweepLoads::new(&concurrencies, rates.unwrap_or_default())?;
        Ok(loads.with_burstiness(self.size.spacing.burstiness)?)
    }

    /// How large a level is at most.
    fn level_size(self) -> Result<LevelSize, Fail> {
        let LevelSizeArgs { num_prompts, level_seconds, num_warmups, .. } = *self.size;
        let time = level_seconds.map(Nanos::from_secs_f64).transpose().named("--level-seconds")?;
        Ok(level_size(num_prompts.map(NonZeroU64::get), time, num_warmups)?)
    }
}

/// How a sweep goes on that takes its time.
pub(super) fn protocol_of(args: &SweepArgs) -> Result<SweepProtocol, Fail> {
    let mut protocol = simulated_protocol_of(&args.protocol)?;
    protocol.stop = SweepProtocol::default().stop.filter(|_| !args.protocol.no_stop);
    protocol.budget = args.measure.budget;
    Ok(protocol)
}

/// The same in virtual time, which costs nobody any: what lies beyond saturation is had for nothing.
pub(crate) fn simulated_protocol_of(args: &ProtocolArgs) -> Result<SweepProtocol, Fail> {
    let mut protocol = SweepProtocol::default();
    protocol.stop = args.stop_at_saturation.then(StopRule::default);
    (protocol.repeats, protocol.refine) = (args.repeats, args.refine);
    protocol.sustain = args.sustain.map(Nanos::from_secs_f64).transpose().named("--sustain")?;
    protocol.budget = None;
    Ok(protocol)
}
