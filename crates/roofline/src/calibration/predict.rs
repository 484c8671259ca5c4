//! What a calibration predicts.

use fizeau_core::{Confidence, Estimate, Interval, PerSec, Seconds};

use crate::{System, UniformLoad};

use super::account::TimeAccounts;
use super::constant_shares::{StepValues, TokenShares};
use super::constants::{Constant, FittedConstant};
use super::fit::{Constants, Scope};
use super::regime::{OutsideRegime, RegimeRanges};
use super::rows::FirstTokenRow;
use super::sample::{ModelMark, formats};
use super::solve::PredictedValue;
use super::validation::unsureness;
use super::{Calibration, FitSummary};

/// The figures of a load as a calibrated engine is predicted to reach them: each the likeliest, with the interval that holds nine
/// in ten measured ones if the question is like what was fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Prediction {
    /// Mean time to first token with all of the load's requests under way.
    pub ttft: Estimate<Seconds>,
    /// Mean time per output token.
    pub tpot: Estimate<Seconds>,
    /// From sending to the last token: `ttft + (O - 1) tpot`.
    pub e2el: Estimate<Seconds>,
    /// Generated tokens per second, of all replicas.
    pub output_tokens_per_s: Estimate<PerSec>,
    /// Completed requests per second, of all replicas.
    pub requests_per_s: Estimate<PerSec>,
    /// By which factor the question is outside of what was fitted, 1 where it is inside.
    pub beyond: f64,
}

/// A constant of a prediction, and what it does to an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ConstantUse {
    /// The constant as it is used.
    pub fitted: FittedConstant,
    /// Its value of all devices and engines together.
    pub common: f64,
    /// The share of the time per output token that is owed to it; none where it divides that time rather than adding to it, or
    /// is of a first token.
    pub tpot_share: Option<f64>,
}

/// A system with the constants for its device and engine: answers for any load.
#[derive(Debug, Clone)]
pub struct Predictor {
    system: System,
    accounts: TimeAccounts,
    scope: Scope,
    step: StepValues,
    deviations: StepValues,
    first: [f64; 3],
    intake: Option<Seconds>,
    /// Each with its value of all devices and engines.
    constants: Vec<(FittedConstant, f64)>,
    ranges: RegimeRanges,
    /// By how much measured levels scatter about what these constants predict.
    scatter: f64,
    /// How far nine in ten are off: times per output token in multiples of how unsure they are, times to first token as the
    /// logarithm of a factor.
    spread: (f64, f64),
    errors: FitSummary,
    warnings: Vec<String>,
}

impl Calibration {
    /// Prepares predictions for `system`, served by `engine`. Without an engine the constants are those of the one engine that was
    /// measured on the device, of several those of the device, and for a device that was not fitted those of all; the warnings say so.
    #[must_use]
    pub fn predictor(&self, system: &System, engine: Option<&str>) -> Predictor {
        let group = self.nearest(&system.device().name, engine);
        let mark = ModelMark::of(system);
        let device = &system.device().name;
        let is_known =
            self.models.iter().any(|known| known.mark == mark && known.devices.contains(device));
        let spread = match &group.scope {
            Scope::All | Scope::EngineOnAnyDevice(_) => self.spreads.new_device,
            _ if is_known => self.spreads.seen,
            _ => self.spreads.new_model,
        };
        let unmeasured = formats(system).into_iter().filter(|of| !self.formats.contains(of));
        let unmeasured = unmeasured
            .map(|format| format!("the calibration has no measurements of {format} weights"));
        // Above 1 the engine keeps caches narrower than was said: where it was said, that is not to be counted again.
        let most = if system.model().says_kv_cache() { 1.0 } else { f64::INFINITY };
        let used = |own: &FittedConstant| match own.constant {
            Constant::CacheBandwidth => FittedConstant { value: own.value.min(most), ..*own },
            _ => *own,
        };
        let mut step = group.values(Constant::STEP);
        step[Constant::CacheBandwidth as usize] = step[Constant::CacheBandwidth as usize].min(most);
        Predictor {
            system: system.clone(),
            accounts: TimeAccounts::new(system),
            step,
            deviations: group.deviations(Constant::STEP),
            first: group.values(Constant::FIRST_TOKEN),
            intake: group.intake,
            constants: group
                .estimates
                .iter()
                .map(|own| (used(own), self.common(own.constant)))
                .collect(),
            scope: group.scope.clone(),
            ranges: self.ranges,
            scatter: group.scatter,
            spread: (spread, self.spreads.first_token),
            errors: self.summary,
            warnings: stand_in(&group, device, engine).into_iter().chain(unmeasured).collect(),
        }
    }

    fn common(&self, constant: Constant) -> f64 {
        let found = self.groups().next().and_then(|pooled| pooled.get(constant));
        found.map_or_else(|| constant.prior().value, |estimate| estimate.value)
    }
}

/// Whose constants stand in for those of `engine` on `device`, where these were not measured.
fn stand_in(group: &Constants, device: &str, engine: Option<&str>) -> Option<String> {
    let (lacks, whose) = match (engine, &group.scope) {
        (_, scope @ (Scope::All | Scope::EngineOnAnyDevice(_))) => {
            (format!("on {device}"), format!("those of {scope}"))
        }
        (Some(engine), Scope::Device(device)) => {
            (format!("of {engine} on {device}"), "those of the device".to_owned())
        }
        (Some(engine), Scope::Engine { device, .. }) if group.levels == 0 => {
            (format!("of {engine} on {device}"), "put together from those of either".to_owned())
        }
        _ => return None,
    };
    Some(format!("the calibration has no measurements {lacks}: constants are {whose}"))
}

impl Predictor {
    /// Each constant in the order of [`Constant::all`], and what it does to the time per output token of `load`.
    pub fn uses(&self, load: &UniformLoad) -> impl Iterator<Item = ConstantUse> {
        let shares = TokenShares::new(&self.accounts.of(load), &self.step);
        let (seconds, total) = (shares.seconds(), shares.total());
        self.constants.iter().map(move |&(fitted, common)| {
            let owed = match fitted.constant {
                Constant::PromptCrowding => None,
                constant => seconds.get(constant as usize),
            };
            ConstantUse { fitted, common, tpot_share: owed.map(|owed| owed / total) }
        })
    }

    /// What a request takes before its prompt is read: the front end ([`Constant::PerRequest`]).
    #[must_use]
    pub fn per_request(&self) -> Seconds {
        let [request, ..] = self.first;
        Seconds::new(request)
    }

    /// How long a request keeps the next one from coming in ([`super::Constants::intake`]); none where all come in at once.
    #[must_use]
    pub const fn intake(&self) -> Option<Seconds> {
        self.intake
    }

    /// Which constants are used.
    #[must_use]
    pub const fn scope(&self) -> &Scope {
        &self.scope
    }

    /// How far off its calibration is: where it was fitted, and where it was not.
    #[must_use]
    pub const fn errors(&self) -> &FitSummary {
        &self.errors
    }

    pub(super) const fn accounts(&self) -> &TimeAccounts {
        &self.accounts
    }

    pub(super) const fn step_values(&self) -> &StepValues {
        &self.step
    }

    /// The values of [`Constant::FIRST_TOKEN`].
    pub(super) const fn first_values(&self) -> &[f64; 3] {
        &self.first
    }

    /// Each constant with the value that is used.
    pub(super) fn constants(&self) -> impl Iterator<Item = (Constant, f64)> + '_ {
        self.constants.iter().map(|(fitted, _)| (fitted.constant, fitted.value))
    }

    /// What makes its predictions less sure than their intervals say, a sentence each.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The figures of `load`.
    ///
    /// No time is below the bound's, and no rate above it. Within four times the range of what was fitted an interval widens with the distance.
    ///
    /// # Errors
    /// If the load or the system is farther from everything that was fitted; the error names the quantity.
    pub fn predict(&self, load: &UniformLoad) -> Result<Prediction, OutsideRegime> {
        let account = self.accounts.of(load);
        let distance = self.ranges.distance(&account.regime)?;
        let bound = self.system.bound_figures(load);
        let shares = TokenShares::new(&account, &self.step);
        let off = self.spread.0 * unsureness(&shares, &self.deviations, self.scatter, distance);
        let around = |value: f64, off: f64, least: Seconds| {
            let (value, factor) = (value.max(least.get()), off.exp());
            let low = Seconds::new((value / factor).max(least.get()));
            nine_in_ten(Seconds::new(value), low, Seconds::new(value * factor))
        };
        let first = FirstTokenRow::new(&account, &self.step, shares.total()).predict(&self.first).0;
        let ttft = around(first, off.max(self.spread.1 * (1.0 + distance)), bound.ttft);
        let tpot = around(shares.total(), off, bound.step);
        let steps = load.output_tokens.get().saturating_sub(1) as f64;
        let e2el = nine_in_ten(
            ttft.value() + tpot.value() * steps,
            ttft.low() + tpot.low() * steps,
            ttft.high() + tpot.high() * steps,
        );
        // Little's law: in a closed loop as many requests are under way as are offered. Both low ends at once are faster
        // than any request is, and a rate has a bound of its own.
        let rate = |each: f64, most: PerSec| {
            let of = |time: Seconds| {
                let rate = load.concurrency.get() as f64 * each / time.get();
                PerSec::new(rate.min(most.get()))
            };
            nine_in_ten(of(e2el.value()), of(e2el.high()), of(e2el.low()))
        };
        Ok(Prediction {
            ttft,
            tpot,
            e2el,
            output_tokens_per_s: rate(load.output_tokens.get() as f64, bound.output_tokens_per_s),
            requests_per_s: rate(1.0, bound.requests_per_s),
            beyond: distance.exp(),
        })
    }
}

/// One in twenty is lower than `low`, and one in twenty higher than `high`.
fn nine_in_ten<T: Copy + PartialOrd>(value: T, low: T, high: T) -> Estimate<T> {
    Estimate::widened(value, Some(Interval { low, high, confidence: Confidence::P90 }))
}
