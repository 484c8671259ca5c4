//! LLMPerf.
//!
//! Its inter-token latency has the time to the first token in it: the sum of all gaps, the first from the
//! sending on, over the number of events or of tokens, by branch of its code. Deviations divide by n - 1,
//! percentiles are linear. It counts the tokens of every model with one Llama tokenizer, so its own counts can
//! differ from the tape's.

use fizeau_core::Tape;

use super::report::Sheet;
use super::run::{self, Run};
use super::sample::{Column, Sample};
use super::{PeerStatistic, PeerUnit};

pub(super) fn figures(run: &Run<'_>) -> Sheet {
    let mut sheet = Sheet::default();
    let seconds =
        |figure: fn(&Tape) -> Option<f64>| -> Sample { run.good().filter_map(figure).collect() };
    // Only where events and tokens are alike does the branch not matter.
    if run.good().all(|tape| tape.arrivals.len() as u64 == run::counted(tape)) {
        let gaps = seconds(itl);
        let column = Column::linear(&gaps, PeerUnit::Seconds, None);
        results(&mut sheet, "inter_token_latency_s", &column);
    } else {
        let reason = "it divides by events or by tokens, and these differ here";
        sheet.absent("results_inter_token_latency_s_mean", PeerUnit::Seconds, reason);
    }
    let s = PeerUnit::Seconds;
    results(&mut sheet, "ttft_s", &Column::linear(&seconds(run::ttft), s, Some("ttft")));
    let latencies = seconds(run::to_end);
    results(&mut sheet, "end_to_end_latency_s", &Column::linear(&latencies, s, Some("e2el")));
    let speed = |tape: &Tape| Some(run::counted(tape) as f64 / run::to_end(tape)?);
    let speed: Sample = run.good().filter_map(speed).collect();
    let key = "request_output_throughput_token_per_s";
    results(&mut sheet, key, &Column::linear(&speed, PeerUnit::PerSecond, None));
    let duration = run.issuing();
    let (completed, failed) = (run.completed(), run.failed());
    let output = run.sum(run::counted) as f64 / duration;
    sheet.duration(duration);
    sheet.tokens(run.sum(run::counted));
    let started = run.tapes.len() as u64;
    sheet.ours("results_num_requests_started", PeerUnit::Count, started, "sent");
    sheet.ours("results_num_completed_requests", PeerUnit::Count, completed, "completed");
    sheet.ours("results_number_errors", PeerUnit::Count, failed, "failed");
    sheet.put("results_error_rate", PeerUnit::Share, failed as f64 / started as f64);
    let name = "results_mean_output_throughput_token_per_s";
    sheet.ours(name, PeerUnit::PerSecond, output, "output_tps");
    let per_minute = completed as f64 / duration * 60.0;
    sheet.put("results_num_completed_requests_per_min", PeerUnit::PerMinute, per_minute);
    sheet
}

/// From the sending to the last event, which is the sum of all its gaps, over the events.
fn itl(tape: &Tape) -> Option<f64> {
    let events = tape.arrivals.len();
    (events > 0).then_some(run::to_last(tape)? / events as f64)
}

fn results(sheet: &mut Sheet, key: &str, column: &Column<'_>) {
    let mut put =
        |statistic, word: &str| sheet.of(column, statistic, format!("results_{key}_{word}"));
    for percent in [25, 50, 75, 90, 95, 99] {
        put(PeerStatistic::Percentile(percent), &format!("quantiles_p{percent}"));
    }
    put(PeerStatistic::Mean, "mean");
    put(PeerStatistic::Min, "min");
    put(PeerStatistic::Max, "max");
    put(PeerStatistic::SampleStd, "stddev");
}
