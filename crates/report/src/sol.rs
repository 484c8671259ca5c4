//! The speed of light of a query: as text, as JSON, as a line among many and as a curve.

mod calibrated;
mod curve;
mod document;
mod engine_fit;
mod extra;
mod figures;
mod fit;
mod grid;
mod line;
mod matters;
mod quantity;
mod tables;
mod view;

pub use curve::{BatchCsv, ContextCsv};
pub use engine_fit::{EngineCalibrationRow, EngineCalibrationView};
pub use extra::{MeasuredLoad, MeasuredLoadError, SolExtra, SolServing, SolSubject};
pub use fit::CalibrationFitView;
pub use line::{SolError, SolLine};
pub use matters::{SolGoal, SolMatterError, SolMatters};

use fizeau_record::CalibratedPrediction;
pub use fizeau_roofline::SolScope;
use fizeau_roofline::{Figures, ImprovementGain, LoadAnalysis, PhaseSchedule, System, UniformLoad};

/// An answer, and what it is of.
///
/// ```
/// use std::num::NonZeroU64;
/// use fizeau_core::Tokens;
/// use fizeau_report::{SolScope, SolView, Verbosity};
/// use fizeau_roofline::{Deployment, Device, KnownModel, UniformLoad, System};
/// let model = KnownModel::named("llama-3.1-8b")?.model()?;
/// let system = System::new(model, Device::named("h100-sxm")?.clone(), Deployment::SINGLE)?;
/// let load = UniformLoad::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::MIN);
/// let view = SolView {
///     name: "llama-3.1-8b",
///     system: &system,
///     load: &load,
///     answer: &system.answer(&load)?,
///     calibrated: None,
///     scope: SolScope::Requests,
///     batch: None,
///     asides: &[],
///     notes: &[],
/// };
/// let text = view.text(80, Verbosity::Brief);
/// assert!(text.contains("8.03 B parameters, 7.50 B read for a token"));
/// assert!(view.to_json()?.contains("fizeau.sol/1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct SolView<'a> {
    /// What the model's config is called.
    pub name: &'a str,
    /// The model on its devices.
    pub system: &'a System,
    /// What was asked of it.
    pub load: &'a UniformLoad,
    /// The answer.
    pub answer: &'a LoadAnalysis,
    /// What a calibration predicts, if there is one.
    pub calibrated: Option<CalibratedPrediction<'a>>,
    /// Whether requests are meant, or a step alone.
    pub scope: SolScope,
    /// The sequences that run, exactly, whether they fit or not; otherwise as many of the load's as fit.
    pub batch: Option<u64>,
    /// What else was asked: mechanisms, costs, goals.
    pub asides: &'a [SolExtra],
    /// What a reader ought to know of the query, beside what the answer warns of.
    pub notes: &'a [String],
}

impl SolView<'_> {
    /// Whether a token comes after the first.
    const fn decodes(&self) -> bool {
        self.answer.bound.tpot.is_some()
    }

    /// Bound and expectation of the sequences that run, by a schedule that either may have.
    fn scheduled(&self, schedule: PhaseSchedule) -> [Figures; 2] {
        let (system, load, running) = (self.system, self.load, self.answer.running_batch);
        [system.bound_at(load, running, schedule), system.expected_at(load, running, schedule)]
    }

    /// What better resources would buy; the same question is asked of each.
    fn gains(&self) -> Vec<ImprovementGain> {
        self.scope.gains(self.system, self.load, self.batch, self.answer)
    }
}
