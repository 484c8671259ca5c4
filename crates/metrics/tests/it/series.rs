//! A level over time, event by event.

use fizeau_core::{FailureClass, Nanos, Part, Stamp, Tape, Tokens};
use fizeau_metrics::{
    CountSeries, GoodputGoals, LevelSummary, Moment, OutOfOrder, Sweep, TimeSpan, TimeWeighted,
    Timeline, TokenSeries,
};
use proptest::prelude::*;

use crate::tapes::{any_tape, failed, ms, tape};

fn whole(tapes: &[Tape]) -> TimeSpan {
    let from = tapes.iter().map(|tape| tape.marks.released).min().unwrap_or_default();
    let to = tapes.iter().filter_map(|tape| tape.marks.end).max().unwrap_or_default();
    TimeSpan::new(from, to)
}

fn in_order(tapes: &[Tape]) -> Vec<Tape> {
    let mut sorted = tapes.to_vec();
    sorted.sort_by_key(|tape| tape.marks.send_start);
    sorted
}

fn moments(tapes: &[Tape]) -> Vec<Moment> {
    let swept: Result<_, OutOfOrder> = Sweep::over(&in_order(tapes)).collect();
    swept.unwrap_or_default()
}

/// Requests of a closed loop of `slots`, one after another in each with no pause, of the given lengths in milliseconds.
fn closed_loop(slots: usize, lengths: &[u64]) -> Vec<Tape> {
    let mut free = vec![0; slots];
    let run = |&length: &u64| {
        let slot = free.iter_mut().min()?;
        let sent = *slot;
        *slot += length;
        Some(tape(sent, &[(sent + length / 2, 1), (sent + length, 1)]))
    };
    lengths.iter().filter_map(run).collect()
}

/// 40 requests of 20 ms each, one after another in four slots: forty of them touch the same second, and four are in flight.
#[test]
fn many_short_requests_in_one_second_do_not_exceed_the_cap() {
    let tapes = closed_loop(4, &[20; 40]);
    assert_eq!(Timeline::of(&tapes).in_flight().peak(), 4);
}

/// 100 tokens at once at 900 ms and 100 at 1100 ms, within 1.2 s: 167 tokens/s on the mean, and no second that begins at a
/// full one has more than 100.
#[test]
fn a_burst_across_a_full_second_is_not_split() {
    let tokens = TokenSeries::of(&[tape(0, &[(900, 100), (1_100, 100), (1_200, 0)])]);
    let span = TimeSpan::new(ms(0), ms(1_200));
    let peak = tokens.peak_over(span, Nanos::from_secs(1)).unwrap().get();
    // Two windows of 600 ms make up the span, and one of 600 ms holds both.
    assert!((peak - 200.0 / 0.6).abs() < 1e-9, "{peak}");
    assert!(peak >= tokens.rate_over(span).unwrap().get());
}

#[test]
fn a_request_goes_from_prefill_to_decode_to_nothing() {
    let mut lost = failed(tape(10, &[]), FailureClass::TimeoutTotal);
    lost.marks.end = Some(ms(30));
    let mut probe = tape(0, &[(500, 1)]);
    probe.part = Part::Probe;
    let timeline = Timeline::of([&tape(0, &[(20, 1), (50, 1)]), &lost, &probe]);
    let steps = |series: CountSeries| series.steps().collect::<Vec<_>>();
    assert_eq!(steps(timeline.in_flight()), [(ms(0), 1), (ms(10), 2), (ms(30), 1), (ms(50), 0)]);
    assert_eq!(steps(timeline.prefilling()), [(ms(0), 1), (ms(10), 2), (ms(20), 1), (ms(30), 0)]);
    assert_eq!(steps(timeline.decoding()), [(ms(20), 1), (ms(50), 0)]);
}

#[test]
fn what_a_cap_holds_back_is_due_and_not_in_flight() {
    let mut held = tape(50, &[(90, 1)]);
    held.marks.intended = ms(10);
    let timeline = Timeline::of([&held]);
    assert_eq!((timeline.due().value_at(ms(20)), timeline.in_flight().value_at(ms(20))), (1, 0));
}

/// 1 for 60 ms, 3 for 30 ms, 2 for 10 ms: by hand.
#[test]
fn quantiles_are_weighted_by_time_and_not_by_events() {
    let series =
        CountSeries::of([(0, 100), (60, 90), (60, 100)].map(|(a, b)| TimeSpan::new(ms(a), ms(b))));
    let load = series.over(TimeSpan::new(ms(0), ms(100)));
    let at = |q| load.quantile(q).unwrap();
    assert_eq!((at(0.0), at(0.6), at(0.61), at(0.7), at(0.71), at(1.0)), (1, 1, 2, 2, 3, 3));
    assert_eq!((load.mean(), load.share_at_least(2)), (Some(1.7), Some(0.4)));
    assert_eq!((load.quantile(1.01), load.quantile(f64::NAN)), (None, None));
    let nothing = series.over(TimeSpan::new(ms(5), ms(5)));
    assert_eq!((nothing.mean(), nothing.peak(), nothing.quantile(0.5)), (None, None, None));
}

#[test]
fn tokens_in_flight_are_prompts_and_what_has_come() {
    let mut first = tape(0, &[(20, 1), (40, 4)]);
    first.asked.input_tokens = Some(Tokens::new(100));
    let mut lost = failed(tape(10, &[(30, 2)]), FailureClass::Truncated);
    lost.asked.input_tokens = Some(Tokens::new(10));
    let found: Vec<(Stamp, u64, u64)> = moments(&[first, lost])
        .iter()
        .map(|m| (m.at, m.came.get(), m.tokens_in_flight.unwrap().get()))
        .collect();
    let right = [(0, 0, 100), (10, 0, 110), (20, 1, 111), (30, 0, 101), (40, 4, 0)];
    assert_eq!(found, right.map(|(at, came, held)| (ms(at), came, held)));
}

#[test]
fn a_prompt_of_unknown_length_makes_tokens_in_flight_unknown_while_it_lasts() {
    let mut known = tape(0, &[(90, 1)]);
    known.asked.input_tokens = Some(Tokens::new(7));
    let found: Vec<_> =
        moments(&[known, tape(10, &[(20, 1)])]).iter().map(|m| m.tokens_in_flight).collect();
    assert_eq!(found, [Some(7), None, Some(7), Some(0)].map(|held| held.map(Tokens::new)));
}

#[test]
fn tapes_out_of_order_are_refused_by_name() {
    let mut late = tape(10, &[(20, 1)]);
    late.request.0 = 5;
    let found: Vec<_> = Sweep::over([tape(30, &[(40, 1)]), late]).collect();
    let error = found.iter().find_map(|moment| moment.err()).unwrap();
    assert_eq!(error.request.0, 5);
    assert!(error.to_string().contains("in order of sending"));
}

proptest! {
    #![proptest_config(crate::cases(64))]

    #[test]
    fn concurrency_never_exceeds_the_cap(
        slots in 1usize..9, lengths in prop::collection::vec(1u64..50, 1..200),
    ) {
        let tapes = closed_loop(slots, &lengths);
        let timeline = Timeline::of(&tapes);
        prop_assert_eq!(timeline.in_flight().peak(), slots.min(lengths.len()) as u64);
    }

    /// Little's law, to the nanosecond; and what is in flight is in prefill or in decode.
    #[test]
    fn the_integral_of_concurrency_is_the_sum_of_latencies(
        tapes in prop::collection::vec(any_tape(), 1..60), at in 0u64..2_000, length in 0u64..2_000,
    ) {
        let timeline = Timeline::of(&tapes);
        let (all, prefill, decode) =
            (timeline.in_flight(), timeline.prefilling(), timeline.decoding());
        let latencies: u128 = tapes
            .iter()
            .map(|t| u128::from(t.marks.end.unwrap().since(t.marks.send_start.unwrap()).unwrap().as_nanos()))
            .sum();
        prop_assert_eq!(all.over(whole(&tapes)).integral(), latencies);
        let span = TimeSpan::new(ms(at), ms(at + length));
        prop_assert_eq!(
            all.over(span).integral(),
            prefill.over(span).integral() + decode.over(span).integral()
        );
        prop_assert_eq!(all.value_at(ms(at)), prefill.value_at(ms(at)) + decode.value_at(ms(at)));
        // Against the definition, request by request.
        let inside = |t: &Tape| {
            let (from, to) = (t.marks.send_start.unwrap(), t.marks.end.unwrap());
            u128::from(to.min(span.to()).saturating_since(from.max(span.from())).as_nanos())
        };
        prop_assert_eq!(all.over(span).integral(), tapes.iter().map(inside).sum::<u128>());
        let counted = |t: &&Tape| t.marks.send_start.unwrap() <= ms(at) && ms(at) < t.marks.end.unwrap();
        prop_assert_eq!(all.value_at(ms(at)), tapes.iter().filter(counted).count() as u64);
    }

    #[test]
    fn statistics_of_steps_keep_their_order(
        tapes in prop::collection::vec(any_tape(), 1..60), q in 0.0..1.0f64,
    ) {
        let series = Timeline::of(&tapes).in_flight();
        let load = series.over(series.span().unwrap());
        prop_assume!(load.mean().is_some());
        let peak = load.peak().unwrap();
        prop_assert_eq!(peak, series.peak());
        prop_assert!(load.mean().unwrap() <= peak as f64);
        let value = load.quantile(q).unwrap();
        prop_assert!(load.quantile(0.0).unwrap() <= value && value <= peak);
        // No more than 1 - q of the time is spent above it, and no less at or above.
        prop_assert!(load.share_at_least(value + 1).unwrap() <= 1.0 - q + 1e-9);
        prop_assert!(load.share_at_least(value).unwrap() >= 1.0 - q - 1e-9);
    }

    #[test]
    fn the_peak_rate_is_never_below_the_mean(
        tapes in prop::collection::vec(any_tape(), 1..40), longest in 1u64..3_000_000_000,
    ) {
        let tokens = TokenSeries::of(&tapes);
        let span = whole(&tapes);
        let longest = Nanos::from_nanos(longest);
        if let Some((peak, mean)) = tokens.peak_over(span, longest).zip(tokens.rate_over(span)) {
            prop_assert!(peak.get() >= mean.get() * (1.0 - 1e-12), "{} < {}", peak.get(), mean.get());
        }
    }

    #[test]
    fn rates_hold_every_token_of_completed_requests(
        tapes in prop::collection::vec(any_tape(), 1..40), cut in 0u64..1_500,
    ) {
        let mut tapes = tapes;
        tapes[0] = failed(tapes[0].clone(), FailureClass::Truncated);
        let tokens = TokenSeries::of(&tapes);
        let span = whole(&tapes);
        let level = LevelSummary::of(&tapes, &GoodputGoals::default());
        if let Some(mean) = tokens.rate_over(span) {
            let gap = (mean.get() - level.throughput.output_tokens_per_s.get()).abs();
            prop_assert!(gap <= 1e-12 * mean.get());
        }
        let whole = level.tokens.output;
        prop_assert_eq!(tokens.within(span), whole);
        let cut = ms(cut).min(span.to());
        let parts = tokens.within(TimeSpan::new(span.from(), cut)) + tokens.within(TimeSpan::new(cut, span.to()));
        prop_assert_eq!(parts, whole);
        let spread: f64 =
            tokens.rates(span.from()).map(|step| step.rate.get() * step.span.length().as_secs_f64()).sum();
        prop_assert!((spread - whole.get() as f64).abs() < 1e-6);
    }

    /// The stream and what is kept say the same, and the stream's instants only go forward.
    #[test]
    fn a_sweep_gives_what_the_series_gives(tapes in prop::collection::vec(any_tape(), 1..40)) {
        let mut tapes = tapes;
        for (index, tape) in tapes.iter_mut().enumerate() {
            tape.asked.input_tokens = Some(Tokens::new(index as u64 % 3));
        }
        let moments = moments(&tapes);
        prop_assert!(moments.is_sorted_by(|a, b| a.at < b.at));
        let came: Vec<_> =
            moments.iter().filter(|m| m.came > Tokens::ZERO).map(|m| (m.at, m.came)).collect();
        prop_assert_eq!(came, TokenSeries::of(&tapes).arrivals().collect::<Vec<_>>());
        prop_assert_eq!(moments.last().unwrap().tokens_in_flight, Some(Tokens::ZERO));
        // The integral by the definition: each token from its arrival, each prompt from its sending, to the end.
        let load = TimeWeighted::of(
            moments.iter().map(|m| (m.at, m.tokens_in_flight.unwrap().get())), whole(&tapes),
        );
        let held = |t: &Tape| {
            let until = |from: Stamp| u128::from(t.marks.end.unwrap().saturating_since(from).as_nanos());
            let prompt = u128::from(t.asked.input_tokens.unwrap().get());
            let outputs = t.arrivals.iter().map(|a| u128::from(a.tokens) * until(a.at));
            prompt * until(t.marks.send_start.unwrap()) + outputs.sum::<u128>()
        };
        prop_assert_eq!(load.integral(), tapes.iter().map(held).sum::<u128>());
    }
}
