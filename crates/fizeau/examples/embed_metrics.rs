//! Metrics of tapes that your own client recorded. Needs `fizeau-core` and `fizeau-metrics` only.

use fizeau::core::TokenSource;
use fizeau::core::{Arrival, Channel, Failure, FailureClass, Nanos, Outcome, Stamp, Tape};
use fizeau::metrics::{GoodputGoals, LevelSummary, RequestMetrics};

/// What your client would do as events come in: note when, and how many tokens.
fn reply(sent_at: Nanos, first_token_after: Nanos) -> Tape {
    let sent = Stamp::EPOCH + sent_at;
    let mut tape = Tape::sent_at(sent);
    tape.token_source = TokenSource::TokenIds;
    for k in 0..100 {
        let at = sent + first_token_after + Nanos::from_millis(5) * k;
        tape.arrivals.push(Arrival::tokens(at, 1, Channel::Visible));
    }
    tape.marks.end = tape.last_token();
    tape
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut tapes: Vec<Tape> = (0..200)
        .map(|k| reply(Nanos::from_millis(10 * k), Nanos::from_millis(20 + k % 7)))
        .collect();
    // A reply that broke off is a failure, whatever it had delivered by then.
    let failure = Failure::new(FailureClass::Truncated, "the reply ended without [DONE]");
    tapes[13].outcome = Outcome::Failed(failure);

    let (one, failed) = (RequestMetrics::of(&tapes[0]), RequestMetrics::of(&tapes[13]));
    println!("request 0: TTFT {:?}, TPOT {:?}, E2EL {:?}", one.ttft, one.tpot, one.e2el);
    assert_eq!(one.ttft, Some(Nanos::from_millis(20)));
    assert_eq!(failed.ttft, None, "a failed request has no latency");

    let goals: GoodputGoals = "ttft:24 tpot:6".parse()?;
    let level = LevelSummary::of(&tapes, &goals);
    let ttft = &level.metrics.ttft;
    println!("TTFT of {}: p50 {:?}, p99 {:?}, p99.9 {:?}", ttft.n, ttft.p50, ttft.p99, ttft.p999);
    let rate = level.throughput.output_tokens_per_s.get();
    println!("output {rate:.0} tokens/s");
    if let Some(goodput) = level.throughput.goodput {
        println!("{:.1} % of all sent met the goals", 100.0 * goodput.share);
    }
    assert_eq!((level.requests.completed, level.requests.failed), (199, 1));
    assert_eq!(ttft.p999.value(), None, "199 requests do not support a p99.9");
    Ok(())
}
