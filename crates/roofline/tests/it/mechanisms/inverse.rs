//! Inverse queries: what is found meets the goal, and one less does not.

use std::num::NonZeroU64;

use fizeau_core::{PerSec, Seconds, Tokens};
use fizeau_roofline::{
    CurveEnd, Deployment, DeploymentObjective, DeploymentQuery, DeploymentSearchError,
    EstimateKind, ExpertExchange, ExpertRouting, Format, Overlap, ServingGoal, ServingNeed, System,
    UniformLoad, UnmetNeed, WeightChoice,
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
        let (by, most) = (EstimateKind::Expected, Tokens::new(most));
        system.largest_context(by, &load(1), batch, goal, most).unwrap()
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
    assert_eq!((quick.end, quick.limited_by), (CurveEnd::Goal, Some(UnmetNeed::Tpot)));
    // 131,072 bytes a token: 5 ms less 4.48 ms of weights leave 13 thousand of them at best, of which 128 come later on average.
    assert!((10_000..13_528).contains(&quick.context.get()), "{quick:?}");
    let goal = goal([ServingNeed::Ttft(Seconds::new(0.1))]);
    let first = find(1.0, &goal, 1 << 20);
    assert_eq!((first.end, first.limited_by), (CurveEnd::Goal, Some(UnmetNeed::Ttft)));
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

/// By Little's law those that do not run wait, whatever a prompt alone takes.
#[test]
fn who_waits_for_a_place_has_no_first_token_meanwhile() {
    let model = model("llama-3.1-70b").with_weights(&WeightChoice::all(Format::Fp8));
    let system = single(model, &device("mi300x"));
    let load =
        |concurrency| UniformLoad { input_tokens: Tokens::new(1024), concurrency, ..load(1) };
    let goal = "tpot:15 ttft:200".parse().unwrap();
    let meet = |concurrency| system.meet(EstimateKind::Expected, &load(concurrency), &goal);
    let free = meet(NonZeroU64::MAX).unwrap();
    assert!(free.batch < 64.0);
    let missed = meet(NonZeroU64::new(64).unwrap()).unwrap_err();
    assert_eq!(missed.need, UnmetNeed::Ttft);
    let waiting = (64.0 - free.batch) / free.requests_per_s.get();
    assert!(at_most(waiting + free.ttft.get(), missed.reached), "{missed:?}");
    assert_eq!(meet(NonZeroU64::new(free.batch as u64).unwrap()), Ok(free));
}

#[test]
fn what_is_in_flight_follows_from_the_goal_where_nobody_says_it() {
    let in_flight = |goal: &str, asked| {
        let goal: ServingGoal = goal.parse().unwrap();
        goal.in_flight(NonZeroU64::new(asked)).get()
    };
    assert_eq!(in_flight("tpot:20", 0), 1);
    assert_eq!(in_flight("concurrency:100", 0), 100);
    assert_eq!(in_flight("concurrency:100", 8), 100);
    assert_eq!(in_flight("rps:20", 0), u64::MAX);
    assert_eq!(in_flight("rps:20", 8), 8);
    assert_eq!(in_flight("rps:20,concurrency:3", 0), 3);
}

#[test]
fn a_search_keeps_how_experts_are_chosen_and_reached() {
    let like = Deployment::SINGLE
        .with_overlap(Overlap::TwoBatches)
        .with_expert_exchange(ExpertExchange::AllGather);
    let (model, device) = (model("gpt-oss-120b"), device("h100-sxm"));
    let spread = |way| {
        let system = System::new(model.clone(), device.clone(), way).unwrap();
        system.with_routing(ExpertRouting::Strict)
    };
    let (load, goal) = (load(64), "concurrency:64 tpot:8".parse().unwrap());
    let by = EstimateKind::Expected;
    let best = spread(like).fewest_devices_for(by, &load, &goal, 8).unwrap().best;
    assert!(best.deployment.to_string().ends_with("all-gather two-batches"), "{}", best.deployment);
    assert_eq!(spread(best.deployment).meet(by, &load, &goal), Ok(best.figures));
}

/// A rate of each user is a time per token.
#[test]
fn a_rate_of_a_user_is_a_time_per_token() {
    let goal = |text: &str| text.parse::<ServingGoal>().unwrap().tpot().unwrap().get();
    // Neither is a part of a request or of a token.
    for text in ["concurrency:2.7", "context:8192.9"] {
        assert!(text.parse::<ServingGoal>().unwrap_err().to_string().contains(text));
    }
    assert_eq!("context:1e3".parse::<ServingGoal>(), "context:1000".parse());
    assert_eq!(
        [goal("tps:40"), goal("tps:40 tpot:30"), goal("tps:40 tpot:20")],
        [0.025, 0.025, 0.02]
    );
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
        let most = |most| system.largest_context(by, &load(1), batch, &goal, Tokens::new(most));
        if let Some(found) = most(1 << 20) {
            prop_assert!(found.figures.tpot.unwrap() <= goal.tpot().unwrap());
            prop_assert!(found.figures.ttft <= goal.ttft().unwrap());
            let is_cut = matches!(found.end, CurveEnd::Memory | CurveEnd::Goal);
            prop_assert_eq!(found.limited_by.is_some(), is_cut);
            prop_assert_eq!(found.limited_by.is_none(), !is_cut && found.context.get() ==
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
