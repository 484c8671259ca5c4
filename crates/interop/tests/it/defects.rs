//! Known defects of other tools, each by a tape made by hand: what the tool says of it, and the right answer, which is ours.

use fizeau_core::{FailureClass, Nanos, Stamp, Tape, TokenSource, Tokens};
use fizeau_interop::{OwnFigures, Peer, PeerSettings, PeerValue};
use fizeau_metrics::{
    GoodputGoals, LevelSummary, LevelTally, RequestMetrics, Timeline, WindowChoice, WindowEnd,
    WindowTrim, inter_chunk, inter_token,
};

use crate::says::{by, reporting, says, says_nothing, under_cap};
use crate::tapes::{failed, ms, tape};

/// Our figure of this name.
fn own(tapes: &[Tape], name: &str) -> f64 {
    let own = OwnFigures::of(tapes, &PeerSettings::default());
    let found = own.get(name, None).and_then(PeerValue::get);
    found.unwrap_or_else(|| panic!("we have a figure {name}"))
}

fn output_tps(tapes: &[Tape]) -> f64 {
    LevelSummary::of(tapes, &GoodputGoals::default()).throughput.output_tokens_per_s.get()
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
    // Ours counts tokens in a window too: ten replies one after another, the first two and the last two cut.
    let reply = |i: u64| tape(i * 100, &[(i * 100 + 50, 2), (i * 100 + 100, 2)]);
    let tapes: Vec<Tape> = (0..10).map(reply).collect();
    let edge = WindowEnd::Requested(WindowTrim::Requests(2));
    let window = WindowChoice { warmup: edge, cooldown: edge };
    let mut tally = LevelTally::new(&GoodputGoals::default()).with_window(window);
    tapes.iter().for_each(|tape| tally.add(tape));
    let summary = tally.summary();
    let rates = summary.windowed.figures().unwrap().throughput.unwrap();
    assert_eq!(rates.output_tokens_per_s.get().round(), 40.0);
}

#[test]
fn what_follows_within_a_second_is_no_concurrency() {
    let tapes = forty_over_four_slots();
    for peer in [Peer::VllmPython, Peer::VllmRust, Peer::Sglang] {
        says(&by(peer, &tapes), "max_concurrent_requests", 40.0);
    }
    assert_eq!(own(&tapes, "peak_in_flight"), 4.0);
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
    assert!(own(&tapes, "peak_output_tps") >= 1920.0);
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
    let timeline = Timeline::of(&tapes);
    assert!(timeline.plateau().is_err() && timeline.steady().is_err());
}

#[test]
fn the_steady_state_of_sglang_is_of_its_own_peak_and_not_told() {
    // Half of the peak for 3 s, then the peak for 1 s: which of the two is steady hangs on the share that it was given.
    let tapes = [tape(0, &[(10, 1), (4000, 1)]), tape(3000, &[(3010, 1), (4000, 1)])];
    says_nothing(&under_cap(Peer::Sglang, 2, &tapes), "(steady state)");
    let why = Timeline::of(&tapes).steady().unwrap_err();
    assert!(Timeline::of(&tapes).plateau().is_err(), "{why}");
}

#[test]
fn a_full_window_whose_latency_rises_is_steady_for_vllms_rust_client() {
    // One slot that is never empty, each reply 1 ms longer than the one before.
    let mut sent = 0;
    let reply = |i: u64| {
        let lasts = 10 + i;
        let reply = tape(sent, &[(sent + lasts / 2, 1), (sent + lasts, 1)]);
        sent += lasts;
        reply
    };
    let tapes: Vec<Tape> = (0..400).map(reply).collect();
    let report = under_cap(Peer::VllmRust, 1, &tapes);
    says(&report, "steady_state.window.duration_s", (10..410).sum::<u64>() as f64 / 1e3);
    assert!(Timeline::of(&tapes).steady().is_err());
}

#[test]
fn sglang_passes_the_asked_length_off_as_the_one_that_came() {
    let mut short = tape(0, &[(10, 1), (20, 1)]);
    short.requested.output_tokens = Tokens::new(100);
    short.token_source = TokenSource::Events;
    let tapes = [short];
    says(&by(Peer::Sglang, &tapes), "total_output_tokens", 100.0);
    says(&by(Peer::VllmPython, &tapes), "total_output_tokens", 2.0);
    assert_eq!(RequestMetrics::of(&tapes[0]).output_tokens, Some(Tokens::new(2)));
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
fn a_wait_within_the_client_is_lateness_and_no_latency() {
    // 2 ms from the schedule to the sending, as a queue between processes takes.
    let mut late = tape(2, &[(22, 1), (27, 1)]);
    late.marks.intended = ms(0);
    let ours = RequestMetrics::of(&late);
    assert_eq!(ours.send_lateness, Some(Nanos::from_millis(2)));
    assert_eq!(ours.ttft, Some(Nanos::from_millis(20)));
    assert_eq!(ours.ttft_scheduled, Some(Nanos::from_millis(22)));
}

#[test]
fn no_rate_of_a_gap_without_length_reaches_a_figure() {
    // Two events of one read: a rate of their gap would have no bound.
    let tapes = [tape(0, &[(20, 1), (20, 1), (30, 1)])];
    assert_eq!(RequestMetrics::of(&tapes[0]).tpot.map(fizeau_core::Millis::get), Some(10.0));
    let level = LevelSummary::of(&tapes, &GoodputGoals::default());
    assert_eq!(level.jitter.zero_gap_share, Some(0.5));
    assert_eq!(level.throughput.output_tokens_per_s.get(), 100.0);
}

/// As a clock has it that is put an hour ahead once `from` is reached.
fn stepped(tape: &Tape, from: u64) -> Tape {
    let read = |at: Stamp| if at >= ms(from) { at + Nanos::from_secs(3600) } else { at };
    let mut stepped = tape.clone();
    stepped.arrivals.iter_mut().for_each(|event| event.at = read(event.at));
    let marks = &mut stepped.marks;
    (marks.intended, marks.released) = (read(marks.intended), read(marks.released));
    (marks.send_start, marks.end) = (marks.send_start.map(read), marks.end.map(read));
    stepped
}

#[test]
fn a_step_of_the_clock_within_a_request_would_be_a_latency() {
    let tapes: Vec<Tape> =
        (0..10).map(|i| tape(i * 10, &[(i * 10 + 20, 1), (i * 10 + 40, 1)])).collect();
    // Ours are stamps of a clock that nobody sets.
    let ours = |tapes: &[Tape]| LevelSummary::of(tapes, &GoodputGoals::default()).metrics.ttft.max;
    assert_eq!(ours(&tapes).map(fizeau_core::Millis::get), Some(20.0));
    // GuideLLM's and the schedule of vLLM's client are of one that is set: the request that was under way then is an hour long.
    let by_wall: Vec<Tape> = tapes.iter().map(|tape| stepped(tape, 45)).collect();
    let report = by(Peer::GuideLlm, &by_wall);
    let hour = 3_600_000.0;
    says(&report, "successful.time_to_first_token_ms.percentiles.p99", hour + 20.0);
    says(&by(Peer::GuideLlm, &tapes), "successful.time_to_first_token_ms.percentiles.p99", 20.0);
    says(&by(Peer::VllmPython, &by_wall), "duration", hour / 1e3 + 0.130);
    // Were ours set back in mid-request, there would be no latency rather than one that is none.
    let mut back = tape(100, &[(120, 1)]);
    back.arrivals[0].at = ms(60);
    assert_eq!(RequestMetrics::of(&back).ttft, None);
}

#[test]
fn an_event_may_claim_any_number_of_tokens() {
    let tapes = [tape(0, &[(20, 1), (30, u32::MAX), (50, 1)])];
    let report = by(Peer::InferencePerf, &tapes);
    let itl = |statistic: &str| format!("successes.latency.inter_token_latency.{statistic}");
    says(&report, &itl("max"), 0.02);
    says(&report, &itl("p99"), 0.0);
    says(&report, "successes.latency.time_to_first_token.mean", 0.02);
}

#[test]
fn no_figure_depends_on_what_the_clock_said_when_the_run_began() {
    let at = |start: u64| -> Vec<Tape> {
        let reply = |i: u64| {
            let sent = start + i * 7;
            reporting(tape(sent, &[(sent + 20, 1), (sent + 25 + i, 2), (sent + 40, 1)]))
        };
        (0..15).map(reply).collect()
    };
    let hour = 3_600_000;
    let goals: GoodputGoals = "ttft:30".parse().unwrap();
    let summary = |start| LevelSummary::of(&at(start), &goals);
    assert_eq!(summary(0).metrics, summary(hour).metrics);
    assert_eq!(summary(0).throughput, summary(hour).throughput);
    for peer in Peer::ALL {
        assert_eq!(by(peer, &at(0)), by(peer, &at(hour)), "{peer:?}");
    }
}
