//! The laws of arrivals: what all of them keep to, the figures they ask for, their bits, and what is said of mistakes.

mod followed;
mod golden;
mod mistakes;
mod moments;

use fizeau_core::{Nanos, PerSec, Seconds};
use fizeau_workload::{
    ArrivalLaw, ArrivalProcess, ArrivalSchedule, Instants, Plan, PlanSpec, RampShape, RampSpan,
    RandomStream, RateStage, Rescale, Spacing,
};
use proptest::prelude::*;

use crate::{gamma, spec};

const POISSON: Spacing = Spacing::Random { burstiness: 1.0 };

fn ramp([from, to]: [f64; 2], shape: RampShape, over: RampSpan, spacing: Spacing) -> ArrivalLaw {
    ArrivalLaw::Ramp { from: PerSec::new(from), to: PerSec::new(to), shape, over, spacing }
}

const fn time(seconds: f64) -> RampSpan {
    RampSpan::Time(Seconds::new(seconds))
}

/// Stages of these rates and lengths.
fn stages(stages: &[(f64, f64)], spacing: Spacing) -> ArrivalLaw {
    let stage = |&(rate, lasts)| RateStage { rate: PerSec::new(rate), lasts: Seconds::new(lasts) };
    ArrivalLaw::Stages { stages: stages.iter().map(stage).collect(), spacing }
}

fn on_off(rates: [f64; 2], means: [f64; 2]) -> ArrivalLaw {
    let ([on, off], [mean_on, mean_off]) = (rates.map(PerSec::new), means.map(Seconds::new));
    ArrivalLaw::OnOff { on, off, mean_on, mean_off }
}

fn diurnal(mean: f64, swing: f64, period: f64, spacing: Spacing) -> ArrivalLaw {
    ArrivalLaw::Diurnal { mean: PerSec::new(mean), swing, period: Seconds::new(period), spacing }
}

fn schedule(arrivals: ArrivalLaw, requests: u64, seed: u64) -> ArrivalSchedule {
    Plan::new(PlanSpec { arrivals, ..spec(requests, seed) }).unwrap().schedule()
}

/// The instants in seconds.
fn seconds(arrivals: ArrivalLaw, requests: u64, seed: u64) -> Vec<f64> {
    schedule(arrivals, requests, seed).flatten().map(Nanos::as_secs_f64).collect()
}

/// The edges of what can be asked for come up as often as what is within.
fn any_rate() -> impl Strategy<Value = f64> {
    prop_oneof![2 => 1e-3..1e6, 1 => Just(1e-9), 1 => Just(1e9)]
}

fn any_time() -> impl Strategy<Value = f64> {
    prop_oneof![2 => 1e-3..1e3, 1 => Just(1e-9), 1 => Just(1e9)]
}

fn any_rate_or_zero() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 3 => any_rate()]
}

fn any_spacing() -> impl Strategy<Value = Spacing> {
    let random = |burstiness| Spacing::Random { burstiness };
    prop_oneof![Just(Spacing::Even), Just(POISSON), (1e-3..1e3).prop_map(random)]
}

fn any_shape() -> impl Strategy<Value = RampShape> {
    prop_oneof![Just(RampShape::Linear), Just(RampShape::Exponential)]
}

/// Any law of which a longer plan begins with the shorter one.
fn any_steady_law() -> impl Strategy<Value = ArrivalLaw> {
    let all_stages = prop::collection::vec((any_rate_or_zero(), any_time()), 0..5);
    prop_oneof![
        Just(ArrivalLaw::AllAtOnce),
        any_rate().prop_map(|rate| ArrivalLaw::Constant { rate: PerSec::new(rate) }),
        (any_rate(), 1e-3..1e3).prop_map(|(rate, b)| gamma(rate, b, Rescale::None)),
        (any_rate_or_zero(), any_rate(), any_time(), any_spacing()).prop_map(
            |(from, to, lasts, spacing)| ramp([from, to], RampShape::Linear, time(lasts), spacing)
        ),
        (any_rate(), any_rate(), any_time(), any_spacing()).prop_map(
            |(from, to, lasts, spacing)| {
                ramp([from, to], RampShape::Exponential, time(lasts), spacing)
            }
        ),
        (all_stages, any_rate(), any_spacing()).prop_map(|(mut list, last, spacing)| {
            list.push((last, 1.0));
            stages(&list, spacing)
        }),
        (0.1..1e6, 0.0..1e6, 0.1..10.0, 0.1..10.0)
            .prop_map(|(on, off, mean_on, mean_off)| on_off([on, off], [mean_on, mean_off])),
        (any_rate(), 0.0..=1.0, any_time(), any_spacing())
            .prop_map(|(mean, swing, period, spacing)| diurnal(mean, swing, period, spacing)),
    ]
}

pub(crate) fn any_law() -> impl Strategy<Value = ArrivalLaw> {
    let stretched = |(rate, b)| gamma(rate, b, Rescale::ToMean);
    let by_number =
        |(from, to, shape, spacing)| ramp([from, to], shape, RampSpan::Requests, spacing);
    prop_oneof![
        5 => any_steady_law(),
        1 => Just(ArrivalLaw::ClosedLoop),
        1 => (any_rate(), 1e-3..1e3).prop_map(stretched),
        1 => (any_rate(), any_rate(), any_shape(), any_spacing()).prop_map(by_number),
    ]
}

proptest! {
    #[test]
    fn instants_never_decrease_and_are_as_many_as_asked_for(
        law in any_law(), requests in 1_u64..300, seed: u64,
    ) {
        let instants: Vec<_> = schedule(law, requests, seed).collect();
        prop_assert_eq!(instants.len() as u64, requests);
        prop_assert!(instants.is_sorted());
    }

    #[test]
    fn more_instants_begin_with_the_fewer(
        law in any_steady_law(), requests in 1_u64..100, more in 1_u64..100, seed: u64,
    ) {
        let short = schedule(law.clone(), requests, seed);
        let long = schedule(law, requests + more, seed);
        prop_assert!(short.eq(long.take(requests as usize)));
    }

    #[test]
    fn what_is_passed_over_leaves_no_trace(
        law in any_law(), requests in 1_u64..200, steps in prop::collection::vec(0_usize..20, 1..20), seed: u64,
    ) {
        let all: Vec<_> = schedule(law.clone(), requests, seed).collect();
        let mut skipping = schedule(law, requests, seed);
        let mut place = 0;
        for step in steps {
            place += step;
            prop_assert_eq!(skipping.nth(step), all.get(place).copied());
            place += 1;
        }
    }

    #[test]
    fn our_laws_fit_through_the_door_for_strangers(law in any_steady_law(), seed: u64) {
        let own = Plan::new(PlanSpec { arrivals: law.clone(), ..spec(50, seed) }).unwrap();
        let handed = Plan::builder(spec(50, seed)).arrivals(law).build().unwrap();
        prop_assert!(own.schedule().eq(handed.schedule()));
    }
}

/// Two instants a second, without end.
#[derive(Debug)]
struct Endless;

impl ArrivalProcess for Endless {
    fn instants(&self, _: u64, _: RandomStream) -> Instants {
        Box::new((1..).map(|half| Nanos::from_millis(500 * half)))
    }
}

#[test]
fn a_law_of_ones_own_is_cut_where_the_plan_ends() {
    let plan = Plan::builder(spec(5, 0)).arrivals(Endless).build().unwrap();
    assert_eq!(plan.schedule().count(), 5);
    let third = plan.sessions([2].into_iter()).next().and_then(|scheduled| scheduled.at);
    assert_eq!(third, Some(Nanos::from_millis(1_500)));
}

#[test]
fn laws_in_a_file_name_their_units() {
    let json = |law: &ArrivalLaw| serde_json::to_string(law).unwrap();
    let linear = ramp([1.0, 9.0], RampShape::Linear, time(60.0), Spacing::Even);
    assert_eq!(
        json(&linear),
        r#"{"ramp":{"from_per_s":1.0,"to_per_s":9.0,"shape":"linear","over":{"time_s":60.0},"spacing":"even"}}"#
    );
    assert_eq!(
        json(&stages(&[(4.0, 30.0)], POISSON)),
        r#"{"stages":{"stages":[{"rate_per_s":4.0,"lasts_s":30.0}],"spacing":{"random":{"burstiness":1.0}}}}"#
    );
    assert_eq!(
        json(&on_off([9.0, 0.0], [1.0, 2.0])),
        r#"{"on_off":{"on_per_s":9.0,"off_per_s":0.0,"mean_on_s":1.0,"mean_off_s":2.0}}"#
    );
    assert_eq!(
        json(&diurnal(5.0, 0.5, 600.0, Spacing::Even)),
        r#"{"diurnal":{"mean_per_s":5.0,"swing":0.5,"period_s":600.0,"spacing":"even"}}"#
    );
}

#[test]
fn a_ramp_over_requests_ends_at_its_last_rate_however_far_apart() {
    let law = ramp([1e9, 1e-9], RampShape::Linear, RampSpan::Requests, Spacing::Even);
    let at = schedule(law, 3, 0).flatten().map(Nanos::as_nanos).collect::<Vec<_>>();
    // A billion seconds for the last, but for the last bits of a float.
    assert_eq!(at[..2], [1, 3]);
    assert!(at[2].abs_diff(1_000_000_000_000_000_000) < 1_000, "{at:?}");
}
