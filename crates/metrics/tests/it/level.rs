//! What is measured at one level.

use fizeau_core::{
    Arrival, Channel, EosRule, Failure, FailureClass, Finish, Millis, Nanos, Outcome,
    RequestedTokens, Stamp, Tape, TokenSource, Tokens, Usage,
};
use fizeau_metrics::{
    ClientWatch, GoodputGoals, LevelExpectations, LevelSummary, LevelTally, TokenCounts, Verdict,
    inter_chunk, judge,
};
use proptest::prelude::*;

use crate::tapes::{any_tape, failed, ms, tape};

fn level<'a>(tapes: impl IntoIterator<Item = &'a Tape>) -> LevelSummary {
    LevelSummary::of(tapes, &GoodputGoals::default())
}

#[test]
fn failed_requests_are_counted_and_kept_out_of_latencies() {
    let good = tape(0, &[(20, 1), (30, 1)]);
    let slow = failed(tape(0, &[(900, 1), (990, 1)]), FailureClass::Truncated);
    let refused = failed(tape(0, &[]), FailureClass::Status);
    let level = level([&good, &slow, &refused, &refused]);
    assert_eq!((level.requests.sent, level.requests.completed, level.requests.failed), (4, 1, 3));
    assert_eq!(level.requests.by_class[&FailureClass::Status], 2);
    assert_eq!(level.metrics.ttft.n, 1);
    assert_eq!(level.metrics.ttft.max, Some(Millis::new(20.0)));
    assert_eq!(level.metrics.icl.n, 1);
    assert_eq!(level.metrics.send_lateness.n, 4, "lateness is of all that were sent");
    assert_eq!(level.tokens.output, Tokens::new(2));
    assert_eq!(
        level.throughput.duration.get(),
        0.99,
        "the time of failed ones stays in the window"
    );
}

#[test]
fn missing_figures_do_not_become_zeros_in_the_sample() {
    let single = tape(0, &[(20, 1)]);
    let double = tape(0, &[(20, 1), (30, 1)]);
    let level = level([&single, &single, &double]);
    assert_eq!(level.metrics.ttft.n, 3);
    assert_eq!(level.metrics.tpot.n, 1);
    assert_eq!(level.metrics.tpot.mean, Some(Millis::new(10.0)));
}

#[test]
fn a_chunk_is_not_a_token() {
    // Two tokens an event, as with speculative decoding: rates count tokens, ICL events, ITL tokens.
    let events: Vec<(u64, u32)> = (1..=100).map(|i| (i * 10, 2)).collect();
    let level = level([&tape(0, &events)]);
    assert_eq!(level.throughput.output_tokens_per_s.get(), 200.0);
    assert_eq!((level.metrics.icl.n, level.metrics.itl.n), (99, 198));
    assert_eq!(level.metrics.icl.p50.value(), Some(Millis::new(10.0)));
    assert_eq!(level.metrics.itl.p50.value(), Some(Millis::new(5.0)));
    assert_eq!(level.tokens.per_event(), Some(2.0));
}

#[test]
fn the_window_is_from_the_first_release_to_the_last_end() {
    let mut early = tape(1_000, &[(1_020, 1)]);
    early.marks.released = ms(500);
    let mut late = tape(2_000, &[(2_100, 1)]);
    late.marks.end = Some(ms(2_500));
    let level = level([&late, &early]);
    assert_eq!(level.throughput.duration.get(), 2.0);
    assert_eq!(level.throughput.requests_per_s.get(), 1.0);
    let mut endless = tape(0, &[(250, 1)]);
    endless.marks.end = None;
    assert_eq!(self::level([&endless]).throughput.duration.get(), 0.25, "else to the last token");
}

#[test]
fn no_tapes_give_zeros_for_counts_and_nothing_else() {
    let goals: GoodputGoals = "ttft:500".parse().unwrap();
    let level = LevelSummary::of(&[], &goals);
    assert_eq!(level.requests.sent, 0);
    let mut none = TokenCounts::default();
    none.input = Some(Tokens::ZERO);
    assert_eq!(level.tokens, none);
    assert_eq!(level.metrics, fizeau_metrics::MetricTable::default());
    assert_eq!(level.jitter, fizeau_metrics::Jitter::default());
    assert_eq!(level.throughput.goodput, None);
    assert_eq!(level.throughput.requests_per_s.get(), 0.0, "not NaN");
    let json = serde_json::to_value(&level).unwrap();
    assert_eq!(json["throughput"]["requests_per_s_reason"], "the window has no length");
    assert!(json["throughput"]["requests_per_s"].is_null());
}

#[test]
fn token_counts_carry_the_worst_source_and_admit_what_is_unknown() {
    let mut exact = tape(0, &[(20, 1)]);
    exact.requested.input_tokens = Some(Tokens::new(250));
    let mut estimated = tape(0, &[(20, 3)]);
    estimated.token_source = TokenSource::FinalUsageSpread;
    estimated.usage = Some(Usage {
        prompt_tokens: Some(Tokens::new(260)),
        cached_tokens: Some(Tokens::new(7)),
        ..Usage::default()
    });
    let both = level([&exact, &estimated]).tokens;
    assert_eq!(both.source, Some(TokenSource::FinalUsageSpread));
    assert_eq!(both.input, Some(Tokens::new(510)), "the server's word, else the plan's");
    assert_eq!(both.cached_input, Some(Tokens::new(7)), "vLLM leaves a zero out");
    assert_eq!((both.cached_reported, both.cached_share), (1, Some(7.0 / 510.0)));
    let silent = level([&exact]).tokens;
    assert_eq!((silent.cached_input, silent.cached_share), (None, None));

    exact.requested.input_tokens = None;
    let unknown = level([&exact, &estimated]);
    assert_eq!(unknown.tokens.input, None);
    assert_eq!(unknown.throughput.total_tokens_per_s, None);
    let json = serde_json::to_value(&unknown).unwrap();
    assert!(json["tokens"]["input_reason"].is_string());
    assert!(json["throughput"]["total_tokens_per_s_reason"].is_string());
}

#[test]
fn another_length_than_asked_is_noticed_where_the_length_is_known() {
    let mut tape = tape(0, &[(20, 1), (30, 1)]);
    let requested =
        RequestedTokens { input_tokens: None, output_tokens: Tokens::new(2), eos: EosRule::Ignore };
    tape.requested = requested;
    let differs = |tape: &Tape| level([tape]).tokens.output_length_differs == 1;
    assert!(!differs(&tape));
    tape.requested.output_tokens = Tokens::new(3);
    assert!(differs(&tape));
    tape.requested.eos = EosRule::Stop;
    assert!(!differs(&tape), "the model may stop where it likes");

    tape.requested.eos = EosRule::Ignore;
    tape.token_source = TokenSource::Events;
    assert!(!differs(&tape), "a chunk count is no length");
    tape.outcome = Outcome::Complete(Finish::Stop);
    assert!(differs(&tape), "the server says that the model stopped");
    tape.usage = Some(Usage { completion_tokens: Some(Tokens::new(3)), ..Usage::default() });
    assert!(!differs(&tape), "the server's count is one");
}

/// Ollama's route of OpenAI's protocol ignores `max_completion_tokens` (ollama/ollama#7125): a limit of 10, and 422 tokens.
#[test]
fn a_limit_that_the_server_ignores_is_noticed() {
    let mut long = tape(0, &[(20, 1), (30, 421)]);
    long.requested.output_tokens = Tokens::new(10);
    let ignored = |tape: &Tape| level([tape]).tokens.output_limit_ignored == 1;
    assert!(ignored(&long));
    let summary = level([&long]);
    let text = "1 of 1 replies are longer than the most that was requested (100.0 %, limit 1.0 %); the server ignored the request's limit on output tokens, so it did other work than was asked for";
    let nothing = LevelTally::new(&GoodputGoals::default());
    let client = nothing.proof(ClientWatch::default());
    let judged = judge(&summary, &client, &LevelExpectations::default());
    assert!(judged.reasons.iter().any(|why| why.text == text), "{:?}", judged.reasons);
    assert_eq!(judged.verdict, Verdict::Suspect);
    let json = serde_json::to_value(&summary).unwrap();
    assert_eq!(json["tokens"]["output_limit_ignored"], 1);
    assert_eq!(serde_json::from_value::<LevelSummary>(json).unwrap().tokens, summary.tokens);

    // Thoughts may count against it or not; a count of chunks proves nothing; an end that was to be ignored has a check of its own.
    let thought = Some(Tokens::new(412));
    let thoughtful = Usage {
        reasoning_tokens: thought,
        completion_tokens: Some(Tokens::new(422)),
        ..Usage::default()
    };
    assert!(!ignored(&Tape { usage: Some(thoughtful), ..long.clone() }));
    assert!(!ignored(&Tape { token_source: TokenSource::Events, ..long.clone() }));
    long.requested.eos = EosRule::Ignore;
    assert!(!ignored(&long) && level([&long]).tokens.output_length_differs == 1);
    long.requested =
        RequestedTokens { output_tokens: Tokens::new(422), eos: EosRule::Stop, ..long.requested };
    assert!(!ignored(&long));
    assert!(
        serde_json::to_value(level([&long])).unwrap()["tokens"]["output_limit_ignored"].is_null()
    );
}

#[test]
fn jitter_is_the_tail_over_the_middle_and_the_share_of_zero_gaps() {
    let mut at = 0;
    let mut events = vec![(0, 1)];
    for i in 0..200u64 {
        at += if i % 4 == 0 { 0 } else { 10 };
        events.push((at, 1));
    }
    let jitter = level([&tape(0, &events)]).jitter;
    assert_eq!(jitter.zero_gap_share, Some(0.25));
    assert_eq!(jitter.itl_tail_ratio, Some(1.0));
    let burst = level([&tape(0, &[(5, 1); 200])]).jitter;
    assert_eq!(burst.zero_gap_share, Some(1.0));
    assert_eq!(burst.itl_tail_ratio, None, "not NaN");
}

#[test]
fn json_has_the_names_of_the_summary() {
    let mut one = tape(0, &[(20, 1), (30, 1)]);
    one.arrivals[0].channel = Channel::Reasoning;
    let goals: GoodputGoals = "ttft:500".parse().unwrap();
    let json = serde_json::to_value(LevelSummary::of([&one], &goals)).unwrap();
    assert_eq!(json["requests"]["completed"], 1);
    assert_eq!(json["tokens"]["source"], "token_ids");
    assert_eq!(json["metrics"]["first_visible_ms"]["mean"], 30.0);
    assert_eq!(json["throughput"]["window"], "whole_run");
    assert_eq!(json["throughput"]["duration_s"], 0.03);
    assert_eq!(json["throughput"]["good_share"], 1.0);
    let bare = serde_json::to_value(level([&one])).unwrap();
    assert!(bare["throughput"]["goodput_per_s"].is_null());
    assert!(bare["throughput"]["goodput_per_s_reason"].is_string());
}

proptest! {
    #![proptest_config(crate::cases(64))]

    #[test]
    fn counts_add_up_and_order_does_not_matter(
        tapes in prop::collection::vec((any_tape(), any::<bool>()), 0..40),
    ) {
        let fail = |(tape, ok): (Tape, bool)| match ok {
            true => tape,
            false => failed(tape, FailureClass::TimeoutIdle),
        };
        let tapes: Vec<Tape> = tapes.into_iter().map(fail).collect();
        let level = level(&tapes);
        let requests = &level.requests;
        prop_assert_eq!(requests.completed + requests.failed, requests.sent);
        prop_assert_eq!(requests.sent, tapes.len() as u64);
        prop_assert_eq!(requests.by_class.values().sum::<u64>(), requests.failed);
        prop_assert_eq!(level.metrics.e2el.n, requests.completed);
        prop_assert_eq!(&self::level(tapes.iter().rev()), &level);
        let json = serde_json::to_string(&level).unwrap();
        prop_assert!(!json.contains("NaN") && !json.contains("inf"));
    }
}

proptest! {
    #![proptest_config(crate::cases(256))]

    /// What one pass over the events counts is what each figure's own definition says.
    #[test]
    fn one_pass_finds_what_each_figure_would(
        arrivals in prop::collection::vec((0..5_u64, 1..3_u32), 1..12), fails: bool,
    ) {
        let mut tape = Tape::sent_at(Stamp::EPOCH);
        tape.arrivals.extend(
            arrivals.iter().map(|&(at, n)| Arrival::tokens(Stamp::from_nanos(at), n, Channel::Visible)),
        );
        if fails {
            tape.outcome = Outcome::Failed(Failure::new(FailureClass::Truncated, "cut"));
        }
        let level = LevelSummary::of([&tape], &GoodputGoals::default());
        let gaps: Vec<Nanos> = if fails { Vec::new() } else { inter_chunk(&tape).collect() };
        let zeros = gaps.iter().filter(|gap| **gap == Nanos::ZERO).count();
        let share = (!gaps.is_empty()).then(|| zeros as f64 / gaps.len() as f64);
        prop_assert_eq!(level.metrics.icl.n, gaps.len() as u64);
        prop_assert_eq!(level.jitter.zero_gap_share, share);
        let tokens = if fails { 0 } else { tape.output_tokens().get() };
        prop_assert_eq!(level.tokens.output.get(), tokens);
    }
}
