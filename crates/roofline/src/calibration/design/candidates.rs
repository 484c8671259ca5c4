//! The loads that a design chooses from, and what each tells of the constants.

use std::num::NonZeroU64;

use fizeau_core::{Seconds, Tokens};

use super::DesignedLoad;
use super::information::{CONSTANTS, ConstantSlopes, Observation};
use crate::calibration::constant_shares::{StepValues, TokenShares};
use crate::calibration::constants::Constant;
use crate::calibration::rows::{FirstTokenRow, PassRow};
use crate::calibration::solve::PredictedValue;
use crate::calibration::{Calibration, CalibrationSample};
use crate::{System, UniformLoad};

/// Steps of four: what a constant does to a time grows with one of the three, and nothing is learnt between.
const CONCURRENCIES: [u64; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const INPUTS: [u64; 5] = [64, 256, 1024, 4096, 16384];
/// Short replies mix prompts with decoding, long ones hardly do.
const OUTPUTS: [u64; 3] = [16, 64, 256];
/// Requests that each slot sends one after the other: the first start together and the last end alone.
const WAVES: u64 = 6;
/// Of a request at a time more are needed for a mean.
const FEWEST_REQUESTS: u64 = 12;
/// As many as a level has at most.
const MOST_WARMUPS: u64 = 50;
/// A level's connections and its first request.
const BETWEEN_LEVELS: f64 = 0.5;
/// By how much lengths may be above their mean as they are measured.
const LONGEST: f64 = 1.25;
/// How well a mean of so few requests follows the law, as the logarithm of a factor: what no fit of published results explains (6 %), and
/// of first tokens, which depend on who came just before, three times as much.
const TPOT_ERROR: f64 = 0.06;
const TTFT_ERROR: f64 = 0.2;

/// A load, with what it takes and tells by the constants that are assumed.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    load: UniformLoad,
    tpot: f64,
    e2el: f64,
    pub(super) told: Vec<Observation>,
}

/// The constants that are assumed of an engine before it is measured.
struct Assumed {
    step: StepValues,
    first: [f64; Constant::FIRST_TOKEN.len()],
}

impl Assumed {
    fn of(system: &System, engine: Option<&str>) -> Self {
        let device = &system.device().name;
        let shipped = engine.and_then(|engine| Calibration::shipped(engine, device));
        let group = shipped.map(|shipped| shipped.calibration.nearest(device, engine));
        let usual = |constant: Constant| constant.prior().value;
        Self {
            step: group
                .as_ref()
                .map_or_else(|| Constant::STEP.map(usual), |group| group.values(Constant::STEP)),
            first: group.as_ref().map_or_else(
                || Constant::FIRST_TOKEN.map(usual),
                |group| group.values(Constant::FIRST_TOKEN),
            ),
        }
    }
}

/// Every load that fits.
pub(super) fn all(system: &System, engine: Option<&str>) -> Vec<Candidate> {
    let assumed = Assumed::of(system, engine);
    let longest = system.model().max_context.map_or(u64::MAX, Tokens::get);
    let mut all = Vec::new();
    for input in INPUTS {
        for output in OUTPUTS {
            for concurrency in CONCURRENCIES.into_iter().filter_map(NonZeroU64::new) {
                let load = UniformLoad::new(Tokens::new(input), Tokens::new(output), concurrency);
                let running = system.max_batch(&load).min(system.most_at_once());
                if running >= concurrency.get() as f64 {
                    all.extend(Candidate::new(system, load, &assumed));
                }
            }
        }
    }
    all.retain(|candidate| candidate.longest() <= longest);
    all
}

impl Candidate {
    /// None where a load has no times, since constants make none of it.
    fn new(system: &System, load: UniformLoad, assumed: &Assumed) -> Option<Self> {
        // Times that are measured later: whether there are some decides what a fit takes from a level.
        let unmeasured = Seconds::new(1.0);
        let sample = CalibrationSample::new(system, &load, "", unmeasured).ok()?;
        let sample = sample.with_ttft(unmeasured).ok()?;
        let tpot = TokenShares::new(&sample.account, &assumed.step).total();
        let first = FirstTokenRow::new(&sample.account, &assumed.step, tpot);
        let [request, ..] = assumed.first;
        let of_pass: [f64; 13] =
            std::array::from_fn(|at| assumed.step.get(at).copied().unwrap_or(request));
        let mut told: Vec<Observation> = PassRow::all(&sample)
            .map(|(row, _)| {
                let (time, slopes) = row.predict(&of_pass);
                Observation::new(slopes.map(|slope| slope / time), &of_pass, 0, TPOT_ERROR)
            })
            .collect();
        let (ttft, slopes) = first.predict(&assumed.first);
        let slopes: [f64; 3] = slopes.map(|slope| slope / ttft);
        told.push(Observation::new(slopes, &assumed.first, Constant::STEP.len(), TTFT_ERROR));
        let steps = load.output_tokens.get().saturating_sub(1) as f64;
        let e2el = ttft + steps * tpot;
        let is_finite = e2el.is_finite() && told.iter().all(Observation::is_finite);
        is_finite.then_some(Self { load, tpot, e2el, told })
    }

    /// Whether its requests come one after the other.
    pub(super) const fn is_lone(&self) -> bool {
        self.load.concurrency.get() == 1
    }

    /// The most tokens of a prompt and its reply together.
    pub(super) fn longest(&self) -> u64 {
        let both = self.load.input_tokens.get() + self.load.output_tokens.get();
        (both as f64 * LONGEST).ceil() as u64
    }

    /// What all of it takes of an engine that is so many times slower, in seconds.
    pub(super) fn time(&self, slowdown: f64) -> f64 {
        let concurrency = self.load.concurrency.get();
        let waves = (self.requests().get() + self.warmups()) as f64 / concurrency as f64;
        waves * self.e2el * slowdown + BETWEEN_LEVELS
    }

    pub(super) fn designed(&self, slowdown: f64) -> DesignedLoad {
        DesignedLoad {
            load: self.load,
            requests: self.requests(),
            warmups: self.warmups(),
            tpot: Seconds::new(self.tpot * slowdown),
            time: Seconds::new(self.time(slowdown)),
        }
    }

    fn requests(&self) -> NonZeroU64 {
        let fewest = NonZeroU64::MIN.saturating_add(FEWEST_REQUESTS - 1);
        let waves = NonZeroU64::MIN.saturating_add(WAVES - 1);
        self.load.concurrency.saturating_mul(waves).max(fewest)
    }

    fn warmups(&self) -> u64 {
        self.load.concurrency.get().min(MOST_WARMUPS)
    }
}

impl Observation {
    /// What a time tells that changes with the logarithms of the constants from the one of number `from` on as `slopes` say, if it is
    /// known within `error`.
    fn new<const N: usize>(slopes: [f64; N], values: &[f64; N], from: usize, error: f64) -> Self {
        let mut all: ConstantSlopes = [0.0; CONSTANTS];
        let constants = Constant::all().skip(from).zip(slopes.iter().zip(values));
        for (slot, (constant, (slope, value))) in all.iter_mut().skip(from).zip(constants) {
            *slot = slope * constant.slope(*value) * constant.spread() / error;
        }
        Self(all)
    }
}
