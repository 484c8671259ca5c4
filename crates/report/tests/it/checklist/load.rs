//! How hard was pressed, and how long.

use fizeau_core::Seconds;
use fizeau_core::WarmUp;
use fizeau_record::{AskedArrivals, Check, LoadPoint};

use super::CheckOutcome::{Fail, Pass, Unknown};
use super::hold;

#[test]
fn warm_up_and_open_loop() {
    hold(&[
        (Check::WarmUp, |_| {}, Pass, "32 requests before each level"),
        (
            Check::WarmUp,
            |run| run.1[1].warm_up = Some(WarmUp::default()),
            Fail,
            "none was sent (at 20 requests/s)",
        ),
        (
            Check::WarmUp,
            |run| run.1[0].warm_up = Some(WarmUp { sent: 4, failed: 4 }),
            Fail,
            "all 4 requests of it failed",
        ),
        (Check::WarmUp, |run| run.1[2].warm_up = None, Unknown, "not recorded (at 30 requests/s)"),
        (Check::OpenLoop, |_| {}, Pass, "(at every level)"),
        (
            Check::OpenLoop,
            |run| run.1.iter_mut().for_each(|level| level.asked.arrivals = None),
            Fail,
            "closed loop alone",
        ),
        (
            Check::OpenLoop,
            |run| {
                for level in &mut run.1 {
                    level.asked.arrivals = Some(AskedArrivals::default());
                    level.summary.arrivals = None;
                }
            },
            Fail,
            "all requests at once",
        ),
        (Check::OpenLoop, |run| run.1.clear(), Unknown, "nothing was measured"),
    ]);
}

#[test]
fn rates_durations_and_batch() {
    hold(&[
        (Check::Rates, |_| {}, Pass, "3 loads: 10 requests/s to 30 requests/s"),
        (
            Check::Rates,
            |run| run.1[2].load = run.1[1].load,
            Fail,
            "2 loads (10 requests/s to 20 requests/s), 3 wanted",
        ),
        (Check::Rates, |run| run.1.clear(), Unknown, "nothing was measured"),
        (Check::Duration, |_| {}, Pass, "the shortest 61.5 s"),
        (
            Check::Duration,
            |run| run.1[1].summary.throughput.duration = Seconds::new(58.0),
            Fail,
            "the shortest 58.0 s, at 20 requests/s; 1 of 3 levels took less than 60 s",
        ),
        // The last request falls where it falls.
        (
            Check::Duration,
            |run| run.1[1].summary.throughput.duration = Seconds::new(59.2),
            Pass,
            "59.2 s",
        ),
        (Check::Duration, |run| run.1.clear(), Unknown, "nothing was measured"),
        (Check::Batch, |_| {}, Pass, "at most 33;"),
        (
            Check::Batch,
            |run| {
                run.1[0].asked.arrivals = None;
                run.1[0].load = LoadPoint::Concurrency(1_000);
            },
            Fail,
            "less than half of the slots were in use (at concurrency 1000)",
        ),
        (
            Check::Batch,
            |run| run.1[0].summary.over_time = None,
            Unknown,
            "not known (at 10 requests/s)",
        ),
    ]);
}
