//! What went on over the whole of a level.

use fizeau_core::{FailureClass, Nanos, RequestPurpose, Stamp, Tape, Tokens};
use fizeau_metrics::{GoodputGoals, LevelSummary, LevelTally, WindowChoice, WindowEnd, WindowTrim};
use proptest::prelude::*;

use crate::tapes::{any_tape, failed, ms, tape};

fn level(tapes: &[Tape]) -> LevelSummary {
    LevelSummary::of(tapes, &GoodputGoals::default())
}

proptest! {
    #![proptest_config(crate::cases(128))]

    /// What a window has of tokens is what came within its whole cells, arrival by arrival.
    #[test]
    fn windows_hold_what_came_within_their_cells(
        tapes in prop::collection::vec(any_tape(), 1..20), front in 0_u64..1_000,
    ) {
        let choice = WindowChoice {
            warmup: WindowEnd::Requested(WindowTrim::Time(Nanos::from_millis(front))),
            cooldown: WindowEnd::Requested(WindowTrim::Requests(0)),
        };
        let mut tally = LevelTally::new(&GoodputGoals::default()).with_window(choice);
        tapes.iter().for_each(|tape| tally.add(tape));
        let summary = tally.summary();
        let Some((window, rates)) =
            summary.windowed.figures().and_then(|part| Some((&part.window, part.throughput?)))
        else {
            return Ok(());
        };
        let cell = summary.over_time.unwrap().cell.as_nanos();
        let from = window.span.from().as_nanos().div_ceil(cell) * cell;
        let to = window.span.to().as_nanos() / cell * cell;
        let inside = |at: Stamp| from < at.as_nanos() && at.as_nanos() <= to;
        let arrivals = tapes.iter().flat_map(|tape| &tape.arrivals);
        let exact: u64 =
            arrivals.filter(|one| inside(one.at)).map(|one| u64::from(one.tokens)).sum();
        let found = rates.output_tokens_per_s.get() * (to - from) as f64 / 1e9;
        prop_assert!((found - exact as f64).abs() < 1e-6, "{found} against {exact}");
    }

    #[test]
    fn statistics_of_what_is_in_flight_keep_their_order(
        tapes in prop::collection::vec(any_tape(), 1..60),
    ) {
        let Some(over_time) = level(&tapes).over_time else { return Ok(()); };
        let of = over_time.in_flight;
        prop_assert!(of.p50 <= of.p90 && of.p90 <= of.peak && of.mean <= of.peak as f64);
    }

    #[test]
    fn the_peak_is_never_below_the_mean(tapes in prop::collection::vec(any_tape(), 1..20)) {
        let level = level(&tapes);
        let Some(over_time) = level.over_time else { return Ok(()); };
        let mean = level.throughput.output_tokens_per_s.get();
        let peak = over_time.peak_output_tokens;
        prop_assert!(peak.rate.get() >= mean, "{} < {mean}", peak.rate.get());
        // Half a cell more than a second at most.
        prop_assert!(peak.over <= Nanos::from_micros(1_000_500), "{}", peak.over);
        prop_assert!(peak.over <= level.throughput.duration.to_nanos().unwrap());
    }

    /// Little's law, and the parts of those in flight; and tokens in flight.
    #[test]
    fn means_are_sums_over_the_duration(
        tapes in prop::collection::vec(any_tape(), 1..20),
        failures in prop::collection::vec(any::<bool>(), 20),
        prompt in 0_u64..5_000,
    ) {
        let finish = |(mut tape, fails): (Tape, bool)| {
            tape.requested.input_tokens = Some(Tokens::new(prompt));
            if fails { failed(tape, FailureClass::Truncated) } else { tape }
        };
        let tapes: Vec<Tape> = tapes.into_iter().zip(failures).map(finish).collect();
        let level = level(&tapes);
        let Some(over_time) = level.over_time else { return Ok(()); };
        let flights = tapes.iter().map(|t| {
            t.marks.end.unwrap().saturating_since(t.marks.send_start.unwrap()).as_nanos()
        });
        let sum = flights.sum::<u64>() as f64 / 1e9;
        let duration = level.throughput.duration.get();
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
        prop_assert!(close(over_time.in_flight.mean * duration, sum));
        let parts = over_time.prefilling.mean + over_time.decoding.mean;
        prop_assert!(close(parts, over_time.in_flight.mean));
        prop_assert!(over_time.due.mean >= over_time.in_flight.mean);
        prop_assert!(over_time.in_flight.peak <= tapes.len() as u64);

        // By the definition: each token from its arrival, each prompt from its sending, to the end.
        let held = |t: &Tape| {
            let until = |from: Stamp| t.marks.end.unwrap().saturating_since(from).as_secs_f64();
            let outputs: f64 = t.arrivals.iter().map(|a| f64::from(a.tokens) * until(a.at)).sum();
            prompt as f64 * until(t.marks.send_start.unwrap()) + outputs
        };
        let exact = tapes.iter().map(held).sum::<f64>() / duration;
        let found = over_time.tokens_in_flight.unwrap();
        prop_assert!(close(found, exact), "{found} against {exact}");
    }

    /// Forty requests of any lengths, one after another in each of four slots: what counts by whole seconds says forty.
    #[test]
    fn a_closed_loop_is_never_above_its_cap(lengths in prop::collection::vec(1_u64..40, 40)) {
        let mut free = [0_u64; 4];
        let run = |length: &u64| {
            let slot = free.iter_mut().min().unwrap();
            let sent = *slot;
            *slot += length;
            tape(sent, &[(*slot, 1)])
        };
        let tapes: Vec<Tape> = lengths.iter().map(run).collect();
        let over_time = level(&tapes).over_time.unwrap();
        prop_assert_eq!(over_time.in_flight.peak, 4);
        prop_assert!(over_time.in_flight.mean <= 4.0);
    }
}

/// Two requests: 0 to 40 ms and 20 to 100 ms, first tokens at 10 and 60 ms.
#[test]
fn a_hand_made_level_has_the_right_figures() {
    let mut tapes = [tape(0, &[(10, 2), (40, 3)]), tape(20, &[(60, 1), (100, 4)])];
    tapes[1].marks.intended = ms(5);
    let found = level(&tapes).over_time.unwrap();
    let four = |o: fizeau_metrics::Occupancy| (o.mean, o.p50, o.p90, o.peak);
    assert_eq!(four(found.in_flight), (1.2, 1, 2, 2));
    assert_eq!(four(found.prefilling), (0.5, 0, 1, 1));
    assert_eq!(four(found.decoding), (0.7, 1, 1, 1));
    assert_eq!(four(found.due), (1.35, 1, 2, 2));
    assert_eq!(found.tokens_in_flight, None);
    assert_eq!(found.peak_output_tokens.rate.get(), 100.0);

    for tape in &mut tapes {
        tape.requested.input_tokens = Some(Tokens::new(10));
    }
    // 10 * 120 ms of prompts, 2 * 30 ms and 1 * 40 ms of outputs; the last tokens come at the end.
    assert_eq!(level(&tapes).over_time.unwrap().tokens_in_flight, Some(13.0));
}

#[test]
fn the_richest_second_is_found_between_full_seconds() {
    // A hundred tokens from 0.6 to 1.4 s of a run of three seconds, and one at its end.
    let mut events: Vec<(u64, u32)> = (0..100).map(|n| (601 + n * 8, 1)).collect();
    events.push((3_000, 1));
    let found = level(&[tape(0, &events)]).over_time.unwrap();
    assert_eq!(found.peak_output_tokens.rate.get(), 100.0);
    assert_eq!(found.peak_output_tokens.over, Nanos::from_secs(1));
}

#[test]
fn cells_grow_with_the_run() {
    let cell = |first, last| level(&[tape(0, &[(first, 1), (last, 1)])]).over_time.unwrap().cell;
    assert_eq!(cell(1, 1_048_000), Nanos::from_millis(1));
    assert_eq!(cell(1, 1_049_000), Nanos::from_millis(2));
    assert_eq!(cell(1, 3_600_000), Nanos::from_millis(4));
    // What matters is the time from the first to the last token.
    assert_eq!(cell(9_000_000, 9_001_000), Nanos::from_millis(1));
}

/// 1 for 60 ms, 3 for 30 ms, 2 for 10 ms: by hand. A probe is no part of it, a request that was lost is.
#[test]
fn quantiles_are_weighted_by_time_and_not_by_events() {
    let mut lost = failed(tape(60, &[]), FailureClass::TimeoutTotal);
    lost.marks.end = Some(ms(100));
    let mut probe = tape(0, &[(90, 1)]);
    probe.part = RequestPurpose::Probe;
    let found =
        level(&[tape(0, &[(100, 1)]), tape(60, &[(90, 1)]), lost, probe]).over_time.unwrap();
    let of = found.in_flight;
    assert_eq!((of.mean, of.p50, of.p90, of.peak), (1.7, 1, 3, 3));
}

#[test]
fn what_has_no_length_says_so() {
    let json = serde_json::to_value(level(&[])).unwrap();
    assert!(json["over_time"].is_null());
    assert_eq!(json["over_time_reason"], "the level has no length");
    let json = serde_json::to_value(level(&[tape(0, &[(10, 1)])])).unwrap();
    assert_eq!(json["over_time"]["in_flight"]["peak"], 1);
    assert_eq!(json["over_time"]["token_cell_ms"], 1.0);
    assert_eq!(
        json["over_time"]["tokens_in_flight_mean_reason"],
        "the length of some prompts is unknown"
    );
}
