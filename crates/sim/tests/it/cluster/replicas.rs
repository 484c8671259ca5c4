//! Nothing gets lost behind a router, and time runs one way.

use fizeau_core::{Nanos, Stamp, Tokens};
use fizeau_sim::{
    Emission, Engine, EngineConfig, EngineJob, Gauges, JobId, ReplicaRouting, Replicas, Serve,
    StepLoad,
};
use proptest::prelude::*;

use crate::support::{affine, drain, job, ms, of};

type Affine = fn(&StepLoad) -> Nanos;

fn engine() -> Engine<Affine> {
    let config = EngineConfig::new(3, Tokens::new(1_600));
    let config = EngineConfig { max_batched_tokens: Tokens::new(256), ..config };
    Engine::new(config, affine as Affine).unwrap()
}

fn replicas(count: usize, routing: ReplicaRouting) -> Replicas<Engine<Affine>> {
    Replicas::new((0..count).map(|_| engine()).collect(), routing).unwrap()
}

fn routings() -> impl Strategy<Value = ReplicaRouting> {
    prop::sample::select(vec![
        ReplicaRouting::RoundRobin,
        ReplicaRouting::LeastInFlight,
        ReplicaRouting::PrefixAware,
    ])
}

/// Jobs in order of arrival, often several at one instant.
fn jobs() -> impl Strategy<Value = Vec<EngineJob>> {
    let one = (1u64..400, 1u64..30, prop::sample::select(vec![0u64, 0, 1, 7, 40]));
    prop::collection::vec(one, 1..40).prop_map(|all| {
        let mut at = 0;
        let mut numbered = Vec::new();
        for ((prompt, output, gap), id) in all.into_iter().zip(0..) {
            at += gap;
            numbered.push(job(id, prompt, output, ms(at)));
        }
        numbered
    })
}

/// Each job is submitted at its arrival, as a timer would: before anything else of that instant.
fn in_time(serve: &mut impl Serve, jobs: &[EngineJob]) -> Vec<Emission> {
    let mut emissions = Vec::new();
    let mut jobs = jobs.iter().peekable();
    loop {
        let event = serve.next_event();
        if let Some(job) = jobs.next_if(|job| event.is_none_or(|event| job.at <= event)) {
            serve.submit(job.clone()).unwrap();
            continue;
        }
        let Some(event) = event else { return emissions };
        serve.advance(event, &mut |emission| emissions.push(emission));
    }
}

/// In order of time, and of jobs within an instant: which engine comes first there does not matter.
fn sorted(mut emissions: Vec<Emission>) -> Vec<Emission> {
    emissions.sort_by_key(|emission| (emission.at, emission.job, emission.index));
    emissions
}

proptest! {
    #[test]
    fn each_job_gives_its_tokens_once(jobs in jobs(), count in 1usize..7, routing in routings()) {
        let mut replicas = replicas(count, routing);
        jobs.iter().for_each(|job| replicas.submit(job.clone()).unwrap());
        let emissions = drain(&mut replicas);
        prop_assert!(emissions.is_sorted_by_key(|emission| emission.at));
        for job in &jobs {
            let tokens = of(&emissions, job.id.0);
            prop_assert_eq!(tokens.len() as u64, job.output_tokens.get());
            prop_assert!(tokens.iter().zip(0..).all(|(token, index)| token.index == index));
            prop_assert_eq!(tokens[0].timing.submitted, job.at);
        }
        let Gauges { running, waiting, .. } = replicas.gauges();
        prop_assert_eq!((running, waiting), (0, 0));
        prop_assert_eq!(replicas.next_event(), None);
    }

    /// One replica is the engine itself.
    #[test]
    fn a_router_before_one_engine_changes_nothing(jobs in jobs(), routing in routings()) {
        let mut alone = engine();
        jobs.iter().for_each(|job| alone.submit(job.clone()).unwrap());
        prop_assert_eq!(in_time(&mut replicas(1, routing), &jobs), drain(&mut alone));
    }

    /// A job is routed by what there is when it arrives, so it may be submitted long before.
    #[test]
    fn ahead_of_time_is_as_in_time(jobs in jobs(), count in 1usize..7, routing in routings()) {
        let mut ahead = replicas(count, routing);
        jobs.iter().for_each(|job| ahead.submit(job.clone()).unwrap());
        let in_time = in_time(&mut replicas(count, routing), &jobs);
        prop_assert_eq!(sorted(drain(&mut ahead)), sorted(in_time));
    }

    #[test]
    fn the_grid_of_advances_does_not_matter(
        jobs in jobs(),
        count in 1usize..7,
        routing in routings(),
        strides in prop::collection::vec(1u64..50_000_000, 1..20),
    ) {
        let mut by_event = replicas(count, routing);
        jobs.iter().for_each(|job| by_event.submit(job.clone()).unwrap());
        let mut by_stride = by_event.clone();
        let (mut now, mut emissions) = (Stamp::EPOCH, Vec::new());
        for stride in strides.iter().cycle() {
            if by_stride.next_event().is_none() {
                break;
            }
            now += Nanos::from_nanos(*stride);
            by_stride.advance(now, &mut |emission| emissions.push(emission));
        }
        prop_assert!(emissions.is_sorted_by_key(|emission| emission.at));
        prop_assert_eq!(sorted(emissions), sorted(drain(&mut by_event)));
    }

    /// A cancelled job gives nothing more, wherever it was, and everybody else gets their due.
    #[test]
    fn cancelled_jobs_leave_the_others_alone(
        jobs in jobs(),
        count in 1usize..7,
        routing in routings(),
        cancels in prop::collection::vec((0u64..40, 0u64..300), 0..12),
    ) {
        let mut replicas = replicas(count, routing);
        jobs.iter().for_each(|job| replicas.submit(job.clone()).unwrap());
        let mut cancels = cancels;
        cancels.sort_by_key(|&(_, at)| at);
        let mut emissions = Vec::new();
        for &(id, at) in &cancels {
            replicas.advance(ms(at), &mut |emission| emissions.push(emission));
            replicas.cancel(JobId(id));
            let so_far = of(&emissions, id).len();
            replicas.advance(ms(at), &mut |emission| emissions.push(emission));
            prop_assert_eq!(of(&emissions, id).len(), so_far);
        }
        emissions.extend(drain(&mut replicas));
        for job in &jobs {
            let tokens = of(&emissions, job.id.0);
            let whole = tokens.len() as u64 == job.output_tokens.get();
            let cancelled = cancels.iter().any(|&(id, _)| id == job.id.0);
            prop_assert!(whole || cancelled);
        }
        let Gauges { running, waiting, .. } = replicas.gauges();
        prop_assert_eq!((running, waiting), (0, 0));
    }
}

/// What the first tokens of an instant set off takes part in the steps that begin at that instant.
#[test]
fn an_instant_can_be_answered_within_itself() {
    let mut replicas = replicas(2, ReplicaRouting::LeastInFlight);
    replicas.submit(job(0, 100, 2, ms(0))).unwrap();
    replicas.submit(job(1, 100, 2, ms(0))).unwrap();
    let first = replicas.next_event().unwrap();
    let mut left = 0;
    replicas.advance(first, &mut |_| left += 1);
    assert_eq!(left, 0, "the steps have begun");
    let end = replicas.next_event().unwrap();
    replicas.advance(end, &mut |_| left += 1);
    assert_eq!((left, replicas.next_event()), (2, Some(end)));
    replicas.submit(job(2, 100, 1, end)).unwrap();
    let emissions = drain(&mut replicas);
    assert_eq!(of(&emissions, 2)[0].timing.admitted, end);
}
