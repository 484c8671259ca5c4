//! What a replica is known to carry: which levels count, and what is taken of all of them.

use std::num::NonZeroU64;

use fizeau_core::{LoadKind, Tokens, UsdPerHour};
use fizeau_metrics::{Metric, Slo, Statistic, Verdict};
use fizeau_pareto::{Demand, FigureEstimate};
use fizeau_record::{
    ArrivalMoments, DevicePlanSource, LevelReport, MeanLengths, PlanFigure, PlanLevel, PlanQuery,
    PlanReport, ReadRun, ReplicaCapacity, StoredRun, TestedReplica,
};
use fizeau_roofline::HourlyRate;

use crate::judged::{growing_queue, levels};
use crate::reading::fixture;

fn read(name: &str) -> ReadRun {
    let run = StoredRun::open(fixture(name)).unwrap();
    let reader = run.reader().unwrap();
    reader.together(reader.levels().unwrap()).unwrap()
}

fn goals(text: &str) -> Slo {
    text.parse().unwrap()
}

/// Two levels, changed, as those of a run.
fn of_levels(change: impl Fn(usize, &mut LevelReport)) -> TestedReplica {
    let mut run = read("simulated");
    run.levels = levels(&[(1.0, 10.0), (2.0, 20.0)]);
    for (at, level) in run.levels.iter_mut().enumerate() {
        change(at, level);
    }
    TestedReplica::of(&run)
}

/// Near its capacity a queue looks shorter in a short level than it gets.
#[test]
fn of_a_search_the_short_levels_between_the_long_ones_do_not_count() {
    let loads = |is_search: bool, verdict: Verdict| {
        let mut run = read("simulated");
        run.is_search = is_search;
        run.levels = levels(&[(2.0, 10.0), (3.0, 15.0), (4.0, 20.0), (5.0, 25.0), (6.0, 30.0)]);
        run.sustained = levels(&[(3.0, 15.0), (5.0, 25.0)]);
        run.sustained[1].validity.verdict = verdict;
        if verdict == Verdict::Invalid {
            let reason = fizeau_metrics::VerdictReason::new(
                verdict,
                fizeau_metrics::VerdictConcern::Client,
                "late",
            );
            run.sustained[1].validity.reasons = vec![reason];
        }
        let tested = TestedReplica::of(&run);
        tested.levels.iter().map(|level| level.load.value()).collect::<Vec<_>>()
    };
    assert_eq!(loads(true, Verdict::Valid), [2.0, 6.0, 3.0, 5.0]);
    assert_eq!(
        loads(true, Verdict::Invalid),
        [2.0, 4.0, 5.0, 6.0, 3.0],
        "a long level that shows nothing outranks none"
    );
    assert_eq!(loads(false, Verdict::Valid), [2.0, 3.0, 4.0, 5.0, 6.0]);
}

/// A share over all prompt tokens; the shape of arrivals where it is one; the devices of the deployment.
#[test]
fn a_replica_has_the_cache_the_bursts_and_the_devices_of_its_run() {
    let cached = |inputs: [u64; 2], shares: [Option<f64>; 2]| {
        let of = of_levels(|at, level| {
            level.summary.tokens.input = Some(Tokens::new(inputs[at]));
            level.summary.tokens.cached_share = shares[at];
        });
        of.cached_share
    };
    assert_eq!(cached([100, 300], [Some(0.5), Some(0.1)]), Some(0.2));
    assert_eq!(cached([100, 300], [Some(0.5), None]), Some(0.5), "the other does not tell");
    assert_eq!(cached([100, 300], [None, None]), None);
    assert_eq!(cached([0, 0], [Some(0.5), Some(0.5)]), None, "nothing has no share");
    let bursts = |cv: [Option<f64>; 2]| {
        let of = of_levels(|at, level| {
            level.requested.arrivals = Some(ArrivalMoments { rate: None, cv_squared: cv[at] });
        });
        of.burstiness
    };
    assert_eq!(bursts([Some(4.0), Some(4.0)]), Some(0.25));
    assert_eq!(bursts([None, Some(2.0)]), Some(0.5));
    assert_eq!(bursts([Some(4.0), Some(1.0)]), None);
    let mut run = read("simulated");
    let mut parts = fizeau_record::ReferenceParts::default();
    parts.model_name = Some("llama-3.1-8b".to_owned());
    parts.device_name = Some("h100-sxm".to_owned());
    (parts.deployment.tp, parts.deployment.pp) = (2, 2);
    run.reference = Some(parts.load().unwrap());
    assert_eq!(TestedReplica::of(&run).devices, NonZeroU64::new(4));
    run.reference = None;
    assert_eq!(TestedReplica::of(&run).devices, None);
}

#[test]
fn lengths_that_are_not_known_are_those_of_others() {
    let of = |input, output| MeanLengths { input, output };
    let own = of(Some(100.4), None);
    assert_eq!(own.or(of(Some(7.0), Some(8.0))), of(Some(100.4), Some(8.0)));
    assert_eq!(own.whole(), None);
    assert_eq!(of(Some(100.4), Some(0.2)).whole(), Some([100, 1].map(Tokens::new)));
    let reference = read("simulated").reference.unwrap();
    assert!(own.speed_of_light_curve(&reference).is_none());
    assert!(of(Some(100.4), Some(20.0)).speed_of_light_curve(&reference).is_some());
}

/// A queue that grew shows that its load was too much; a closed loop has none.
#[test]
fn a_simulated_level_whose_queue_grew_carries_nothing() {
    let slo = goals("p99 e2el<100s");
    let carries = |kind: LoadKind, has_grown: bool| {
        let mut summary = levels(&[(4.0, 10.0)]).swap_remove(0).summary;
        summary.saturation = has_grown.then(growing_queue);
        let level = PlanLevel::simulated(kind.at(4.0), &summary).unwrap();
        ReplicaCapacity::of(&[level], &slo.goals).is_ok()
    };
    assert!(carries(LoadKind::Rate, false));
    assert!(!carries(LoadKind::Rate, true));
    assert!(carries(LoadKind::Concurrency, true));
    let mut summary = levels(&[(4.0, 10.0)]).swap_remove(0).summary;
    summary.requests.completed = 0;
    assert_eq!(PlanLevel::simulated(LoadKind::Rate.at(4.0), &summary), None);
}

/// Good requests rise with the load and collapse where too much is late: the highest load is where they fall below the goal.
#[test]
fn good_requests_that_collapse_end_the_loads_within_their_goal() {
    let of = |rates: [f64; 4]| {
        let level = |(load, good): (f64, f64)| {
            let value = FigureEstimate::new(good, 0.95 * good, 1.05 * good).unwrap();
            let figure = PlanFigure::new(Metric::GoodputPerSec, Statistic::Value, value);
            PlanLevel::given(
                LoadKind::Rate.at(load),
                FigureEstimate::exact(load).unwrap(),
                vec![figure],
            )
        };
        let levels: Vec<PlanLevel> =
            [4.0, 8.0, 12.0, 16.0].into_iter().zip(rates).map(level).collect();
        let found = ReplicaCapacity::of(&levels, &goals("goodput>2").goals).ok()?;
        Some(found.requests_per_s.value())
    };
    let collapsed = of([4.0, 8.0, 5.0, 0.5]).unwrap();
    assert!((12.0..16.0).contains(&collapsed), "{collapsed}");
    assert_eq!(of([4.0, 8.0, 12.0, 16.0]), Some(16.0));
    assert_eq!(of([1.0, 0.9, 0.8, 0.5]), None);
}

/// Other goals that could be kept are no plan for those that were asked; the loose end of a range is one.
#[test]
fn goals_are_met_as_they_were_asked_or_at_their_loose_ends() {
    let is_met = |slo: &str, others: &[&str]| {
        let replica = TestedReplica::read(fixture("simulated")).unwrap();
        let hour = HourlyRate::given(UsdPerHour::new(1.0)).unwrap();
        let asked = goals(slo).goals;
        let source = DevicePlanSource::tested("a", &replica, NonZeroU64::MIN, Some(hour), &asked);
        let mut ask = PlanQuery::new(Demand::new(10.0, 0.0, 0).unwrap(), asked.to_vec());
        ask.others =
            others.iter().map(|text| ((*text).to_owned(), goals(text).goals.to_vec())).collect();
        PlanReport::new(ask, vec![source]).is_met()
    };
    assert!(is_met("mean e2el<100s", &[]));
    assert!(!is_met("mean e2el<1us", &[]));
    assert!(!is_met("mean e2el<1us", &["mean e2el<100s"]));
    assert!(is_met("mean e2el<1us..100s", &[]));
}
