//! Which part of a level is steady, and whether its queue grew.

use fizeau_core::{Nanos, Stamp, Tape};
use fizeau_metrics::{
    CutReason, GoodputGoals, LevelSignal, LevelSummary, NoWindowReason, Saturation, Timeline,
    WindowTrim,
};
use proptest::prelude::*;

use crate::tapes::{ms, tape};

/// Numbers from 0 to 1, the same in every run: Knuth's MMIX generator, its upper half.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1_u64 << 31) as f64
    }
}

fn us(n: f64) -> Stamp {
    Stamp::EPOCH + Nanos::from_micros(n as u64)
}

/// A request due at `due` and sent then, with its first token at `first` and ten more by `end`, in microseconds.
fn request(due: f64, first: f64, end: f64) -> Tape {
    let mut tape = tape(0, &[(0, 1), (0, 10)]);
    let at = [due, first, end].map(us);
    tape.marks.intended = at[0];
    tape.marks.released = at[0];
    tape.marks.send_start = Some(at[0]);
    tape.arrivals[0].at = at[1];
    tape.arrivals[1].at = at[2];
    tape.marks.end = Some(at[2]);
    tape
}

/// A closed loop: `slots` open 1 ms apart; request k takes about `length(k)` microseconds.
fn closed(slots: usize, count: usize, seed: u64, length: impl Fn(usize) -> f64) -> Vec<Tape> {
    let mut noise = Noise(seed);
    let mut free: Vec<f64> = (0..slots).map(|slot| slot as f64 * 1_000.0).collect();
    let run = |k: usize| {
        let slot = free.iter_mut().min_by(|a, b| a.total_cmp(b))?;
        let (sent, length) = (*slot, length(k) * (0.9 + 0.2 * noise.next()));
        *slot += length;
        Some(request(sent, sent + length * 0.2, sent + length))
    };
    (0..count).filter_map(run).collect()
}

/// An M/D/1 queue: Poisson arrivals, one server that takes 10 ms for each, in order.
fn queue(rho: f64, count: usize, seed: u64) -> Vec<Tape> {
    varying(|_| rho, count, seed)
}

/// The same with a load that depends on the share of the requests that came before.
fn varying(rho: impl Fn(f64) -> f64, count: usize, seed: u64) -> Vec<Tape> {
    let mut noise = Noise(seed);
    let (mut due, mut free) = (0.0, 0.0_f64);
    let run = |k: usize| {
        due += -(1.0 - noise.next()).ln() * 10_000.0 / rho(k as f64 / count as f64);
        let start = free.max(due);
        free = start + 10_000.0;
        request(due, start + 2_000.0, free)
    };
    (0..count).map(run).collect()
}

#[test]
fn a_stationary_level_is_kept_nearly_whole() {
    let tapes = closed(8, 1_000, 1, |_| 50_000.0);
    let window = Timeline::of(&tapes).steady().unwrap();
    assert_eq!(window.reason, CutReason::Stationary);
    assert!(window.kept > 800, "{} of 1000 kept", window.kept);
    assert_eq!(window.cut_front + window.kept + window.cut_back, 1_000);
    let signals: Vec<LevelSignal> = window.evidence.iter().map(|found| found.signal).collect();
    assert_eq!(signals, [LevelSignal::TtftScheduled, LevelSignal::Tpot, LevelSignal::InFlight]);
    assert!(window.evidence.iter().all(|found| found.trend.is_some() && !found.front.is_empty()));
}

#[test]
fn a_slow_start_and_a_fast_end_are_cut() {
    let tapes = closed(8, 1_000, 2, |k| match k {
        0..100 => 50_000.0 * (3.0 - k as f64 / 50.0),
        940.. => 20_000.0,
        _ => 50_000.0,
    });
    let window = Timeline::of(&tapes).steady().unwrap();
    assert!((60..200).contains(&window.cut_front), "{}", window.cut_front);
    assert!((55..160).contains(&window.cut_back), "{}", window.cut_back);
    // The statistic is least where it was cut.
    let ttft = &window.evidence[0];
    let best = ttft.front.iter().map(|point| point.statistic).fold(f64::INFINITY, f64::min);
    let cut = ttft.front.iter().find(|point| point.cut == ttft.cut_front).unwrap();
    assert_eq!(cut.statistic, best);
}

/// Slots that open one a second: the latency never changes, and the concurrency takes 30 s to get there.
#[test]
fn a_ramp_of_the_concurrency_alone_is_cut() {
    let slot = |slot: u64| {
        let begin = slot * 1_033_333;
        (begin..120_000_000).step_by(1_000_000).map(move |at| {
            let at = at as f64;
            request(at, at + 100_000.0, at + 1_000_000.0)
        })
    };
    let tapes: Vec<Tape> = (0..30).flat_map(slot).collect();
    let window = Timeline::of(&tapes).steady().unwrap();
    let from = window.span.from().as_nanos() as f64 / 1e9;
    assert!((24.0..40.0).contains(&from), "{from} s");
    let in_flight =
        window.evidence.iter().find(|found| found.signal == LevelSignal::InFlight).unwrap();
    assert!(in_flight.cut_front > window.cut_front / 2);
}

#[test]
fn a_level_that_drifts_has_no_window() {
    let tapes = closed(8, 1_000, 3, |k| 50_000.0 + 100.0 * k as f64);
    let error = Timeline::of(&tapes).steady().unwrap_err();
    assert!(
        matches!(error.why, NoWindowReason::Unsettled { .. } | NoWindowReason::Drifting { .. }),
        "{error}"
    );
    assert!(!error.evidence.is_empty());
}

/// A drift of 12 % under noise of as much: cutting does not help against it, and the slope test sees it.
#[test]
fn a_slight_drift_under_noise_is_seen() {
    let tapes = closed(8, 4_000, 4, |k| 50_000.0 + 1.5 * k as f64);
    let error = Timeline::of(&tapes).steady().unwrap_err();
    assert!(
        matches!(error.why, NoWindowReason::Unsettled { .. } | NoWindowReason::Drifting { .. }),
        "{error}"
    );
}

#[test]
fn a_short_run_says_how_many_it_takes() {
    let error = Timeline::of(&closed(4, 99, 5, |_| 50_000.0)).steady().unwrap_err();
    assert_eq!(
        error.why,
        NoWindowReason::TooFew { signal: LevelSignal::TtftScheduled, has: 99, needs: 100 }
    );
    assert_eq!(
        error.to_string(),
        "no window: only 99 of the 100 needed requests have a scheduled TTFT"
    );
    assert!(Timeline::default().steady().is_err());
    assert!(Timeline::default().plateau().is_err());
    let none =
        Timeline::default().trimmed(WindowTrim::Requests(0), WindowTrim::Requests(0)).unwrap_err();
    assert_eq!(none.why, NoWindowReason::NothingLeft);
}

#[test]
fn the_plateau_of_a_closed_loop_is_found() {
    let tapes = closed(8, 400, 6, |_| 50_000.0);
    let window = Timeline::of(&tapes).plateau().unwrap();
    assert_eq!(window.reason, CutReason::Plateau { level: 8, share: 1.0 });
    // The eighth slot opens after 7 ms; the window ends as the last request is sent.
    assert_eq!((window.span.from(), window.cut_front, window.cut_back), (ms(7), 7, 1));
}

/// Sixteen users who think between turns: no plateau, and a steady state all the same.
#[test]
fn sessions_that_think_have_a_steady_state_and_no_plateau() {
    let mut noise = Noise(9);
    let mut ready: Vec<f64> = (0..16).map(|user| f64::from(user) * 1_000.0).collect();
    let run = |_| {
        let user = ready.iter_mut().min_by(|a, b| a.total_cmp(b)).unwrap();
        let (sent, length) = (*user, 50_000.0 * (0.5 + noise.next()));
        *user += length + 100_000.0 * noise.next();
        request(sent, sent + length * 0.2, sent + length)
    };
    let timeline = Timeline::of(&(0..1_000).map(run).collect::<Vec<_>>());
    assert!(timeline.steady().is_ok_and(|window| window.kept > 800));
    assert!(matches!(timeline.plateau().unwrap_err().why, NoWindowReason::NoPlateau { .. }));
}

/// Two bursts of four with a lull between: the first and the last instant at the peak are no plateau.
#[test]
fn a_dip_inside_is_not_passed_over() {
    let burst =
        |at: f64| (0..4).map(move |k| request(at + f64::from(k), at + 10_000.0, at + 90_000.0));
    let tapes: Vec<Tape> = burst(0.0).chain(burst(1_000_000.0)).collect();
    let error = Timeline::of(&tapes).plateau().unwrap_err();
    assert!(
        matches!(error.why, NoWindowReason::NoPlateau { level: 4, share } if share < 0.1),
        "{error}"
    );
}

#[test]
fn a_queue_that_cannot_be_served_is_saturated() {
    for seed in 0..20 {
        match Timeline::of(&queue(1.2, 2_000, seed)).saturation() {
            Saturation::Saturated(evidence) => {
                // 120 a second come and 100 leave: the queue gains 20 a second, and each waits 10 ms for each before it:
                // arrivals wait 200 ms more a second.
                assert!((evidence.due.trend.per_s - 20.0).abs() < 10.0, "{evidence:?}");
                assert!(
                    (evidence.ttft_scheduled.trend.per_s - 200.0).abs() < 100.0,
                    "{evidence:?}"
                );
                assert!(evidence.due.p < 0.01 && evidence.ttft_scheduled.p < 0.01);
            }
            other => panic!("seed {seed}: {other:?}"),
        }
        assert!(Timeline::of(&queue(1.2, 2_000, seed)).steady().is_err(), "seed {seed}");
    }
}

#[test]
fn a_queue_that_is_served_is_not_saturated() {
    let saturated = |rho: f64| {
        let of = |seed| Timeline::of(&queue(rho, 2_000, seed)).saturation();
        (0..100).filter(|&seed| matches!(of(seed), Saturation::Saturated(_))).count()
    };
    let found = [0.3, 0.6, 0.8].map(saturated);
    assert!(found.iter().all(|&alarms| alarms <= 2), "false alarms in a hundred: {found:?}");
}

fn alarms(runs: u64, tapes: impl Fn(u64) -> Vec<Tape>) -> usize {
    let is_saturated =
        |&seed: &u64| matches!(Timeline::of(&tapes(seed)).saturation(), Saturation::Saturated(_));
    (0..runs).filter(is_saturated).count()
}

/// A load that becomes too great on the way: a straight line over a bent signal says little.
#[test]
fn a_queue_that_grows_late_is_saturated() {
    for from in [0.4, 0.6, 0.7, 0.85, 0.9] {
        let found =
            alarms(20, |seed| varying(|share| if share < from { 0.5 } else { 2.0 }, 2_000, seed));
        assert!(found >= 19, "from {from} of the requests: {found} of 20");
    }
    for (low, high) in [(0.2, 2.0), (0.5, 1.5)] {
        let ramp = |share: f64| low + (high - low) * share;
        let found = alarms(20, |seed| varying(ramp, 2_000, seed));
        assert!(found >= 19, "from {low} to {high}: {found} of 20");
    }
}

/// What the page says of false alarms and of what is found; `cargo test -- --nocapture` prints the whole table.
#[test]
fn how_often_a_queue_is_found_saturated() {
    for count in [400, 1_000, 2_000, 5_000] {
        let found = |rho: f64, runs: u64| {
            let found = alarms(runs, |seed| queue(rho, count, seed + 10_000));
            println!("{count} requests, load {rho}: {found} of {runs}");
            found
        };
        assert_eq!([0.3, 0.6].map(|rho| found(rho, 200)), [0, 0], "{count} requests");
        // Close to the capacity a queue of so few requests may grow all the while by chance.
        let near = [0.8, 0.9, 0.95].map(|rho| found(rho, 200));
        assert!(near.iter().all(|&alarms| alarms <= 6), "{count} requests: {near:?} of 200");
        let over = [1.05, 1.2].map(|rho| found(rho, 100));
        assert!(count < 1_000 || over[1] >= 95, "{count} requests: {over:?} of 100");
    }
}

/// The same for loads that become too great on the way.
#[test]
fn how_often_a_late_overload_is_found() {
    for count in [400, 1_000, 2_000] {
        let found = |words: &str, load: &dyn Fn(f64) -> f64| {
            let found = alarms(100, |seed| varying(load, count, seed));
            println!("{count} requests, {words}: {found} of 100");
            found
        };
        for from in [0.5, 0.7, 0.85, 0.9, 0.95] {
            for (low, high) in [(0.5, 1.2), (0.5, 2.0), (0.9, 1.2)] {
                let load = |share: f64| if share < from { low } else { high };
                let found = found(&format!("load {low}, {high} from {from} on"), &load);
                let is_plain = high > 1.5 && from <= 0.9 && count >= 1_000;
                assert!(!is_plain || found >= 95, "{count}, from {from}: {found}");
            }
        }
        for (low, high) in [(0.2, 1.2), (0.5, 1.2), (0.5, 1.5), (0.2, 2.0)] {
            let ramp = |share: f64| low + (high - low) * share;
            let found = found(&format!("load from {low} to {high}"), &ramp);
            assert!(high < 2.0 || found >= 95, "{count}, to {high}: {found}");
        }
    }
}

/// Two hundred requests with rare great latencies: no quiet stretch among them is to be taken for the steady state.
#[test]
fn a_short_stationary_queue_has_a_window() {
    let kept = |rho: f64| {
        let of =
            |seed| Timeline::of(&queue(rho, 200, seed)).steady().map_or(0, |window| window.kept);
        (0..50).map(of).filter(|&kept| kept > 100).count()
    };
    assert!(kept(0.3) >= 48 && kept(0.6) >= 48, "{} and {} of 50", kept(0.3), kept(0.6));
}

/// A cap of four in flight: the queue is the client's, and the level is saturated all the same.
#[test]
fn a_cap_does_not_hide_saturation() {
    let mut free = [0.0_f64; 4];
    let run = |k: u32| {
        let due = f64::from(k) * 10_000.0;
        let slot = free.iter_mut().min_by(|a, b| a.total_cmp(b)).unwrap();
        let sent = slot.max(due);
        *slot = sent + 50_000.0;
        let mut tape = request(due, sent + 5_000.0, sent + 50_000.0);
        tape.marks.send_start = Some(us(sent));
        tape
    };
    let tapes: Vec<Tape> = (0..500).map(run).collect();
    let timeline = Timeline::of(&tapes);
    let in_flight = LevelSummary::of(&tapes, &GoodputGoals::default()).over_time.unwrap().in_flight;
    assert_eq!(in_flight.peak, 4);
    assert!(matches!(timeline.saturation(), Saturation::Saturated(_)));
}

#[test]
fn a_short_open_loop_is_neither() {
    let short = Timeline::of(&queue(1.2, 50, 1)).saturation();
    assert!(matches!(short, Saturation::Unknown(NoWindowReason::TooFew { needs: 100, .. })));
    let burst: Vec<Tape> =
        (1..200).map(|k| request(0.0, f64::from(k), f64::from(k) + 9.0)).collect();
    let at_once = Timeline::of(&burst).saturation();
    assert_eq!(at_once, Saturation::Unknown(NoWindowReason::AtOnce));
}

/// Requests 1 ms apart that take as long each, with a first token at once: what takes 90 ms of 200 is steady for longer than not.
#[test]
fn a_level_that_ends_before_half_of_it_was_answered_shows_no_queue_that_stays() {
    let level = |takes: f64| {
        let request = |k: u32| {
            let due = f64::from(k) * 1_000.0;
            request(due, due + 100.0, due + takes)
        };
        Timeline::of(&(0..200).map(request).collect::<Vec<_>>()).saturation()
    };
    assert!(matches!(level(90_000.0), Saturation::NotSeen(_)));
    let burst = level(150_000.0);
    assert_eq!(burst, Saturation::Unknown(NoWindowReason::Burst { share: 0.25 }));
}

/// Six a second for a minute to an engine that answers 64 at a time, each in 30 s: waves of equal replies are one observation each, and no
/// test for noise tells such waits from chance.
#[test]
fn waves_that_wait_for_longer_and_longer_are_saturated() {
    let takes = |k: u32| {
        let due = f64::from(k) * 1e6 / 6.0;
        let wave = (f64::from(k / 64) * 30e6).max(due);
        request(due, wave + 2e4, wave + 30e6)
    };
    let level = Timeline::of(&(0..360).map(takes).collect::<Vec<_>>());
    assert!(matches!(level.saturation(), Saturation::Saturated(_)), "{:?}", level.saturation());
}

proptest! {
    #![proptest_config(crate::cases(64))]

    /// Every window counts each request once, whatever was cut, and its requests are those sent in it.
    #[test]
    fn windows_count_every_request_once(
        slots in 1usize..9, count in 1usize..300, front in 0u64..200, back in 0u64..2_000,
    ) {
        let tapes = closed(slots, count, 7, |_| 20_000.0);
        let timeline = Timeline::of(&tapes);
        let back = WindowTrim::Time(Nanos::from_millis(back));
        for window in
            [timeline.trimmed(WindowTrim::Requests(front), back), timeline.plateau(), timeline.steady()]
        {
            let Ok(window) = window else { continue };
            prop_assert_eq!(window.cut_front + window.kept + window.cut_back, count as u64);
            let inside = |tape: &&Tape| {
                let sent = tape.marks.send_start.unwrap();
                window.span.from() <= sent && sent < window.span.to()
            };
            prop_assert_eq!(tapes.iter().filter(inside).count() as u64, window.kept);
            prop_assert!(window.kept > 0 && window.cut_back > 0);
        }
    }
}
