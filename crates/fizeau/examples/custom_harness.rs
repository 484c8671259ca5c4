//! A load loop of your own, over our transport and metrics: here, a ramp that doubles until latency doubles.
//!
//! The engine is the simulated one in virtual time; put an `HttpTransport` and a `Pacer` in its place for a real server.

use fizeau::core::{
    Clock, EosRule, Prompt, Request, RequestId, SessionId, Tape, Tokens, Transport,
};
use fizeau::metrics::{GoodputGoals, LevelSummary};
use fizeau::sim::{Scenario, SimTransport, VirtualTime};
use futures_util::future::join_all;

fn request(id: u64) -> Request {
    Request {
        id: RequestId(id),
        session: SessionId(id),
        turn: 0,
        prompt: Prompt::TokenIds(
            (0..250)
                .map(|k| 100 + (id as u32 * 31 + k) % 3_000)
                .collect(),
        ),
        input_tokens: Some(Tokens::new(250)),
        max_output_tokens: Tokens::new(100),
        eos: EosRule::Ignore,
    }
}

/// `width` requests at once, and what they amount to.
async fn burst(engine: &impl Transport, clock: &impl Clock, width: u64) -> LevelSummary {
    let requests: Vec<Request> = (0..width).map(request).collect();
    let now = clock.now();
    let sent = requests
        .iter()
        .map(|request| engine.send(request, now, now));
    let tapes: Vec<Tape> = join_all(sent)
        .await
        .into_iter()
        .filter_map(Result::ok)
        .collect();
    LevelSummary::of(&tapes, &GoodputGoals::default())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let time = VirtualTime::new();
    let engine = SimTransport::new(&time, Scenario::llama_3_1_8b_h100()?.engine());
    let found = time.block_on(async {
        let alone = burst(&engine, &time, 1).await.metrics.e2el.p50.value()?;
        let mut width = 1;
        loop {
            let level = burst(&engine, &time, width).await;
            let p50 = level.metrics.e2el.p50.value()?;
            let rate = level.throughput.output_tokens_per_s.get();
            println!(
                "{width:>4} at once: {rate:>6.0} tokens/s, E2EL p50 {:>6.1} ms",
                p50.get()
            );
            if p50.get() > 2.0 * alone.get() {
                return Some(width);
            }
            width *= 2;
        }
    })?;
    println!(
        "latency has doubled at {} at once",
        found.ok_or("a burst without a reply")?
    );
    assert!(found.is_some_and(|width| (16..=512).contains(&width)));
    Ok(())
}
