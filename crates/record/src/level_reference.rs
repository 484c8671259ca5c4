//! What the figures of a level are held against.

use std::num::NonZeroU64;

use fizeau_roofline::{Expected, OutsideRegime, Prediction, Predictor, RequestLengths, System};

/// What measurements are compared with: a model on its devices, and where there is a calibration what it predicts of them.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct LevelReference<'a> {
    /// The model on its devices.
    pub system: &'a System,
    /// What predicts it; none where there is no calibration.
    pub predictor: Option<&'a Predictor>,
}

impl<'a> From<&'a System> for LevelReference<'a> {
    fn from(system: &'a System) -> Self {
        Self { system, predictor: None }
    }
}

impl LevelReference<'_> {
    /// The prediction for requests of the mean lengths.
    #[must_use]
    pub fn predict(
        &self,
        lengths: &RequestLengths,
        concurrency: NonZeroU64,
    ) -> Option<Result<Prediction, OutsideRegime>> {
        let load = lengths.mean_load(concurrency)?;
        Some(self.predictor?.predict(&load))
    }

    /// What the roofline model expects of requests of these lengths; or, in plain words, why that cannot be said.
    ///
    /// # Errors
    /// In plain words, if that cannot be said.
    pub fn expect(
        &self,
        lengths: &RequestLengths,
        concurrency: NonZeroU64,
    ) -> Result<Expected, String> {
        if self.system.serving().tokens_per_step > NonZeroU64::MIN {
            let reason = "the acceptance rate of drafted tokens is not known";
            return Err(reason.to_owned());
        }
        self.system.expected_over(lengths, concurrency).map_err(|error| error.to_string())
    }
}
