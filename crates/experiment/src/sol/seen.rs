//! What tapes show beside a level's means, as samples of a fit.

use std::num::NonZeroU64;

use fizeau_record::SpeedOfLightReference;
use fizeau_roofline::{CalibrationSample, CalibrationSampleError, PassScope, System, UniformLoad};

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
    ) -> Result<Vec<CalibrationSample>, CalibrationSampleError> {
        if !steps::can_be_seen(system) {
            return Ok(Vec::new());
        }
        let alone = if concurrency == Some(1) { self.lone_loads() } else { Vec::new() };
        let alone = alone.iter().map(|load| load.sample(system, name));
        let mut samples = alone.collect::<Result<Vec<_>, _>>()?;
        samples.extend(CalibrationSample::passes(system, PassScope::Step, name, self.steps())?);
        if let Some(last) = samples.pop() {
            samples.push(last.with_starts(self.starts()));
        }
        Ok(samples.into_iter().map(|sample| of_engine(sample, engine)).collect())
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
) -> Result<Vec<CalibrationSample>, CalibrationSampleError> {
    let system = light.reference().system;
    requests.samples(Some(concurrency), system, light.model_name(), engine)
}

impl LoneLoad {
    fn sample(
        &self,
        system: &System,
        name: &str,
    ) -> Result<CalibrationSample, CalibrationSampleError> {
        let load = UniformLoad::new(self.prompt, self.output, NonZeroU64::MIN);
        CalibrationSample::new(system, &load, name, self.tpot)?.with_ttft(self.ttft)
    }
}
