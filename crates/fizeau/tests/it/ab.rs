//! A/B runs from end to end, in virtual time: how often a difference is seen where there is none, and where there is one.

mod weather;

#[test]
fn timing() {
    let start = std::time::Instant::now();
    for seed in 0..20 {
        let turns = weather::run(10, weather::USUAL, seed);
        let last = turns.last().unwrap().run.driven;
        if seed == 0 {
            println!("{:?}", last);
            for t in &turns {
                println!(
                    "{} {:?} {:?} {:?} {:?}",
                    t.round,
                    t.side,
                    t.run.summary.throughput.output_tokens_per_s,
                    t.run.summary.metrics.ttft.p50,
                    t.run.validity
                );
            }
        }
    }
    println!("{:?}", start.elapsed());
}
