//! From measured levels to constants.

use std::collections::BTreeMap;
use std::fmt;

use super::account::Account;
use super::constants::{Constant, Estimate};
use super::sample::Sample;
use super::solve::{Predicted, Problem, Solution};
use super::terms::{Shares, StepValues};

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
    pub estimates: Vec<Estimate>,
}

impl Constants {
    /// One of its constants.
    #[must_use]
    pub fn get(&self, constant: Constant) -> Option<&Estimate> {
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
pub(super) struct Groups {
    /// Of all levels together.
    pub(super) pooled: Constants,
    /// Of devices, and of engines on them.
    pub(super) own: BTreeMap<Scope, Constants>,
}

impl Groups {
    /// Constants for all levels together, from what is known beforehand; and from those on, for each device, and for each
    /// engine on it. Where measurements of one say little, the constants of all speak.
    pub(super) fn fit(samples: &[&Sample]) -> Self {
        let mut members: BTreeMap<Scope, Vec<&Sample>> = BTreeMap::new();
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

pub(super) fn own_scope(sample: &Sample) -> Scope {
    let device = sample.device.clone();
    match &sample.engine {
        Some(engine) => Scope::Engine { device, engine: engine.clone() },
        None => Scope::Device(device),
    }
}

fn fit_group(scope: Scope, samples: &[&Sample], parent: Option<&Constants>) -> Constants {
    let weights = weights(samples);
    let tokens: Vec<OfToken> = samples.iter().map(|sample| OfToken(sample.account)).collect();
    let measured: Vec<f64> = samples.iter().map(|sample| sample.tpot).collect();
    let step = problem(Constant::STEP, parent, (&tokens, &measured, &weights)).solve();

    let timed = || samples.iter().zip(&weights).filter_map(|(s, w)| Some((s, w, s.ttft?)));
    let firsts: Vec<FirstToken> =
        timed().map(|(sample, ..)| FirstToken::new(&sample.account, &step.values)).collect();
    let measured: Vec<f64> = timed().map(|(.., ttft)| ttft).collect();
    let weights: Vec<f64> = timed().map(|(_, weight, _)| *weight).collect();
    let first = problem(Constant::FIRST_TOKEN, parent, (&firsts, &measured, &weights)).solve();

    let mut estimates = estimates(Constant::STEP, &step);
    estimates.extend(self::estimates(Constant::FIRST_TOKEN, &first));
    Constants { scope, levels: samples.len() as u64, estimates }
}

/// Levels of one model on one device and engine err together: however many, they count as so many at most.
const INDEPENDENT: f64 = 20.0;

fn weights(samples: &[&Sample]) -> Vec<f64> {
    let key = |sample: &Sample| (own_scope(sample), sample.model.clone());
    let mut counts: BTreeMap<(Scope, String), f64> = BTreeMap::new();
    for sample in samples {
        *counts.entry(key(sample)).or_default() += 1.0;
    }
    let weight = |sample: &&Sample| {
        counts.get(&key(sample)).map_or(1.0, |count| (INDEPENDENT / count).min(1.0))
    };
    samples.iter().map(weight).collect()
}

fn problem<'a, R, const N: usize>(
    constants: [Constant; N],
    parent: Option<&Constants>,
    (rows, measured, weights): (&'a [R], &'a [f64], &'a [f64]),
) -> Problem<'a, R, N> {
    let priors = constants.map(Constant::prior);
    let from = match parent {
        Some(parent) => parent.values(constants),
        None => priors.map(|prior| prior.value),
    };
    Problem {
        rows,
        measured,
        weights,
        prior: from.map(f64::ln),
        spread: priors.map(|prior| if parent.is_some() { prior.own } else { prior.pooled }),
        range: (priors.map(|prior| prior.low.ln()), priors.map(|prior| prior.high.ln())),
    }
}

fn estimates<const N: usize>(constants: [Constant; N], found: &Solution<N>) -> Vec<Estimate> {
    let each = constants.into_iter().zip(found.values).zip(found.deviations);
    each.map(|((constant, value), deviation)| Estimate { constant, value, deviation }).collect()
}

struct OfToken(Account);

impl Predicted<{ Constant::STEP.len() }> for OfToken {
    fn predict(&self, values: &StepValues) -> (f64, StepValues) {
        let shares = Shares::of_token(&self.0, values);
        (shares.total(), shares.slopes())
    }
}

/// Time to first token: the front end, the first step, the prompt itself beside those who decode, the prompts of others
/// that came before, and, where not all fit, the wait for a place.
///
/// `a + tpot + q D P + f (B - 1) P + (C - B) O tpot / B` with the time `P` that a prompt takes of all devices.
pub(super) struct FirstToken {
    /// The step, and the wait for a place.
    fixed: f64,
    /// The prompt on the devices that it runs on.
    own: f64,
    others: f64,
}

impl FirstToken {
    pub(super) fn new(account: &Account, step: &StepValues) -> Self {
        let tpot = Shares::of_token(account, step).total();
        let prompt = Shares::of_prompt(&account.prompt, step).total();
        let wait = account.waiting * account.output * tpot / account.running;
        Self {
            fixed: tpot + wait,
            own: prompt * account.prompt.abreast,
            others: prompt * (account.running - 1.0),
        }
    }
}

impl Predicted<{ Constant::FIRST_TOKEN.len() }> for FirstToken {
    fn predict(&self, values: &[f64; 3]) -> (f64, [f64; 3]) {
        let [request, slowdown, queue] = *values;
        let parts = [request, slowdown * self.own, queue * self.others];
        (self.fixed + parts.iter().sum::<f64>(), parts)
    }
}
