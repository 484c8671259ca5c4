//! The virtual clock, its executor, and the transport on it.

use std::cell::RefCell;

use fizeau_core::{
    Clock, FailureClass, Finish, Nanos, Outcome, Stamp, StampSource, Timer, TokenSource, Tokens,
};
use fizeau_sim::{Engine, EngineConfig, FixedTiming, SimTransport, StepLoad, VirtualTime};
use futures_util::future::{Either, join, select};
use futures_util::stream::{FuturesUnordered, StreamExt};
use proptest::prelude::*;

use crate::support::{affine, ms, request, send};

const STEP: Nanos = Nanos::from_millis(10);

fn one_slot(time: &VirtualTime) -> SimTransport {
    let config = EngineConfig::new(1, Tokens::new(1_000));
    SimTransport::new(time, Engine::new(config, |_: &StepLoad| STEP).unwrap())
}

fn fixed(time: &VirtualTime) -> SimTransport {
    let timing = FixedTiming::new(Nanos::from_millis(20), Nanos::from_millis(5));
    SimTransport::new(time, timing)
}

proptest! {
    #[test]
    fn timers_fire_in_order_and_on_time(delays in prop::collection::vec(0u64..1_000, 0..200)) {
        let time = VirtualTime::new();
        let fired = RefCell::new(Vec::new());
        let (clock, log) = (&time, &fired);
        let sleepers: FuturesUnordered<_> = delays.iter().map(|&delay| async move {
            let at = ms(delay);
            clock.sleep_until(at).await;
            log.borrow_mut().push((clock.now(), at));
        }).collect();
        time.block_on(sleepers.collect::<Vec<_>>()).unwrap();
        let fired = fired.into_inner();
        prop_assert_eq!(fired.len(), delays.len());
        prop_assert!(fired.is_sorted());
        prop_assert!(fired.iter().all(|(now, at)| now == at));
    }
}

#[test]
fn ten_thousand_requests_at_once() {
    let time = VirtualTime::new();
    let config = EngineConfig::new(256, Tokens::new(100_000));
    let transport = SimTransport::new(&time, Engine::new(config, affine).unwrap());
    let requests = (0..10_000).map(|id| {
        let (time, transport) = (&time, &transport);
        async move {
            time.sleep_until(ms(id % 100)).await;
            send(transport, request(id, 5, 4)).await
        }
    });
    let all: FuturesUnordered<_> = requests.collect();
    let tapes = time.block_on(all.collect::<Vec<_>>()).unwrap();
    assert_eq!(tapes.len(), 10_000);
    assert!(tapes.iter().all(|tape| tape.is_success() && tape.output_tokens().get() == 4));
}

#[test]
fn a_tape_holds_what_the_engine_did() {
    let time = VirtualTime::new();
    let transport = fixed(&time);
    let tape = time
        .block_on(async {
            time.sleep_until(ms(100)).await;
            send(&transport, request(3, 250, 4)).await
        })
        .unwrap();
    assert_eq!(tape.outcome, Outcome::Complete(Finish::Length));
    let at: Vec<_> = tape.arrivals.iter().map(|arrival| arrival.at).collect();
    assert_eq!(at, [ms(120), ms(125), ms(130), ms(135)]);
    assert!(tape.arrivals.iter().all(|a| a.tokens == 1 && a.bytes >= 2 && a.bytes == a.chars));
    let reads: Vec<_> = tape.arrivals.iter().map(|arrival| arrival.read).collect();
    assert_eq!(reads, [0, 1, 2, 3]);
    assert_eq!((tape.stamps, tape.token_source), (StampSource::Simulated, TokenSource::TokenIds));
    let usage = tape.usage.unwrap();
    assert_eq!(usage.prompt_tokens, Some(Tokens::new(250)));
    assert_eq!(usage.completion_tokens, Some(Tokens::new(4)));
    let marks = tape.marks;
    assert_eq!((marks.intended, marks.released), (Stamp::EPOCH, Stamp::EPOCH));
    assert_eq!((marks.send_start, marks.end), (Some(ms(100)), Some(ms(135))));
    assert_eq!((marks.first_byte, marks.headers), (None, None));
    let timing = tape.server_timing.unwrap();
    assert_eq!(timing.queue, Some(Nanos::ZERO));
    assert_eq!(timing.prefill, Some(Nanos::from_millis(20)));
    assert_eq!(timing.decode, Some(Nanos::from_millis(15)));
}

#[test]
fn a_request_beyond_the_limits_fails_as_on_a_server() {
    let time = VirtualTime::new();
    let transport = one_slot(&time);
    let tape = time.block_on(send(&transport, request(0, 900, 200))).unwrap();
    let Outcome::Failed(failure) = &tape.outcome else {
        panic!("{:?}", tape.outcome);
    };
    assert_eq!((failure.class, failure.status), (FailureClass::Status, Some(400)));
    assert!(failure.detail.contains("1100"), "{failure}");
    assert!(tape.arrivals.is_empty());
}

#[test]
fn giving_a_request_up_frees_its_slot() {
    let time = VirtualTime::new();
    let transport = one_slot(&time);
    let impatient = async {
        let long = std::pin::pin!(send(&transport, request(0, 10, 500)));
        let patience = std::pin::pin!(time.sleep_until(ms(35)));
        assert!(matches!(select(long, patience).await, Either::Right(_)));
    };
    let next = async {
        time.sleep_until(ms(1)).await;
        send(&transport, request(1, 10, 2)).await
    };
    let ((), tape) = time.block_on(join(impatient, next)).unwrap();
    // Given up at 35 ms, in a step that lasts until 40 ms.
    assert_eq!(tape.first_token(), Some(ms(50)));
    assert_eq!(tape.server_timing.unwrap().queue, Some(Nanos::from_millis(39)));
}

/// The documented order at one instant: timers first, then engines.
#[test]
fn a_timeout_at_the_last_token_wins() {
    let time = VirtualTime::new();
    let transport = fixed(&time);
    let race = |patience| {
        let (time, transport) = (&time, &transport);
        async move {
            let (start, request) = (time.now(), request(0, 10, 3));
            let reply = std::pin::pin!(send(transport, request));
            let timeout = std::pin::pin!(time.sleep_until(start + patience));
            matches!(select(reply, timeout).await, Either::Left(_))
        }
    };
    let last = Nanos::from_millis(30);
    let replied = |patience| time.block_on(race(patience)).unwrap();
    assert!(!replied(last));
    assert!(replied(last + Nanos::from_nanos(1)));
}

/// In a closed loop without a network, the next request is part of the very next step.
#[test]
fn a_closed_loop_leaves_no_gap() {
    let time = VirtualTime::new();
    let transport = one_slot(&time);
    let last = time
        .block_on(async {
            let mut last = None;
            for id in 0..50 {
                last = send(&transport, request(id, 10, 2)).await.last_token();
            }
            last
        })
        .unwrap();
    assert_eq!(last, Some(ms(50 * 2 * 10)));
}

#[test]
fn the_same_load_gives_the_same_tapes() {
    let run = || {
        let time = VirtualTime::new();
        let config = EngineConfig::new(8, Tokens::new(2_000));
        let transport = SimTransport::new(&time, Engine::new(config, affine).unwrap());
        let all: FuturesUnordered<_> =
            (0..100).map(|id| send(&transport, request(id, 1 + id % 90, 1 + id % 7))).collect();
        time.block_on(all.collect::<Vec<_>>()).unwrap()
    };
    assert_eq!(run(), run());
}

#[test]
fn two_engines_share_one_time() {
    let time = VirtualTime::new();
    let (one, other) = (one_slot(&time), fixed(&time));
    let both = join(send(&one, request(0, 10, 3)), send(&other, request(0, 10, 3)));
    let (one, other) = time.block_on(both).unwrap();
    assert_eq!((one.last_token(), other.last_token()), (Some(ms(30)), Some(ms(30))));
}

#[test]
fn a_deadlock_is_an_error_that_says_when() {
    let time = VirtualTime::new();
    let _idle = one_slot(&time);
    let stuck = async {
        time.sleep_until(ms(1_500)).await;
        std::future::pending::<()>().await;
    };
    let deadlock = time.block_on(stuck).unwrap_err();
    assert_eq!(deadlock.at, ms(1_500));
    assert!(deadlock.to_string().contains("1.5 s after the epoch"), "{deadlock}");
    // The clock survives it.
    time.block_on(time.sleep_until(ms(2_000))).unwrap();
}

/// A dropped timer does not hold time back or wake anybody.
#[test]
fn a_dropped_timer_is_forgotten() {
    let time = VirtualTime::new();
    let race = async {
        let long = std::pin::pin!(time.sleep_until(ms(60_000)));
        let short = std::pin::pin!(time.sleep_until(ms(1)));
        assert!(matches!(select(long, short).await, Either::Right(_)));
    };
    time.block_on(race).unwrap();
    assert!(time.block_on(std::future::pending::<()>()).is_err());
    assert_eq!(time.now(), ms(1));
}
