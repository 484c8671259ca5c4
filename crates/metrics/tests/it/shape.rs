//! The shape of a level: bounded, the same in any order, and true to the figures that it is a picture of.

use fizeau_core::{FailureClass, Millis, Nanos, RequestId, RequestPurpose, Stamp, Tape, Tokens};
use fizeau_metrics::{
    GoodputGoals, LevelShape, LevelSummary, Metric, QuantilePoint, ShapeTally, TimeSeriesBin,
};
use proptest::prelude::*;

use crate::cases;
use crate::tapes::{any_tape, failed, ms, tape};

/// Numbered tapes, of which one in four failed; they are spread over as much as `span_ms`.
fn any_level(span_ms: u64) -> impl Strategy<Value = Vec<Tape>> {
    let one = (any_tape(), 0..4, 0..span_ms).prop_map(|(tape, kind, later)| {
        let tape = moved(tape, Nanos::from_millis(later));
        if kind == 0 { failed(tape, FailureClass::Truncated) } else { tape }
    });
    prop::collection::vec(one, 1..30).prop_map(|mut tapes| {
        for (number, tape) in (0..).zip(&mut tapes) {
            tape.request = RequestId(number);
            tape.requested.input_tokens = Some(Tokens::new(10 + number));
        }
        tapes
    })
}

/// The same, later.
fn moved(mut tape: Tape, by: Nanos) -> Tape {
    let marks = &mut tape.marks;
    marks.intended += by;
    marks.released += by;
    marks.send_start = marks.send_start.map(|at| at + by);
    marks.send_end = marks.send_end.map(|at| at + by);
    marks.end = marks.end.map(|at| at + by);
    tape.arrivals.iter_mut().for_each(|arrival| arrival.at += by);
    tape
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs())
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn the_order_of_tapes_does_not_matter(
        (tapes, shuffled) in any_level(100_000)
            .prop_flat_map(|tapes| (Just(tapes.clone()), Just(tapes).prop_shuffle())),
    ) {
        prop_assert_eq!(LevelShape::of(&tapes), LevelShape::of(&shuffled));
    }

    #[test]
    fn a_course_has_all_the_time_in_flight_and_all_tokens(tapes in any_level(100_000)) {
        let LevelShape { timeline, .. } = LevelShape::of(&tapes);
        let bin = timeline.bin.as_nanos() as f64;
        let sum = |of: fn(&TimeSeriesBin) -> f64| timeline.bins.iter().map(of).sum::<f64>();
        let summary = LevelSummary::of(&tapes, &GoodputGoals::default());
        let length = summary.throughput.duration.get() * 1e9;
        if let Some(over_time) = summary.over_time {
            let (flown, waited) = (over_time.in_flight.mean, over_time.prefilling.mean);
            prop_assert!(close(sum(|one| one.in_flight) * bin, flown * length));
            prop_assert!(close(sum(|one| one.prefilling) * bin, waited * length));
        }
        let tokens = sum(|one| one.output_tokens_per_s.get()) * (bin / 1e9);
        prop_assert!(close(tokens, summary.tokens.output.get() as f64));
        prop_assert!(timeline.bins.iter().all(|one| one.prefilling <= one.in_flight));
        let longest = timeline.bins.iter().filter_map(|one| one.ttft_max).map(Millis::get).fold(0.0, f64::max);
        prop_assert_eq!(longest, summary.metrics.ttft.max.unwrap_or_default().get());
        let is_ordered = |one: &TimeSeriesBin| one.ttft_p50 <= one.ttft_max && one.ttft_p50.is_some() == one.ttft_max.is_some();
        prop_assert!(timeline.bins.iter().all(is_ordered));
    }

    #[test]
    fn a_course_is_bounded_and_covers_the_level(tapes in any_level(10_000_000)) {
        let LevelShape { timeline, ttft_by_input, .. } = LevelShape::of(&tapes);
        let first = tapes.iter().map(|tape| tape.marks.released).min().unwrap();
        let last = tapes.iter().filter_map(|tape| tape.marks.end).max().unwrap();
        let end = timeline.start + timeline.bin * timeline.bins.len() as u64;
        prop_assert!(timeline.bins.len() <= 160);
        prop_assert!(timeline.start <= first && last <= end);
        prop_assert!(first.saturating_since(timeline.start) < timeline.bin);
        prop_assert!(end.saturating_since(last) < timeline.bin);
        // As fine as the bound allows, half as long bins would be too many; or as gaps and replies are.
        let halves = 2 * timeline.bins.len();
        let metrics = LevelSummary::of(&tapes, &GoodputGoals::default()).metrics;
        let least = [metrics.e2el.max, metrics.icl.max.map(|gap| gap * 2.0)];
        let least = least.into_iter().flatten().map(Millis::get).fold(0.0, f64::max);
        let is_finest = timeline.bin == Nanos::from_micros(125) || halves > 160;
        prop_assert!(is_finest || timeline.bin.as_millis_f64() <= 2.01 * least);
        prop_assert!(is_finest || halves >= 64);
        prop_assert!(ttft_by_input.len() <= 400);
        prop_assert_eq!(ttft_by_input.len() as u64, LevelSummary::of(&tapes, &GoodputGoals::default()).metrics.ttft.n);
    }

    #[test]
    fn curves_rise_and_pass_where_percentiles_are(tapes in any_level(1_000)) {
        let summary = LevelSummary::of(&tapes, &GoodputGoals::default());
        let curves = LevelShape::of(&tapes).quantiles;
        prop_assert!(curves.0.iter().map(|(metric, _)| *metric).eq(Metric::headline()));
        for (metric, curve) in &curves.0 {
            let exact = metric.distribution(&summary).unwrap();
            prop_assert!(curve.is_sorted_by(|a, b| a.share < b.share && a.value <= b.value));
            let n = exact.n as f64;
            let supported = |point: &QuantilePoint| {
                n * point.share >= 0.999_999 && n * (1.0 - point.share) >= 0.999_999
            };
            prop_assert!(curve.iter().all(supported), "{n} {curve:?}");
            prop_assert_eq!(curve.is_empty(), exact.n < 2);
            let (min, max) = (exact.min.unwrap_or_default(), exact.max.unwrap_or_default());
            let within = |point: &QuantilePoint| {
                let value = point.value.get();
                min.get() * 0.999 - 1e-6 <= value && value <= max.get() * 1.001 + 1e-6
            };
            prop_assert!(curve.iter().all(within), "{min:?} {max:?} {curve:?}");
        }
    }
}

#[test]
fn a_curve_is_the_uniform_law_for_a_uniform_sample() {
    // A thousand times to first token, 1 ms to 1000 ms.
    let tapes: Vec<Tape> = (1..=1000).map(|n| tape(0, &[(n, 1)])).collect();
    let curve = LevelShape::of(&tapes).quantiles;
    let curve = curve.of(Metric::Ttft);
    assert_eq!(curve.first().map(|point| point.share), Some(0.001));
    assert_eq!(curve.last().map(|point| point.share), Some(0.999));
    for QuantilePoint { share, value } in curve {
        assert!((value.get() - 1000.0 * share).abs() <= 1.0, "{share} {value:?}");
    }
}

#[test]
fn a_course_shows_prefill_beside_decoding() {
    // One decodes a token each 10 ms; at 500 ms another comes and makes it wait for 200 ms.
    let steady = (1..50).map(|n| (10 * n, 1)).chain((0..30).map(|n| (700 + 10 * n, 1)));
    let steady = tape(0, &steady.collect::<Vec<_>>());
    let intruder = tape(500, &[(700, 1)]);
    let timeline = LevelShape::of(&[steady, intruder]).timeline;
    assert_eq!((timeline.start, timeline.bin), (Stamp::EPOCH, Nanos::from_millis(8)));
    assert_eq!(timeline.bins.len(), 124); // 990 ms
    let at = |ms: usize| timeline.bins.get(ms / 8).copied().unwrap_or_default();
    assert_eq!((at(600).in_flight, at(600).prefilling), (2.0, 1.0));
    assert_eq!(at(600).itl_max, None);
    let after = at(699).itl_max.map(Millis::get);
    assert_eq!(after, Some(210.0));
    let first = at(699).ttft_max.map(Millis::get);
    assert_eq!((first, at(600).ttft_max), (Some(200.0), None));
    assert_eq!(at(300).itl_p99, None);
    assert!(at(300).itl_p50.is_some_and(|gap| (gap.get() / 10.0 - 1.0).abs() < 0.032));
}

/// Eight requests at a time, all of one length: they come and go together.
#[test]
fn many_waves_of_requests_are_not_drawn_one_by_one() {
    let wave = |start: u64| {
        let tokens: Vec<(u64, u32)> = (0..30).map(|n| (start + 60 + n, 1)).collect();
        std::iter::repeat_n(tape(start, &tokens), 8)
    };
    let level = |waves: u64| -> Vec<Tape> { (0..waves).flat_map(|nth| wave(90 * nth)).collect() };
    let many = LevelShape::of(&level(60)).timeline;
    assert!(many.bin >= Nanos::from_millis(90) && many.bins.len() >= 20, "{:?}", many.bin);
    let within = many.bins.iter().skip(1).take(many.bins.len() - 2);
    let rates: Vec<f64> = within.map(|bin| bin.output_tokens_per_s.get()).collect();
    let (least, most) =
        (rates.iter().copied().fold(f64::MAX, f64::min), rates.iter().copied().fold(0.0, f64::max));
    assert!(least > 0.0 && most <= 2.0 * least, "{least} to {most}");
    // As many in chunks of ten tokens, a hundred milliseconds apart.
    let chunks =
        |start: u64| tape(start, &(1..20).map(|n| (start + 100 * n, 10)).collect::<Vec<_>>());
    let bundled = LevelShape::of(&[
        chunks(0),
        chunks(2000),
        chunks(4000),
        chunks(6000),
        chunks(8000),
        chunks(10_000),
    ])
    .timeline;
    let within = bundled.bins.iter().skip(1).take(bundled.bins.len() - 2);
    assert!(
        within.clone().count() > 20
            && within.clone().all(|bin| bin.output_tokens_per_s.get() > 0.0),
        "{:?}",
        bundled.bin
    );
    // Of a few, each is seen.
    let few = LevelShape::of(&level(10)).timeline;
    assert!(few.bin < Nanos::from_millis(10), "{:?}", few.bin);
}

#[test]
fn who_failed_was_in_flight_and_nothing_else_and_a_probe_is_not_there() {
    let bad = failed(tape(0, &[(10, 1), (20, 5)]), FailureClass::Truncated);
    let probe = Tape { part: RequestPurpose::Probe, ..tape(0, &[(10, 1), (20, 5)]) };
    let mut unsent = failed(tape(0, &[]), FailureClass::Connect);
    (unsent.marks.send_start, unsent.marks.end) = (None, Some(ms(16)));
    let shape = LevelShape::of(&[bad, probe, unsent]);
    let flown: f64 = shape.timeline.bins.iter().map(|bin| bin.in_flight).sum();
    assert!(close(flown * shape.timeline.bin.as_millis_f64(), 20.0));
    let none = |bin: &TimeSeriesBin| bin.output_tokens_per_s.get() == 0.0 && bin.itl_max.is_none();
    assert!(shape.timeline.bins.iter().all(none));
    assert!(shape.quantiles.of(Metric::E2el).is_empty() && shape.ttft_by_input.is_empty());
    assert_eq!(LevelShape::of(&[]), LevelShape::default());
}

#[test]
fn pairs_are_an_even_sample() {
    let mut tally = ShapeTally::default();
    for number in 0..10_000 {
        let mut one = tape(0, &[(5, 1)]);
        one.request = RequestId(number);
        one.requested.input_tokens = Some(Tokens::new(number));
        tally.add(&one);
    }
    let pairs = tally.shape().ttft_by_input;
    assert_eq!(pairs.len(), 400);
    assert!(pairs.is_sorted_by_key(|pair| pair.input));
    // Of 400 numbers drawn evenly, half are in either half, give or take four standard deviations of ten.
    let low = pairs.iter().filter(|pair| pair.input.get() < 5_000).count();
    assert!((160..=240).contains(&low), "{low}");
    let odd = pairs.iter().filter(|pair| pair.input.get() % 2 == 1).count();
    assert!((160..=240).contains(&odd), "{odd}");
}

#[test]
fn absurd_stamps_do_no_harm() {
    let mut late = tape(0, &[(1, 1)]);
    late.arrivals.iter_mut().for_each(|arrival| arrival.at = Stamp::from_nanos(u64::MAX));
    let mut early = tape(9, &[(1, 1), (7, 2)]);
    early.marks.end = None;
    let timeline = LevelShape::of(&[early, late]).timeline;
    assert!(timeline.bins.len() <= 160);
    let per_s: f64 = timeline.bins.iter().map(|bin| bin.output_tokens_per_s.get()).sum();
    assert!(close(per_s * timeline.bin.as_secs_f64(), 4.0));
}
