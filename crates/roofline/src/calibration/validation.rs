//! How far predictions are off: where they were fitted, and where they were not.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

use super::constant_shares::{StepValues, TokenShares};
use super::constants::Constant;
use super::fit::ConstantGroups;
use super::regime::RegimeRanges;
use super::rows::FirstTokenRow;
use super::sample::CalibrationSample;
use super::solve::{PredictedValue, median, quantile};

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
    /// The output rate's, with constants fitted on all levels: 0.1 is predicted to be 10 % more. By Little's law, of both times; none where no
    /// first token was measured.
    pub output_in_sample: Option<f64>,
    /// The output rate's, with constants fitted on all levels of other models.
    pub output_model_left_out: Option<f64>,
    pub(super) scores: Scores,
}

/// How far off the predictions of a level are, in [`Predictor`](super::Predictor)'s own measure of how unsure it is.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Scores {
    pub(super) in_sample: f64,
    pub(super) model_left_out: Option<f64>,
    pub(super) device_left_out: Option<f64>,
}

impl JudgedFit {
    /// How far off the prediction is that other models' constants give, in multiples of what it says itself of how unsure it is: an
    /// interval of nine in ten goes as far as nine in ten of the others' do. None where there are no other models.
    #[must_use]
    pub const fn model_left_out_score(&self) -> Option<f64> {
        self.scores.model_left_out
    }

    /// Judges predictions of `samples`, each group of which was fitted in `groups`.
    pub(super) fn all(samples: &[&CalibrationSample], groups: &ConstantGroups) -> Vec<Self> {
        let ranges = RegimeRanges::of(samples);
        let mut judged: Vec<Self> = samples
            .iter()
            .map(|sample| {
                let errors = LevelErrors::of(sample, groups, &ranges);
                Self {
                    in_sample: errors.tpot,
                    model_left_out: None,
                    device_left_out: None,
                    ttft_in_sample: errors.ttft,
                    ttft_model_left_out: None,
                    output_in_sample: errors.output,
                    output_model_left_out: None,
                    scores: Scores { in_sample: errors.score, ..Scores::default() },
                }
            })
            .collect();
        leave_out(samples, CalibrationSample::model, |at, errors| {
            judged[at].model_left_out = Some(errors.tpot);
            judged[at].ttft_model_left_out = errors.ttft;
            judged[at].output_model_left_out = errors.output;
            judged[at].scores.model_left_out = Some(errors.score);
        });
        leave_out(samples, CalibrationSample::device, |at, errors| {
            judged[at].device_left_out = Some(errors.tpot);
            judged[at].scores.device_left_out = Some(errors.score);
        });
        judged
    }
}

/// Fits without each of the things that `key` tells apart, in turn, and hands over the errors for what was left out.
fn leave_out(
    samples: &[&CalibrationSample],
    key: impl Fn(&CalibrationSample) -> &str,
    mut hand: impl FnMut(usize, LevelErrors),
) {
    let keys: BTreeSet<&str> = samples.iter().map(|sample| key(sample)).collect();
    if keys.len() < 2 {
        return;
    }
    for left in keys {
        let others: Vec<&CalibrationSample> =
            samples.iter().copied().filter(|sample| key(sample) != left).collect();
        let groups = ConstantGroups::fit(&others);
        let ranges = RegimeRanges::of(&others);
        for (at, sample) in samples.iter().enumerate() {
            if key(sample) == left {
                hand(at, LevelErrors::of(sample, &groups, &ranges));
            }
        }
    }
}

/// Relative errors of time per output token, of time to first token and of the output rate, and the first's score.
struct LevelErrors {
    tpot: f64,
    ttft: Option<f64>,
    output: Option<f64>,
    score: f64,
}

impl LevelErrors {
    fn of(sample: &CalibrationSample, groups: &ConstantGroups, ranges: &RegimeRanges) -> Self {
        let group = groups.nearest(&sample.device, sample.engine.as_deref());
        let step = group.values(Constant::STEP);
        let shares = TokenShares::new(&sample.account, &step);
        let tpot = shares.total() / sample.tpot;
        let first = FirstTokenRow::new(&sample.account, &step, shares.total());
        let first = first.predict(&group.values(Constant::FIRST_TOKEN)).0;
        let ttft = sample.ttft.map(|measured| first / measured - 1.0);
        // As many requests are under way as are offered, so that the rate is that number over the time of each.
        let whole = |ttft: f64, tpot: f64| ttft + tpot * (sample.account.output - 1.0).max(0.0);
        let output = sample
            .ttft
            .map(|measured| whole(measured, sample.tpot) / whole(first, shares.total()) - 1.0);
        let distance = ranges.beyond(&sample.account.regime);
        let width = unsureness(&shares, &group.deviations(Constant::STEP), group.scatter, distance);
        Self { tpot: tpot - 1.0, ttft, output, score: tpot.ln().abs() / width }
    }
}

/// How unsure the logarithm of a prediction is before it is known how predictions did: by how much levels of this engine on this device
/// scatter, what its constants
/// leave open, and how far the question is from what was fitted.
pub(super) fn unsureness(
    shares: &TokenShares,
    deviations: &StepValues,
    scatter: f64,
    distance: f64,
) -> f64 {
    let seconds = shares.seconds();
    let total: f64 = seconds.iter().sum();
    let each = seconds.iter().zip(deviations);
    let open: f64 = each.map(|(share, deviation)| (share * deviation).powi(2)).sum();
    (scatter * scatter + open / (total * total)).sqrt() * (1.0 + distance)
}

/// The logarithm of what predictions are commonly off by where all constants are known.
pub(super) const UNEXPLAINED: f64 = 0.06;

/// The score that nine in ten of `scores` do not exceed, each model counting as much as any other.
pub(super) fn nine_tenths<'a>(scores: impl IntoIterator<Item = (&'a str, f64)>) -> Option<f64> {
    let mut scores: Vec<(&str, f64)> = scores.into_iter().collect();
    scores.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
    for (model, _) in &scores {
        *counts.entry(model).or_default() += 1.0;
    }
    let mut left = 0.9 * counts.len() as f64;
    let mut reached = None;
    for (model, score) in scores {
        reached = Some(score);
        left -= 1.0 / counts.get(model).copied().unwrap_or(1.0);
        if left <= 0.0 {
            break;
        }
    }
    reached
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
    /// The [score](JudgedFit::model_left_out_score) that nine in ten of `scores` do not exceed, with their models, each of which counts
    /// as much as any other; none of none.
    #[must_use]
    pub fn nine_tenths_by<'a>(scores: impl IntoIterator<Item = (&'a str, f64)>) -> Option<f64> {
        nine_tenths(scores)
    }

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
