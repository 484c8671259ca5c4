//! Plans: replicas and money from tested loads.

use std::num::NonZeroU64;

use fizeau_core::{LevelLoad, PerSec, UsdPerHour};
use fizeau_metrics::{Goal, Metric, Slo, Statistic};
use fizeau_pareto::{Demand, FigureEstimate};
use fizeau_record::{
    BurstAccount, DevicePlanSource, LevelStatus, MeanLengths, NoBurstAccount, NoCapacityReason,
    NoPlanReason, PlanFigure, PlanLevel, PlanQuery, PlanReport, SimulatedBursts, UnusableLevel,
};
use fizeau_report::Shown;
use fizeau_roofline::HourlyRate;
use proptest::prelude::*;

use crate::{cases, sample};

fn goals(text: &str) -> Vec<Goal> {
    text.parse::<Slo>().unwrap().goals.to_vec()
}

fn ask(slo: &str) -> PlanQuery {
    PlanQuery::new(Demand::new(100.0, 0.2, 1).unwrap(), goals(slo))
}

/// A level at `rate` whose p99 TTFT lies within a tenth of `ttft`.
fn level((rate, ttft): (f64, f64)) -> PlanLevel {
    let value = FigureEstimate::new(ttft, 0.9 * ttft, 1.1 * ttft).unwrap();
    let figure = PlanFigure::new(Metric::Ttft, Statistic::P99, value);
    let served = FigureEstimate::exact(rate).unwrap();
    PlanLevel::given(LevelLoad::Rate(PerSec::new(rate)), served, vec![figure])
}

const CURVE: [(f64, f64); 4] = [(4.0, 200.0), (8.0, 260.0), (12.0, 300.0), (16.0, 700.0)];

fn source(levels: &[(f64, f64)]) -> DevicePlanSource {
    let levels = levels.iter().copied().map(level).collect();
    let mut source = DevicePlanSource::new("h100", NonZeroU64::new(8).unwrap(), levels);
    "curve.csv".clone_into(&mut source.from);
    source.hour = Some(HourlyRate::given(UsdPerHour::new(2.5)).unwrap());
    source.lengths = MeanLengths { input: Some(1000.0), output: Some(250.0) };
    source.prompt_share = Ok(0.25);
    source.bursts = BurstAccount::NotAccounted(NoBurstAccount::NoCalibration);
    source
}

/// A plan with every field, and one that came to nothing.
pub(crate) fn sample() -> PlanReport {
    PlanReport::new(ask("p99 ttft<=500ms"), vec![source(&CURVE), source(&[(4.0, 900.0)])])
}

fn one(slo: &str, source: DevicePlanSource) -> PlanReport {
    PlanReport::new(ask(slo), vec![source])
}

/// 14 requests/s are carried within 500 ms, halfway between 12 and 16; 100 / (14 x 0.8) = 8.9 replicas and one to spare are 80
/// devices, 200 dollars an hour; 360,000 requests an hour are 90 million output tokens.
#[test]
fn a_plan_by_hand() {
    let report = one("p99 ttft<=500ms", source(&CURVE));
    let planned = report.plans()[0].outcome.as_ref().unwrap();
    assert_eq!(planned.carried.requests_per_s.value(), 14.0);
    assert_eq!(planned.carried.nearest, LevelLoad::Rate(PerSec::new(12.0)));
    let fleet = planned.fleets.likely;
    assert_eq!((fleet.needed, fleet.spare), (9, 1));
    assert!((fleet.utilisation - 100.0 / 140.0).abs() < 1e-12);
    let cost = planned.cost.unwrap();
    let near =
        |of: f64, by_hand: f64| assert!((of / by_hand - 1.0).abs() < 1e-12, "{of} {by_hand}");
    near(cost.usd_per_hour.low, 200.0);
    near(cost.usd_per_month.low, 200.0 * 730.5);
    near(cost.usd_per_request.low, 200.0 / 360_000.0);
    near(cost.usd_per_million_output_alone.unwrap().low, 200.0 / 90.0);
    near(cost.usd_per_million_output.unwrap().low, 0.75 * 200.0 / 90.0);
    near(cost.usd_per_million_input.unwrap().low, 0.25 * 200.0 / 360.0);
    // What both kinds of token bear is the whole.
    let (input, output) =
        (cost.usd_per_million_input.unwrap(), cost.usd_per_million_output.unwrap());
    near(1e-6 * (1000.0 * input.low + 250.0 * output.low), cost.usd_per_request.low);
    // The worse ends cross earlier: at 330 + 440 x = 500.
    let cautious = planned.fleets.cautious.unwrap();
    assert_eq!(cautious.needed, 10);
}

#[test]
fn the_text_is_as_it_was() {
    let mut other = source(&[(2.0, 120.0), (6.0, 180.0)]);
    other.name = "mi300x".to_owned();
    other.devices_per_replica = NonZeroU64::new(2).unwrap();
    let text =
        Shown(&PlanReport::new(ask("p99 ttft<500ms..600ms"), vec![source(&CURVE), other])).text();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    crate::is_as_golden("plan.txt", &text);
}

/// What follows from an upper limit of replicas is one, too.
#[test]
fn money_for_replicas_that_may_be_fewer_is_at_most_so_much() {
    let open = source(&[(2.0, 120.0), (6.0, 180.0)]);
    let report = PlanReport::new(ask("p99 ttft<=500ms"), vec![source(&CURVE), open]);
    let cost = |index: usize| report.plans()[index].outcome.as_ref().unwrap().cost.unwrap();
    let [hour, of_open] = [0, 1].map(|index| format!("{:.2}", cost(index).usd_per_hour.low));
    let text = Shown(&report).text();
    assert!(text.contains(&format!(" <={of_open} ")), "{text}");
    assert!(text.contains(&format!(" at most {of_open}")), "{text}");
    assert!(text.contains(&format!(" {hour} ")) && !text.contains(&format!("<={hour} ")), "{text}");
}

#[test]
fn json_has_all_of_it() {
    let report = one("p99 ttft<500ms", source(&CURVE));
    let json: serde_json::Value = serde_json::from_str(&report.to_json().unwrap()).unwrap();
    assert_eq!(json["schema"], "fizeau.plan/1");
    assert_eq!(json["cheapest"], "h100");
    let plan = &json["plans"][0];
    assert_eq!(plan["likely"]["replicas_needed"], 9);
    assert_eq!(plan["likely"]["devices"], 80);
    assert_eq!(plan["likely"]["usd_per_hour"]["low"], 200.0);
    assert_eq!(plan["nearest_tested"]["requests_per_s"], 12.0);
    assert_eq!(plan["speed_of_light_reason"], "no model and device are known");
    assert_eq!(plan["bursts"]["accounted"], false);
    assert_eq!(plan["other_goals"].as_array().unwrap().len(), 5);
    let tightest = plan["tightest_share_of_latency_limits"].as_f64().unwrap();
    // 200 ms at the lowest load.
    assert!((tightest - 0.4).abs() < 1e-3, "{tightest}");
}

#[test]
fn the_cheapest_is_by_the_hour() {
    let mut dear = source(&CURVE);
    dear.name = "dear".to_owned();
    dear.hour = Some(HourlyRate::given(UsdPerHour::new(9.0)).unwrap());
    let mut unmet = source(&[(1.0, 900.0)]);
    unmet.name = "slow".to_owned();
    let report = PlanReport::new(ask("p99 ttft<500ms"), vec![unmet, dear, source(&CURVE)]);
    assert_eq!(report.cheapest(), Some(2));
    assert!(report.is_met());
}

#[test]
fn what_cannot_be_met_is_said_with_what_could() {
    let report = one("p99 ttft<150ms", source(&CURVE));
    assert!(!report.is_met());
    assert_eq!(report.cheapest(), None);
    let error = report.plans()[0].outcome.as_ref().unwrap_err().to_string();
    assert_eq!(
        error,
        "no tested load meets the goals: p99 TTFT at 4 requests/s: 200 ms, 33 % over its limit; the nearest that could be met: p99 TTFT at most 200 ms at 4 requests/s"
    );
    // Of a range the loose end counts.
    assert!(one("p99 ttft<150ms..250ms", source(&CURVE)).is_met());
    let lacking = one("p99 e2el<1s", source(&CURVE));
    let error = lacking.plans()[0].outcome.as_ref().unwrap_err();
    assert!(matches!(error, NoPlanReason::NotCarried(NoCapacityReason::NoFigure { .. })));
    assert_eq!(
        error.to_string(),
        "p99 E2EL < 1000 ms: no level has that figure; there are p99 ttft"
    );
    let mut empty = source(&[]);
    empty.left_out = vec!["concurrency 1: partial: interrupted".to_owned()];
    let error = one("p99 ttft<1s", empty).plans()[0].outcome.as_ref().unwrap_err().to_string();
    assert_eq!(error, "no level can be judged: concurrency 1: partial: interrupted");
}

#[test]
fn bursts_lower_what_is_planned_and_not_what_was_measured() {
    let mut bursty = source(&CURVE);
    bursty.bursts = BurstAccount::Simulated(SimulatedBursts {
        burstiness: 0.5,
        engine: "an engine".to_owned(),
        measured_with: "Poisson arrivals".to_owned(),
        as_measured: PerSec::new(10.0),
        under_bursts: PerSec::new(7.0),
        pooled: Some((8, PerSec::new(9.0))),
    });
    let report = one("p99 ttft<=500ms", bursty);
    let planned = report.plans()[0].outcome.as_ref().unwrap();
    assert_eq!(planned.carried.requests_per_s.value(), 14.0);
    assert!((planned.per_replica.value() - 9.8).abs() < 1e-12);
    assert_eq!(planned.fleets.likely.needed, 13);
    let text = Shown(&report).text();
    assert!(text.contains("it is planned to carry 9.80 requests/s"), "{text}");
    assert!(text.contains("each of 8"), "{text}");

    // No simulation raises what was measured.
    let mut smooth = source(&CURVE);
    smooth.bursts = match &report.plans()[0].source.bursts {
        BurstAccount::Simulated(bursts) => BurstAccount::Simulated(SimulatedBursts {
            as_measured: PerSec::new(5.0),
            ..bursts.clone()
        }),
        other => other.clone(),
    };
    let report = one("p99 ttft<=500ms", smooth);
    assert_eq!(report.plans()[0].outcome.as_ref().unwrap().per_replica.value(), 14.0);
    assert!(Shown(&report).text().contains("counts in full"), "{}", Shown(&report).text());
}

/// The levels of a run: those of the closed loop give what they completed, and a partial one is not used.
#[test]
fn a_run_is_planned_from() {
    let sweep = sample::sweep();
    let levels = sweep.levels().iter().map(PlanLevel::measured);
    let levels: Vec<PlanLevel> = levels.filter_map(Result::ok).collect();
    let mut cut = sample::level(4);
    cut.status = LevelStatus::Partial { reason: "interrupted".to_owned() };
    let reason = "partial: interrupted".to_owned();
    assert_eq!(PlanLevel::measured(&cut), Err(UnusableLevel::LeftOut { reason }));
    let mut source = source(&[]);
    (source.levels, source.light) = (levels, sweep.curve().cloned());
    source.devices_per_replica = NonZeroU64::MIN;
    let report = PlanReport::new(ask("p99 e2el<600ms"), vec![source]);
    let planned = report.plans()[0].outcome.as_ref().unwrap();
    assert!(matches!(planned.carried.nearest, LevelLoad::Concurrency(_)));
    let light = planned.light.as_ref().unwrap();
    assert!(light.share_of_replica > 0.0 && light.share_of_replica <= 1.0, "{light:?}");
    // Headroom, a spare one and whole replicas come on top.
    assert!(light.share_of_cost < light.share_of_replica, "{light:?}");
}

/// A latency that rises with the load.
fn curves() -> impl Strategy<Value = Vec<(f64, f64)>> {
    prop::collection::vec((0.5_f64..5.0, 1.0_f64..200.0), 2..8).prop_map(|steps| {
        let (mut rate, mut ttft) = (0.0, 50.0);
        let add = |(more, slower): (f64, f64)| {
            rate += more;
            ttft += slower;
            (rate, ttft)
        };
        steps.into_iter().map(add).collect()
    })
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn a_tighter_goal_is_never_cheaper(curve in curves(), limit in 60.0_f64..2000.0, less in 0.2_f64..1.0) {
        let cost = |limit: f64| {
            let report = one(&format!("p99 ttft<={limit:.3}ms"), source(&curve));
            report.plans()[0].outcome.as_ref().ok().map(|planned| planned.cost.unwrap().usd_per_hour.low)
        };
        match (cost(limit), cost(limit * less)) {
            (Some(loose), Some(tight)) => prop_assert!(tight >= loose),
            (None, Some(_)) => prop_assert!(false, "the tighter goal alone is met"),
            _ => {}
        }
    }

    #[test]
    fn the_replicas_carry_the_rate_with_their_headroom(curve in curves(), limit in 60.0_f64..2000.0) {
        let report = one(&format!("p99 ttft<={limit:.3}ms"), source(&curve));
        if let Ok(planned) = &report.plans()[0].outcome {
            let (each, fleet) = (planned.per_replica.value(), planned.fleets.likely);
            prop_assert!(fleet.needed as f64 * each * 0.8 >= 100.0 * (1.0 - 1e-8));
            prop_assert!(fleet.needed == 1 || (fleet.needed - 1) as f64 * each * 0.8 < 100.0);
            match planned.fleets.cautious {
                Some(cautious) => prop_assert!(cautious.needed >= fleet.needed),
                None => prop_assert_eq!(planned.per_replica.low(), planned.per_replica.high()),
            }
        }
    }

    /// The prices of the table are those of plans for the same goals.
    #[test]
    fn prices_fall_from_the_tightest_to_the_loosest(curve in curves(), limit in 60.0_f64..2000.0) {
        let report = one(&format!("p99 ttft<={limit:.3}ms"), source(&curve));
        let prices = report.plans()[0].prices.iter();
        let prices = prices.map(|price| match &price.outcome {
            Ok(planned) => planned.cost.unwrap().usd_per_hour.low,
            Err(_) => f64::INFINITY,
        });
        prop_assert!(prices.is_sorted_by(|tight, loose| tight >= loose));
    }
}
