//! Real engines on both sides, with too little of everything.

use std::num::NonZeroU64;

use fizeau_core::{Nanos, Tokens};
use fizeau_roofline::CacheTransfer;
use fizeau_sim::{
    DisaggregatedEngine, Emission, Engine, EngineConfig, EngineJob, JobId, PrefixCaching,
    ReplicaRouting, Replicas, Serve, StepLoad,
};
use proptest::prelude::*;

use super::fakes::{handover, transfers};
use crate::support::{affine, drain, job, ms, of};

type Affine = fn(&StepLoad) -> Nanos;

/// Four slots, room for two of the longest jobs, and a queue for `waiting`.
fn engine(prefix_caching: PrefixCaching, waiting: Option<u64>) -> Engine<Affine> {
    let config = EngineConfig {
        max_batched_tokens: Tokens::new(128),
        max_waiting: waiting,
        prefix_caching,
        ..EngineConfig::new(4, Tokens::new(512))
    };
    Engine::new(config, affine as Affine).unwrap()
}

/// Jobs in order of arrival, of three families with some of their beginnings in common.
fn jobs() -> impl Strategy<Value = Vec<EngineJob>> {
    let one = (1u64..200, 1u64..40, 0u64..20, 0u64..3);
    prop::collection::vec(one, 1..40).prop_map(|all| {
        let (mut at, mut jobs) = (0, Vec::new());
        for ((prompt, output, gap, family), id) in all.into_iter().zip(0u64..) {
            at += gap;
            let blocks = (prompt + output) / 16;
            let hash =
                |block| if block < 5 { 1_000 * family + block } else { 10_000 * (id + 1) + block };
            let content = Some((0..blocks).map(hash).collect());
            jobs.push(EngineJob { content, ..job(id, prompt, output, ms(at)) });
        }
        jobs
    })
}

/// Each job gives its tokens once, in order, with one story of how they came about.
fn whole(emissions: &[Emission], jobs: &[EngineJob]) -> Result<(), TestCaseError> {
    prop_assert!(emissions.is_sorted_by_key(|emission| emission.at));
    for job in jobs {
        let tokens = of(emissions, job.id.0);
        prop_assert!(tokens.iter().zip(0..).all(|(token, index)| token.index == index));
        prop_assert_eq!(tokens.len() as u64, job.output_tokens.get());
        prop_assert!(tokens.iter().rev().skip(1).all(|token| !token.last));
        let first = tokens[0].timing;
        prop_assert!(first.submitted == job.at && first.admitted >= job.at);
        prop_assert!(first.first_token == tokens[0].at && first.admitted < first.first_token);
        let story = |token: &Emission| {
            let timing = token.timing;
            (timing.submitted, timing.admitted, timing.first_token, timing.cached_tokens)
        };
        prop_assert!(tokens.iter().all(|token| story(token) == story(&tokens[0])));
        prop_assert!(tokens.is_sorted_by_key(|token| token.timing.preemptions));
    }
    Ok(())
}

proptest! {
    /// Decode engines preempt, and read again what they lose; their queues overflow, and nothing is lost by that.
    #[test]
    fn prefill_and_decode_apart_lose_nothing(
        jobs in jobs(),
        counts in (1usize..3, 1usize..3),
        transfer in transfers(),
        caching in prop::sample::select(vec![PrefixCaching::Off, PrefixCaching::On]),
    ) {
        let prefill = (0..counts.0).map(|_| engine(caching, None)).collect();
        let decode = (0..counts.1).map(|_| engine(caching, Some(1))).collect();
        let mut apart = DisaggregatedEngine::new(prefill, decode, handover(transfer)).unwrap();
        jobs.iter().for_each(|job| apart.submit(job.clone()).unwrap());
        whole(&drain(&mut apart), &jobs)?;
        let gauges = apart.gauges();
        prop_assert_eq!((gauges.running, gauges.waiting, gauges.blocks_used), (0, 0, 0));
    }

    #[test]
    fn replicas_lose_nothing(jobs in jobs(), count in 1usize..4) {
        for routing in [ReplicaRouting::RoundRobin, ReplicaRouting::LeastInFlight, ReplicaRouting::PrefixAware] {
            let engines = (0..count).map(|_| engine(PrefixCaching::On, None)).collect();
            let mut replicas = Replicas::new(engines, routing).unwrap();
            prop_assert_eq!(replicas.prefix_block(), NonZeroU64::new(16));
            jobs.iter().for_each(|job| replicas.submit(job.clone()).unwrap());
            whole(&drain(&mut replicas), &jobs)?;
            let gauges = replicas.gauges();
            prop_assert_eq!((gauges.running, gauges.waiting, gauges.blocks_used), (0, 0, 0));
        }
    }
}

/// What the property above is about does happen: sequences lose their place while decoding, and caches wait
/// at a full queue.
#[test]
fn decode_engines_are_short_of_room() {
    let prefill = vec![engine(PrefixCaching::Off, None), engine(PrefixCaching::Off, None)];
    let decode = vec![engine(PrefixCaching::Off, Some(1))];
    let to = handover(CacheTransfer::LayerWise);
    let mut apart = DisaggregatedEngine::new(prefill, decode, to).unwrap();
    let jobs: Vec<_> = (0..12).map(|id| job(id, 100, 60, ms(id))).collect();
    jobs.iter().for_each(|job| apart.submit(job.clone()).unwrap());
    let (mut emissions, mut most_waiting) = (Vec::new(), 0);
    while let Some(at) = apart.next_event() {
        apart.advance(at, &mut |emission| emissions.push(emission));
        most_waiting = most_waiting.max(apart.decode().gauges().waiting);
    }
    whole(&emissions, &jobs).unwrap();
    assert!(apart.gauges().preemptions > 0);
    assert!(most_waiting > 3, "{most_waiting}");
    assert!(emissions.iter().any(|emission| emission.timing.preemptions > 0));
}

/// They nest: replicas of pairs.
#[test]
fn replicas_may_be_clusters_themselves() {
    let pair = || {
        let engine = || vec![engine(PrefixCaching::Off, None)];
        let to = handover(CacheTransfer::BeforeSecondToken);
        DisaggregatedEngine::new(engine(), engine(), to).unwrap()
    };
    let mut pairs = Replicas::new(vec![pair(), pair()], ReplicaRouting::LeastInFlight).unwrap();
    for id in 0..10 {
        pairs.submit(job(id, 100, 10, ms(id))).unwrap();
    }
    pairs.cancel(JobId(3));
    let emissions = drain(&mut pairs);
    assert_eq!(emissions.len(), 90);
    assert!(emissions.is_sorted_by_key(|emission| emission.at));
}
