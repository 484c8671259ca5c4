//! Where a router sends what.

use std::num::NonZeroU64;
use std::rc::Rc;
use std::sync::Arc;

use fizeau_core::Stamp;
use fizeau_sim::{ClusterError, EngineJob, JobId, ReplicaRouting, Replicas, Serve, SubmitError};
use proptest::prelude::*;

use super::fakes::{Log, Logged};
use crate::support::{drain, job, ms};

/// Which replica each job went to, by the number of the job, if all are submitted ahead of time.
fn homes(count: usize, routing: ReplicaRouting, jobs: &[EngineJob]) -> Vec<usize> {
    let log = Log::default();
    let mut replicas = Replicas::new(Logged::some(count, &log), routing).unwrap();
    jobs.iter().for_each(|job| replicas.submit(job.clone()).unwrap());
    drain(&mut replicas);
    let mut homes = log.borrow().clone();
    homes.sort_by_key(|&(_, id)| id);
    homes.iter().map(|&(engine, _)| engine).collect()
}

/// A job with the hashes of its blocks.
fn with_content(id: u64, at: Stamp, content: &[u64]) -> EngineJob {
    EngineJob { content: Some(Arc::from(content)), ..job(id, 100, 10, at) }
}

proptest! {
    #[test]
    fn round_robin_takes_turns(gaps in prop::collection::vec(0u64..50, 1..30), count in 1usize..6) {
        let mut at = 0;
        let jobs: Vec<_> = gaps.iter().zip(0..).map(|(gap, id)| {
            at += gap;
            job(id, 10, 1 + id % 7, ms(at))
        }).collect();
        let homes = homes(count, ReplicaRouting::RoundRobin, &jobs);
        prop_assert!(homes.iter().enumerate().all(|(turn, &home)| home == turn % count));
    }

    /// Against counting: a job of `n` tokens is in flight from its arrival until 20 ms and 5 ms for each
    /// further token later. Who leaves at the very instant of an arrival is still there.
    #[test]
    fn least_in_flight_is_what_it_says(
        shapes in prop::collection::vec((0u64..12, 1u64..20), 1..60),
        count in 1usize..6,
    ) {
        let mut at = 0;
        let mut jobs = Vec::new();
        for (&(gap, output), id) in shapes.iter().zip(0..) {
            at += gap;
            jobs.push(job(id, 10, output, ms(at)));
        }
        let homes = homes(count, ReplicaRouting::LeastInFlight, &jobs);
        for (place, job) in jobs.iter().enumerate() {
            let load = |replica: usize| {
                let before = jobs[..place].iter().zip(&homes).filter(|&(_, &home)| home == replica);
                let over = |other: &EngineJob| {
 let life = 15 + 5 * other.output_tokens.get();
 other.at.as_nanos() + life * 1_000_000
 };
                before.filter(|(other, _)| over(other) >= job.at.as_nanos()).count()
            };
            let least = (0..count).min_by_key(|&replica| (load(replica), replica)).unwrap();
            prop_assert_eq!(homes[place], least, "job {}", place);
        }
    }
}

#[test]
fn prefix_aware_goes_where_the_beginning_is() {
    let jobs = [
        with_content(0, ms(0), &[1, 2, 3]),
        with_content(1, ms(1), &[7, 8]),
        with_content(2, ms(2), &[1, 2, 4]),
        with_content(3, ms(3), &[7, 9]),
        with_content(4, ms(4), &[5]),
        job(5, 10, 1, ms(5)),
        with_content(6, ms(6), &[1, 2, 4, 6]),
    ];
    // 4 knows nobody and goes where least is in flight, as does 5 that is nothing anybody could know.
    assert_eq!(homes(3, ReplicaRouting::PrefixAware, &jobs), [0, 1, 0, 1, 2, 2, 0]);
}

/// With 32 more in flight than elsewhere, and half as many again, prefixes count no longer.
#[test]
fn prefix_aware_spills_over() {
    let jobs: Vec<_> = (0..40).map(|id| with_content(id, ms(0), &[1])).collect();
    let homes = homes(2, ReplicaRouting::PrefixAware, &jobs);
    let spilled = homes.iter().position(|&home| home == 1).unwrap();
    assert_eq!(spilled, 33, "the first 33 on the first replica");
    // The other holds it then as well, and is the less loaded.
    assert!(homes[33..].iter().all(|&home| home == 1));
}

#[test]
fn a_full_queue_is_told_and_a_job_submitted_ahead_is_not_lost() {
    let log = Log::default();
    let mut engines = Logged::some(2, &log);
    engines.iter_mut().for_each(|engine| engine.limit = 1);
    let mut replicas = Replicas::new(engines, ReplicaRouting::LeastInFlight).unwrap();
    replicas.submit(job(0, 10, 1, ms(0))).unwrap();
    replicas.submit(job(1, 10, 3, ms(0))).unwrap();
    let full = replicas.submit(job(2, 10, 1, ms(0)));
    assert_eq!(full, Err(SubmitError::QueueFull { waiting: 1 }));
    // Ahead of the first tokens at 20 ms, but behind them in time; by then the second replica still has a job.
    for (id, at) in [(3, 22), (4, 23), (5, 24)] {
        replicas.submit(job(id, 10, 1, ms(at))).unwrap();
    }
    replicas.advance(ms(26), &mut |_| {});
    assert_eq!(replicas.gauges().waiting, 2, "one went to the first replica, two are held");
    replicas.cancel(JobId(4));
    let emissions = drain(&mut replicas);
    assert_eq!(log.borrow().iter().map(|&(_, id)| id).collect::<Vec<_>>(), [0, 1, 3, 5]);
    // Held until the second replica was free, at 30 ms, but counted from its arrival.
    let last = emissions.iter().find(|emission| emission.job == JobId(5)).unwrap();
    assert_eq!(last.timing.submitted, ms(24));
    assert_eq!(replicas.gauges().waiting, 0);
}

#[test]
fn what_makes_no_cluster_is_refused() {
    let none = Replicas::new(Vec::<Logged>::new(), ReplicaRouting::RoundRobin);
    assert_eq!(none.err(), Some(ClusterError::NoEngines));
    let log = Log::default();
    let mut engines = Logged::some(3, &log);
    engines[2].block = NonZeroU64::new(32);
    let error = Replicas::new(engines, ReplicaRouting::RoundRobin).err().unwrap();
    assert_eq!(error, ClusterError::BlocksDiffer { one: 16, other: 32 });
    assert!(error.to_string().contains("16 and of 32"), "{error}");
    assert_eq!(Rc::strong_count(&log), 1);
}

/// Who was given up is in flight no longer.
#[test]
fn a_cancelled_job_is_no_load() {
    let log = Log::default();
    let mut replicas = Replicas::new(Logged::some(2, &log), ReplicaRouting::LeastInFlight).unwrap();
    for id in 0..4 {
        replicas.submit(job(id, 10, 9, ms(0))).unwrap();
    }
    // Both on the second replica, which then has nothing left.
    replicas.cancel(JobId(1));
    replicas.cancel(JobId(3));
    replicas.submit(job(4, 10, 9, ms(1))).unwrap();
    replicas.submit(job(5, 10, 9, ms(2))).unwrap();
    let homes: Vec<_> = log.borrow().iter().map(|&(engine, _)| engine).collect();
    assert_eq!(homes, [0, 1, 0, 1, 1, 1]);
}

#[test]
fn a_number_is_live_once() {
    let log = Log::default();
    let mut replicas = Replicas::new(Logged::some(2, &log), ReplicaRouting::RoundRobin).unwrap();
    replicas.submit(job(1, 10, 1, ms(0))).unwrap();
    let again = replicas.submit(job(1, 10, 1, ms(0)));
    assert_eq!(again, Err(SubmitError::DuplicateId(JobId(1))));
    replicas.submit(job(2, 10, 1, ms(90))).unwrap();
    let again = replicas.submit(job(2, 10, 1, ms(91)));
    assert_eq!(again, Err(SubmitError::DuplicateId(JobId(2))));
    replicas.cancel(JobId(2));
    replicas.submit(job(2, 10, 1, ms(92))).unwrap();
    assert_eq!(replicas.prefix_block(), NonZeroU64::new(16));
}
