//! Searches over a server that takes the same time for each request, in virtual time.

use std::num::NonZeroU64;

use fizeau_core::{
    Arrival, Channel, LevelLoad, LoadKind, Millis, Nanos, PerSec, Seconds, Stamp, Tape,
};
use fizeau_experiment::{
    Confirmation, LoadSearch, LoadSearchError, LoadSearchSpec, SearchStep, SearchTrial,
    SweepRunner, SweepSpec,
};
use fizeau_experiment::{LevelSize, LevelSpec};
use fizeau_harness::{Cancel, SelfWatch, TaskDriver};
use fizeau_metrics::{LevelSummary, Saturation, Timeline};
use fizeau_pareto::SearchEnding;
use fizeau_record::{SearchJudgement, SearchPurpose};
use fizeau_workload::{Lengths, PlanSpec};

use crate::stand::{Paused, Server, paused};

fn size(requests: u64) -> LevelSize {
    LevelSize::new(NonZeroU64::new(requests), None, Some(2))
}

fn spec(over: LoadKind, slo: &str) -> LoadSearchSpec {
    let mut spec = LoadSearchSpec::new(over, slo.parse().unwrap());
    (spec.size, spec.confirm, spec.to) = (size(120), Some(size(300)), Some(64.0));
    spec
}

/// Each request takes 100 ms, however many there are.
fn searched(spec: LoadSearchSpec) -> LoadSearch {
    let mut search = LoadSearch::new(spec).unwrap();
    measured(|last| {
        last.iter().for_each(|level| search.observe(level));
        match search.next() {
            SearchStep::Measure(ask) | SearchStep::Confirm(ask) => Some(ask),
            SearchStep::Done => None,
        }
    });
    search
}

/// Measures the levels that `next` asks for, given what came of the one before, and gives the last.
fn measured(
    mut next: impl FnMut(Option<&LevelSummary>) -> Option<LevelSpec>,
) -> Option<LevelSummary> {
    paused(async {
        let time = Paused::new();
        let server = Server::new(&time, Nanos::from_millis(100));
        let cancel = Cancel::new();
        let rig =
            TaskDriver { transport: &server, timer: &time, watch: SelfWatch::Off, cancel: &cancel };
        let workload = PlanSpec { lengths: Lengths::fixed(8, 1), ..PlanSpec::new(1).unwrap() };
        let plan = SweepSpec::new([], workload);
        let (mut sweep, mut last) = (SweepRunner::new(rig, &plan, None), None);
        while let Some(ask) = next(last.as_ref()) {
            last = Some(sweep.level(ask, &mut ()).await.unwrap().unwrap().run.summary);
        }
        last
    })
}

/// A level of 60 requests of 100 ms each: too few for a p99.
fn searched_level() -> LevelSummary {
    let ask = LevelSpec { load: LoadSearchSpec::FIRST.into(), visit: 0, size: size(60) };
    measured(|last| last.is_none().then_some(ask)).unwrap()
}

#[test]
fn what_never_breaks_is_found_up_to_the_highest_load_and_confirmed() {
    let search = searched(spec(LoadKind::Concurrency, "p99 e2el<150ms"));
    let found = search.result();
    assert_eq!((found.ending, found.load), (SearchEnding::AllGood, Some(64.0)));
    assert_eq!(search.confirmation(), Confirmation::Held { load: 64.0, refuted: None });
    let last = search.trials().last().unwrap();
    assert_eq!((last.purpose, last.ask.size), (SearchPurpose::Confirmation, size(300)));
    assert_eq!(last.ask.visit, 1, "it was measured before");
}

#[test]
fn a_rate_begins_at_what_a_closed_loop_completes() {
    let mut spec = spec(LoadKind::Rate, "p99 e2el<150ms");
    spec.to = None;
    let search = searched(spec);
    let loads: Vec<LevelLoad> = search.trials().iter().map(|trial| trial.ask.load).collect();
    assert_eq!(loads[0], LevelLoad::from(LoadSearchSpec::FIRST));
    assert_eq!(search.trials()[0].purpose, SearchPurpose::Start);
    let LevelLoad::Rate(rate) = loads[1] else { panic!("{loads:?}") };
    assert!((rate.get() / 160.0 - 1.0).abs() < 0.1, "sixteen slots of 100 ms: {rate:?}");
}

/// 120 requests of 100 ms each are all under way before the first is answered at 1,200 requests/s: more shows nothing.
#[test]
fn no_rate_is_tried_at_which_all_requests_leave_before_the_first_is_answered() {
    for from in [None, Some(40.0)] {
        let mut spec = spec(LoadKind::Rate, "p99 e2el<150ms");
        (spec.from, spec.to) = (from, None);
        let search = searched(spec);
        let rates = search.trials().iter().filter_map(|trial| match trial.ask.load {
            LevelLoad::Rate(rate) => Some(rate.get()),
            LevelLoad::Concurrency(_) => None,
        });
        assert_eq!(rates.reduce(f64::max), Some(1_200.0));
        assert_eq!(
            (search.result().ending, search.result().load),
            (SearchEnding::AllGood, Some(1_200.0))
        );
    }
}

#[test]
fn what_no_load_keeps_is_unmet_and_never_confirmed() {
    let search = searched(spec(LoadKind::Concurrency, "p99 e2el<50ms"));
    assert_eq!((search.result().ending, search.result().load), (SearchEnding::Unmet, None));
    assert_eq!(search.confirmation(), Confirmation::NotRun);
    assert!(search.trials().iter().all(|trial| trial.purpose == SearchPurpose::Evaluation));
    assert_eq!(search.first_broken(), None);
}

/// The last of the long levels outranks the short ones, which all held here; one second of them is too short for a p99, so
/// that the greatest value speaks for it.
#[test]
fn the_answer_is_the_load_that_a_long_level_confirmed() {
    let mut spec = spec(LoadKind::Concurrency, "p99 e2el<150ms");
    spec.size = size(90);
    let mut search = LoadSearch::new(spec).unwrap();
    let summary = searched_level();
    while let SearchStep::Measure(_) = search.next() {
        search.observe(&summary);
    }
    let SearchStep::Confirm(first) = search.next() else { panic!("nothing to confirm") };
    let mut slow = summary.clone();
    slow.metrics.e2el.max = Some(Millis::new(151.0));
    search.observe(&slow);
    assert_eq!(search.trials().last().unwrap().judgement, SearchJudgement::Missed);
    let SearchStep::Confirm(second) = search.next() else { panic!("no step below") };
    search.observe(&summary);
    let (refuted, load) = (first.load.value(), second.load.value());
    assert_eq!(search.confirmation(), Confirmation::Held { load, refuted: Some(refuted) });
    let found = search.result();
    let edge = found.edge.unwrap();
    assert!(load < refuted);
    assert_eq!(found.ending, SearchEnding::Refuted, "the highest load was not kept");
    assert_eq!((found.load, edge.low(), edge.high()), (Some(load), load, refuted));
}

/// Short levels near capacity hide a queue that a long one shows: what it was served at is tried next.
#[test]
fn after_a_long_level_whose_queue_grew_comes_less_than_was_served() {
    let mut spec = spec(LoadKind::Rate, "p99 e2el<10s");
    (spec.from, spec.to) = (Some(40.0), Some(60.0));
    let mut search = LoadSearch::new(spec).unwrap();
    let summary = searched_level();
    while let SearchStep::Measure(_) = search.next() {
        search.observe(&summary);
    }
    let mut grown = summary.clone();
    grown.saturation = Some(grown_queue());
    grown.throughput.requests_per_s = PerSec::new(50.0);
    search.observe(&grown);
    let SearchStep::Confirm(next) = search.next() else { panic!("no step below") };
    assert_eq!(next.load.value(), 47.5);
}

/// One is due every 10 ms, and one is served every 12 ms.
fn grown_queue() -> Saturation {
    let ms = |n| Stamp::EPOCH + Nanos::from_millis(n);
    let tapes = (0..200).map(|n| {
        let mut tape = Tape::sent_at(ms(10 * n));
        tape.arrivals.push(Arrival::tokens(ms(12 * n + 12), 1, Channel::Visible));
        tape
    });
    Timeline::of(&tapes.collect::<Vec<_>>()).saturation()
}

/// A client that cannot measure says nothing of the server: the load is asked for again, and not for ever.
#[test]
fn what_is_no_evidence_is_measured_again_and_ends_a_search_that_has_nothing_else() {
    for over in [LoadKind::Rate, LoadKind::Concurrency] {
        let mut search = LoadSearch::new(spec(over, "p99 e2el<150ms")).unwrap();
        let SearchStep::Measure(first) = search.next() else { panic!("nothing to measure") };
        search.pass_over();
        let SearchStep::Measure(again) = search.next() else { panic!("not measured again") };
        assert_eq!((again.load, again.visit), (first.load, 1));
        search.pass_over();
        search.pass_over();
        assert_eq!(search.next(), SearchStep::Done);
        let found = search.result();
        assert_eq!((found.ending, found.load), (SearchEnding::Unmeasurable, None));
        let judgements = search.trials().iter().map(|trial| trial.judgement);
        assert!(judgements.eq([SearchJudgement::Invalid; 3]));
    }
}

/// It finds what it would have found, in no more levels than were allowed.
#[test]
fn levels_that_are_no_evidence_change_no_answer() {
    let summary = searched_level();
    let of = |most_levels, every: usize| {
        let mut spec = spec(LoadKind::Concurrency, "p99 e2el<150ms");
        spec.most_levels = most_levels;
        let mut search = LoadSearch::new(spec).unwrap();
        while search.next() != SearchStep::Done {
            if every > 0 && search.trials().len().is_multiple_of(every) {
                search.pass_over();
            } else {
                search.observe(&summary);
            }
        }
        search
    };
    assert_eq!(of(12, 3).result().load, of(12, 0).result().load);
    let short = of(3, 2);
    assert_eq!(short.result().ending, SearchEnding::OutOfRuns);
    let is_short = |of: &&SearchTrial| of.purpose == SearchPurpose::Evaluation;
    assert_eq!(short.trials().iter().filter(is_short).count(), 3);
}

/// More load gives more throughput: that breaks no search, but is held against the long level.
#[test]
fn a_goal_that_load_does_not_break_counts_at_the_end() {
    let search = searched(spec(LoadKind::Concurrency, "p99 e2el<150ms, rps>10000"));
    // No lower load can keep it.
    let end = search.confirmation();
    assert!(
        matches!(end, Confirmation::Missed { missed: 1, lower_may_hold: false, .. }),
        "{end:?}"
    );
    let lowest = search.trials().last().unwrap().ask.load;
    let found = search.result();
    assert_eq!(found.load, None, "what no long level confirmed is no answer");
    assert_eq!(found.edge.unwrap().high(), lowest.value());
    let nothing = LoadSearch::new(spec(LoadKind::Concurrency, "rps>10"));
    assert!(matches!(nothing, Err(LoadSearchError::NothingBreaks(_))));
}

/// Requests of 100 ms each that leave at once are answered 100 ms after the last, unless they queue.
#[test]
fn a_burst_that_takes_twice_as_long_as_it_must_is_more_than_is_served() {
    let level = |load| {
        let ask = LevelSpec { load, visit: 0, size: size(60) };
        measured(|last| last.is_none().then_some(ask)).unwrap()
    };
    let (light, mut burst) = (searched_level(), level(LevelLoad::Rate(PerSec::new(600.0))));
    assert!(matches!(burst.saturation, Some(Saturation::Unknown(_))), "{:?}", burst.saturation);
    let mut spec = spec(LoadKind::Rate, "p99 e2el<10s");
    (spec.from, spec.to, spec.size) = (Some(600.0), None, size(120));
    for (times, judgement) in [(1.99, SearchJudgement::Held), (2.01, SearchJudgement::Saturated)] {
        let mut search = LoadSearch::new(spec.clone()).unwrap();
        search.observe(&light);
        let SearchStep::Measure(next) = search.next() else { panic!("nothing to measure") };
        let unqueued = 60.0 / next.load.value() + 0.1;
        burst.throughput.duration = Seconds::new(times * unqueued);
        search.observe(&burst);
        assert_eq!(search.trials().last().unwrap().judgement, judgement, "{times}");
    }
}
