//! What burstier arrivals cost a replica that carries so much, by the search over a simulation of it.

use std::convert::Infallible;

use fizeau_core::{LevelLoad, PerSec};
use fizeau_metrics::{Metric, Slo, Statistic};
use fizeau_pareto::{Demand, FigureEstimate};
use fizeau_record::{
    BurstAccount, BurstsLevel, BurstsQuery, NoBurstAccount, PlanFigure, PlanLevel, ReplicaCapacity,
};
use fizeau_workload::Spacing;
use proptest::prelude::*;

/// A level at this rate, in time as long as no more than `most` are sent.
fn level(rate: f64, most: f64) -> PlanLevel {
    let ttft = if rate <= most { 100.0 } else { 900.0 };
    let value = FigureEstimate::exact(ttft).unwrap();
    let figure = PlanFigure::new(Metric::Ttft, Statistic::P99, value);
    let load = LevelLoad::Rate(PerSec::new(rate));
    PlanLevel::given(load, FigureEstimate::exact(rate).unwrap(), vec![figure])
}

/// What comes of a replica that carries 10 requests a second, `bursty` of them with bursts, and each of several `shared`.
fn simulated(bursty: f64, shared: f64) -> BurstAccount {
    let slo: Slo = "p99 ttft<500ms".parse().unwrap();
    let carried = ReplicaCapacity::of(&[level(8.0, 10.0), level(12.0, 10.0)], &slo.goals).unwrap();
    let demand = Demand::new(100.0, 0.2, 0).unwrap();
    let ask = BurstsQuery {
        goals: &slo.goals,
        demand: &demand,
        carried: &carried,
        measured: Some(1.0),
        burstiness: 0.5,
        engine: "a made-up engine",
    };
    let run = |of: BurstsLevel| {
        let LevelLoad::Rate(rate) = of.load else { panic!("{of:?}") };
        let replicas = f64::from(of.replicas.get());
        let most = match of.spacing {
            Spacing::Random { burstiness } if burstiness < 1.0 && replicas > 1.0 => shared,
            Spacing::Random { burstiness } if burstiness < 1.0 => bursty,
            _ => 10.0,
        };
        Ok::<_, Infallible>(Some(level(rate.get(), most * replicas)))
    };
    BurstAccount::simulated(&ask, run).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_factor_is_that_of_what_is_carried(bursty in 2.0..10.0_f64, gain in 1.0..1.5_f64) {
        let BurstAccount::Simulated(found) = simulated(bursty, bursty * gain) else {
            return Err(TestCaseError::fail("it keeps the goals at some load"));
        };
        prop_assert!((found.factor() / (bursty / 10.0) - 1.0).abs() < 0.04, "{found:?}");
        let (replicas, each) = found.pooled.unwrap();
        prop_assert_eq!(replicas, 4);
        prop_assert!((each.get() / (bursty * gain) - 1.0).abs() < 0.04, "{:?}", found);
    }
}

#[test]
fn an_engine_that_carries_nothing_accounts_for_nothing() {
    let nothing = BurstAccount::NotAccounted(NoBurstAccount::NeverKept);
    let with_bursts = BurstAccount::NotAccounted(NoBurstAccount::NeverKeptWithBursts);
    let found = simulated(0.0, 0.0);
    assert!(found == nothing || found == with_bursts, "{found:?}");
}
