//! What output was made of, and rates of single requests.

use fizeau_core::{Arrival, Channel, FailureClass, Nanos, Tape, TokenSource, Tokens, Usage};
use fizeau_metrics::{
    ChannelTokens, EventBin, EventHistogram, GoodputGoals, LevelSummary, LevelTally,
    RateDistribution, RequestMetrics, RequestOutput,
};
use proptest::prelude::*;
use serde_json::json;

use crate::tapes::{any_tape, failed, ms, tape};

fn event(at: u64, tokens: u32, channel: Channel, text: &str) -> Arrival {
    let (bytes, chars) = (text.len() as u32, text.chars().count() as u32);
    Arrival { bytes, chars, ..Arrival::tokens(ms(at), tokens, channel) }
}

fn level<'a>(tapes: impl IntoIterator<Item = &'a Tape>) -> LevelSummary {
    LevelSummary::of(tapes, &GoodputGoals::NONE)
}

/// Sent at 0, first token at 100 ms; it thinks until 300 ms and answers until 500 ms; ten tokens, two of the first event.
fn thoughtful() -> Tape {
    let mut tape = tape(0, &[]);
    tape.arrivals = vec![
        event(100, 2, Channel::Reasoning, "Let me"),
        event(200, 3, Channel::Reasoning, " think."),
        event(250, 1, Channel::Silent, ""),
        event(300, 1, Channel::Visible, "Gruß"),
        event(400, 2, Channel::ToolCall, "{\"π\":"),
        event(500, 1, Channel::Visible, "3}"),
    ];
    tape.marks.end = Some(ms(500));
    tape.usage = Some(Usage {
        prompt_tokens: Some(Tokens::new(70)),
        cached_tokens: Some(Tokens::new(20)),
        ..Usage::default()
    });
    tape
}

fn rate(value: Option<fizeau_core::PerSec>) -> Option<f64> {
    value.map(fizeau_core::PerSec::get)
}

#[test]
fn a_reply_is_taken_apart() {
    let tape = thoughtful();
    let metrics = RequestMetrics::of(&tape);
    assert_eq!(metrics.reasoning, Some(Nanos::from_millis(200)));
    assert_eq!(rate(metrics.user_tps), Some(20.0), "eight tokens in 400 ms");
    assert_eq!(rate(metrics.prefill_tps), Some(500.0), "fifty of seventy tokens in 100 ms");
    let output = RequestOutput::of(&tape);
    let [reasoning, visible, tool_call, silent] = [5, 2, 2, 1].map(Tokens::new);
    let by_channel = ChannelTokens { reasoning, visible, tool_call, silent, ..Default::default() };
    assert_eq!(output.by_channel, by_channel);
    assert_eq!((output.reasoning.get(), output.visible.get()), (5, 5));
    // "Gruß" has five bytes and four characters, `{"π":` six and five, "3}" two and two.
    assert_eq!((output.text_bytes, output.text_chars), (13, 11));
    assert_eq!(rate(output.text_bytes_per_s), Some(40.0), "eight after the first, in 200 ms");
    assert_eq!(rate(output.text_chars_per_s), Some(35.0));
}

#[test]
fn what_a_level_was_made_of_is_in_its_json() {
    let (one, lost) = (thoughtful(), failed(thoughtful(), FailureClass::Truncated));
    let json = serde_json::to_value(level([&one, &lost])).unwrap();
    let bin = |tokens, events| json!({"least": tokens, "most": tokens, "events": events});
    assert_eq!(
        json["output"],
        json!({
            "reasoning_tokens": 5, "visible_tokens": 5, "reasoning_reported": 0,
            "by_channel": {"reasoning": 5, "visible": 2, "tool_call": 2, "refusal": 0, "silent": 1},
            "text_bytes": 13, "text_chars": 11,
            "visible_tokens_per_s": 10.0, "text_bytes_per_s": 26.0, "text_chars_per_s": 22.0,
            "tokens_per_event": [bin(1, 3), bin(2, 2), bin(3, 1)],
        })
    );
    assert_eq!(json["metrics"]["reasoning_ms"]["mean"], 200.0);
    let rates = &json["rates"];
    assert_eq!(rates["prefill_tokens_per_s"]["p50"], 500.0);
    assert_eq!(rates["user_tokens_per_s"]["min"], 20.0);
    assert_eq!(rates["user_tokens_per_s"]["p10_reason"], "needs 10 values, has 1");
    assert_eq!(rates["text_bytes_per_s"]["mean"], 40.0);
    assert_eq!(rates["text_chars_per_s"]["max"], 35.0);
}

#[test]
fn what_there_was_not_is_absent_with_a_reason() {
    let mut bare = tape(0, &[(10, 1)]);
    bare.requested.input_tokens = None;
    let json = serde_json::to_value(level([&bare])).unwrap();
    for (name, reason) in [
        ("prefill_tokens_per_s", "no prompt has a known length and tokens that no cache supplied"),
        ("user_tokens_per_s", "no reply took time after its first event"),
        ("text_bytes_per_s", "no reply had visible text after its first visible event"),
        ("text_chars_per_s", "no reply had visible text after its first visible event"),
    ] {
        assert!(json["rates"][name]["mean"].is_null(), "{name}");
        assert_eq!(json["rates"][name]["p1_reason"], reason, "{name}");
    }
    let reason = "no visible text came, or the window has no length";
    assert_eq!(json["output"]["text_chars_per_s_reason"], reason);
    let reason = "no request reasoned before its first visible token";
    assert_eq!(json["metrics"]["reasoning_ms"]["p50_reason"], reason);
    let nothing = serde_json::to_value(level([])).unwrap();
    assert_eq!(nothing["output"]["visible_tokens_per_s_reason"], "the window has no length");
    assert_eq!(nothing["output"]["tokens_per_event"], json!([]));
}

#[test]
fn a_rate_of_no_time_or_of_nothing_is_absent() {
    let burst = RequestMetrics::of(&tape(0, &[(10, 1), (10, 4)]));
    assert_eq!((burst.tpot, burst.user_tps), (None, None), "neither zero nor infinite");
    let mut cached = thoughtful();
    cached.usage.as_mut().unwrap().cached_tokens = Some(Tokens::new(70));
    assert_eq!(RequestMetrics::of(&cached).prefill_tps, None);
    let mut silent_first = thoughtful();
    silent_first.arrivals.drain(..2);
    assert_eq!(RequestMetrics::of(&silent_first).reasoning, None, "no thought came");
    let mut endless = thoughtful();
    endless.arrivals.truncate(3);
    assert_eq!(RequestMetrics::of(&endless).reasoning, None, "no answer followed");
    let output = RequestOutput::of(&failed(thoughtful(), FailureClass::TimeoutIdle));
    assert_eq!(output, RequestOutput::default());
}

#[test]
fn the_servers_count_of_reasoning_goes_before_the_channels() {
    let counted = |reported: Option<u64>, tape: Tape| {
        let reasoning_tokens = reported.map(Tokens::new);
        let usage = Some(Usage { reasoning_tokens, ..Usage::default() });
        let output = RequestOutput::of(&Tape { usage, ..tape });
        (output.reasoning.get(), output.visible.get())
    };
    assert_eq!(counted(Some(6), thoughtful()), (6, 4));
    assert_eq!(counted(Some(0), thoughtful()), (5, 5), "a field that is left at zero");
    assert_eq!(counted(None, thoughtful()), (5, 5));
    // Never shown, and the count of all spread over what was.
    let hidden = tape(0, &[(100, 30), (200, 30)]);
    assert_eq!(counted(Some(50), hidden.clone()), (50, 10));
    assert_eq!(counted(Some(99), hidden), (60, 0), "no more than came");
}

#[test]
fn events_are_told_apart_up_to_sixteen_tokens() {
    let mut histogram = EventHistogram::default();
    for tokens in [0, 1, 1, 16, 17, 32, 33, 64, 1 << 31, (1 << 31) + 1, u32::MAX] {
        histogram.add(tokens);
    }
    let bin = |least, most, events| EventBin { least, most, events };
    let half = 1 << 31;
    let bins = [
        bin(0, 0, 1),
        bin(1, 1, 2),
        bin(16, 16, 1),
        bin(17, 32, 2),
        bin(33, 64, 2),
        bin((1 << 30) + 1, half, 1),
        bin(half + 1, u32::MAX, 2),
    ];
    assert_eq!(histogram.bins().collect::<Vec<_>>(), bins);
}

/// Of the squares up to 10000, by hand: the p10 lies at rank 9.9, between 100 and 121, and the others likewise; the mean is
/// (n + 1)(2n + 1) / 6.
#[test]
fn the_slow_tail_of_a_rate_is_at_its_low_end() {
    // A reply of 1 + k^2 tokens, the later ones in a second, has a rate of k^2.
    let reply = |k: u32| tape(0, &[(10, 1), (1010, k * k)]);
    let tapes: Vec<Tape> = (1..=100).map(reply).collect();
    let rates = level(&tapes).rates.user_tps;
    let close = |value: Option<fizeau_core::PerSec>, wanted: f64| {
        assert!((value.unwrap().get() / wanted - 1.0).abs() < 1e-9, "{value:?} {wanted}");
    };
    assert_eq!(rates.n, 100);
    close(rates.min, 1.0);
    close(rates.p1, 3.97);
    close(rates.p5, 35.45);
    close(rates.p10, 118.9);
    close(rates.p50, 2550.5);
    close(rates.p90, 8118.1);
    close(rates.max, 10_000.0);
    close(rates.mean, 3383.5);
    let few = level(&tapes[..19]).rates.user_tps;
    assert_eq!((few.p1, few.p5, few.p10.is_some()), (None, None, true));
    assert_eq!(level([]).rates.user_tps, RateDistribution::default());
}

#[test]
fn tails_are_compared_with_the_middle() {
    let reply = |i: u64| tape(i, &[(i + 10 + i % 100, 1), (i + 500, 1)]);
    let tapes: Vec<Tape> = (0..200).map(reply).collect();
    let summary = level(&tapes);
    let (jitter, metrics) = (summary.jitter, summary.metrics);
    let ratio = |p99: fizeau_metrics::Quantile, p50: fizeau_metrics::Quantile| {
        Some(p99.value().unwrap() / p50.value().unwrap())
    };
    assert_eq!(jitter.ttft_tail_ratio, ratio(metrics.ttft.p99, metrics.ttft.p50));
    assert_eq!(jitter.tpot_tail_ratio, ratio(metrics.tpot.p99, metrics.tpot.p50));
    assert_eq!(jitter.e2el_tail_ratio, Some(1.0));
    assert!(jitter.ttft_tail_ratio > Some(1.5));
    assert_eq!(jitter.itl_std, metrics.itl.std);
    let json = serde_json::to_value(level(&tapes[..50])).unwrap();
    let reason = "the sample is too small for a p99, or its median is zero";
    assert_eq!(json["jitter"]["ttft_tail_ratio_reason"], reason);
    assert!(json["jitter"]["itl_std_ms"].is_number());
}

fn any_output() -> impl Strategy<Value = Tape> {
    let channels = [
        Channel::Visible,
        Channel::Reasoning,
        Channel::ToolCall,
        Channel::Refusal,
        Channel::Silent,
    ];
    let event = (prop::sample::select(channels.to_vec()), 0u32..40, 0u32..30);
    let extra = prop::collection::vec(event, 20);
    (any_tape(), extra, prop::option::of(0u64..90), any::<bool>()).prop_map(
        |(mut tape, extra, reasoning, fails)| {
            for (arrival, (channel, chars, more)) in tape.arrivals.iter_mut().zip(extra) {
                arrival.channel = channel;
                (arrival.chars, arrival.bytes) = (chars, chars + more);
                arrival.tokens += u32::from(more > 25) * 100;
            }
            let reasoning_tokens = reasoning.map(Tokens::new);
            tape.usage = Some(Usage { reasoning_tokens, ..Usage::default() });
            tape.requested.input_tokens = reasoning.map(Tokens::new);
            if fails { failed(tape, FailureClass::Truncated) } else { tape }
        },
    )
}

proptest! {
    #![proptest_config(crate::cases(64))]

    #[test]
    fn parts_add_up_to_the_output(tapes in prop::collection::vec(any_output(), 0..30)) {
        let level = level(&tapes);
        let (output, tokens) = (&level.output, &level.tokens);
        let by = output.by_channel;
        let channels = [by.reasoning, by.visible, by.tool_call, by.refusal, by.silent];
        prop_assert_eq!(channels.into_iter().sum::<Tokens>(), tokens.output);
        prop_assert_eq!(output.reasoning + output.visible, tokens.output);
        let events = || output.tokens_per_event.bins();
        prop_assert_eq!(events().map(|bin| bin.events).sum::<u64>(), tokens.events);
        let least: u64 = events().map(|bin| u64::from(bin.least) * bin.events).sum();
        let most: u64 = events().map(|bin| u64::from(bin.most) * bin.events).sum();
        prop_assert!((least..=most).contains(&tokens.output.get()));
        prop_assert!(output.text_chars <= output.text_bytes);
    }

    #[test]
    fn the_parts_of_a_level_make_the_whole(
        tapes in prop::collection::vec(any_output(), 0..30),
        cut in 0..30_usize,
    ) {
        let tally = |tapes: &[Tape]| {
            let mut tally = LevelTally::new(&GoodputGoals::NONE);
            tapes.iter().for_each(|tape| tally.add(tape));
            tally
        };
        let (head, tail) = tapes.split_at(cut.min(tapes.len()));
        let mut merged = tally(tail);
        merged.merge(tally(head));
        let (merged, whole) = (merged.summary(), tally(&tapes).summary());
        prop_assert_eq!(merged.output, whole.output);
        prop_assert_eq!(merged.rates, whole.rates);
        prop_assert_eq!(merged.jitter, whole.jitter);
    }

    #[test]
    fn a_users_pace_is_one_over_tpot(tape in any_output()) {
        let metrics = RequestMetrics::of(&tape);
        match (metrics.user_tps, metrics.tpot) {
            (Some(pace), Some(tpot)) => prop_assert!((pace.get() * tpot.get() / 1e3 - 1.0).abs() < 1e-12),
            (None, tpot) => prop_assert!(tpot.is_none_or(|tpot| tpot.get() == 0.0)),
            (Some(_), None) => prop_assert!(false, "a pace without a TPOT"),
        }
    }
}

#[test]
fn an_embedding_is_made_of_no_tokens() {
    let mut embedding = tape(0, &[]);
    embedding.arrivals = vec![Arrival::tokens(ms(7), 0, Channel::Embedding)];
    embedding.token_source = TokenSource::Tokenless;
    let output = level([&embedding]).output;
    assert_eq!(output.tokens_per_event.bins().count(), 0);
    assert_eq!((output.reasoning, output.visible), (Tokens::ZERO, Tokens::ZERO));
}
