//! The rules of other tools, each by a tape made by hand: what the tool says of it, and what is right.

use fizeau_core::{FailureClass, Nanos};
use fizeau_interop::{Peer, PeerValue};
use fizeau_metrics::{GoodputGoals, RequestMetrics, inter_token};

use crate::says::{by, reporting, says, says_nothing, with_goals};
use crate::tapes::{failed, ms, tape};

#[test]
fn buckets_are_counted_from_the_first_sending_on() {
    // Two requests that touch the same second of the clock, and yet different ones from 900 ms on.
    let tapes = [tape(900, &[(1000, 1)]), tape(1950, &[(1990, 1)])];
    says(&by(Peer::VllmPython, &tapes), "max_concurrent_requests", 1.0);
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
