//! What a router is worth.

use fizeau_core::Nanos;
use fizeau_sim::{EngineConfig, EngineJob, PrefixCaching, ReplicaRouting, Replicas, Serve};

use super::observe::{engine, mean, of_family, roomy, run};
use crate::support::{job, ms};
use crate::theory::chance::Draws;

fn replicas(config: &EngineConfig, routing: ReplicaRouting) -> Replicas<impl Serve + use<>> {
    let engines = (0..4).map(|_| engine(config.clone())).collect();
    Replicas::new(engines, routing).unwrap()
}

/// One in eight is long, and a replica that has some of those is slow for all others. Turns do not see that.
#[test]
fn least_in_flight_beats_turns_where_lengths_differ() {
    let config = EngineConfig { max_num_seqs: 4, ..roomy() };
    for seed in 1..6 {
        let (mut draws, mut at) = (Draws(seed), ms(0));
        let one = |id| {
            at += draws.gap(Nanos::from_millis(28));
            job(id, 200, if draws.below(8) == 0 { 400 } else { 20 }, at)
        };
        let jobs: Vec<EngineJob> = (0..600).map(one).collect();
        let ttft =
            |routing| mean(run(&mut replicas(&config, routing), &jobs).iter().map(|s| s.ttft));
        let (turns, least) =
            (ttft(ReplicaRouting::RoundRobin), ttft(ReplicaRouting::LeastInFlight));
        assert!(least < 0.8 * turns, "seed {seed}: {least} {turns}");
    }
}

/// Sixteen system prompts of 1,024 tokens, over four replicas with room for a few each. A router that knows
/// where a prompt has been read finds it again (SGLang's cache-aware router; Preble, Srivatsa et al., arXiv
/// 2407.00023).
#[test]
fn prefix_aware_finds_more_than_turns() {
    let config = EngineConfig { blocks: 600, prefix_caching: PrefixCaching::On, ..roomy() };
    let (mut draws, mut at) = (Draws(3), ms(0));
    let one = |id| {
        at += draws.gap(Nanos::from_millis(40));
        of_family(1 + draws.below(16), 64, &job(id, 1_100, 20, at))
    };
    let jobs: Vec<EngineJob> = (0..400).map(one).collect();
    let hits_and_ttft = |routing| {
        let mut replicas = replicas(&config, routing);
        let ttft = mean(run(&mut replicas, &jobs).iter().map(|seen| seen.ttft));
        let gauges = replicas.gauges();
        (gauges.prefix_hits as f64 / gauges.prefix_queries as f64, ttft)
    };
    let (turns, slow) = hits_and_ttft(ReplicaRouting::RoundRobin);
    let (least, _) = hits_and_ttft(ReplicaRouting::LeastInFlight);
    let (aware, fast) = hits_and_ttft(ReplicaRouting::PrefixAware);
    assert!(aware > 0.8 && aware > 1.3 * turns && aware > 1.3 * least, "{aware} {turns} {least}");
    assert!(fast < slow, "{fast} {slow}");
}
