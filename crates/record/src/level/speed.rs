//! Bound and expectation beside the measurement.

mod calibrated;
mod document;

pub use calibrated::{
    CalibratedBlock, CalibratedComparison, CalibratedPrediction, JsonNumber, PredictedFigures,
    PredictedRange,
};
pub(crate) use document::LightDocument;

use std::num::NonZeroU64;

use fizeau_core::{LevelLoad, Millis, PerSec, Seconds, words};
use fizeau_metrics::LevelSummary;
use fizeau_roofline::{
    Bound, BoundShare, BoundViolation, Expected, LoadAnalysisError, MeasuredFigures,
    RequestLengths, System,
};

use crate::{LengthTally, LevelReference};

/// How far a level is from the best that the hardware could do.
#[derive(Debug, Clone, PartialEq)]
pub enum SpeedOfLight {
    /// What was reached of what can be.
    Known(Box<SpeedOfLightComparison>),
    /// There is nothing to compute a bound from.
    NoReference(NoReference),
    /// There is no bound to compare with.
    Absent {
        /// Why, in plain words: `no model configuration was given`.
        reason: String,
    },
}

/// Why there is nothing to compute the speed of light from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoReference {
    /// Nobody said which model runs on which devices.
    NotGiven,
    /// What one client of several sent is compared with nothing: what all did is.
    OneShard,
    /// Shards that are merged have none in common.
    MergedShards,
}

words! {
    /// Why, in plain words.
    pub NoReference::as_str, shown {
        NotGiven = "no model and device were given", OneShard = "not computed of one shard",
        MergedShards = "not computed of merged shards",
    }
}

/// What a level is compared with, and what was reached of it. Bound, expectation, prediction and measurement are four
/// things.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SpeedOfLightComparison {
    /// The requests in flight for which all of it is: the slots of a closed loop, or the mean of a rate, rounded up.
    pub concurrency: NonZeroU64,
    /// What nothing can beat over these requests.
    pub bound: Bound,
    /// What the roofline model expects of them; or, in plain words, why that cannot be said.
    pub expected: Result<Expected, String>,
    /// What a calibration expects of the engine; none where there is no calibration.
    pub calibrated: Option<CalibratedComparison>,
    /// What was reached of the bound.
    pub shares: fizeau_roofline::SpeedOfLightShares,
    /// What the data sheet would allow, where the bound is made of measured figures of a device whose data sheet is known.
    pub data_sheet: Option<DataSheetBound>,
    /// The bound under balanced routing of a mixture of experts, where it says less than the bound; none of other models.
    pub even_routing: Option<EvenRouting>,
    /// The decode phase by itself; none where nothing was decoded.
    pub decode: Option<DecodeStepComparison>,
    /// What was measured beyond the bound, which cannot be if the model is the one that was read; none if nothing was.
    pub violation: Option<BoundViolation>,
}

/// The output that a device's data sheet allows, beside a bound by what was measured of the same silicon.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DataSheetBound {
    /// What the device is called: `NVIDIA H100 SXM 80 GB`.
    pub device: String,
    /// The most output tokens per second by the data sheet.
    pub output_tokens_per_s: PerSec,
    /// What was reached of it; none where nothing was measured.
    pub share: Option<BoundShare>,
}

impl DataSheetBound {
    /// None where the device's figures are those of its data sheet, or the data sheet has no room for the requests.
    fn of(
        system: &System,
        lengths: &RequestLengths,
        concurrency: NonZeroU64,
        measured: &MeasuredFigures,
    ) -> Option<Self> {
        let sheet = system.device().specification()?;
        let bound = Bound::over(&system.with_device(sheet.clone()), lengths, concurrency).ok()?;
        Some(Self {
            device: sheet.title.clone(),
            output_tokens_per_s: bound.output_tokens_per_s,
            share: measured.percent_of(&bound).output_tokens_per_s,
        })
    }
}

/// The bound on the output of a mixture of experts under balanced routing, where each token chooses its experts for itself and all
/// equally often: what it can be held against, since the bound lets all tokens of a step agree on their experts. A router that favours
/// some experts reads fewer of them, so that nothing is impossible for being above it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct EvenRouting {
    /// The most output tokens per second then ([`Bound::evenly_routed`]).
    pub output_tokens_per_s: PerSec,
    /// What was reached of it; none where nothing was measured.
    pub share: Option<BoundShare>,
}

/// A decode step as it ran, beside the best.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct DecodeStepComparison {
    /// The sequences that were decoding at once, on average, as the client saw it.
    pub batch: f64,
    /// The bound of a step over so many. It bounds an engine that decodes all of them in each step; one that takes turns is
    /// compared with [`Bound::single_tpot`].
    pub step: Seconds,
    /// That over the mean time per output token.
    pub share: BoundShare,
}

impl SpeedOfLight {
    /// What was reached, at a load, of what the reference could do with requests of these lengths. Where the load is a rate, as many
    /// requests are taken to have run at once as were in flight on average, rounded up: the most tokens per second grow ever less
    /// with the requests in flight, so that a number that rises and falls brings no more than its mean, and nothing beats the bound.
    #[must_use]
    pub fn of(
        reference: LevelReference<'_>,
        lengths: &LengthTally,
        load: LevelLoad,
        summary: &LevelSummary,
    ) -> Self {
        let absent = |reason: &str| Self::Absent { reason: reason.to_owned() };
        if summary.requests.completed == 0 {
            return absent("no request completed");
        }
        let mean = summary.over_time.as_ref().map(|over_time| over_time.in_flight.mean);
        let concurrency = match load {
            LevelLoad::Concurrency(slots) => Some(slots.get().into()),
            LevelLoad::Rate(_) => mean.map(|mean| mean.ceil() as u64),
        };
        let Some(concurrency) = concurrency.and_then(NonZeroU64::new) else {
            return absent("the number of requests in flight is not known");
        };
        match SpeedOfLightComparison::of(reference, lengths, concurrency, summary) {
            Ok(light) => Self::Known(Box::new(light)),
            Err(error) => Self::Absent { reason: error.to_string() },
        }
    }

    /// The whole of it, where there is a bound.
    #[must_use]
    pub fn comparison(&self) -> Option<&SpeedOfLightComparison> {
        match self {
            Self::Known(light) => Some(light),
            Self::NoReference(_) | Self::Absent { .. } => None,
        }
    }

    /// The share of the output token rate, the headline: of a mixture of experts that of balanced routing, where it differs, and else
    /// that of the bound. None where there is no bound or nothing was measured.
    #[must_use]
    pub fn output_share(&self) -> Option<BoundShare> {
        let light = self.comparison()?;
        light.even_routing.map_or(light.shares.output_tokens_per_s, |even| even.share)
    }

    /// What was measured beyond the bound, which shows that something is wrong; none if nothing was, or if the model's config was not
    /// read whole ([`SpeedOfLight::undecided`]).
    #[must_use]
    pub fn violation(&self) -> Option<&BoundViolation> {
        self.beyond().filter(|violation| violation.is_proof())
    }

    /// What was measured beyond the bound of a model whose config was not read whole, which decides nothing; none if nothing was.
    #[must_use]
    pub fn undecided(&self) -> Option<&BoundViolation> {
        self.beyond().filter(|violation| !violation.is_proof())
    }

    fn beyond(&self) -> Option<&BoundViolation> {
        self.comparison()?.violation.as_ref()
    }

    /// Why there is no bound; none if there is one.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Known(_) => None,
            Self::NoReference(why) => Some(why.as_str()),
            Self::Absent { reason } => Some(reason),
        }
    }
}

impl SpeedOfLightComparison {
    fn of(
        reference: LevelReference<'_>,
        lengths: &LengthTally,
        concurrency: NonZeroU64,
        summary: &LevelSummary,
    ) -> Result<Self, LoadAnalysisError> {
        let (lengths, measured, system) = (lengths.lengths(), measured(summary), reference.system);
        let bound = Bound::over(system, lengths, concurrency)?;
        let expected = reference.expect(lengths, concurrency);
        let decoding = summary.over_time.as_ref().map(|over_time| over_time.decoding.mean);
        let decode = decoding.zip(measured.tpot).and_then(|(batch, tpot)| {
            let whole = NonZeroU64::new(batch as u64).unwrap_or(NonZeroU64::MIN);
            let step = Bound::over(system, lengths, whole).ok()?.tpot;
            Some(DecodeStepComparison {
                batch,
                step,
                share: BoundShare::of(step.get(), tpot.get())?,
            })
        });
        let even = Bound::evenly_routed(system, lengths, concurrency)?;
        let even_routing = even.map(|most| {
            let came = measured.output_tokens_per_s;
            let share = came.and_then(|came| BoundShare::of(came.get(), most.get()));
            EvenRouting { output_tokens_per_s: most, share }
        });
        Ok(Self {
            concurrency,
            even_routing,
            data_sheet: DataSheetBound::of(system, lengths, concurrency, &measured),
            calibrated: CalibratedComparison::of(reference, lengths, concurrency, &measured),
            shares: measured.percent_of(&bound),
            expected,
            decode,
            violation: system.bound_violation(lengths, concurrency, &measured)?,
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
fn measured(summary: &LevelSummary) -> MeasuredFigures {
    let seconds = |millis: Millis| Seconds::new(millis.get() / 1e3);
    let (metrics, throughput) = (&summary.metrics, &summary.throughput);
    MeasuredFigures {
        ttft: metrics.ttft.mean.map(seconds),
        tpot: metrics.tpot.mean.map(seconds),
        e2el: metrics.e2el.mean.map(seconds),
        output_tokens_per_s: Some(throughput.output_tokens_per_s),
        requests_per_s: Some(throughput.requests_per_s),
    }
}
