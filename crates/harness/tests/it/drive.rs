use std::cell::RefCell;
use std::convert::Infallible;
use std::future::Future;
use std::num::NonZeroU32;
use std::pin::pin;
use std::task::{Context, Waker};

use fizeau_core::{
    Clock, FailureClass, Nanos, Outcome, Release, Request, RequestPurpose, RequestSource,
    Scheduled, Stamp, Tape, TapeSink, Timer, Transport,
};
use fizeau_harness::{Cancel, DriveEnding, DriveError, DriveLimits, drive};
use proptest::prelude::*;

use crate::stand::{Listed, Paused, Readings, Server, Streams, paused};

fn ms(millis: u64) -> Nanos {
    Nanos::from_millis(millis)
}

fn at(millis: u64) -> Stamp {
    Stamp::EPOCH + ms(millis)
}

fn cap(n: u32) -> DriveLimits {
    DriveLimits { max_in_flight: NonZeroU32::new(n), stop_after: None }
}

async fn tapes(
    offsets: Vec<Option<Nanos>>,
    service: Nanos,
    load: DriveLimits,
) -> (Vec<Tape>, usize) {
    let time = Paused::new();
    let server = Server::new(&time, service);
    let mut tapes = Vec::new();
    drive(&mut Listed::new(offsets), &server, &time, load, &mut tapes, &Cancel::new())
        .await
        .unwrap();
    (tapes, server.most_in_flight.get())
}

#[test]
fn a_closed_loop_keeps_its_concurrency_and_intends_each_request_when_its_slot_frees() {
    let (tapes, most) = paused(tapes(vec![None; 6], ms(100), cap(2)));
    assert_eq!(most, 2);
    let intended: Vec<Stamp> = tapes.iter().map(|tape| tape.marks.intended).collect();
    assert_eq!(intended, [at(0), at(0), at(100), at(100), at(200), at(200)]);
}

#[test]
fn an_open_loop_sends_on_time_whatever_the_server_does() {
    let offsets = (0..5).map(|k| Some(ms(10 * k))).collect();
    let (tapes, most) = paused(tapes(offsets, ms(10_000), DriveLimits::default()));
    assert_eq!(most, 5, "no request waited for another");
    for (k, tape) in tapes.iter().enumerate() {
        assert_eq!(tape.marks.intended, at(10 * k as u64));
        assert_eq!(tape.marks.send_start, Some(tape.marks.intended));
    }
}

/// A timer that always wakes 3 ms late.
struct Sleepy(Paused);

impl Clock for Sleepy {
    fn now(&self) -> Stamp {
        self.0.now()
    }
}

impl Timer for Sleepy {
    fn sleep_until(&self, at: Stamp) -> impl Future<Output = ()> {
        self.0.sleep_until(at + ms(3))
    }
}

/// Forty requests, one every 10 ms, to a server that takes `service` for each; how late each left.
fn lateness_of_a_sleepy_timer(service: Nanos) -> Vec<Nanos> {
    let tapes = paused(async {
        let (time, timer) = (Paused::new(), Sleepy(Paused::new()));
        let server = Server::new(&time, service);
        let mut list = Listed::new((0..40).map(|k| Some(ms(10 * k))));
        let (mut tapes, load) = (Vec::new(), DriveLimits::default());
        drive(&mut list, &server, &timer, load, &mut tapes, &Cancel::new()).await.unwrap();
        tapes
    });
    let late = |(k, tape): (u64, &Tape)| {
        assert_eq!(tape.marks.intended, at(10 * k), "an instant moved");
        tape.marks.released.since(tape.marks.intended).unwrap()
    };
    (0..).zip(&tapes).map(late).collect()
}

/// Where the gap to the next request is slept after each send, what each wait is late by adds up.
#[test]
fn lateness_does_not_add_up_along_a_schedule() {
    let late = lateness_of_a_sleepy_timer(ms(1_000));
    let (first, rest) = late.split_first().unwrap();
    assert_eq!((*first, rest), (Nanos::ZERO, &[ms(3); 39][..]));
}

/// Flights make way for a request that is due. Before the driver looked at the clock itself, they did so without end: the
/// time of a simulation moves only once all have nothing to do.
#[test]
fn a_flight_that_ends_before_a_late_alarm_lets_the_due_request_go() {
    let late = lateness_of_a_sleepy_timer(ms(52));
    // The one that left at 0 ends at 52 ms, when that of 50 ms is due.
    assert_eq!(late[..7], [ms(0), ms(3), ms(3), ms(3), ms(3), ms(2), ms(3)]);
    assert!(late.iter().all(|late| *late <= ms(3)), "{late:?}");
}

#[test]
fn a_cap_in_an_open_loop_holds_requests_back_and_their_waiting_shows() {
    let offsets = (0..3).map(|k| Some(ms(10 * k))).collect();
    let (tapes, most) = paused(tapes(offsets, ms(100), cap(1)));
    assert_eq!(most, 1);
    let times: Vec<_> = tapes.iter().map(|t| (t.marks.intended, t.marks.released)).collect();
    assert_eq!(times, [(at(0), at(0)), (at(10), at(100)), (at(20), at(200))]);
}

#[test]
fn only_what_the_cap_held_past_its_instant_counts_as_held_back() {
    let held = |gap: u64, limit: u32| {
        paused(async {
            let time = Paused::new();
            let server = Server::new(&time, ms(100));
            let mut source = Listed::new((0..5).map(|k| Some(ms(gap * k))));
            let mut tapes = Vec::new();
            let cancel = Cancel::new();
            let driven = drive(&mut source, &server, &time, cap(limit), &mut tapes, &cancel).await;
            driven.unwrap().held_back
        })
    };
    assert_eq!(held(10, 1), 4, "one at a time: all but the first wait");
    assert_eq!(held(200, 1), 0, "the slot is free whenever one is due");
    assert_eq!(held(10, 5), 0, "the cap is never reached before the last");
}

#[test]
fn time_up_stops_releasing_and_lets_what_is_in_flight_finish() {
    paused(async {
        let time = Paused::new();
        let server = Server::new(&time, ms(100));
        let load = DriveLimits { stop_after: Some(ms(250)), ..cap(1) };
        let (mut tapes, cancel) = (Vec::new(), Cancel::new());
        let mut source = Listed::new(vec![None; 1_000]);
        let driven = drive(&mut source, &server, &time, load, &mut tapes, &cancel).await.unwrap();
        assert_eq!(driven.ended, DriveEnding::TimeUp);
        assert_eq!(tapes.len(), 3, "released at 0, 100 and 200 ms");
        assert!(tapes.iter().all(Tape::is_success));
    });
}

#[test]
fn a_schedule_past_the_time_limit_is_not_waited_for() {
    paused(async {
        let time = Paused::new();
        let server = Server::new(&time, ms(1));
        let load = DriveLimits { stop_after: Some(ms(50)), max_in_flight: None };
        let mut source = Listed::new([Some(ms(10)), Some(ms(3_600_000))]);
        let mut tapes = Vec::new();
        let driven =
            drive(&mut source, &server, &time, load, &mut tapes, &Cancel::new()).await.unwrap();
        assert_eq!((driven.ended, tapes.len()), (DriveEnding::TimeUp, 1));
    });
}

/// With one slot and replies of 100 ms, of the requests every 20 ms those of 0, 20 and 40 ms leave before 250 ms.
#[test]
fn what_was_due_before_the_time_limit_and_held_by_the_cap_is_counted() {
    let unsent = |gap: u64, slots, service: u64| {
        paused(async {
            let time = Paused::new();
            let server = Server::new(&time, ms(service));
            let load = DriveLimits { stop_after: Some(ms(250)), ..cap(slots) };
            let (mut tapes, cancel) = (Vec::new(), Cancel::new());
            let mut source = Listed::new((0..1_000).map(|i| Some(ms(gap * i))));
            let driven = drive(&mut source, &server, &time, load, &mut tapes, &cancel).await;
            let driven = driven.unwrap();
            assert_eq!(driven.ended, DriveEnding::TimeUp);
            (tapes.len() as u64, driven.unsent)
        })
    };
    assert_eq!(unsent(20, 1, 100), (3, 10), "13 were due before 250 ms");
    assert_eq!(unsent(20, 100, 100), (13, 0));
    assert_eq!(unsent(20, 1, 10), (13, 0));
    assert_eq!(unsent(100, 1, 245), (2, 1), "one that was at hand");
}

#[test]
fn requests_without_an_instant_are_never_overdue() {
    paused(async {
        let time = Paused::new();
        let server = Server::new(&time, ms(100));
        let load = DriveLimits { stop_after: Some(ms(250)), ..cap(1) };
        let mut source = Listed::new(vec![None; 1_000]);
        let (mut tapes, cancel) = (Vec::new(), Cancel::new());
        let driven = drive(&mut source, &server, &time, load, &mut tapes, &cancel).await.unwrap();
        assert_eq!((driven.ended, driven.unsent), (DriveEnding::TimeUp, 0));
    });
}

#[test]
fn calling_off_keeps_what_ended_and_marks_what_was_in_flight() {
    struct CancelAfter(Vec<Tape>, Cancel);
    impl TapeSink for CancelAfter {
        type Error = Infallible;
        fn record(&mut self, tape: &Tape) -> Result<(), Self::Error> {
            self.0.push(tape.clone());
            if self.0.len() == 3 {
                self.1.cancel();
            }
            Ok(())
        }
    }
    paused(async {
        let time = Paused::new();
        let server = Server::new(&time, ms(100));
        let cancel = Cancel::new();
        let mut sink = CancelAfter(Vec::new(), cancel.clone());
        let mut source = Listed::new(vec![None; 100]);
        let driven = drive(&mut source, &server, &time, cap(2), &mut sink, &cancel).await.unwrap();
        assert_eq!(driven.ended, DriveEnding::Cancelled);
        let ended = sink.0.iter().filter(|tape| tape.is_success()).count();
        let cancelled = sink.0.iter().filter(|tape| {
            matches!(&tape.outcome, Outcome::Failed(f) if f.class == FailureClass::Cancelled)
        });
        // Both slots were in flight again: a tape is kept only once its slot has been filled. One of them was as good as over.
        assert_eq!((ended, cancelled.count()), (4, 1));
    });
}

#[test]
fn a_sink_that_breaks_ends_the_drive_with_its_error() {
    #[derive(Debug, thiserror::Error)]
    #[error("disk full")]
    struct Full;
    struct Broken;
    impl TapeSink for Broken {
        type Error = Full;
        fn record(&mut self, _: &Tape) -> Result<(), Full> {
            Err(Full)
        }
    }
    paused(async {
        let time = Paused::new();
        let server = Server::new(&time, ms(1));
        let mut source = Listed::new([None]);
        let error = drive(&mut source, &server, &time, cap(1), &mut Broken, &Cancel::new()).await;
        assert!(matches!(error, Err(DriveError::Sink(Full))));
    });
}

/// Making a prompt can take a tokenizer's time, and keeping a tape a disk's: neither may come between the release
/// of a request and its sending.
#[test]
fn a_released_request_is_sent_before_anything_else_is_done() {
    let log = &RefCell::new(Vec::new());
    struct Making<'a>(Listed, &'a RefCell<Vec<String>>);
    impl RequestSource for Making<'_> {
        type Error = Infallible;
        fn next_request(&mut self) -> Result<Option<Scheduled>, Infallible> {
            let next = self.0.next_request()?;
            if let Some(scheduled) = &next {
                self.1.borrow_mut().push(format!("make {}", scheduled.request.id.0));
            }
            Ok(next)
        }
    }
    struct Sending<'a>(Server<'a>, &'a RefCell<Vec<String>>);
    impl Transport for Sending<'_> {
        type Error = Infallible;
        async fn send(&self, request: &Request, release: Release) -> Result<Tape, Infallible> {
            self.1.borrow_mut().push(format!("send {}", request.id.0));
            self.0.send(request, release).await
        }
    }
    struct Keeping<'a>(&'a RefCell<Vec<String>>);
    impl TapeSink for Keeping<'_> {
        type Error = Infallible;
        fn record(&mut self, tape: &Tape) -> Result<(), Infallible> {
            self.0.borrow_mut().push(format!("keep {}", tape.request.0));
            Ok(())
        }
    }
    paused(async {
        let time = Paused::new();
        let server = Sending(Server::new(&time, ms(100)), log);
        let mut source = Making(Listed::new(vec![None; 4]), log);
        let (mut sink, cancel) = (Keeping(log), Cancel::new());
        drive(&mut source, &server, &time, cap(2), &mut sink, &cancel).await.unwrap();
    });
    let expected = [
        "make 0", "send 0", "make 1", "send 1", "make 2", "send 2", "make 3", "keep 0", "send 3",
        "keep 1", "keep 2", "keep 3",
    ];
    assert_eq!(*log.borrow(), expected);
}

/// A thousand streams that all have something to read take milliseconds to read; a request that comes due meanwhile must
/// not wait for the last of them.
#[test]
fn a_due_request_does_not_wait_for_all_that_have_something_to_read() {
    let clock = Readings::default();
    let streams = Streams::new(&clock);
    // A hundred to begin with, which takes until 100 ms; then one in the midst of the third round of readings.
    let offsets = (0..101).map(|k| Some(ms(if k < 100 { 0 } else { 250 })));
    let (mut source, cancel, mut tapes) = (Listed::new(offsets), Cancel::new(), Vec::new());
    let load = DriveLimits::default();
    let mut driving = pin!(drive(&mut source, &streams, &clock, load, &mut tapes, &cancel));
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..10 {
        assert!(driving.as_mut().poll(&mut cx).is_pending());
        streams.wake();
    }
    let sent = streams.sent.borrow();
    assert_eq!(sent.len(), 101);
    assert_eq!(sent[100], (RequestPurpose::Load, Release::at(at(250))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_request_leaves_once_never_early_and_never_over_the_cap(
        gaps in prop::collection::vec(0u64..50, 1..40),
        service in 1u64..100,
        limit in 1u32..8,
    ) {
        let mut offset = 0;
        let offsets = gaps.iter().map(|gap| { offset += gap; Some(ms(offset)) }).collect();
        let (tapes, most) = paused(tapes(offsets, ms(service), cap(limit)));
        prop_assert!(most <= limit as usize);
        let mut ids: Vec<u64> = tapes.iter().map(|tape| tape.request.0).collect();
        ids.sort_unstable();
        prop_assert_eq!(ids, (0..gaps.len() as u64).collect::<Vec<_>>());
        for tape in &tapes {
            prop_assert!(tape.marks.released >= tape.marks.intended);
            prop_assert!(tape.marks.send_start >= Some(tape.marks.released));
        }
    }
}
