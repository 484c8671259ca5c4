//! Odd figures of other tools, each by a tape made by hand: what the tool says of it, and what is right.

use fizeau_core::{FailureClass, Nanos, Stamp, Tape, TokenSource, Tokens, Usage};
use fizeau_metrics::{
    GoodputGoals, LevelSummary, Peer, PeerReport, PeerSettings, PeerValue, RequestMetrics,
    inter_chunk, inter_token,
};

use crate::tapes::{failed, ms, tape};

fn by(peer: Peer, tapes: &[Tape]) -> PeerReport {
    peer.figures(tapes, &PeerSettings::default())
}

fn under_cap(peer: Peer, cap: u32, tapes: &[Tape]) -> PeerReport {
    peer.figures(tapes, &PeerSettings { max_concurrency: Some(cap), ..PeerSettings::default() })
}

fn with_goals(peer: Peer, goals: &GoodputGoals, tapes: &[Tape]) -> PeerReport {
    peer.figures(tapes, &PeerSettings { goals: goals.clone(), ..PeerSettings::default() })
}

#[track_caller]
fn says(report: &PeerReport, name: &str, wanted: f64) {
    let value = report.value(name).unwrap_or_else(|| panic!("{name}: {:?}", report.get(name)));
    assert!((value - wanted).abs() < 1e-9 * wanted.abs().max(1.0), "{name}: {value} {wanted}");
}

#[track_caller]
fn says_nothing(report: &PeerReport, name: &str) {
    let value = report.get(name).unwrap_or_else(|| panic!("{name} is missing")).value;
    assert!(matches!(value, PeerValue::Absent(_)), "{name}: {value:?}");
}

fn output_tps(tapes: &[Tape]) -> f64 {
    LevelSummary::of(tapes, &GoodputGoals::default()).throughput.output_tokens_per_s.get()
}

/// The same with a usage report.
fn reporting(mut tape: Tape) -> Tape {
    let tokens = tape.output_tokens();
    tape.usage = Some(Usage { completion_tokens: Some(tokens), ..Usage::default() });
    tape
}

/// Forty replies of 25 ms over four slots, two tokens an event: 250 ms and 480 tokens in all.
fn forty_over_four_slots() -> Vec<Tape> {
    let reply = |i: u64| {
        let sent = i / 4 * 25;
        let events: Vec<_> = (0..6).map(|event| (sent + event * 5, 2)).collect();
        reporting(tape(sent, &events))
    };
    (0..40).map(reply).collect()
}

/// The most requests that are in flight at one instant: those sent by then and not yet over.
fn most_in_flight(tapes: &[Tape]) -> usize {
    let sent = |tape: &Tape| tape.marks.send_start;
    let flying = |at: Option<Stamp>| {
        let is_up = |tape: &&Tape| sent(tape) <= at && at < tape.last_output();
        tapes.iter().filter(is_up).count()
    };
    tapes.iter().map(|tape| flying(sent(tape))).max().unwrap_or(0)
}

#[test]
fn the_steady_state_of_vllms_rust_client_counts_events_as_tokens() {
    let events: Vec<_> = (1..=100).map(|i| (i * 10, 2)).collect();
    let tapes = [reporting(tape(0, &events))];
    let report = under_cap(Peer::VllmRust, 1, &tapes);
    says(&report, "steady_state.window.duration_s", 1.0);
    says(&report, "steady_state.output_throughput", 100.0);
    // Right, and what it says itself of the very same second:
    says(&report, "output_throughput", 200.0);
    assert_eq!(output_tps(&tapes), 200.0);
}

#[test]
fn what_follows_within_a_second_is_no_concurrency() {
    let tapes = forty_over_four_slots();
    for peer in [Peer::VllmPython, Peer::VllmRust, Peer::Sglang] {
        says(&by(peer, &tapes), "max_concurrent_requests", 40.0);
    }
    assert_eq!(most_in_flight(&tapes), 4);
}

#[test]
fn a_peak_in_buckets_can_lie_below_the_mean() {
    let tapes = forty_over_four_slots();
    for peer in [Peer::VllmPython, Peer::VllmRust, Peer::Sglang] {
        let report = by(peer, &tapes);
        // 240 events, which pass for tokens, in a bucket of a second of which a quarter was used.
        says(&report, "max_output_tokens_per_s", 240.0);
        says(&report, "output_throughput", 1920.0);
    }
    assert_eq!(output_tps(&tapes), 1920.0);
}

#[test]
fn buckets_are_counted_from_the_first_sending_on() {
    // Two requests that touch the same second of the clock, and yet different ones from 900 ms on.
    let tapes = [tape(900, &[(1000, 1)]), tape(1950, &[(1990, 1)])];
    says(&by(Peer::VllmPython, &tapes), "max_concurrent_requests", 1.0);
}

#[test]
fn a_dip_stays_in_the_window_of_vllms_rust_client() {
    let long = tape(0, &[(10, 1), (4000, 1)]);
    let tapes = [long, tape(0, &[(10, 1), (1000, 1)]), tape(3000, &[(3010, 1), (4000, 1)])];
    let report = under_cap(Peer::VllmRust, 2, &tapes);
    // Two were in flight for 2 s of these 4.
    says(&report, "steady_state.window.duration_s", 4.0);
    says(&report, "steady_state.window.observed_peak", 2.0);
    says_nothing(&under_cap(Peer::VllmRust, 3, &tapes), "steady_state.output_throughput");
    says_nothing(&by(Peer::VllmRust, &tapes), "steady_state.output_throughput");
}

#[test]
fn sglang_passes_the_asked_length_off_as_the_one_that_came() {
    let mut short = tape(0, &[(10, 1), (20, 1)]);
    short.asked.output_tokens = Tokens::new(100);
    short.token_source = TokenSource::Events;
    let tapes = [short];
    says(&by(Peer::Sglang, &tapes), "total_output_tokens", 100.0);
    says(&by(Peer::VllmPython, &tapes), "total_output_tokens", 2.0);
    assert_eq!(RequestMetrics::of(&tapes[0]).output_tokens, Some(Tokens::new(2)));
}

#[test]
fn sglangs_latency_has_the_end_of_the_stream_in_it() {
    let mut late = reporting(tape(0, &[(10, 1), (20, 1)]));
    late.marks.end = Some(ms(50));
    let tapes = [late];
    says(&by(Peer::Sglang, &tapes), "mean_e2e_latency_ms", 50.0);
    says(&by(Peer::Sglang, &tapes), "mean_tpot_ms", 40.0);
    says(&by(Peer::VllmPython, &tapes), "mean_e2el_ms", 20.0);
    assert_eq!(RequestMetrics::of(&tapes[0]).e2el, Some(Nanos::from_millis(20)));
}

#[test]
fn guidellm_counts_what_is_missing_as_zero() {
    let mut silent = failed(tape(0, &[]), FailureClass::Status);
    silent.marks.end = Some(ms(5));
    let tapes = [tape(0, &[(30, 1), (40, 1)]), silent];
    let report = by(Peer::GuideLlm, &tapes);
    says(&report, "errored.time_to_first_token_ms.mean", 0.0);
    says(&report, "total.time_to_first_token_ms.mean", 15.0);
    says(&report, "successful.time_to_first_token_ms.mean", 30.0);
    assert_eq!(RequestMetrics::of(&tapes[1]).ttft, None);
}

#[test]
fn guidellm_spreads_a_stall_evenly() {
    let tapes = [tape(0, &[(10, 1), (11, 1), (110, 1)])];
    let report = by(Peer::GuideLlm, &tapes);
    says(&report, "successful.inter_token_latency_ms.percentiles.p99", 50.0);
    let gaps: Vec<u64> = inter_chunk(&tapes[0]).map(|gap| gap.as_nanos() / 1_000_000).collect();
    assert_eq!(gaps, [1, 99]);
}

#[test]
fn guidellm_weighs_by_tokens_and_has_the_first_token_in_its_tpot() {
    // 10 ms a token over one gap, 20 ms over three.
    let tapes = [tape(0, &[(10, 1), (20, 1)]), tape(0, &[(20, 1), (40, 1), (60, 1), (80, 1)])];
    let report = by(Peer::GuideLlm, &tapes);
    says(&report, "successful.inter_token_latency_ms.mean", 17.5);
    says(&by(Peer::VllmPython, &tapes), "mean_tpot_ms", 15.0);
    // (2 x 20 / 2 + 4 x 80 / 4) / 6
    says(&report, "successful.time_per_output_token_ms.mean", 100.0 / 6.0);
    // No value between the two: the weighted ranks end at one of them.
    says(&report, "successful.inter_token_latency_ms.percentiles.p50", 20.0);
}

#[test]
fn inference_benchmarker_begins_with_the_first_to_end() {
    let tapes = [tape(0, &[(10, 1), (1000, 1)]), tape(500, &[(550, 1), (600, 1)])];
    let report = by(Peer::InferenceBenchmarker, &tapes);
    says(&report, "duration_ms", 500.0);
    says(&report, "token_throughput_secs", 8.0);
    assert_eq!(output_tps(&tapes), 4.0);
}

#[test]
fn inference_benchmarker_throws_the_split_over_tokens_away() {
    let tapes = [tape(0, &[(10, 1), (20, 1), (50, 3)])];
    // One mean a request, over n - 1.
    says(&by(Peer::InferenceBenchmarker, &tapes), "inter_token_latency_ms.p99", 10.0);
    let shares: Vec<f64> = inter_token(&tapes[0]).map(|share| share.per_token.get()).collect();
    assert_eq!(shares, [10.0, 10.0]);
    let one_event = [tape(0, &[(10, 5)])];
    says_nothing(&by(Peer::InferenceBenchmarker, &one_event), "inter_token_latency_ms.avg");
}

#[test]
fn evalscope_took_a_rank_too_high_and_two_decimals() {
    let tapes: Vec<Tape> = (1..=100)
        .map(|i| {
            let mut tape = Tape::sent_at(Stamp::EPOCH);
            let at = Stamp::EPOCH + Nanos::from_micros(i * 1000) + Nanos::from_nanos(4_567);
            tape.arrivals.push(fizeau_core::Arrival::tokens(at, 1, fizeau_core::Channel::Visible));
            tape
        })
        .collect();
    let report = by(Peer::EvalScope, &tapes);
    says(&report, "TTFT (ms) 90% (fde259d)", 91.0);
    says(&report, "TTFT (ms) 90%", 90.0046);
    // Between the two, as numpy has it.
    says(&by(Peer::VllmPython, &tapes), "p90_ttft_ms", 90.104_567);
    says(&by(Peer::LoadGen, &tapes), "90.00 percentile first token latency (ns)", 91_004_567.0);
}

#[test]
fn llmperf_has_the_first_token_in_its_inter_token_latency() {
    let single = [tape(0, &[(20, 1), (25, 1), (30, 1)])];
    let name = "results_inter_token_latency_s_mean";
    says(&by(Peer::LlmPerf, &single), name, 0.010);
    assert_eq!(RequestMetrics::of(&single[0]).tpot.map(fizeau_core::Millis::get), Some(5.0));
    // By events or by tokens, depending on the branch: not told where it matters.
    says_nothing(&by(Peer::LlmPerf, &[tape(0, &[(20, 1), (25, 2)])]), name);
}

#[test]
fn aiperf_leaves_out_rates_of_gaps_without_length() {
    // All in one event: no time passed for the tokens after the first.
    let tapes = [tape(0, &[(20, 8)]), tape(0, &[(20, 1), (30, 1)])];
    let report = by(Peer::AiPerf, &tapes);
    says(&report, "output_token_throughput_per_user.count", 1.0);
    says(&report, "output_token_throughput_per_user.max", 100.0);
    // The first is a zero in its inter-token latency, and no figure at all in ours.
    says(&report, "inter_token_latency.min", 0.0);
    assert_eq!(RequestMetrics::of(&tapes[0]).tpot, None);
}

#[test]
fn a_first_event_of_several_tokens_bends_every_tpot_that_subtracts_one() {
    // Eight tokens come at once, then two in 10 ms each.
    let tapes = [reporting(tape(0, &[(20, 8), (40, 2)]))];
    for (peer, name, unit) in [
        (Peer::VllmPython, "mean_tpot_ms", 1.0),
        (Peer::VllmRust, "mean_tpot_ms", 1.0),
        (Peer::Sglang, "mean_tpot_ms", 1.0),
        (Peer::AiPerf, "inter_token_latency.avg", 1.0),
        (Peer::InferencePerf, "successes.latency.time_per_output_token.mean", 1e-3),
        (Peer::LoadGen, "Mean Time to Output Token (ns)", 1e6),
    ] {
        says(&by(peer, &tapes), name, 20.0 / 9.0 * unit);
    }
    assert_eq!(RequestMetrics::of(&tapes[0]).tpot.map(fizeau_core::Millis::get), Some(10.0));
}

#[test]
fn inference_perf_puts_all_tokens_of_an_event_at_one_instant() {
    let tapes = [tape(0, &[(20, 2), (40, 2)])];
    let report = by(Peer::InferencePerf, &tapes);
    // Gaps of 0, 20 and 0 ms; each token took 10.
    says(&report, "successes.latency.inter_token_latency.median", 0.0);
    says(&report, "successes.latency.inter_token_latency.max", 0.020);
    assert_eq!(inter_token(&tapes[0]).next().map(|share| share.per_token.get()), Some(10.0));
    says(&report, "successes.latency.normalized_time_per_output_token.mean", 0.010);
    says_nothing(
        &by(Peer::InferencePerf, &[tape(0, &[(20, 1)])]),
        "successes.latency.time_to_first_token.mean",
    );
}

#[test]
fn goodput_differs_by_who_is_counted_and_by_one_token_replies() {
    let single = tape(0, &[(100, 1)]);
    let steady = tape(0, &[(100, 1), (1000, 1), (1900, 1)]);
    let slow = failed(tape(0, &[(100, 1), (2000, 1)]), FailureClass::Truncated);
    let tapes = [reporting(single), reporting(steady), slow];
    let goals: GoodputGoals = "tpot:900".parse().unwrap();
    // A reply of one token passes as one of zero milliseconds a token, a failed one is bad.
    says(&with_goals(Peer::VllmPython, &goals, &tapes), "request_goodput", 1.0);
    says(&with_goals(Peer::Sglang, &goals, &tapes), "slo_attainment", 2.0 / 3.0);
    let by_metric = "slo_attainment_by_metric.tpot";
    says(&with_goals(Peer::Sglang, &goals, &tapes), by_metric, 2.0 / 3.0);
    // Elsewhere it has no pace and is bad; shares are of successes or of all.
    says(&with_goals(Peer::InferencePerf, &goals, &tapes), "goodput_percentage", 50.0);
    says(&with_goals(Peer::AiPerf, &goals, &tapes), "good_request_fraction.avg", 1.0 / 3.0);
    for (peer, name) in [
        (Peer::VllmPython, "request_goodput"),
        (Peer::Sglang, "slo_attainment"),
        (Peer::AiPerf, "goodput.avg"),
        (Peer::InferencePerf, "goodput_percentage"),
    ] {
        says_nothing(&by(peer, &tapes), name);
        for beyond in ["tpot:900 or ttft:1", "itl_p99:900"] {
            let report = with_goals(peer, &beyond.parse().unwrap(), &tapes);
            says_nothing(&report, name);
            let reason = PeerValue::Absent("the goals go beyond one group of ttft, tpot and e2el");
            assert_eq!(report.get(name).unwrap().value, reason);
        }
    }
}

#[test]
fn failed_requests_lengthen_some_runs_and_not_others() {
    let mut lost = failed(tape(0, &[]), FailureClass::TimeoutTotal);
    lost.marks.end = Some(ms(4000));
    let tapes = [tape(0, &[(500, 1), (1000, 1)]), lost];
    says(&by(Peer::VllmPython, &tapes), "output_throughput", 0.5);
    says(&by(Peer::AiPerf, &tapes), "output_token_throughput.avg", 2.0);
    says(&by(Peer::AiPerf, &tapes), "request_error_rate.avg", 50.0);
    let name = "successes.throughput.output_tokens_per_sec";
    says(&by(Peer::InferencePerf, &tapes), name, 0.5);
    says_nothing(&by(Peer::LoadGen, &tapes), "Completed samples per second");
}

#[test]
fn loadgens_rate_leaves_a_query_out_and_ends_with_the_last_sent() {
    let tapes = [tape(0, &[(9000, 1)]), tape(1000, &[(1500, 1)]), tape(2000, &[(4000, 1)])];
    says(&by(Peer::LoadGen, &tapes), "Completed samples per second", 0.5);
}

#[test]
fn genai_perf_merges_what_came_in_one_read() {
    let mut reply = tape(0, &[(20, 1), (20, 1), (40, 1)]);
    reply.arrivals[2].read = 1;
    let report = by(Peer::GenAiPerf, &[reply]);
    says(&report, "time_to_second_token.avg", 20.0);
    says(&report, "inter_token_latency.avg", 10.0);
}

#[test]
fn genai_perf_is_not_asked_about_broken_replies() {
    let broken = failed(tape(0, &[(20, 1)]), FailureClass::Truncated);
    let silent = failed(tape(0, &[]), FailureClass::Connect);
    let good = tape(0, &[(20, 1), (40, 1)]);
    let with_broken = by(Peer::GenAiPerf, &[good.clone(), broken]);
    says_nothing(&with_broken, "request_throughput.avg");
    assert_eq!(with_broken.get("time_to_first_token.avg"), None);
    // One without a response is in no latency; whether it is in the rate is not known.
    let with_silent = by(Peer::GenAiPerf, &[good, silent]);
    says(&with_silent, "time_to_first_token.avg", 20.0);
    says_nothing(&with_silent, "request_throughput.avg");
}
