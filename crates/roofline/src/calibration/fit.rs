//! From measured levels to constants.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use fizeau_core::Seconds;

use super::constant_shares::TokenShares;
use super::constants::{Constant, FittedConstant};
use super::intake;
use super::rows::{FirstTokenRow, OF_PASS, PassRow};
use super::sample::CalibrationSample;
use super::solve::{FitCell, FitProblem, FitRow, FitSolution, PredictedValue, quantile};
use super::validation::UNEXPLAINED;

/// For which devices and engines a set of constants is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Scope {
    /// All that was measured.
    All,
    /// One device, whatever the engine.
    Device(String),
    /// One engine, whatever the device.
    EngineOnAnyDevice(String),
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
            Self::EngineOnAnyDevice(engine) => write!(f, "all devices, {engine}"),
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
    /// By how much these levels scatter about what their constants predict: the standard deviation of its logarithm.
    pub(super) scatter: f64,
    /// How long a request keeps the next one from coming in; none where all come in at once, or requests that start together do not tell.
    pub intake: Option<Seconds>,
}

impl Constants {
    fn nothing() -> Self {
        let (scope, estimates) = (Scope::All, Vec::new());
        Self { scope, levels: 0, estimates, scatter: UNEXPLAINED, intake: None }
    }

    /// One of its constants.
    #[must_use]
    pub fn get(&self, constant: Constant) -> Option<&FittedConstant> {
        self.estimates.iter().find(|estimate| estimate.constant == constant)
    }

    /// The constants that are outside of their usual range ([`Constant::range`]): the measurements asked for it.
    pub fn unusual(&self) -> impl Iterator<Item = &FittedConstant> {
        self.estimates.iter().filter(|estimate| !estimate.is_usual())
    }

    /// The constants that its own measurements hardly told ([`FittedConstant::is_determined`]): they are what is usual, or what others show.
    pub fn borrowed(&self) -> impl Iterator<Item = &FittedConstant> {
        self.estimates.iter().filter(|estimate| !estimate.is_determined())
    }

    pub(super) fn values<const N: usize>(&self, constants: [Constant; N]) -> [f64; N] {
        constants.map(|constant| {
            self.get(constant).map_or_else(|| constant.prior().value, |estimate| estimate.value)
        })
    }

    pub(super) fn deviations<const N: usize>(&self, constants: [Constant; N]) -> [f64; N] {
        constants.map(|constant| {
            self.get(constant)
                .map_or_else(|| constant.prior().common, |estimate| estimate.deviation)
        })
    }

    /// Those of this device and of that engine put together, where the two were measured only apart: from what is `common`, as
    /// far as each is from it.
    fn together(&self, engine: &Self, common: &Self, scope: Scope) -> Self {
        let each = self.estimates.iter().zip(&engine.estimates).zip(&common.estimates);
        let estimate = |((device, engine), common): ((&FittedConstant, _), &FittedConstant)| {
            let (constant, engine): (Constant, &FittedConstant) = (device.constant, engine);
            let natural = |estimate: &FittedConstant| constant.natural(estimate.value);
            let value = constant.of_natural(natural(device) + natural(engine) - natural(common));
            // Each is as unsure as the other's part makes it.
            let deviation = device.deviation.min(engine.deviation);
            FittedConstant { constant, value, deviation }
        };
        let scatter = self.scatter.max(engine.scatter);
        let intake = engine.intake;
        Self { scope, levels: 0, estimates: each.map(estimate).collect(), scatter, intake }
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
    /// Constants of all levels, of each device, of each engine and of each engine on a device, all at once: each has what it
    /// shares with the others, and of its own what its measurements ask for.
    pub(super) fn fit(samples: &[&CalibrationSample]) -> Self {
        let sets = OffsetSets::of(samples);
        let weighted: Vec<(&CalibrationSample, f64)> =
            samples.iter().copied().zip(weights(samples)).collect();
        let passes = sets.fit(OF_PASS, &weighted, |sample| PassRow::all(sample).collect());
        let mut groups: BTreeMap<Scope, Constants> = BTreeMap::new();
        for (scope, levels) in &sets.levels {
            let mut estimates = passes.estimates(scope);
            estimates.truncate(Constant::STEP.len());
            let scope = scope.clone();
            groups.insert(
                scope.clone(),
                Constants { scope, levels: *levels, estimates, ..Constants::nothing() },
            );
        }
        scattered(&mut groups, samples);
        let firsts = sets.fit(Constant::FIRST_TOKEN, &weighted, |sample| {
            let step = groups.get(&own_scope(sample)).map(|group| group.values(Constant::STEP));
            let row = |(ttft, step)| {
                let tpot = TokenShares::new(&sample.account, &step).total();
                (FirstTokenRow::new(&sample.account, &step, tpot), ttft)
            };
            sample.ttft.zip(step).map(row).into_iter().collect()
        });
        for (scope, group) in &mut groups {
            group.estimates.extend(firsts.estimates(scope));
            let [per_request] = group.values([Constant::PerRequest]);
            let own = samples.iter().filter(|sample| chain(&own_scope(sample)).contains(scope));
            group.intake = intake::fitted(own.map(|sample| sample.starts.as_slice()), per_request);
        }
        let pooled = groups.remove(&Scope::All).unwrap_or_else(Constants::nothing);
        Self { pooled, own: groups }
    }

    /// The constants for `device` and `engine`, or the nearest that there are. Where no engine is named and one alone was measured on
    /// the device, they are that one's: those of the device by itself leave out what it owes to its engine.
    pub(super) fn nearest(&self, device: &str, engine: Option<&str>) -> Cow<'_, Constants> {
        let of_device = self.own.get(&Scope::Device(device.to_owned()));
        let engine = engine.map(str::to_owned);
        let anywhere = engine.clone().map(Scope::EngineOnAnyDevice);
        let anywhere = anywhere.and_then(|scope| self.own.get(&scope));
        let pair = engine.map(|engine| Scope::Engine { device: device.to_owned(), engine });
        let Some(pair) = pair else {
            let only = self.constants_of_the_only_engine_on(device).or(of_device);
            return Cow::Borrowed(only.unwrap_or(&self.pooled));
        };
        match (self.own.get(&pair), of_device, anywhere) {
            (Some(own), ..) => Cow::Borrowed(own),
            (None, Some(device), Some(engine)) => {
                Cow::Owned(device.together(engine, &self.pooled, pair))
            }
            (None, device, engine) => {
                let near = device.or(engine).unwrap_or(&self.pooled);
                // What was not measured may be like any that was.
                let widest = self.own.values().map(|group| group.scatter);
                let scatter = widest.fold(near.scatter, f64::max);
                Cow::Owned(Constants { scatter, ..near.clone() })
            }
        }
    }

    /// Those of the engine that was measured on `device`, where there is one and no other.
    fn constants_of_the_only_engine_on(&self, device: &str) -> Option<&Constants> {
        let is_on =
            |scope: &Scope| matches!(scope, Scope::Engine { device: own, .. } if own == device);
        let mut on = self.own.iter().filter(|(scope, _)| is_on(scope));
        let first = on.next()?.1;
        on.next().is_none().then_some(first)
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

/// Levels that a scatter is believed from: of fewer it is partly what is usual.
const BELIEVED: f64 = 20.0;
/// Of a normal law, how many standard deviations nine in ten are within.
const NINE_TENTHS: f64 = 1.645;

/// Says of each group by how much its levels scatter about what the constants of their own engine and device predict, where that is more
/// than usual.
fn scattered(groups: &mut BTreeMap<Scope, Constants>, samples: &[&CalibrationSample]) {
    let mut off: BTreeMap<Scope, Vec<f64>> = BTreeMap::new();
    for sample in samples {
        let scope = own_scope(sample);
        let Some(group) = groups.get(&scope) else { continue };
        let shares = TokenShares::new(&sample.account, &group.values(Constant::STEP));
        let error = (shares.total() / sample.tpot).ln().abs();
        for scope in chain(&scope) {
            off.entry(scope).or_default().push(error);
        }
    }
    for (scope, mut errors) in off {
        let levels = errors.len() as f64;
        let own = quantile(&mut errors, 0.9) / NINE_TENTHS;
        let squares = levels * own * own + BELIEVED * UNEXPLAINED * UNEXPLAINED;
        if let Some(group) = groups.get_mut(&scope) {
            group.scatter = (squares / (levels + BELIEVED)).sqrt().max(UNEXPLAINED);
        }
    }
}

/// Levels of one model on one device and engine err together: however many, they count as so many at most. So do forward passes.
const INDEPENDENT: f64 = 20.0;

fn weights(samples: &[&CalibrationSample]) -> Vec<f64> {
    let key =
        |sample: &CalibrationSample| (own_scope(sample), sample.model.clone(), sample.is_pass());
    let mut counts: BTreeMap<(Scope, String, bool), f64> = BTreeMap::new();
    for sample in samples {
        *counts.entry(key(sample)).or_default() += 1.0;
    }
    let weight = |sample: &&CalibrationSample| {
        counts.get(&key(sample)).map_or(1.0, |count| (INDEPENDENT / count).min(1.0))
    };
    samples.iter().map(weight).collect()
}

/// The sets of offsets that levels share: that of all first, then each device's, each engine's, and each pair's.
struct OffsetSets {
    /// Where each set's offsets are.
    places: BTreeMap<Scope, usize>,
    levels: BTreeMap<Scope, u64>,
}

impl OffsetSets {
    fn of(samples: &[&CalibrationSample]) -> Self {
        let mut levels: BTreeMap<Scope, u64> = BTreeMap::new();
        for sample in samples {
            for scope in chain(&own_scope(sample)) {
                *levels.entry(scope).or_default() += 1;
            }
        }
        let places = levels.keys().cloned().enumerate().map(|(place, scope)| (scope, place));
        Self { places: places.collect(), levels }
    }

    fn places(&self, scope: &Scope) -> Vec<usize> {
        chain(scope).iter().filter_map(|scope| self.places.get(scope).copied()).collect()
    }

    /// How much the offset of `scope` spreads beforehand: of a device whose engine nobody names as much as of an engine on it, too.
    fn spread(&self, constant: Constant, scope: &Scope) -> f64 {
        let own = spread(constant, scope);
        let Scope::Device(name) = scope else { return own };
        let is_on = |of: &Scope| matches!(of, Scope::Engine { device, .. } if device == name);
        if self.places.keys().any(is_on) { own } else { own.hypot(unknown(constant, scope)) }
    }

    /// The `constants` that fit `rows` of all levels best.
    fn fit<const N: usize, R: PredictedValue<N>>(
        &self,
        constants: [Constant; N],
        samples: &[(&CalibrationSample, f64)],
        rows: impl Fn(&CalibrationSample) -> Vec<(R, f64)>,
    ) -> FittedSets<'_, N> {
        let mut cells: BTreeMap<Scope, FitCell<R>> = BTreeMap::new();
        for (sample, weight) in samples {
            let scope = own_scope(sample);
            let sets = self.places(&scope);
            let cell = cells.entry(scope).or_insert_with(|| FitCell { sets, rows: Vec::new() });
            cell.rows.extend(rows(sample).into_iter().map(|(row, measured)| FitRow {
                row,
                measured,
                weight: *weight,
            }));
        }
        let cells: Vec<FitCell<R>> = cells.into_values().collect();
        let spreads: Vec<[f64; N]> = (self.places.keys())
            .map(|scope| constants.map(|constant| self.spread(constant, scope)))
            .collect();
        let problem = FitProblem { constants, cells: &cells, spreads: &spreads };
        FittedSets { sets: self, constants, solution: problem.solve() }
    }
}

/// Constants fitted on all levels at once.
struct FittedSets<'a, const N: usize> {
    sets: &'a OffsetSets,
    constants: [Constant; N],
    solution: FitSolution<N>,
}

impl<const N: usize> FittedSets<'_, N> {
    /// Those of `scope`. What is not known of an engine or a device adds to how unsure they are.
    fn estimates(&self, scope: &Scope) -> Vec<FittedConstant> {
        let places = self.sets.places(scope);
        let values = self.solution.values(&places);
        let deviations = self.solution.deviations(&places);
        let each = self.constants.into_iter().zip(values).zip(deviations);
        let estimate = |((constant, value), deviation): ((Constant, f64), f64)| {
            let unknown = unknown(constant, scope);
            let deviation = deviation.hypot(unknown) * constant.slope(value);
            FittedConstant { constant, value, deviation }
        };
        each.map(estimate).collect()
    }
}

/// The scopes that `scope` is part of, itself included.
fn chain(scope: &Scope) -> Vec<Scope> {
    let mut all = vec![Scope::All];
    if let Scope::Engine { device, engine } = scope {
        all.push(Scope::Device(device.clone()));
        all.push(Scope::EngineOnAnyDevice(engine.clone()));
    }
    if *scope != Scope::All {
        all.push(scope.clone());
    }
    all
}

/// How much the offsets of a set spread beforehand.
fn spread(constant: Constant, scope: &Scope) -> f64 {
    let prior = constant.prior();
    match scope {
        Scope::All => prior.common,
        Scope::Device(_) => prior.device,
        Scope::EngineOnAnyDevice(_) => prior.engine,
        Scope::Engine { .. } => prior.own,
    }
}

/// How much more one engine on one device may differ from a scope that is wider.
fn unknown(constant: Constant, scope: &Scope) -> f64 {
    let prior = constant.prior();
    match scope {
        Scope::All => prior.device.hypot(prior.engine).hypot(prior.own),
        Scope::Device(_) => prior.engine.hypot(prior.own),
        Scope::EngineOnAnyDevice(_) => prior.device.hypot(prior.own),
        Scope::Engine { .. } => 0.0,
    }
}
