//! What tapes show beside a level's means, as samples of a fit.

use std::num::NonZeroU64;

use fizeau_record::SpeedOfLightReference;
use fizeau_roofline::{
    CalibrationSample, CalibrationSampleError, ContextSpread, PassScope, PassSums, System,
    UniformLoad,
};

use super::SampleError;
use super::samples::above;
use super::steps::{self, LoneLoad, SeenRequests};

impl SeenRequests {
    /// The steps that they show, how those came in that started together, and where they were one at a time what they took by their prompts; nothing where a client cannot see what is
    /// in a step.
    pub(super) fn samples(
        &self,
        concurrency: Option<u64>,
        system: &System,
        name: &str,
        engine: Option<&str>,
    ) -> Result<Vec<Result<CalibrationSample, SampleError>>, CalibrationSampleError> {
        if !steps::can_be_seen(system) {
            return Ok(Vec::new());
        }
        let alone = if concurrency == Some(1) { self.lone_loads() } else { Vec::new() };
        let mut samples = Vec::new();
        let mut left_out = Vec::new();
        for load in alone {
            match load.above(system) {
                Ok(()) => samples.push(load.sample(system, name)?),
                Err(error) => left_out.push(Err(error)),
            }
        }
        let spread = Some(ContextSpread::up_to(system.model().max_context));
        let mut steps = self.steps();
        steps.retain(|(sums, time)| {
            let place = || format!("steps of {} sequences", sums.decoding + sums.prompts);
            let least = PassSums { spread, ..*sums };
            above(place, *time, system.bound_sums(&least).total)
                .map_err(|error| left_out.push(Err(error)))
                .is_ok()
        });
        samples.extend(CalibrationSample::passes(system, PassScope::Step, name, steps)?);
        if let Some(last) = samples.pop() {
            samples.push(last.with_starts(self.starts()));
        }
        let samples = samples.into_iter().map(|sample| Ok(of_engine(sample, engine)));
        Ok(samples.chain(left_out).collect())
    }
}

/// `sample`, of the engine of this name where one is known.
pub(super) fn of_engine(sample: CalibrationSample, engine: Option<&str>) -> CalibrationSample {
    match engine {
        Some(engine) => sample.with_engine(engine),
        None => sample,
    }
}

/// The same of a level that was measured just now.
pub(crate) fn seen_samples(
    requests: &SeenRequests,
    concurrency: u64,
    light: &SpeedOfLightReference,
    engine: Option<&str>,
) -> Result<Vec<Result<CalibrationSample, SampleError>>, CalibrationSampleError> {
    let system = light.reference().system;
    requests.samples(Some(concurrency), system, light.model_name(), engine)
}

impl LoneLoad {
    fn load(&self) -> UniformLoad {
        UniformLoad::new(self.prompt, self.output, NonZeroU64::MIN)
    }

    fn above(&self, system: &System) -> Result<(), SampleError> {
        let place = || format!("requests of {} tokens, one at a time", self.prompt);
        above(place, self.tpot, system.bound_figures(&self.load()).step)
    }

    fn sample(
        &self,
        system: &System,
        name: &str,
    ) -> Result<CalibrationSample, CalibrationSampleError> {
        CalibrationSample::new(system, &self.load(), name, self.tpot)?.with_ttft(self.ttft)
    }
}
