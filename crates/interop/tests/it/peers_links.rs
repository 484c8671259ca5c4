//! What a tool counts from, and which of its figures are ours by another name.

use fizeau_core::{FailureClass, Tape};
use fizeau_interop::{OwnFigures, Peer, PeerReport, PeerSettings, PeerValue};

use crate::tapes::{failed, ms, tape};

fn by(peer: Peer, tapes: &[Tape]) -> PeerReport {
    peer.figures(tapes, &PeerSettings::default())
}

/// Due at 0, sent at 40 ms, tokens at 100, 110 and 120 ms.
fn late() -> Tape {
    let mut late = tape(40, &[(100, 1), (110, 1), (120, 1)]);
    late.marks.intended = ms(0);
    late
}

/// LoadGen 6.0.17, `loadgen.cc`: the latency of a sample, and of its first token, is the time since
/// `query->scheduled_time`, in the server scenario the instant that was drawn for it.
#[test]
fn loadgen_counts_from_the_schedule() {
    let tapes = [late()];
    let report = by(Peer::LoadGen, &tapes);
    assert_eq!(report.value("Mean latency (ns)"), Some(120e6));
    assert_eq!(report.value("Mean First Token latency (ns)"), Some(100e6));
    assert_eq!(report.value("Mean Time to Output Token (ns)"), Some(10e6));
    let own = OwnFigures::of(&tapes, &PeerSettings::default());
    for name in
        ["Mean latency (ns)", "Mean First Token latency (ns)", "50.00 percentile latency (ns)"]
    {
        let figure = report.get(name).unwrap();
        assert_eq!(own.comparable(figure), Some(figure.value), "{name}");
    }
}

/// `results.cc` of the same: tokens of all samples over `final_query_all_samples_done_time`, which runs from the start of the
/// schedule to the end of the query that was issued last.
#[test]
fn loadgens_rates_run_from_the_start_of_the_schedule() {
    let mut first = tape(500, &[(9_000, 4)]);
    first.marks.intended = ms(0);
    let tapes = [first, tape(1_000, &[(1_500, 2)]), tape(2_000, &[(4_000, 2)])];
    let report = by(Peer::LoadGen, &tapes);
    assert_eq!(report.value("Completed samples per second"), Some(0.5));
    assert_eq!(report.value("Completed tokens per second"), Some(2.0));
}

/// `logging.cc` of the same: "Number of tokens need to be greater than 1" is an error of the run.
#[test]
fn loadgen_takes_a_reply_of_one_token_for_an_error() {
    let tapes = [late(), tape(50, &[(60, 1)])];
    let report = by(Peer::LoadGen, &tapes);
    let absent = |name: &str| matches!(report.get(name).unwrap().value, PeerValue::Absent(_));
    assert!(absent("Mean Time to Output Token (ns)") && absent("Completed tokens per second"));
    assert_eq!(report.value("Completed samples per second"), Some(1.0 / 0.06));
}

#[test]
fn a_group_with_failed_requests_is_none_of_our_figures() {
    let tapes = [tape(0, &[(20, 1), (30, 1)]), failed(tape(0, &[(20, 1)]), FailureClass::Status)];
    let own = OwnFigures::of(&tapes, &PeerSettings::default());
    let report = by(Peer::GuideLlm, &tapes);
    for figure in &report.figures {
        let is_ours =
            figure.name.starts_with("successful.") || figure.name == "total.request_count";
        assert!(is_ours || figure.ours.is_none(), "{figure:?}");
    }
    for (name, count) in [("successful.request_count", 1.0), ("total.request_count", 2.0)] {
        let figure = report.get(name).unwrap();
        assert_eq!(figure.value, PeerValue::Known(count));
        assert_eq!(own.comparable(figure), Some(figure.value), "{name}");
    }
}

/// EvalScope 1.14.1, `benchmark_util.py` (`create_message`) and `db_util.py` (`get_percentile_results`).
#[test]
fn evalscope_rounds_means_and_leaves_zeros_out_of_percentiles_of_tpot() {
    // 5 ms over three tokens after the first, and all of a reply in one event.
    let tapes = [tape(0, &[(20, 1), (21, 1), (22, 1), (25, 1)]), tape(0, &[(20, 3)])];
    let report = by(Peer::EvalScope, &tapes);
    assert_eq!(report.value("Avg TPOT (ms)"), Some(0.83));
    assert_eq!(report.value("TPOT (ms) 1%"), Some(1.6667));
    assert_eq!(report.value("Avg Latency (s)"), Some(0.0225));
    let single = by(Peer::EvalScope, &[tape(0, &[(20, 1)])]);
    assert_eq!(single.value("Avg ITL (ms)"), Some(0.0));
    assert_eq!(by(Peer::EvalScope, &[]).value("Avg ITL (ms)"), None);
}

/// GuideLLM 0.8.1, `schemas/base/request_stats.py`: `time_to_first_output_token_ms`.
#[test]
fn guidellm_tells_the_first_token_that_is_no_reasoning() {
    let mut reply = tape(0, &[(20, 1), (30, 1), (40, 1)]);
    reply.arrivals[0].channel = fizeau_core::Channel::Reasoning;
    let report = by(Peer::GuideLlm, &[reply]);
    assert_eq!(report.value("successful.time_to_first_token_ms.mean"), Some(20.0));
    assert_eq!(report.value("successful.time_to_first_output_token_ms.mean"), Some(30.0));
}
