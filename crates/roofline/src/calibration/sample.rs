//! A measured level, as a fit takes it.

use fizeau_core::Seconds;
use serde::{Deserialize, Serialize};

use crate::{PassSums, System, UniformLoad};

use super::account::{AccountedTime, PassScope, TimeAccount, TimeAccounts};
use super::intake::SimultaneousStart;

/// A measured level, or a single forward pass: what was asked of which system, and what it took.
#[derive(Debug, Clone)]
pub struct CalibrationSample {
    pub(super) device: String,
    pub(super) engine: Option<String>,
    pub(super) model: String,
    pub(super) mark: ModelMark,
    pub(super) formats: Vec<String>,
    pub(super) account: TimeAccount,
    /// The time per output token, or of a pass its own.
    pub(super) tpot: f64,
    pub(super) ttft: Option<f64>,
    /// Of its requests, those that were sent together, in the order in which they came in.
    pub(super) starts: Vec<SimultaneousStart>,
}

/// What tells one model from another without its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ModelMark {
    pub(super) architecture: String,
    pub(super) parameters: u64,
}

/// Why a level cannot be fitted.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{what} is {seconds} s; it must be a finite number above 0")]
pub struct CalibrationSampleError {
    what: &'static str,
    seconds: f64,
}

impl CalibrationSample {
    /// A level of `load` on `system`, with the mean time per output token that was measured. `model` is what the model
    /// is called: levels of one model are left out together.
    ///
    /// # Errors
    /// If the time is not a finite number above 0.
    pub fn new(
        system: &System,
        load: &UniformLoad,
        model: impl Into<String>,
        tpot: Seconds,
    ) -> Result<Self, CalibrationSampleError> {
        let tpot = checked("the time per output token", tpot)?;
        Ok(Self::timed(system, TimeAccounts::new(system).of(load), model.into(), tpot))
    }

    /// Forward passes of `system`, each with its batch and how long it took by the engine's own clock, timed as `scope` says. They say
    /// what a step costs far more directly than levels do, and nothing of times to first token. However many of one model there are,
    /// they count as a few tens; thousands take a fit long.
    ///
    /// # Errors
    /// If a time is not a finite number above 0.
    pub fn passes(
        system: &System,
        scope: PassScope,
        model: &str,
        passes: impl IntoIterator<Item = (PassSums, Seconds)>,
    ) -> Result<Vec<Self>, CalibrationSampleError> {
        let accounts = TimeAccounts::new(system);
        let sample = |(sums, time): (PassSums, Seconds)| {
            let time = checked("the time of a forward pass", time)?;
            Ok(Self::timed(system, accounts.of_pass(&sums, scope), model.to_owned(), time))
        };
        passes.into_iter().map(sample).collect()
    }

    fn timed(system: &System, account: TimeAccount, model: String, seconds: f64) -> Self {
        Self {
            device: system.device().name.to_owned(),
            engine: None,
            model,
            mark: ModelMark::of(system),
            formats: formats(system),
            account,
            tpot: seconds,
            ttft: None,
            starts: Vec::new(),
        }
    }

    /// Whether it is a forward pass, not a level.
    #[must_use]
    pub fn is_pass(&self) -> bool {
        self.account.of != AccountedTime::Token
    }

    /// The same level, measured on `engine`; levels whose engine is not known make a group of their own.
    #[must_use]
    pub fn with_engine(self, engine: impl Into<String>) -> Self {
        Self { engine: Some(engine.into()), ..self }
    }

    /// The same level with the mean time to first token that was measured.
    ///
    /// # Errors
    /// If the time is not a finite number above 0.
    pub fn with_ttft(self, ttft: Seconds) -> Result<Self, CalibrationSampleError> {
        Ok(Self { ttft: Some(checked("the time to first token", ttft)?), ..self })
    }

    /// The same with what is known of the requests of its run that were sent together, in the order in which they came in.
    #[must_use]
    pub fn with_starts(self, starts: Vec<SimultaneousStart>) -> Self {
        Self { starts, ..self }
    }

    /// The engine's name; none where it was not said.
    #[must_use]
    pub fn engine(&self) -> Option<&str> {
        self.engine.as_deref()
    }

    /// The device's name.
    #[must_use]
    pub fn device(&self) -> &str {
        &self.device
    }

    /// What the model is called.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }
}

impl ModelMark {
    pub(super) fn of(system: &System) -> Self {
        let model = system.model();
        Self { architecture: model.architecture.to_owned(), parameters: model.parameters().total }
    }
}

/// The formats of a system's matrices, by name, each once.
pub(super) fn formats(system: &System) -> Vec<String> {
    let mut names: Vec<String> =
        system.model().tensors().iter().map(|tensors| tensors.format.to_string()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn checked(what: &'static str, time: Seconds) -> Result<f64, CalibrationSampleError> {
    let seconds = time.get();
    if seconds.is_finite() && seconds > 0.0 {
        Ok(seconds)
    } else {
        Err(CalibrationSampleError { what, seconds })
    }
}
