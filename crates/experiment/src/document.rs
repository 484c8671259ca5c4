//! `run.json`: what is asked of whom, and who measures, put on record before the first request that counts.

use std::num::NonZeroU32;

use fizeau_core::Nanos;
use fizeau_metrics::{GoodputGoals, Slo, WindowChoice};
use fizeau_record::{
    AbPlan, FolderError, GoalSource, Json, LevelPlan, RequestTimeouts, RunDocument, RunFolder,
    RunTime, SpeedOfLightReference,
};
use fizeau_roofline::HourlyRate;
use fizeau_transport::MonotonicClock;
use fizeau_workload::Shard;

use crate::ab::PreparedAb;
use crate::basis::RunBasis;
use crate::client::MeasuringClient;
use crate::endpoint::{DetectedEndpoint, PreparedEndpoint};
use crate::input::ExperimentError;
use crate::level::PreparedLevel;
use crate::sweep::PreparedSweep;
use crate::system::PromptReader;
use crate::wall_time::WallTime;

/// Writes `run.json` into `folder`, and before it the files that the speed of light was read from, so that it can be computed again.
pub(crate) fn keep_run(
    folder: &RunFolder,
    document: &RunDocument,
    light: Option<&SpeedOfLightReference>,
) -> Result<(), FolderError> {
    let files = light.into_iter().flat_map(|light| light.files().named());
    for (name, text) in files {
        folder.write_text(name, text)?;
    }
    folder.write_run(document)?;
    Ok(())
}

/// What goes on record of any run: what is asked of whom, at a price of devices that somebody said.
fn requested_document(
    basis: &RunBasis,
    levels: Vec<LevelPlan>,
    goals: &GoodputGoals,
    price: Option<&HourlyRate>,
) -> Result<RunDocument, ExperimentError> {
    let (setup, work) = (basis.setup.clone(), &basis.work);
    let mut document = RunDocument::new(setup, work.record()?, work.requested_lengths());
    document.levels = levels;
    document.goodput = goals.to_string().split_whitespace().map(str::to_owned).collect();
    document.time = (basis.reader == PromptReader::Simulation).then_some(RunTime::Virtual);
    let light = basis.speed_of_light().ok();
    document.speed_of_light = light.map(|light| light.deployment().clone());
    document.device_file_bytes =
        light.and_then(|light| Some(light.files().device.as_ref()?.len() as u64));
    document.gpu_hour_usd = price.map(|price| price.low);
    Ok(document)
}

impl PreparedLevel {
    /// What goes on record of it, but for [who measures](PreparedEndpoint::measured).
    ///
    /// # Errors
    /// If what is asked cannot be written as JSON.
    pub fn document(&self) -> Result<RunDocument, ExperimentError> {
        let settings = &self.settings;
        let (levels, price) = (vec![self.level_plan()], settings.price.as_ref());
        let mut document = requested_document(&self.basis, levels, &settings.goals, price)?;
        let probe = self.probe.as_ref().map(|probe| Json::of(probe.spec())).transpose();
        document.probe = probe.map_err(ExperimentError::broken)?.map(|it| it.without("requests"));
        document.slo = settings.slo.as_ref().map(Slo::to_string);
        document.shard = (settings.shard != Shard::WHOLE).then(|| settings.shard.to_string());
        Ok(document)
    }
}

impl PreparedSweep {
    /// What goes on record of it, but for [who measures](PreparedEndpoint::measured).
    ///
    /// # Errors
    /// If what is asked cannot be written as JSON.
    pub fn document(&self) -> Result<RunDocument, ExperimentError> {
        let settings = &self.settings;
        let (levels, price) = (self.level_plans(), settings.price.as_ref());
        let mut document = requested_document(&self.basis, levels, &settings.goals, price)?;
        let given = settings.slo.as_ref().filter(|_| self.goal_source == GoalSource::Given);
        document.slo = given.map(Slo::to_string);
        Ok(document)
    }
}

impl PreparedAb {
    /// What a turn of a round is to be.
    pub(crate) fn turn_plan(&self, round: u32) -> LevelPlan {
        let spec = &self.spec;
        LevelPlan {
            load: None,
            visit: None,
            role: None,
            arrivals: None,
            requests: spec.workload.requests.get(),
            warmup_requests: Some(spec.warmup),
            max_in_flight: spec.load.max_in_flight.map(NonZeroU32::get),
            slots_of_all: None,
            release_for_ms: None,
            seed: Some(spec.seed_of(round).0),
            until: None,
            window: Some(WindowChoice::default().into()),
        }
    }

    /// What goes on record of it, but for [who measures](PreparedEndpoint::measured).
    ///
    /// # Errors
    /// If what is asked cannot be written as JSON.
    pub fn document(&self) -> Result<RunDocument, ExperimentError> {
        let (spec, [a, b]) = (&self.spec, &self.sides);
        let rounds = 1..=spec.rounds.get();
        // Both turns of a round are alike.
        let levels = rounds.flat_map(|round| [self.turn_plan(round), self.turn_plan(round)]);
        let mut document = requested_document(&self.basis, levels.collect(), &spec.goals, None)?;
        document.ab = Some(AbPlan {
            rounds: spec.rounds.get(),
            settle_ms: spec.settle.to_millis(),
            prompts: spec.prompts,
            a_name: a.name.clone(),
            b_name: b.name.clone(),
            b_endpoint: b.endpoint.describe(),
            b_probed: detected_document(b.endpoint.detected.as_ref())?,
        });
        Ok(document)
    }
}

/// What was found out of an endpoint.
fn detected_document(found: Option<&DetectedEndpoint>) -> Result<Option<Json>, ExperimentError> {
    found.map(Json::of).transpose().map_err(ExperimentError::broken)
}

impl PreparedEndpoint {
    /// Puts on record that `client` measures here, by `clock`.
    ///
    /// # Errors
    /// If what was found out of the endpoint cannot be written as JSON.
    pub fn measured(
        &self,
        mut document: RunDocument,
        client: &MeasuringClient,
        clock: &MonotonicClock,
    ) -> Result<RunDocument, ExperimentError> {
        let limits = &self.timeouts;
        document.epoch_unix_ns = Some(WallTime::epoch_unix_ns(clock));
        document.sampling = Json::parse(&self.extra_body).ok().filter(|body| !body.is_empty());
        document.timeouts = RequestTimeouts {
            connect_ms: limits.connect.map(Nanos::to_millis),
            first_token_ms: limits.first_token.map(Nanos::to_millis),
            idle_ms: limits.idle.map(Nanos::to_millis),
            total_ms: limits.total.map(Nanos::to_millis),
        };
        document.client = Some(client.plan());
        document.probed = detected_document(self.detected.as_ref())?;
        Ok(document)
    }
}
