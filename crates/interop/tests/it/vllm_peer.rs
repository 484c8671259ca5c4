//! vLLM's file and vLLM's figures among those of all tools agree, but for the peaks.

use fizeau_core::{
    Arrival, Channel, Failure, FailureClass, Nanos, Outcome, PerSec, Stamp, Tape, Tokens,
};
use fizeau_interop::{Peer, PeerSettings};
use fizeau_interop::{VllmDetail, VllmRequestRate, VllmResult, VllmRun, VllmSelection};
use fizeau_metrics::GoodputGoals;
use serde_json::Value;

/// Forty replies of 25 ms over four slots, two tokens an event; every ninth fails.
fn tapes() -> Vec<Tape> {
    let at = |ms: u64| Stamp::EPOCH + Nanos::from_millis(ms);
    let reply = |i: u64| {
        let sent = i / 4 * 25;
        let mut tape = Tape::sent_at(at(sent));
        tape.marks.intended = at(sent / 2);
        let event = |step: u64| Arrival::tokens(at(sent + step * (4 + i % 2)), 2, Channel::Visible);
        tape.arrivals = (1..=5).map(event).collect();
        tape.requested.input_tokens = Some(Tokens::new(100 + i));
        tape.marks.end = Some(at(sent + 25));
        if i % 9 == 8 {
            tape.outcome = Outcome::Failed(Failure::new(FailureClass::Truncated, "made by hand"));
        }
        tape
    };
    (0..40).map(reply).collect()
}

#[test]
fn vllms_file_and_vllms_figures_agree() {
    let run = VllmRun {
        date: "20260801-120000".to_owned(),
        backend: "vllm".to_owned(),
        label: None,
        model_id: "org/model".to_owned(),
        tokenizer_id: None,
        metadata: Vec::new(),
        request_rate: VllmRequestRate::Limited(PerSec::new(100.0)),
        burstiness: 1.0,
        max_concurrency: Some(4),
    };
    let goals: GoodputGoals = "ttft:4.5 tpot:2".parse().unwrap();
    let selection = VllmSelection::parse(
        "ttft,tpot,itl,e2el,client_queue_time,e2el_including_client_queue",
        "90,95,99",
    )
    .unwrap();
    let file = VllmResult::of(run, &tapes(), &selection, &goals, VllmDetail::Brief);
    let file: Value = serde_json::from_str(&file.to_json()).unwrap();

    let settings = PeerSettings { goals, max_concurrency: Some(4), ..PeerSettings::default() };
    let report = Peer::VllmPython.figures(&tapes(), &settings);
    let mut peaks = Vec::new();
    for figure in &report.figures {
        let ours = file[&figure.name].as_f64().unwrap_or_else(|| panic!("no {}", figure.name));
        let theirs = figure.value.get().unwrap();
        if figure.name.starts_with("max_") {
            peaks.push((ours, theirs));
        } else {
            let slack = 1e-9 * theirs.abs().max(1.0);
            assert!((ours - theirs).abs() < slack, "{}: {ours} {theirs}", figure.name);
        }
    }
    // By the second that they touch there are 36 at once, four of the forty having failed. Of ours none did at an instant
    // more than four; and no peak of ours is below the mean.
    let mean = file["output_throughput"].as_f64().unwrap();
    assert_eq!(peaks[1], (4.0, 36.0));
    assert!(peaks[0].0 >= mean && peaks[0].1 < mean, "{peaks:?} {mean}");
}
