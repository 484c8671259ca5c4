//! A measured level, as a fit takes it.

use fizeau_core::Seconds;
use serde::{Deserialize, Serialize};

use crate::{System, UniformLoad};

use super::account::{TimeAccount, TimeAccounts};

/// A measured level: what was asked of which system, and what it took.
#[derive(Debug, Clone)]
pub struct CalibrationSample {
    pub(super) device: String,
    pub(super) engine: Option<String>,
    pub(super) model: String,
    pub(super) mark: ModelMark,
    pub(super) formats: Vec<String>,
    pub(super) account: TimeAccount,
    pub(super) tpot: f64,
    pub(super) ttft: Option<f64>,
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
        Ok(Self {
            device: system.device().name.to_owned(),
            engine: None,
            model: model.into(),
            mark: ModelMark::of(system),
            formats: formats(system),
            account: TimeAccounts::new(system).of(load),
            tpot: checked("the time per output token", tpot)?,
            ttft: None,
        })
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
