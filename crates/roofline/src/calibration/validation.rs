//! How far predictions are off: where they were fitted, and where they were not.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

use super::constants::Constant;
use super::fit::ConstantGroups;
use super::rows::FirstTokenRow;
use super::sample::CalibrationSample;
use super::solve::{PredictedValue, median, quantile};
use super::terms::ConstantShares;

/// A level, and how far off predictions of its time per output token are: 0.1 is 10 % too slow, -0.1 10 % too fast.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct JudgedFit {
    /// With constants fitted on all levels, for the level's own device and engine.
    pub in_sample: f64,
    /// With constants fitted on all levels of other models; none where there are no others.
    pub model_left_out: Option<f64>,
    /// With constants fitted on all levels of other devices; none where there are no others.
    pub device_left_out: Option<f64>,
    /// The first token's, with constants fitted on all levels; none where none was measured.
    pub ttft_in_sample: Option<f64>,
    /// The first token's, with constants fitted on all levels of other models.
    pub ttft_model_left_out: Option<f64>,
}

impl JudgedFit {
    /// Judges predictions of `samples`, each group of which was fitted in `groups`.
    pub(super) fn all(samples: &[&CalibrationSample], groups: &ConstantGroups) -> Vec<Self> {
        let mut judged: Vec<Self> = samples
            .iter()
            .map(|sample| {
                let (tpot, ttft) = errors(sample, groups);
                Self {
                    in_sample: tpot,
                    model_left_out: None,
                    device_left_out: None,
                    ttft_in_sample: ttft,
                    ttft_model_left_out: None,
                }
            })
            .collect();
        leave_out(samples, CalibrationSample::model, |at, (tpot, ttft)| {
            judged[at].model_left_out = Some(tpot);
            judged[at].ttft_model_left_out = ttft;
        });
        leave_out(samples, CalibrationSample::device, |at, (tpot, _)| {
            judged[at].device_left_out = Some(tpot);
        });
        judged
    }
}

/// Fits without each of the things that `key` tells apart, in turn, and hands over the errors for what was left out.
fn leave_out(
    samples: &[&CalibrationSample],
    key: impl Fn(&CalibrationSample) -> &str,
    mut hand: impl FnMut(usize, (f64, Option<f64>)),
) {
    let keys: BTreeSet<&str> = samples.iter().map(|sample| key(sample)).collect();
    if keys.len() < 2 {
        return;
    }
    for left in keys {
        let others: Vec<&CalibrationSample> =
            samples.iter().copied().filter(|sample| key(sample) != left).collect();
        let groups = ConstantGroups::fit(&others);
        for (at, sample) in samples.iter().enumerate() {
            if key(sample) == left {
                hand(at, errors(sample, &groups));
            }
        }
    }
}

/// Relative errors of time per output token and of time to first token.
fn errors(sample: &CalibrationSample, groups: &ConstantGroups) -> (f64, Option<f64>) {
    let group = groups.nearest(&sample.device, sample.engine.as_deref());
    let step = group.values(Constant::STEP);
    let tpot = ConstantShares::of_token(&sample.account, &step).total() / sample.tpot - 1.0;
    let ttft = sample.ttft.map(|measured| {
        let first = FirstTokenRow::new(&sample.account, &step);
        first.predict(&group.values(Constant::FIRST_TOKEN)).0 / measured - 1.0
    });
    (tpot, ttft)
}

/// A number of errors, summed up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ErrorSummary {
    /// How many levels.
    pub levels: u64,
    /// Mean of the absolute relative errors: 0.1 is 10 %.
    pub mean: f64,
    /// Median of the absolute relative errors.
    pub median: f64,
    /// Mean of the relative errors; above 0, predictions are too slow.
    pub bias: f64,
    /// Nine in ten are off by no more than this factor's logarithm.
    pub nine_tenths: f64,
}

impl ErrorSummary {
    /// Sums up `errors`, relative ones; none of none.
    #[must_use]
    pub fn of(errors: impl IntoIterator<Item = f64>) -> Option<Self> {
        let errors: Vec<f64> = errors.into_iter().collect();
        if errors.is_empty() {
            return None;
        }
        let count = errors.len() as f64;
        let mut absolute: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
        let mut logs: Vec<f64> = errors.iter().map(|error| error.ln_1p().abs()).collect();
        Some(Self {
            levels: errors.len() as u64,
            mean: absolute.iter().sum::<f64>() / count,
            median: median(&mut absolute),
            bias: errors.iter().sum::<f64>() / count,
            nine_tenths: quantile(&mut logs, 0.9),
        })
    }
}
