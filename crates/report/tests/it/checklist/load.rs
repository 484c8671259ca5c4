//! How hard was pressed, and how long.

use fizeau_core::{LoadKind, Seconds, WarmUp};
use fizeau_record::{ArrivalMoments, ChecklistItem};

use super::CheckOutcome::{Fail, Pass, Unknown};
use super::hold;

#[test]
fn warm_up_and_open_loop() {
    hold(&[
        (ChecklistItem::WarmUp, |_| {}, Pass, "32 requests before each level"),
        (
            ChecklistItem::WarmUp,
            |run| run.1[1].warm_up = Some(WarmUp::default()),
            Fail,
            "no warm-up request was sent (at 20 requests/s)",
        ),
        (
            ChecklistItem::WarmUp,
            |run| run.1[0].warm_up = Some(WarmUp { sent: 4, failed: 4 }),
            Fail,
            "all 4 warm-up requests failed",
        ),
        (
            ChecklistItem::WarmUp,
            |run| run.1[2].warm_up = None,
            Unknown,
            "not recorded (at 30 requests/s)",
        ),
        (ChecklistItem::OpenLoop, |_| {}, Pass, "(at every level)"),
        (
            ChecklistItem::OpenLoop,
            |run| run.1.iter_mut().for_each(|level| level.requested.arrivals = None),
            Fail,
            "closed loops only",
        ),
        (
            ChecklistItem::OpenLoop,
            |run| {
                for level in &mut run.1 {
                    level.requested.arrivals = Some(ArrivalMoments::default());
                    level.summary.arrivals = None;
                }
            },
            Fail,
            "all requests at once",
        ),
        (ChecklistItem::OpenLoop, |run| run.1.clear(), Unknown, "nothing was measured"),
    ]);
}

#[test]
fn rates_durations_and_batch() {
    hold(&[
        (ChecklistItem::Rates, |_| {}, Pass, "3 loads: 10 requests/s to 30 requests/s"),
        (
            ChecklistItem::Rates,
            |run| run.1[2].load = run.1[1].load,
            Fail,
            "2 loads tested (10 requests/s to 20 requests/s); test at least 3",
        ),
        (ChecklistItem::Rates, |run| run.1.clear(), Unknown, "nothing was measured"),
        (ChecklistItem::Duration, |_| {}, Pass, "shortest level 61.5 s"),
        (
            ChecklistItem::Duration,
            |run| run.1[1].summary.throughput.duration = Seconds::new(58.0),
            Fail,
            "shortest level 58.0 s, at 20 requests/s; 1 of 3 levels are under 60 s",
        ),
        // The last request falls where it falls.
        (
            ChecklistItem::Duration,
            |run| run.1[1].summary.throughput.duration = Seconds::new(59.2),
            Pass,
            "59.2 s",
        ),
        (ChecklistItem::Duration, |run| run.1.clear(), Unknown, "nothing was measured"),
        (ChecklistItem::Batch, |_| {}, Pass, "peak 33;"),
        (
            ChecklistItem::Batch,
            |run| {
                run.1[0].requested.arrivals = None;
                run.1[0].load = LoadKind::Concurrency.at(1_000.0);
            },
            Fail,
            "less than half of the slots in use (at concurrency 1000)",
        ),
        (
            ChecklistItem::Batch,
            |run| run.1[0].summary.over_time = None,
            Unknown,
            "not known (at 10 requests/s)",
        ),
    ]);
}
