//! The measured part of a level beside the whole, and what says that a level is saturated.

use fizeau_core::{Arrival, Channel, FailureClass, Nanos, PerSec, Stamp, Tape, TokenSource};
use fizeau_metrics::{
    ClientWatch, CutReason, GoodputGoals, LevelExpectations, LevelSummary, LevelTally,
    NoWindowReason, SampleSupport, Saturation, Verdict, WindowChoice, WindowEnd, WindowTrim, judge,
};
use proptest::prelude::*;

use crate::tapes::{any_tape, failed, ms, tape};

fn tally<'a>(tapes: impl IntoIterator<Item = &'a Tape>, window: WindowChoice) -> LevelTally {
    let mut tally = LevelTally::new(&GoodputGoals::default()).with_window(window);
    tapes.into_iter().for_each(|tape| tally.add(tape));
    tally
}

const fn requested(front: WindowTrim, back: WindowTrim) -> WindowChoice {
    WindowChoice { warmup: WindowEnd::Requested(front), cooldown: WindowEnd::Requested(back) }
}

/// One after another, each 100 ms with tokens after 20 and 100 ms; the first ten wait 50 ms for their first one.
fn slow_start(count: u64) -> Vec<Tape> {
    let one = |n: u64| {
        let first = if n < 10 { 50 } else { 20 };
        tape(n * 100, &[(n * 100 + first, 1), (n * 100 + 100, 4)])
    };
    (0..count).map(one).collect()
}

#[test]
fn a_window_that_was_asked_for_has_the_right_figures() {
    let mut tapes = slow_start(30);
    tapes[12] = failed(tapes[12].clone(), FailureClass::Truncated);
    // Each was due 5 ms before it was sent.
    tapes.iter_mut().for_each(|tape| {
        tape.marks.intended = tape.marks.intended - Nanos::from_millis(5);
    });
    let time = |n| WindowTrim::Time(Nanos::from_millis(n));
    let summary = tally(&tapes, requested(WindowTrim::Requests(10), time(950))).summary();
    let part = summary.windowed.figures().unwrap();
    let window = &part.window;
    assert_eq!((window.span.from(), window.span.to()), (ms(1_000), ms(1_950)));
    assert_eq!((window.cut_front, window.kept, window.cut_back), (10, 10, 10));
    assert_eq!((window.reason, window.not_steady), (CutReason::Requested, None));
    assert_eq!(part.completed, 9);
    let p50 = |sample: &fizeau_metrics::Distribution| (sample.n, sample.p50.value().unwrap().get());
    assert_eq!(p50(&part.metrics.ttft), (9, 20.0));
    assert_eq!(p50(&part.metrics.ttft_scheduled), (9, 25.0));
    assert_eq!(p50(&part.metrics.first_visible), (9, 20.0));
    assert_eq!(p50(&part.metrics.tpot), (9, 20.0));
    assert_eq!(p50(&part.metrics.e2el), (9, 100.0));
    assert_eq!(p50(&part.metrics.e2el_scheduled), (9, 105.0));
    // In it nine requests ended, one of them failed, and another had 30 of the 80 ms of its output; those sent before ended
    // before, at 1000 ms. Tokens: four at the end of each of the eight, and the first of the nine good ones sent in it.
    let rates = part.throughput.unwrap();
    assert_eq!(rates.duration.get(), 0.95);
    assert_eq!(rates.requests_per_s, PerSec::new((8.0 + 0.375) / 0.95));
    assert!(matches!(rates.requests_interval, Some(SampleSupport::NotSupported { has: 9, .. })));
    assert_eq!(rates.output_tokens_per_s, PerSec::new((8.0 * 4.0 + 9.0) / 0.95));
    // The whole run is beside it, untouched.
    assert_eq!(summary.metrics.ttft.n, 29);
    assert_eq!(summary.throughput.duration.get(), 3.0);
}

#[test]
fn the_steady_part_is_found_and_the_whole_stays_beside_it() {
    let summary = tally(&slow_start(300), WindowChoice::AUTO).summary();
    let part = summary.windowed.figures().unwrap();
    assert_eq!(part.window.reason, CutReason::Stationary);
    assert_eq!((part.window.cut_front, part.window.cut_back), (10, 1));
    assert_eq!(part.metrics.ttft.max.unwrap().get(), 20.0);
    assert_eq!(summary.metrics.ttft.max.unwrap().get(), 50.0);
    let json = serde_json::to_value(&summary).unwrap();
    let window = &json["windowed"]["window"];
    assert_eq!((&window["kind"], &window["sent"]), (&"steady".into(), &289.into()));
    assert_eq!(window["metrics"]["ttft_ms"]["max"], 20.0);
    assert_eq!(
        window["metrics"]["itl_ms_reason"],
        "it is pooled over the gaps of the whole run; compute it from the tapes of the window"
    );
    assert_eq!(json["windowed"]["evidence"][0]["signal"], "ttft_scheduled_ms");
    assert_eq!(json["windowed"]["evidence"][0]["cut_front"], 10);
    let curve = &json["windowed"]["evidence"][0]["mser_front"];
    let least = curve["statistic"].as_array().unwrap().iter().map(|s| s.as_f64().unwrap());
    let best = least.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap().0;
    assert_eq!(curve["cut"][best], 10);
}

#[test]
fn requests_and_tokens_of_a_window_agree_where_requests_are_alike() {
    // Eight slots that keep step, 20 tokens each: at their ends, eight more or fewer would be in the window.
    let one = |n: u64| {
        let sent = n / 8 * 116;
        let tokens: Vec<(u64, u32)> = (0..20).map(|k| (sent + 12 + k * 5, 1)).collect();
        tape(sent, &tokens)
    };
    let tapes: Vec<Tape> = (0..480).map(one).collect();
    for front in [33, 40, 47] {
        let choice =
            requested(WindowTrim::Requests(front), WindowTrim::Time(Nanos::from_millis(1_050)));
        let rates = tally(&tapes, choice).summary().windowed.figures().unwrap().throughput.unwrap();
        let (requests, tokens) = (rates.requests_per_s.get(), rates.output_tokens_per_s.get());
        assert!((requests * 20.0 / tokens - 1.0).abs() < 0.01, "{requests} and {tokens}");
        let [Some(SampleSupport::Known(a)), Some(SampleSupport::Known(b))] =
            [rates.requests_interval, rates.output_tokens_interval]
        else {
            panic!("{rates:?}")
        };
        assert!(a.low.get() < requests && requests < a.high.get(), "{a:?}");
        assert!(b.low.get() < tokens && tokens < b.high.get(), "{b:?}");
    }
}

#[test]
fn one_end_may_be_asked_for_and_the_other_found() {
    let tapes = slow_start(300);
    let found = |warmup: &str, cooldown: &str| {
        let choice =
            WindowChoice { warmup: warmup.parse().unwrap(), cooldown: cooldown.parse().unwrap() };
        tally(&tapes, choice).summary().windowed.part.map(|part| {
            let window = part.window;
            (window.cut_front, window.cut_back)
        })
    };
    assert_eq!(found("auto", "20"), Ok((10, 20)));
    assert_eq!(found("25", "auto"), Ok((25, 1)));
    assert_eq!(found("2s", "1500ms"), Ok((20, 16)));
    // Less than it takes: the front stays where it was asked for, and TTFT does not make up for it at the back.
    assert_eq!(found("3", "auto"), Ok((3, 1)));
    assert_eq!(found("400", "auto").unwrap_err().why, NoWindowReason::NothingLeft);
    // Too few for a steady state; the one slot was in use.
    assert_eq!(found("250", "auto"), Ok((250, 1)));
}

#[test]
fn a_plateau_stands_in_for_a_steady_state() {
    // Two slots; the second opens 5 ms after the first.
    let tapes = (0..40).map(|n| {
        let sent = n / 2 * 100 + n % 2 * 5;
        tape(sent, &[(sent + 20, 1), (sent + 100, 1)])
    });
    let tapes: Vec<Tape> = tapes.collect();
    let summary = tally(&tapes, WindowChoice::AUTO).summary();
    let window = &summary.windowed.figures().unwrap().window;
    assert_eq!(window.reason, CutReason::Plateau { level: 2, share: 1.0 });
    assert_eq!((window.cut_front, window.kept, window.cut_back), (1, 38, 1));
    assert!(matches!(window.not_steady, Some(NoWindowReason::TooFew { has: 40, .. })));
    // All at once: the peak is reached as the last one is sent.
    let burst: Vec<Tape> = (0..40).map(|n| tape(n, &[(n + 60, 1)])).collect();
    let part = tally(&burst, WindowChoice::AUTO).summary().windowed.part;
    assert!(matches!(part.unwrap_err().why, NoWindowReason::TooFew { .. }));
}

#[test]
fn an_end_of_a_window_is_read_as_it_is_written() {
    for text in ["auto", "50", "30s", "0.5s"] {
        assert_eq!(text.parse::<WindowEnd>().unwrap().to_string(), text);
    }
    assert_eq!("500ms".parse::<WindowEnd>(), "0.5s".parse());
    for wrong in ["", "s", "-3", "1.5", "5d", "-1s", "infs", "NaNs", "none"] {
        let error = wrong.parse::<WindowEnd>().unwrap_err().to_string();
        assert!(error.contains(&format!("`{wrong}`")) && error.contains("30s"), "{error}");
    }
}

proptest! {
    #![proptest_config(crate::cases(64))]

    /// What is in a window are the figures of the tapes that were sent in it.
    #[test]
    fn a_window_is_a_level_of_the_tapes_sent_in_it(
        tapes in prop::collection::vec(any_tape(), 2..40), front in 0_u64..20, back in 0_u64..20,
    ) {
        let choice = requested(WindowTrim::Requests(front), WindowTrim::Requests(back));
        let summary = tally(&tapes, choice).summary();
        let Some(part) = summary.windowed.figures() else { return Ok(()); };
        let span = part.window.span;
        let inside = |tape: &&Tape| {
            tape.marks.send_start.is_some_and(|at| at >= span.from() && at < span.to())
        };
        let alone = LevelSummary::of(tapes.iter().filter(inside), &GoodputGoals::default());
        prop_assert_eq!(part.completed, alone.requests.completed);
        let pairs = [
            (&part.metrics.ttft, &alone.metrics.ttft),
            (&part.metrics.ttft_scheduled, &alone.metrics.ttft_scheduled),
            (&part.metrics.tpot, &alone.metrics.tpot),
            (&part.metrics.e2el, &alone.metrics.e2el),
            (&part.metrics.e2el_scheduled, &alone.metrics.e2el_scheduled),
        ];
        for (found, right) in pairs {
            prop_assert_eq!(found.n, right.n);
            prop_assert_eq!((found.min, found.max), (right.min, right.max));
            prop_assert_eq!(found.p50.value(), right.p50.value());
        }
    }
}

/// One is due every 10 ms, and one is served every 12 ms.
fn overloaded() -> Vec<Tape> {
    let one = |n: u64| {
        let mut tape = Tape::sent_at(ms(10 * n));
        tape.arrivals.push(Arrival::tokens(ms(12 * n + 12), 1, Channel::Visible));
        tape.marks.end = Some(ms(12 * n + 12));
        tape.token_source = TokenSource::TokenIds;
        tape
    };
    (0..200).map(one).collect()
}

#[test]
fn a_saturated_level_is_suspect_and_says_how_fast_its_queue_grew() {
    let tally = tally(&overloaded(), WindowChoice::AUTO);
    let (summary, client) = (tally.summary(), tally.proof(ClientWatch::default()));
    assert!(matches!(summary.saturation, Some(Saturation::Saturated(_))));
    let validity = judge(&summary, &client, &LevelExpectations::default());
    assert_eq!(validity.verdict, Verdict::Suspect);
    // A hundred are sent a second and 83 served; each waits 2 ms longer than the one before.
    assert_eq!(
        validity.reasons[0].text,
        "saturated: TTFT from schedule grew by 200.0 ms each second; the queue grew by 16.7 requests each second, so latencies depend on how long the level ran (2.4 s here)"
    );
    let json = serde_json::to_value(&summary).unwrap();
    assert_eq!(json["saturation"]["verdict"], "saturated");
    let slope = json["saturation"]["ttft_scheduled_ms"]["trend"]["per_s"].as_f64().unwrap();
    assert!((slope - 200.0).abs() < 1e-6, "{slope}");
}

#[test]
fn nothing_is_said_of_saturation_where_the_loop_is_closed() {
    let tally = tally(&overloaded(), WindowChoice::AUTO).of_closed_loop();
    let (summary, client) = (tally.summary(), tally.proof(ClientWatch::default()));
    assert_eq!((summary.saturation, summary.arrivals), (None, None));
    assert_eq!(judge(&summary, &client, &LevelExpectations::default()).verdict, Verdict::Valid);
    let json = serde_json::to_value(&summary).unwrap();
    assert_eq!(json["saturation_reason"], "a closed loop: the endpoint sets the pace");
}

#[test]
fn what_was_due_at_one_instant_says_so() {
    let burst: Vec<Tape> = (0..200)
        .map(|n| {
            let mut tape = tape(n, &[(n + 60, 1)]);
            tape.marks.intended = Stamp::EPOCH;
            tape
        })
        .collect();
    let json = serde_json::to_value(tally(&burst, WindowChoice::AUTO).summary()).unwrap();
    assert_eq!(json["saturation"]["verdict"], "unknown");
    assert_eq!(json["saturation"]["verdict_reason"], "all requests were due at one instant");
}
