//! What every kind of run has once it is decided.

use fizeau_record::{NoReference, RunSetup, SpeedOfLightReference, WorkloadRecord};

use crate::client::MeasuringClient;
use crate::endpoint::EmptiedCaches;
use crate::input::{ExperimentError, InputError};
use crate::profiled::ProfiledLevel;
use crate::system::{PromptReader, RunOrigin, SystemUnderTest};
use crate::telemetry::{LevelScrapers, Telemetry};
use crate::workload::{ContextLimit, PreparedWorkload, WorkloadSpec};

/// What every kind of run has once it is decided. Nothing has been sent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunBasis {
    /// What is run, and on what.
    pub setup: RunSetup,
    /// What it asks: of several levels the largest, of an A/B run a round.
    pub work: PreparedWorkload,
    /// What the speed of light is computed from, or why there is none.
    pub light: Result<SpeedOfLightReference, NoReference>,
    /// Who reads the prompts.
    pub reader: PromptReader,
    /// What is known of the client; by default nothing.
    pub client: MeasuringClient,
    /// The most tokens that the model takes, where that is known before the server is asked.
    pub limit: Option<ContextLimit>,
    /// The pages of metrics that are read beside its levels.
    pub(crate) telemetry: Option<Telemetry>,
    /// The caches that are emptied before its levels.
    pub(crate) caches: EmptiedCaches,
    /// The level around which the server's profiler runs.
    pub(crate) profiled: ProfiledLevel,
}

impl RunBasis {
    /// Begins to read the pages of metrics beside a level.
    pub(crate) fn scrapers(&self) -> Result<LevelScrapers, ExperimentError> {
        let light = self.light.as_ref().ok();
        let devices = light.map(|light| light.reference().system.deployment().devices());
        LevelScrapers::start(self.telemetry.as_ref(), devices)
    }

    /// That of a run which asks `system` the `work` of `spec`, `described` so.
    ///
    /// # Errors
    /// If a request is longer than the model is known to take.
    pub(crate) fn new(
        spec: &WorkloadSpec,
        work: PreparedWorkload,
        described: WorkloadRecord,
        system: SystemUnderTest,
        origin: &RunOrigin,
    ) -> Result<Self, InputError> {
        let typical = work.typical_prompt();
        let light = system.light.map(|light| light.for_prompts_of(typical));
        let config = light.as_ref().ok().and_then(SpeedOfLightReference::config);
        let limit = system.limit.or_else(|| spec.context_limit(config));
        limit.iter().try_for_each(|limit| work.check(limit))?;
        let system = SystemUnderTest { light, ..system };
        let (setup, reader) = (origin.setup(&system, described), system.reader);
        Ok(Self {
            setup,
            work,
            light: system.light,
            reader,
            client: MeasuringClient::default(),
            limit,
            telemetry: None,
            caches: EmptiedCaches::default(),
            profiled: ProfiledLevel::default(),
        })
    }

    /// What the speed of light is computed from, or why there is none.
    pub(crate) fn speed_of_light(&self) -> Result<&SpeedOfLightReference, NoReference> {
        self.light.as_ref().map_err(|why| *why)
    }

    /// What of the workload is not as one might think, each in one line.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.work.repeated().into_iter().chain(self.work.notes()).collect()
    }
}
