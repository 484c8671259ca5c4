//! Two simulated engines on a machine as it really is: it drifts, it has good and bad minutes, and no two turns are alike.

use std::cell::Cell;
use std::num::NonZeroU32;
use std::rc::Rc;

use fizeau::core::{Clock, Nanos, Stamp, Tokens};
use fizeau::experiment::{AbRunner, AbSpec, AbTurn, RoundCount, UpcomingTurn};
use fizeau::harness::{Cancel, Observer, SelfWatch, TaskDriver};
use fizeau::metrics::ComparisonSide;
use fizeau::sim::{Engine, EngineConfig, SimTransport, StepLoad, VirtualTime};
use fizeau::workload::{Lengths, PlanSpec, Seed};

/// How steps vary beyond what they have to do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weather {
    /// By what share steps are longer after each minute.
    pub(crate) drift_a_minute: f64,
    /// The standard deviation of what a round has of its own, for both sides alike, as a share.
    pub(crate) of_round: f64,
    /// The standard deviation of what a turn has of its own.
    pub(crate) of_turn: f64,
    /// How much longer or shorter one step may be than the one before it.
    pub(crate) of_step: f64,
    /// By what share the candidate's steps are longer.
    pub(crate) candidate: f64,
}

/// What a machine that is looked after is like: in the minute or so that a run takes here it gets slower by 6 %, rounds differ
/// by 3 %, turns by 1 %, steps by 20 %.
pub(crate) const USUAL: Weather =
    Weather { drift_a_minute: 0.06, of_round: 0.03, of_turn: 0.01, of_step: 0.2, candidate: 0.0 };

/// S. Vigna's SplitMix64: one step of it from `state`.
const fn mixed(state: u64) -> u64 {
    let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The seed of stream `place` of `seed`: no two of all repeats share one.
const fn stream(seed: u64, place: u64) -> u64 {
    mixed(mixed(seed).wrapping_add(place))
}

/// A number from 0 to 1 that follows from `seed` and `place`.
fn uniform(seed: u64, place: u64) -> f64 {
    (stream(seed, place) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Nearly normal, with mean 0 and standard deviation 1: the sum of twelve.
fn normal(seed: u64, place: u64) -> f64 {
    (0..12).map(|k| uniform(seed, place * 12 + k)).sum::<f64>() - 6.0
}

/// An engine whose steps take 8 ms and 0.05 ms a prompt token, in that weather.
fn engine(
    time: &VirtualTime,
    turn: &Rc<Cell<(u32, ComparisonSide)>>,
    weather: Weather,
    seed: u64,
) -> SimTransport {
    let (clock, turn, steps) = (time.clone(), Rc::clone(turn), Cell::new(0_u64));
    let step = move |load: &StepLoad| {
        steps.set(steps.get() + 1);
        let (round, side) = turn.get();
        let (place, own) = match side {
            ComparisonSide::Baseline => (2 * u64::from(round), 0.0),
            ComparisonSide::Candidate => (2 * u64::from(round) + 1, weather.candidate),
        };
        let minutes = clock.now().saturating_since(Stamp::EPOCH).as_secs_f64() / 60.0;
        let factor = (1.0 + weather.drift_a_minute * minutes)
            * (1.0 + weather.of_round * normal(seed, u64::from(round)))
            * (1.0 + weather.of_turn * normal(!seed, place))
            * (1.0 + weather.of_step * (uniform(stream(seed, place), steps.get()) - 0.5))
            * (1.0 + own);
        let work = 8e6 + 5e4 * load.prefill_tokens.get() as f64;
        Nanos::from_nanos((work * factor) as u64)
    };
    let config = EngineConfig::new(8, Tokens::new(100_000));
    SimTransport::new(time, Engine::new(config, step).unwrap())
}

/// How large an A/B run is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) rounds: u32,
    /// Of a turn.
    pub(crate) requests: u64,
}

/// A whole A/B run in that weather, in virtual time.
pub(crate) fn run(size: Size, weather: Weather, seed: u64) -> Vec<AbTurn> {
    watched(size, weather, seed, || ()).into_iter().map(|(turn, ())| turn).collect()
}

/// The same, and what an observer of each turn saw.
pub(crate) fn watched<O: Observer>(
    size: Size,
    weather: Weather,
    seed: u64,
    observer: impl Fn() -> O,
) -> Vec<(AbTurn, O)> {
    let (time, cancel) = (VirtualTime::new(), Cancel::new());
    let turn = Rc::new(Cell::new((1, ComparisonSide::Baseline)));
    let (a, b) = (engine(&time, &turn, weather, seed), engine(&time, &turn, weather, seed));
    let workload = PlanSpec {
        lengths: Lengths::fixed(64, 6),
        seed: Seed(seed),
        ..PlanSpec::new(size.requests).unwrap()
    };
    let mut spec = AbSpec::new(RoundCount::new(size.rounds).unwrap(), workload);
    spec.load.max_in_flight = NonZeroU32::new(4);
    (spec.warmup, spec.settle) = (2, Nanos::from_secs(2));
    let rig =
        |transport| TaskDriver { transport, timer: &time, watch: SelfWatch::Off, cancel: &cancel };
    let mut ab = AbRunner::new(rig(&a), rig(&b), &time, &spec, None);
    let turns = async {
        let mut turns = Vec::new();
        while let Some(UpcomingTurn { round, side }) = ab.upcoming() {
            // The engines know whose turn it is.
            turn.set((round, side));
            let mut seen = observer();
            turns.extend(ab.next_turn(&mut seen).await.unwrap().map(|turn| (turn, seen)));
        }
        turns
    };
    time.block_on(turns).unwrap()
}
