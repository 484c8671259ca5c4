//! Bound and expectation beside the measurement.

mod calibrated;
mod document;

pub use calibrated::{Calibrated, CalibratedBlock, JsonNumber, Predicted, PredictedRange};
pub(crate) use document::LightDocument;

use std::num::NonZeroU64;

use fizeau_core::{Millis, Seconds};
use fizeau_metrics::LevelSummary;
use fizeau_roofline::{
    AnswerError, Bound, Excess, Expected, Lengths, Measured, OutsideRegime, Prediction, Predictor,
    Scope, Share, System,
};

use crate::{LengthTally, LoadPoint};

/// What measurements are held against: a model on its devices, and where there is a calibration what it predicts of them.
#[derive(Debug, Clone, Copy)]
pub struct Reference<'a> {
    /// The model on its devices.
    pub system: &'a System,
    /// What predicts it; none where there is no calibration.
    pub predictor: Option<&'a Predictor>,
}

impl<'a> From<&'a System> for Reference<'a> {
    fn from(system: &'a System) -> Self {
        Self { system, predictor: None }
    }
}

impl Reference<'_> {
    /// The prediction for requests of the mean lengths.
    #[must_use]
    pub fn predict(
        &self,
        lengths: &Lengths,
        concurrency: NonZeroU64,
    ) -> Option<Result<Prediction, OutsideRegime>> {
        let load = lengths.mean_load(concurrency)?;
        Some(self.predictor?.predict(&load))
    }

    /// What physics leads one to expect of requests of these lengths; or, in plain words, why that cannot be said.
    ///
    /// # Errors
    /// In plain words, if that cannot be said.
    pub fn expect(&self, lengths: &Lengths, concurrency: NonZeroU64) -> Result<Expected, String> {
        if self.system.serving().tokens_per_step > NonZeroU64::MIN {
            let reason = "how many drafted tokens are accepted is not known";
            return Err(reason.to_owned());
        }
        self.system.expected_over(lengths, concurrency).map_err(|error| error.to_string())
    }
}

/// How far a level is from the best that the hardware could do.
#[derive(Debug, Clone, PartialEq)]
pub enum SpeedOfLight {
    /// What was reached of what can be.
    Known(Box<Light>),
    /// There is no bound to compare with.
    Absent {
        /// Why, in plain words: `no model configuration was given`.
        reason: String,
    },
}

/// What a level is held against, and what was reached of it. Bound, expectation, prediction and measurement are four
/// things.
#[derive(Debug, Clone, PartialEq)]
pub struct Light {
    /// The most requests that were in flight at once, for which all of it is.
    pub concurrency: NonZeroU64,
    /// What nothing can beat over these requests.
    pub bound: Bound,
    /// What physics leads one to expect of them; or, in plain words, why that cannot be said.
    pub expected: Result<Expected, String>,
    /// What the calibration predicts, and for which devices and engines it was fitted; none where there is no calibration.
    pub calibrated: Option<(Result<Prediction, OutsideRegime>, Scope)>,
    /// What was reached of the bound.
    pub shares: fizeau_roofline::SpeedOfLight,
    /// The decode phase by itself; none where nothing was decoded.
    pub decode: Option<DecodeLight>,
    /// What was measured beyond the bound, which cannot be; none if nothing was.
    pub excess: Option<Excess>,
}

/// A decode step as it ran, beside the best.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DecodeLight {
    /// The sequences that were decoding at once, on average, as the client saw it.
    pub batch: f64,
    /// The bound of a step over so many. It bounds an engine that decodes all of them in each step; one that takes turns is
    /// held against [`Bound::single_tpot`].
    pub step: Seconds,
    /// That over the mean time per output token.
    pub share: Share,
}

impl SpeedOfLight {
    /// What was reached, at a load, of what the reference could do with requests of these lengths. Where the load is a rate, all
    /// requests that were in flight at the fullest instant are taken to have run at once, so that nothing can beat the bound.
    #[must_use]
    pub fn of(
        reference: Reference<'_>,
        lengths: &LengthTally,
        load: LoadPoint,
        summary: &LevelSummary,
    ) -> Self {
        let absent = |reason: &str| Self::Absent { reason: reason.to_owned() };
        if summary.requests.completed == 0 {
            return absent("no request completed");
        }
        let peak = summary.over_time.as_ref().map(|over_time| over_time.in_flight.peak);
        let concurrency = match load {
            LoadPoint::Concurrency(slots) => Some(slots.into()),
            LoadPoint::Rate(_) => peak,
        };
        let Some(concurrency) = concurrency.and_then(NonZeroU64::new) else {
            return absent("it is not known how many requests were in flight");
        };
        match Light::of(reference, lengths, concurrency, summary) {
            Ok(light) => Self::Known(Box::new(light)),
            Err(error) => Self::Absent { reason: error.to_string() },
        }
    }

    /// The whole of it, where there is a bound.
    #[must_use]
    pub fn light(&self) -> Option<&Light> {
        match self {
            Self::Known(light) => Some(light),
            Self::Absent { .. } => None,
        }
    }

    /// The share of the output token rate, the headline; none where there is no bound or nothing was measured.
    #[must_use]
    pub fn output_share(&self) -> Option<Share> {
        self.light()?.shares.output_tokens_per_s
    }

    /// What was measured beyond the bound; none if nothing was.
    #[must_use]
    pub fn excess(&self) -> Option<&Excess> {
        self.light()?.excess.as_ref()
    }

    /// Why there is no bound; none if there is one.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Known(_) => None,
            Self::Absent { reason } => Some(reason),
        }
    }
}

impl Light {
    fn of(
        reference: Reference<'_>,
        lengths: &LengthTally,
        concurrency: NonZeroU64,
        summary: &LevelSummary,
    ) -> Result<Self, AnswerError> {
        let (lengths, measured, system) = (lengths.lengths(), measured(summary), reference.system);
        let bound = Bound::over(system, lengths, concurrency)?;
        let expected = reference.expect(lengths, concurrency);
        let decoding = summary.over_time.as_ref().map(|over_time| over_time.decoding.mean);
        let decode = decoding.zip(measured.tpot).and_then(|(batch, tpot)| {
            let whole = NonZeroU64::new(batch as u64).unwrap_or(NonZeroU64::MIN);
            let step = Bound::over(system, lengths, whole).ok()?.tpot;
            Some(DecodeLight { batch, step, share: Share::of(step.get(), tpot.get())? })
        });
        Ok(Self {
            concurrency,
            calibrated: reference
                .predict(lengths, concurrency)
                .zip(reference.predictor.map(|predictor| predictor.scope().clone())),
            shares: measured.percent_of(&bound),
            expected,
            decode,
            excess: system.excess(lengths, concurrency, &measured)?,
            bound,
        })
    }

    /// The share of the memory for caches that the running requests fill, as engines spread them; none where that is not
    /// known or they keep nothing.
    #[must_use]
    pub fn cache_fill(&self) -> Option<f64> {
        let expected = self.expected.as_ref().ok()?;
        expected.max_batch.is_finite().then(|| expected.figures.batch / expected.max_batch)
    }
}

/// Means for latencies, because the bound is one of the mean: a percentile would compare a tail with an average.
fn measured(summary: &LevelSummary) -> Measured {
    let seconds = |millis: Millis| Seconds::new(millis.get() / 1e3);
    let (metrics, throughput) = (&summary.metrics, &summary.throughput);
    Measured {
        ttft: metrics.ttft.mean.map(seconds),
        tpot: metrics.tpot.mean.map(seconds),
        e2el: metrics.e2el.mean.map(seconds),
        output_tokens_per_s: Some(throughput.output_tokens_per_s),
        requests_per_s: Some(throughput.requests_per_s),
    }
}
