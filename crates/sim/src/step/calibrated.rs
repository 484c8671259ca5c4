//! A step time from constants that were fitted on measurements.

use std::num::NonZeroU32;
use std::sync::Arc;

use fizeau_core::{Nanos, Seconds};
use fizeau_roofline::{Calibration, Drafter, PassSums, PassWork, Predictor, System};

use super::pieces::{Branch, Branches, StepPieces};
use super::roofline::{CappedTime, Drafting};
use crate::engine::{LinearStepTimes, StepLoad, StepTime};

/// The step time of a model on its devices by the constants of a [`Calibration`] for device and engine: [`Predictor::step`], and
/// never below [`System::bound_sums`]. Times are rounded up to the nanosecond.
///
/// The constants tell what a measured engine takes besides, so there are no [`super::Overheads`]. What a front end takes for a
/// request is no part of a step.
///
/// ```no_run
/// use fizeau_roofline::Calibration;
/// use fizeau_sim::{CalibratedStep, Scenario, StepLoad, StepTime};
/// let calibration = Calibration::from_json(&std::fs::read_to_string("calibration.json")?)?;
/// let scenario = Scenario::llama_3_1_8b_h100()?;
/// let step = CalibratedStep::new(scenario.system().clone(), &calibration, Some("vllm"));
/// let one_token = StepLoad { decode_sequences: 1, sampled_sequences: 1, ..StepLoad::default() };
/// println!("{} a token", step.step_time(&one_token));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct CalibratedStep {
    system: Arc<System>,
    predictor: Arc<Predictor>,
    calibration: Arc<Calibration>,
    engine: Option<String>,
    drafting: Option<Drafting<Arc<Predictor>>>,
    pieces: StepPieces,
}

impl CalibratedStep {
    /// The step time of `system`, served by `engine`; without an engine that of the device's constants
    /// ([`Calibration::predictor`]).
    #[must_use]
    pub fn new(
        system: impl Into<Arc<System>>,
        calibration: &Calibration,
        engine: Option<&str>,
    ) -> Self {
        let system = system.into();
        Self {
            predictor: Arc::new(calibration.predictor(&system, engine)),
            calibration: Arc::new(calibration.clone()),
            engine: engine.map(str::to_owned),
            drafting: None,
            pieces: StepPieces::new(&system),
            system,
        }
    }

    /// The same with drafts of `length` tokens by `drafter` in each step that verifies drafts. A drafting model reads prompts as
    /// well, and has the same constants, those of a step included: engines start its passes one by one.
    #[must_use]
    pub fn with_drafter(self, drafter: Drafter, length: NonZeroU32) -> Self {
        let predictor =
            |system: System| Arc::new(self.calibration.predictor(&system, self.engine.as_deref()));
        let drafting = Drafting::new(drafter, length, predictor);
        Self { drafting, ..self }
    }

    /// What the times come from: its scope and warnings are for the reader.
    #[must_use]
    pub fn predictor(&self) -> &Predictor {
        &self.predictor
    }

    /// What it is the step time of.
    #[must_use]
    pub fn system(&self) -> &System {
        &self.system
    }

    fn branches(&self, sums: &PassSums) -> Branches {
        let step = self.predictor.step(sums);
        let bound = self.system.bound_sums(sums);
        let draft = self.drafting.as_ref().map(|drafting| {
            let taken = |predictor: &Predictor, sums: &PassSums| CappedTime {
                time: predictor.step(sums).total(),
                ..CappedTime::default()
            };
            let pass = |predictor: &Arc<Predictor>, sums: &PassSums| taken(predictor, sums);
            drafting.time(sums, pass, |sums| taken(&self.predictor, sums))
        });
        let draft = draft.unwrap_or_default().time;
        let after = |silicon: Seconds| Branch { silicon: silicon + draft, ..Branch::default() };
        // What several sequences have in common is read once: the others find it near the processor.
        let once = |silicon: Seconds| Branch { once: true, ..after(silicon) };
        let cache = once(step.beside + step.cache);
        let attention = after(step.beside + step.attention);
        [cache, attention, once(bound.memory()), after(bound.arithmetic()), Branch::default()]
    }
}

impl StepTime for CalibratedStep {
    fn step_time(&self, load: &StepLoad) -> Nanos {
        self.pieces.step_time(load, |sums| self.branches(sums))
    }

    fn pace(&self, load: &StepLoad) -> Option<LinearStepTimes> {
        self.pieces.pace(load, |sums| self.branches(sums))
    }

    fn work(&self, load: &StepLoad) -> PassWork {
        self.system.pass_work(&super::sums(load))
    }

    fn stages(&self) -> NonZeroU32 {
        NonZeroU32::new(self.system.deployment().pipeline()).unwrap_or(NonZeroU32::MIN)
    }
}
