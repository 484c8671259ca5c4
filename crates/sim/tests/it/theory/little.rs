//! Little's law, `L = lambda W`, to the nanosecond.

use fizeau_core::{Nanos, Stamp, Tokens};
use fizeau_sim::{
    DisaggregatedEngine, Engine, EngineConfig, EngineJob, Policy, ReplicaRouting, Replicas, Serve,
    StepLoad,
};
use proptest::prelude::*;

use super::chance::Draws;
use crate::cluster::fakes::{Decoder, handover};
use crate::support::{affine, job};

type Step = fn(&StepLoad) -> Nanos;

fn engine(policy: Policy) -> Engine<Step> {
    let config = EngineConfig::new(4, Tokens::new(1_600));
    let config = EngineConfig { max_batched_tokens: Tokens::new(256), policy, ..config };
    Engine::new(config, affine as Step).unwrap()
}

/// The time that all jobs spent in the system, by watching how many are there, and by adding up each job's.
///
/// Over a run that begins and ends empty both are the same, and divided by its length they are `L` and
/// `lambda W`.
fn both(serve: &mut impl Serve, jobs: &[EngineJob]) -> (u128, u128) {
    let (mut present, mut sojourns) = (0, 0);
    let mut arrived = vec![Stamp::EPOCH; jobs.len()];
    let mut jobs = jobs.iter().peekable();
    let mut now = Stamp::EPOCH;
    loop {
        let (event, arrival) = (serve.next_event(), jobs.peek().map(|job| job.at));
        let Some(next) = [event, arrival].into_iter().flatten().min() else {
            return (present, sojourns);
        };
        let gauges = serve.gauges();
        let there = u128::from(gauges.running + gauges.waiting);
        present += there * u128::from(next.since(now).unwrap().as_nanos());
        now = next;
        if let Some(job) = jobs.next_if(|job| job.at == now) {
            arrived[job.id.0 as usize] = job.at;
            serve.submit(job.clone()).unwrap();
            continue;
        }
        serve.advance(now, &mut |emission| {
            if emission.last {
                let since = emission.at.since(arrived[emission.job.0 as usize]).unwrap();
                sojourns += u128::from(since.as_nanos());
            }
        });
    }
}

fn jobs(seed: u64, count: u64) -> Vec<EngineJob> {
    let (mut draws, mut at) = (Draws(seed), Stamp::EPOCH);
    let one = |id| {
        at += draws.gap(Nanos::from_millis(6));
        job(id, 1 + draws.below(400), 1 + draws.below(30), at)
    };
    (0..count).map(one).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn an_engine_keeps_it(seed: u64) {
        for policy in [Policy::Mixed, Policy::PrefillFirst] {
            let (present, sojourns) = both(&mut engine(policy), &jobs(seed, 60));
            prop_assert_eq!(present, sojourns);
        }
    }

    #[test]
    fn replicas_keep_it(seed: u64, count in 1usize..6) {
        for routing in [ReplicaRouting::RoundRobin, ReplicaRouting::LeastInFlight, ReplicaRouting::PrefixAware] {
            let engines = (0..count).map(|_| engine(Policy::Mixed)).collect();
            let mut replicas = Replicas::new(engines, routing).unwrap();
            let (present, sojourns) = both(&mut replicas, &jobs(seed, 60));
            prop_assert_eq!(present, sojourns);
        }
    }

    /// A job whose cache is crossing is in the system.
    #[test]
    fn prefill_and_decode_apart_keep_it(seed: u64, transfer in crate::cluster::fakes::transfers()) {
        let prefill = vec![engine(Policy::Mixed), engine(Policy::Mixed)];
        let mut apart =
            DisaggregatedEngine::new(prefill, vec![Decoder::default()], handover(transfer)).unwrap();
        let (present, sojourns) = both(&mut apart, &jobs(seed, 60));
        prop_assert_eq!(present, sojourns);
    }
}
