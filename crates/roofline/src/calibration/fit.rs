//! From measured levels to constants.

use std::collections::BTreeMap;
use std::fmt;

use super::constants::{Constant, FittedConstant};
use super::rows::{FirstTokenRow, OF_PASS, PassRow};
use super::sample::CalibrationSample;
use super::solve::{FitProblem, FitSolution, PredictedValue};

/// For which devices and engines a set of constants is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Scope {
    /// All that was measured.
    All,
    /// One device, whatever the engine.
    Device(String),
    /// One device and engine.
    Engine {
        /// The device's name.
        device: String,
        /// The engine's name.
        engine: String,
    },
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all devices"),
            Self::Device(device) => f.write_str(device),
            Self::Engine { device, engine } => write!(f, "{device}, {engine}"),
        }
    }
}

/// The constants of a device and engine, or of several together.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Constants {
    /// Which devices and engines.
    pub scope: Scope,
    /// Levels that they were fitted on.
    pub levels: u64,
    /// Every constant, in the order of [`Constant::all`].
    pub estimates: Vec<FittedConstant>,
}

impl Constants {
    /// One of its constants.
    #[must_use]
    pub fn get(&self, constant: Constant) -> Option<&FittedConstant> {
        self.estimates.iter().find(|estimate| estimate.constant == constant)
    }

    pub(super) fn values<const N: usize>(&self, constants: [Constant; N]) -> [f64; N] {
        constants.map(|constant| {
            self.get(constant).map_or_else(|| constant.prior().value, |estimate| estimate.value)
        })
    }

    pub(super) fn deviations<const N: usize>(&self, constants: [Constant; N]) -> [f64; N] {
        constants.map(|constant| {
            self.get(constant)
                .map_or_else(|| constant.prior().pooled, |estimate| estimate.deviation)
        })
    }
}

/// All groups of a set of levels.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ConstantGroups {
    /// Of all levels together.
    pub(super) pooled: Constants,
    /// Of devices, and of engines on them.
    pub(super) own: BTreeMap<Scope, Constants>,
}

impl ConstantGroups {
    /// Constants for all levels together, from what is known beforehand; and from those on, for each device, and for each
    /// engine on it. Where measurements of one say little, the constants of all speak.
    pub(super) fn fit(samples: &[&CalibrationSample]) -> Self {
        let mut members: BTreeMap<Scope, Vec<&CalibrationSample>> = BTreeMap::new();
        for sample in samples {
            members.entry(Scope::Device(sample.device.clone())).or_default().push(sample);
            members.entry(own_scope(sample)).or_default().push(sample);
        }
        let pooled = fit_group(Scope::All, samples, None);
        let own = members
            .into_iter()
            .map(|(scope, members)| {
                let group = fit_group(scope.clone(), &members, Some(&pooled));
                (scope, group)
            })
            .collect();
        Self { pooled, own }
    }

    /// The constants for `device` and `engine`, or the nearest that there are.
    pub(super) fn nearest(&self, device: &str, engine: Option<&str>) -> &Constants {
        let engine = engine
            .map(|engine| Scope::Engine { device: device.to_owned(), engine: engine.to_owned() });
        engine
            .and_then(|scope| self.own.get(&scope))
            .or_else(|| self.own.get(&Scope::Device(device.to_owned())))
            .unwrap_or(&self.pooled)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Constants> {
        std::iter::once(&self.pooled).chain(self.own.values())
    }
}

pub(super) fn own_scope(sample: &CalibrationSample) -> Scope {
    let device = sample.device.clone();
    match &sample.engine {
        Some(engine) => Scope::Engine { device, engine: engine.clone() },
        None => Scope::Device(device),
    }
}

fn fit_group(
    scope: Scope,
    samples: &[&CalibrationSample],
    parent: Option<&Constants>,
) -> Constants {
    let weighted: Vec<(&CalibrationSample, f64)> =
        samples.iter().copied().zip(weights(samples)).collect();
    let mut passes = WeightedRows::default();
    for (sample, weight) in &weighted {
        for (row, measured) in PassRow::all(sample) {
            passes.push(row, measured, *weight);
        }
    }
    let mut estimates = passes.solve(OF_PASS, parent);
    estimates.truncate(Constant::STEP.len());
    let group = Constants { scope, levels: samples.len() as u64, estimates };

    let step = group.values(Constant::STEP);
    let mut firsts = WeightedRows::default();
    for (sample, weight) in &weighted {
        if let Some(ttft) = sample.ttft {
            firsts.push(FirstTokenRow::new(&sample.account, &step), ttft, *weight);
        }
    }
    let Constants { scope, levels, mut estimates } = group;
    estimates.extend(firsts.solve(Constant::FIRST_TOKEN, parent));
    Constants { scope, levels, estimates }
}

/// Levels of one model on one device and engine err together: however many, they count as so many at most.
const INDEPENDENT: f64 = 20.0;

fn weights(samples: &[&CalibrationSample]) -> Vec<f64> {
    let key = |sample: &CalibrationSample| (own_scope(sample), sample.model.clone());
    let mut counts: BTreeMap<(Scope, String), f64> = BTreeMap::new();
    for sample in samples {
        *counts.entry(key(sample)).or_default() += 1.0;
    }
    let weight = |sample: &&CalibrationSample| {
        counts.get(&key(sample)).map_or(1.0, |count| (INDEPENDENT / count).min(1.0))
    };
    samples.iter().map(weight).collect()
}

/// Measurements with their weights, column by column.
struct WeightedRows<R> {
    rows: Vec<R>,
    measured: Vec<f64>,
    weights: Vec<f64>,
}

impl<R> Default for WeightedRows<R> {
    fn default() -> Self {
        Self { rows: Vec::new(), measured: Vec::new(), weights: Vec::new() }
    }
}

impl<R> WeightedRows<R> {
    fn push(&mut self, row: R, measured: f64, weight: f64) {
        self.rows.push(row);
        self.measured.push(measured);
        self.weights.push(weight);
    }

    /// The `constants` that fit best, from what is known beforehand or from those of a `parent`.
    fn solve<const N: usize>(
        &self,
        constants: [Constant; N],
        parent: Option<&Constants>,
    ) -> Vec<FittedConstant>
    where
        R: PredictedValue<N>,
    {
        let priors = constants.map(Constant::prior);
        let from = match parent {
            Some(parent) => parent.values(constants),
            None => priors.map(|prior| prior.value),
        };
        let problem = FitProblem {
            rows: &self.rows,
            measured: &self.measured,
            weights: &self.weights,
            prior: from.map(f64::ln),
            spread: priors.map(|prior| if parent.is_some() { prior.own } else { prior.pooled }),
            range: (priors.map(|prior| prior.low.ln()), priors.map(|prior| prior.high.ln())),
        };
        let FitSolution { values, deviations } = problem.solve();
        let each = constants.into_iter().zip(values).zip(deviations);
        each.map(|((constant, value), deviation)| FittedConstant { constant, value, deviation })
            .collect()
    }
}
