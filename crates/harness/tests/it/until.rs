//! Levels that end once figures are known well enough, in virtual time.

use std::convert::Infallible;
use std::num::NonZeroU32;

use fizeau_core::{Nanos, Release, Request, Tape, Transport};
use fizeau_harness::{
    Cancel, DriveEnding, DriveLimits, LevelRun, Measure, PlannedLevel, SelfWatch, TaskDriver,
};
use fizeau_metrics::{Precision, RandomBits, ResampleSeed, SampleSupport};
use fizeau_workload::{ArrivalLaw, Lengths, Plan, PlanSpec};

use crate::stand::{Paused, Server, paused};

/// Serves each request in 50 to 150 ms, whatever came before.
struct Uneven<'a>(&'a Paused);

impl Transport for Uneven<'_> {
    type Error = Infallible;

    async fn send(&self, request: &Request, release: Release) -> Result<Tape, Infallible> {
        let service =
            Nanos::from_millis(50 + RandomBits::new(ResampleSeed(request.id.0)).below(101));
        Server::new(self.0, service).send(request, release).await
    }
}

/// At most `most` requests, two at a time, until `asked` is known.
fn level(most: u64, asked: &str) -> LevelRun {
    let asked: Precision = asked.parse().unwrap();
    let spec = PlanSpec { lengths: Lengths::fixed(4, 1), ..PlanSpec::new(most).unwrap() };
    let plan = Plan::new(PlanSpec { arrivals: ArrivalLaw::ClosedLoop, ..spec }).unwrap();
    paused(async {
        let time = Paused::new();
        let (server, cancel) = (Uneven(&time), Cancel::new());
        let (timer, watch) = (&time, SelfWatch::Off);
        let mut rig = TaskDriver { transport: &server, timer, watch, cancel: &cancel };
        let load = DriveLimits { max_in_flight: NonZeroU32::new(2), stop_after: None };
        let level = PlannedLevel { until: Some(&asked), ..PlannedLevel::new(&plan, load) };
        rig.measure(level, &mut Vec::new(), &mut ()).await.unwrap()
    })
}

/// The standard deviation is 29 % of the mean, so that 2 % of it at 95 % takes about 800 independent requests.
#[test]
fn a_level_ends_once_the_interval_is_narrow_enough() {
    let run = level(100_000, "mean e2el ci=2%");
    assert_eq!(run.driven.ended, DriveEnding::Enough);
    assert!(run.is_precise() && !run.is_partial());
    let requests = &run.summary.requests;
    assert!((300..1_600).contains(&requests.completed), "{requests:?}");
    assert_eq!(requests.failed, 0, "what was in flight has finished");
    let width = run.precision[0].half_width.and_then(SampleSupport::known).unwrap();
    assert!((0.01..0.021).contains(&width), "{width}");
}

#[test]
fn the_looks_are_a_fifth_apart() {
    let run = level(100_000, "mean e2el ci=4.5%");
    let completed = run.summary.requests.completed;
    // What was in flight at the look still finishes: two at most, and two that left before the tape was looked at.
    let looks = [100, 120, 144, 173, 208, 250];
    assert!(looks.iter().any(|look| (*look..=look + 4).contains(&completed)), "{completed}");
}

/// The first look at 100 finds it, and the second at 120: one may have come out narrow by chance.
#[test]
fn two_looks_in_succession_must_find_it() {
    let completed = level(100_000, "mean e2el ci=90%").summary.requests.completed;
    assert!((120..=124).contains(&completed), "{completed}");
}

/// Either is known at a hundred requests, which take some five seconds.
#[test]
fn beside_a_goal_that_is_to_be_reached_one_that_shortens_keeps_its_time() {
    let run = level(100_000, "ci=90%, ci=90% from 60s");
    assert_eq!(run.driven.ended, DriveEnding::Enough);
    let lasted = run.summary.throughput.duration.get();
    assert!((60.0..90.0).contains(&lasted), "{lasted} s");
}

#[test]
fn a_tail_waits_for_as_many_as_it_needs() {
    let run = level(100_000, "p99 e2el ci=50%");
    assert_eq!(run.driven.ended, DriveEnding::Enough);
    assert!((368..=1_000).contains(&run.summary.requests.completed));
}

#[test]
fn a_plan_that_is_too_short_says_what_it_came_to() {
    let run = level(200, "mean e2el ci=0.1%, p99 e2el ci=5%");
    assert_eq!((run.driven.ended, run.summary.requests.sent), (DriveEnding::Exhausted, 200));
    assert!(!run.is_precise());
    assert!(
        matches!(run.precision[0].half_width, Some(SampleSupport::Known(width)) if width > 0.001)
    );
    let unsupported = run.precision[1].half_width;
    assert!(matches!(unsupported, Some(SampleSupport::NotSupported { needs: 368.., has: 200 })));
}

/// Levels of 1, 2 and 8 slots, of at most 100,000 requests each and for at most so long.
fn levels(asked: &str, most: Nanos) -> Vec<LevelRun> {
    let asked: Precision = asked.parse().unwrap();
    let spec = PlanSpec { lengths: Lengths::fixed(4, 1), ..PlanSpec::new(100_000).unwrap() };
    let plan = Plan::new(PlanSpec { arrivals: ArrivalLaw::ClosedLoop, ..spec }).unwrap();
    paused(async {
        let time = Paused::new();
        let (transport, cancel) = (Uneven(&time), Cancel::new());
        let (transport, timer, watch) = (&transport, &time, SelfWatch::Off);
        let mut rig = TaskDriver { transport, timer, watch, cancel: &cancel };
        let mut runs = Vec::new();
        for slots in [1, 2, 8] {
            let load =
                DriveLimits { max_in_flight: NonZeroU32::new(slots), stop_after: Some(most) };
            let level =
                PlannedLevel { warmup: 2, until: Some(&asked), ..PlannedLevel::new(&plan, load) };
            runs.push(rig.measure(level, &mut Vec::new(), &mut ()).await.unwrap());
        }
        runs
    })
}

#[test]
fn each_level_ends_by_itself_once_the_figure_is_known() {
    let runs = levels("mean e2el ci=2%", Nanos::from_secs(3_600));
    assert_eq!(runs.len(), 3);
    for run in runs {
        assert_eq!(run.driven.ended, DriveEnding::Enough);
        assert!(run.is_precise());
        assert!((300..1_600).contains(&run.summary.requests.completed));
    }
}

/// One slot comes to some 100 requests in 10 s and shortens itself; eight come to 100 in no time, and complete them.
#[test]
fn a_goal_from_a_time_on_only_shortens_a_level() {
    let runs = levels("ci=90% from 2s", Nanos::from_secs(10));
    for (run, completed) in [(&runs[0], 15..80), (&runs[2], 100..300)] {
        assert_eq!(run.driven.ended, DriveEnding::Enough);
        assert!(completed.contains(&run.summary.requests.completed));
        assert!(run.summary.throughput.duration.get() >= 2.0);
    }
}

/// A service takes 0.1 s, so that 20 s are 200 requests for one slot and 1,600 for eight.
#[test]
fn a_level_whose_time_is_up_says_that_it_is_not_known() {
    let runs = levels("mean e2el ci=2%", Nanos::from_secs(20));
    let ended: Vec<_> = runs.iter().map(|run| (run.driven.ended, run.is_precise())).collect();
    assert_eq!(ended[0], (DriveEnding::TimeUp, false));
    assert_eq!(ended[2], (DriveEnding::Enough, true));
    assert!(runs.iter().all(|run| run.precision.len() == 1 && !run.is_partial()));
}
