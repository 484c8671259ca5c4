//! A load loop of your own, over our transport and metrics: here, a ramp that doubles until latency doubles.
//!
//! The engine is the simulated one in virtual time; put an `HttpTransport` and a `Pacer` in its place for a real server.

use fizeau::core::{Clock, Release, RequestSource, Tape, Transport};
use fizeau::metrics::{GoodputGoals, LevelSummary};
use fizeau::sim::{Scenario, SimTransport, VirtualTime};
use fizeau::workload::{Plan, PlanSpec};
use futures_util::future::join_all;

/// `width` requests at once, and what they amount to.
async fn burst(engine: &impl Transport, clock: &impl Clock, width: u64) -> Option<LevelSummary> {
    let plan = Plan::new(PlanSpec::new(width).ok()?).ok()?;
    let mut source = plan.source();
    let requests = std::iter::from_fn(|| source.next_request().ok()?.map(|due| due.request));
    let requests: Vec<_> = requests.collect();
    let release = Release::at(clock.now());
    let sent = requests.iter().map(|request| engine.send(request, release));
    let replies = join_all(sent).await;
    let tapes: Vec<Tape> = replies.into_iter().filter_map(Result::ok).collect();
    Some(LevelSummary::of(&tapes, &GoodputGoals::default()))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let time = VirtualTime::new();
    let engine = SimTransport::new(&time, Scenario::llama_3_1_8b_h100()?.engine());
    let found = time.block_on(async {
        let alone = burst(&engine, &time, 1).await?;
        let limit = 2.0 * alone.metrics.e2el.p50.value()?.get();
        for width in (0..).map(|doubled| 1 << doubled) {
            let level = burst(&engine, &time, width).await?;
            let p50 = level.metrics.e2el.p50.value()?.get();
            let rate = level.throughput.output_tokens_per_s.get();
            println!("{width:>4} at once: {rate:>6.0} tokens/s, E2EL p50 {p50:>6.1} ms");
            if p50 > limit {
                return Some(width);
            }
        }
        None
    })?;
    let found = found.ok_or("a burst without a reply")?;
    println!("latency has doubled at {found} at once");
    assert!((4..=512).contains(&found));
    Ok(())
}
