//! Inverse queries: what is found meets the goal, and one less does not.

use std::num::NonZeroU64;

use fizeau_core::{PerSec, Seconds, Tokens};
use fizeau_roofline::{
    CurveEnd, Deployment, DeploymentObjective, DeploymentQuery, DeploymentSearchError,
    EstimateKind, ServingGoal, ServingNeed, System, UniformLoad, UnmetNeed,
};
use proptest::prelude::*;

use crate::known::{accounts, at_most, device, loads, model, systems};
use crate::{fixed, llama_8b, single};

fn load(concurrency: u64) -> UniformLoad {
    UniformLoad::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::new(concurrency).unwrap())
}

fn goal<const N: usize>(needs: [ServingNeed; N]) -> ServingGoal {
    ServingGoal::new(needs).unwrap()
}

fn within(millis: f64) -> ServingGoal {
    goal([ServingNeed::Tpot(Seconds::new(millis / 1e3))])
}

#[test]
fn what_limits_a_batch() {
    let system = single(llama_8b(), &device("h100-sxm"));
    let limit = |concurrency, millis| {
        let target = Seconds::new(millis / 1e3);
        let found = system.largest_batch(EstimateKind::Expected, &load(concurrency), target);
        found.map(|found| (found.batch > 0, found.limited_by))
    };
    assert_eq!(limit(1000, 11.0), Some((true, Some(UnmetNeed::Tpot))));
    assert_eq!(limit(1000, 1000.0), Some((true, Some(UnmetNeed::Concurrency))));
    assert_eq!(limit(4, 1000.0), Some((true, None)));
    assert_eq!(limit(4, 1.0), None);
}

#[test]
fn what_limits_a_context() {
    let system = single(llama_8b(), &device("h100-sxm"));
    let find = |batch, goal: &ServingGoal, most| {
        system.largest_context(EstimateKind::Expected, batch, goal, Tokens::new(most)).unwrap()
    };
    let whole = find(1.0, &ServingGoal::default(), 1 << 20);
    assert_eq!((whole.context.get(), whole.end), (131_072, CurveEnd::MaxContext));
    let short = find(1.0, &ServingGoal::default(), 1000);
    assert_eq!(
        (short.context.get(), short.end, short.limited_by),
        (1000, CurveEnd::Requested, None)
    );
    let full = find(8.0, &ServingGoal::default(), 1 << 20);
    assert_eq!((full.end, full.limited_by), (CurveEnd::Memory, Some(UnmetNeed::Context)));
    let quick = find(1.0, &within(5.0), 1 << 20);
    assert_eq!(quick.limited_by, Some(UnmetNeed::Tpot));
    // 131,072 bytes a token: 5 ms less 4.48 ms of weights leave 13 thousand of them at best.
    assert!((10_000..13_400).contains(&quick.context.get()), "{quick:?}");
    let goal = goal([ServingNeed::Ttft(Seconds::new(0.1))]);
    assert_eq!(find(1.0, &goal, 1 << 20).limited_by, Some(UnmetNeed::Ttft));
}

#[test]
fn what_is_missed_is_named() {
    let (model, load) = (model("llama-3.1-70b"), load(8));
    let h100 = device("h100-sxm");
    let goal = within(1.0);
    let error = DeploymentQuery::new(&model, load, goal).fewest_devices(&h100, 4).unwrap_err();
    let message = error.to_string();
    assert!(
        message.starts_with("no deployment on up to 4 h100-sxm meets the goal; TP4"),
        "{message}"
    );
    assert!(message.ends_with("ms per token, 1.00 ms requested"), "{message}");
    let error = DeploymentQuery::new(&model, load, goal).best_deployment(&h100, 1).unwrap_err();
    let DeploymentSearchError::NothingMeets { lacks, .. } = error else { panic!("{error}") };
    assert_eq!(lacks.need, UnmetNeed::Memory);
}

#[test]
fn an_aim_chooses() {
    let (model, device) = (llama_8b(), device("h100-sxm"));
    let all = |concurrency: u64| {
        Deployment::candidates(&model, 8).into_iter().map(move |way| {
            let system = System::new(llama_8b(), crate::known::device("h100-sxm"), way).unwrap();
            system
                .meet(EstimateKind::Expected, &load(concurrency), &ServingGoal::default())
                .unwrap()
        })
    };
    let best = |concurrency, aim| {
        let query = DeploymentQuery {
            aim,
            ..DeploymentQuery::new(&model, load(concurrency), ServingGoal::default())
        };
        let found = query.best_deployment(&device, 8).unwrap();
        assert_ne!(found.runner_up.unwrap().deployment, found.best.deployment);
        found.best
    };
    for concurrency in [1, 64, 2000] {
        let most = best(concurrency, DeploymentObjective::Throughput).figures.requests_per_s;
        assert!(all(concurrency).all(|figures| figures.requests_per_s <= most));
        let least = best(concurrency, DeploymentObjective::Latency).figures.e2el;
        assert!(all(concurrency).all(|figures| figures.e2el >= least));
    }
    // One request is done soonest where all devices work on it.
    assert_eq!(best(1, DeploymentObjective::Latency).deployment.tensor(), 8);
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn the_largest_batch_meets_and_one_more_does_not(
        system in systems(), load in loads(), by in accounts(), target in 0.5..200.0,
    ) {
        let target = Seconds::new(target / 1e3);
        let meets = |batch: u64| {
            system.figures_at(by, &load, batch as f64).tpot.is_none_or(|tpot| tpot <= target)
        };
        match system.largest_batch(by, &load, target) {
            Some(found) => {
                prop_assert!(meets(found.batch));
                prop_assert!(found.batch as f64 <= system.max_batch(&load));
                if found.limited_by == Some(UnmetNeed::Tpot) {
                    prop_assert!(!meets(found.batch + 1));
                }
            }
            None => prop_assert!(system.max_batch(&load) < 1.0 || !meets(1)),
        }
    }

    #[test]
    fn the_largest_context_meets_and_one_more_does_not(
        system in systems(), by in accounts(), batch in 1.0..64.0, tpot in 1.0..200.0, ttft in 1.0..2000.0,
    ) {
        let needs = [(ttft, ServingNeed::Ttft as fn(_) -> _), (tpot, ServingNeed::Tpot)];
        let goal = goal(needs.map(|(ms, of)| of(Seconds::new(ms / 1e3))));
        let most = |most| system.largest_context(by, batch, &goal, Tokens::new(most));
        if let Some(found) = most(1 << 20) {
            prop_assert!(found.tpot <= goal.tpot().unwrap() && found.ttft <= goal.ttft().unwrap());
            prop_assert_eq!(found.limited_by.is_none(), found.end != CurveEnd::Memory && found.context.get() ==
                system.model().max_context.map_or(1 << 20, |most| most.get().min(1 << 20)));
        }
    }

    #[test]
    fn a_goal_that_is_met_is_met(
        system in systems(), load in loads(), by in accounts(), tpot in 1.0..200.0, user in 1.0..500.0,
        rate in 0.01..100.0, ttft in 1.0..5000.0,
    ) {
        let goal = goal([
            ServingNeed::TokensPerSPerUser(PerSec::new(user)),
            ServingNeed::RequestsPerS(PerSec::new(rate)),
            ServingNeed::Ttft(Seconds::new(ttft / 1e3)),
            ServingNeed::Tpot(Seconds::new(tpot / 1e3)),
        ]);
        match system.meet(by, &load, &goal) {
            Ok(figures) => {
                if let Some(reached) = figures.tpot {
                    prop_assert!(at_most(reached.to_millis().get(), tpot));
                    prop_assert!(at_most(user, 1.0 / reached.get()));
                }
                prop_assert!(at_most(rate, figures.requests_per_s.get()));
                prop_assert!(at_most(figures.ttft.to_millis().get(), ttft));
                prop_assert!(at_most(figures.batch, system.max_batch(&load)));
            }
            Err(lacks) => prop_assert!(lacks.factor() > 1.0, "{lacks:?}"),
        }
    }
}

proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 24, ..fixed() })]

    #[test]
    fn the_fewest_devices_meet_and_one_less_does_not(
        name in prop::sample::select(vec!["llama-3.1-8b", "llama-3.1-70b", "gpt-oss-120b"]),
        hardware in prop::sample::select(vec!["h100-sxm", "mi300x", "l40s"]),
        tpot in 5.0..100.0, count in 1_u64..128,
    ) {
        let (model, device) = (model(name), device(hardware));
        let count_of = NonZeroU64::new(count).unwrap();
        let tpot = ServingNeed::Tpot(Seconds::new(tpot / 1e3));
        let goal = goal([ServingNeed::Concurrency(count_of), tpot]);
        let query = DeploymentQuery::new(&model, load(count), goal);
        let Ok(found) = query.fewest_devices(&device, 12) else { return Ok(()) };
        let best = found.best.deployment;
        let system = |way: Deployment| System::new(model.clone(), device.clone(), way).unwrap();
        let figures = system(best).meet(EstimateKind::Expected, &load(count), &goal).unwrap();
        prop_assert_eq!(figures, found.best.figures);
        if best.devices() > 1 {
            prop_assert!(found.limited_by.is_some());
            for way in Deployment::candidates(&model, best.devices() - 1) {
                prop_assert!(system(way).meet(EstimateKind::Expected, &load(count), &goal).is_err());
            }
        }
    }
}
