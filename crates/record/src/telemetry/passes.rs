//! The steps of a level's engines, and the level beside its bound by every witness.

use fizeau_core::{PerSec, Seconds, Tokens, document};
use fizeau_telemetry::{
    ForwardPassLine, JudgedStep, SpeedWitnesses, StepsAssessment, TelemetryFinding, WitnessInput,
};

use super::LevelTelemetry;
use super::devices::serving_of;
use crate::LevelReference;

document! {
    /// A stream of forward-pass records, and what came of it while a level lasted.
    #[derive(Default)]
    pub struct PassSource {
        /// Its address.
        pub address: String,
        /// Records of steps that came.
        pub passes: u64,
        /// Messages that the sequence shows were sent and did not come.
        pub lost: u64,
        /// Messages that are no records.
        pub unreadable: u64,
        /// Records that were not kept, since more came than are.
        pub forgotten: u64,
        /// How often the sequence began anew: the engine was restarted.
        pub restarts: u64,
        /// What the times are of, by the engine's word; absent where it does not say, and then from scheduling to output.
        pub timing_scope?: String,
        /// Why nothing came at the end, where the connection was lost.
        pub failure?: String,
    }
}

impl PassSource {
    /// What is missing of it, in words; none where nothing is.
    pub(super) fn note(&self) -> Option<String> {
        let Self { address, passes, lost, unreadable, forgotten, .. } = self;
        let missing = lost + unreadable + forgotten;
        let came = passes + missing;
        match (&self.failure, missing) {
            (Some(why), _) => Some(format!("forward passes of {address} ended: {why}")),
            (None, 0) if *passes == 0 => Some(format!("no forward pass came from {address}")),
            (None, 0) => None,
            (None, _) => {
                Some(format!("{missing} of {came} forward-pass records of {address} were lost"))
            }
        }
    }
}

/// Steps that a picture has room for.
const MOST_SHOWN: usize = 2_000;

impl LevelTelemetry {
    /// The same, with the records of steps that came.
    #[must_use]
    pub fn with_passes(self, passes: Vec<ForwardPassLine>) -> Self {
        Self { passes, ..self }
    }

    /// The same, with the streams that records came by.
    #[must_use]
    pub fn with_pass_sources(self, pass_sources: Vec<PassSource>) -> Self {
        Self { pass_sources, ..self }
    }

    /// The same held against what `reference` says of its system, of a level in which the client counted so many output tokens.
    pub(crate) fn beside(
        mut self,
        reference: LevelReference<'_>,
        client: Option<(Tokens, PerSec)>,
    ) -> Self {
        let system = reference.system;
        let lost = self.pass_sources.iter().map(|source| source.lost + source.forgotten).sum();
        let stages = system.deployment().pipeline();
        let judged = self.steps_beside(reference);
        self.findings.retain(|found| !matches!(found, TelemetryFinding::StepsUnbounded { .. }));
        if stages > 1 && !self.passes.is_empty() {
            let steps = self.passes.len() as u64;
            self.findings.push(TelemetryFinding::StepsUnbounded { steps, stages });
        }
        let mut steps = StepsAssessment::of_judged(&judged, lost);
        // Between steps a drafter ran, of which records say nothing.
        let drafts = self.server.as_ref().and_then(|server| server.draft_tokens.as_ref());
        if drafts.is_some_and(|told| told.figure.delta > 0.0) {
            steps.iter_mut().for_each(|steps| steps.host_bound = None);
        }
        let length = Seconds::new(self.to.saturating_since(self.from).as_secs_f64());
        let witnesses = SpeedWitnesses::of(&WitnessInput {
            length,
            system,
            client,
            server: self.server.as_ref(),
            devices: serving_of(&self.devices, &self.findings),
            steps: steps.as_ref(),
        });
        let each = judged.len().div_ceil(MOST_SHOWN).max(1);
        let judged = judged.into_iter().step_by(each).collect();
        Self { steps, witnesses, judged, ..self }
    }

    /// Each step beside its bound on `system`; none where an engine times one stage of several.
    fn steps_beside(
        &self,
        LevelReference { system, predictor }: LevelReference<'_>,
    ) -> Vec<JudgedStep> {
        if system.deployment().pipeline() > 1 {
            return Vec::new();
        }
        let judged = |ForwardPassLine { at, pass, .. }: &ForwardPassLine| {
            let sums = pass.scheduled_requests.even_sums();
            let calibrated = predictor.map(|predictor| predictor.step(&sums).total());
            JudgedStep::of(*at, pass, system).predicted(calibrated)
        };
        self.passes.iter().map(judged).collect()
    }
}

#[cfg(test)]
mod tests;
