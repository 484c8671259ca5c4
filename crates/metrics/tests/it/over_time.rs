//! What went on over the whole of a level.

use fizeau_core::{Nanos, Stamp, Tape, Tokens};
use fizeau_metrics::{GoodputGoals, LevelSummary, TimeSpan, TokenCells};
use proptest::prelude::*;

use crate::tapes::{any_tape, failed, ms, tape};
use fizeau_core::FailureClass;

fn level(tapes: &[Tape]) -> LevelSummary {
    LevelSummary::of(tapes, &GoodputGoals::default())
}

fn cells(arrivals: &[(u64, u64)]) -> TokenCells {
    let mut cells = TokenCells::default();
    for &(at, tokens) in arrivals {
        cells.add(Stamp::from_nanos(at), Tokens::new(tokens));
    }
    cells
}

/// Instants over twelve days at most, in nanoseconds, most of them close together: cells fold for some.
fn any_arrivals() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let at = prop_oneof![
        8 => 0_u64..3_000_000_000,
        1 => 0_u64..2_000_000_000_000,
        1 => 0_u64..1_000_000_000_000_000,
    ];
    prop::collection::vec((at, 0_u64..9), 0..60)
}

proptest! {
    #![proptest_config(crate::cases(128))]

    #[test]
    fn cells_hold_what_an_exact_series_counts(
        tapes in prop::collection::vec(any_tape(), 1..20),
        ends in (0_u64..2_000_000_000, 0_u64..2_000_000_000),
    ) {
        let arrivals = || tapes.iter().flat_map(|tape| &tape.arrivals);
        let mut cells = TokenCells::default();
        arrivals().for_each(|arrival| cells.add(arrival.at, Tokens::new(arrival.tokens.into())));
        let wanted = TimeSpan::new(Stamp::from_nanos(ends.0), Stamp::from_nanos(ends.1));
        let span = cells.snapped(wanted);
        let inside = arrivals().filter(|arrival| span.from() < arrival.at && arrival.at <= span.to());
        let exact: u64 = inside.map(|arrival| u64::from(arrival.tokens)).sum();
        prop_assert_eq!(cells.within(wanted).get(), exact);
        prop_assert_eq!(cells.cell(), Nanos::from_millis(1));
        let inside = span.length() == Nanos::ZERO
            || (span.from() >= wanted.from() && span.to() <= wanted.to());
        prop_assert!(inside && span.from().as_nanos() % 1_000_000 == 0);
        let short = wanted.length().saturating_sub(span.length());
        prop_assert!(short < Nanos::from_millis(2));
    }

    /// In any order and in any parts, and however long the run.
    #[test]
    fn cells_are_the_same_however_they_are_put_together(
        arrivals in any_arrivals(), cut in 0..60_usize,
    ) {
        let (head, tail) = arrivals.split_at(cut.min(arrivals.len()));
        let mut merged = cells(tail);
        merged.merge(&cells(head));
        let whole = cells(&arrivals);
        prop_assert_eq!(&merged, &whole);
        let mut reversed = arrivals.clone();
        reversed.reverse();
        prop_assert_eq!(&cells(&reversed), &whole);
        let mut none = TokenCells::default();
        none.merge(&whole);
        prop_assert_eq!(&none, &whole);
        // A cell of the last token's, and one more for what came at the epoch.
        let all = TimeSpan::new(Stamp::EPOCH, Stamp::from_nanos(2_000_000_000_000_000));
        let sum: u64 = arrivals.iter().map(|(_, tokens)| tokens).sum();
        prop_assert_eq!(whole.within(all).get(), sum);
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
            tape.asked.input_tokens = Some(Tokens::new(prompt));
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
        tape.asked.input_tokens = Some(Tokens::new(10));
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
    let second = 1_000_000_000;
    assert_eq!(cells(&[(1, 1), (1_048 * second, 1)]).cell(), Nanos::from_millis(1));
    assert_eq!(cells(&[(1, 1), (1_049 * second, 1)]).cell(), Nanos::from_millis(2));
    assert_eq!(cells(&[(1, 1), (3_600 * second, 1)]).cell(), Nanos::from_millis(4));
    // What matters is the time from the first to the last token.
    assert_eq!(cells(&[(9_000 * second, 1), (9_001 * second, 1)]).cell(), Nanos::from_millis(1));
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
