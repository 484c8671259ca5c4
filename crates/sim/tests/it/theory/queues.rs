//! An engine that is a textbook queue waits as long as the textbook says.
//!
//! Arrivals are Poisson. Each claim is held against ten independent runs, of which the first jobs are not
//! counted, at a confidence of 99.9 %; an interval too wide to refute anything fails as well.

use fizeau_core::{Nanos, Tokens};
use fizeau_sim::{Engine, EngineConfig, ReplicaRouting, Replicas, Serve, StepLoad};

use super::chance::{Draws, interval};
use crate::support::{drain, job, ms};

const STEP: Nanos = Nanos::from_millis(2);

fn constant(_: &StepLoad) -> Nanos {
    STEP
}

fn engine(slots: u64) -> Engine<fn(&StepLoad) -> Nanos> {
    let config = EngineConfig::new(slots, Tokens::new(1 << 20));
    Engine::new(config, constant as fn(&StepLoad) -> Nanos).unwrap()
}

/// The mean wait of the jobs behind the first tenth, in seconds. `output` draws how many tokens each has,
/// and so how many steps it takes.
fn mean_wait(
    mut serve: impl Serve,
    seed: u64,
    gap: Nanos,
    mut output: impl FnMut(&mut Draws) -> u64,
) -> f64 {
    const JOBS: u64 = 5_000;
    let (mut draws, mut at) = (Draws(seed), ms(0));
    for id in 0..JOBS {
        at += draws.gap(gap);
        serve.submit(job(id, 1, output(&mut draws), at)).unwrap();
    }
    let (mut waits, mut counted) = (0.0, 0.0);
    for first in drain(&mut serve).iter().filter(|emission| emission.index == 0) {
        if first.job.0 >= JOBS / 10 {
            waits += first.timing.queue().as_secs_f64();
            counted += 1.0;
        }
    }
    waits / counted
}

/// Ten runs against `expected`; `slack` besides, in seconds, of what theory leaves out.
fn agree(what: &str, expected: f64, slack: f64, run: impl Fn(u64) -> f64) {
    let mut repeats = [0.0; 10];
    repeats.iter_mut().zip(1u64..).for_each(|(mean, seed)| *mean = run(seed * 1_000_003));
    let (mean, half) = interval(&repeats);
    let off = (mean - expected).abs();
    assert!(off <= half + slack, "{what}: {mean} s, not {expected} +- {half}");
    assert!(half < 0.25 * expected, "{what}: an interval of {half} around {expected} says nothing");
}

/// One slot, and a service of two steps for each: M/D/1. The mean wait is `rho S / (2 (1 - rho))` (Pollaczek and
/// Khinchine).
#[test]
fn one_slot_with_fixed_service_is_m_d_1() {
    let service = (STEP * 2).as_secs_f64();
    for rho in [0.3, 0.6, 0.8] {
        let gap = Nanos::from_secs_f64(service / rho).unwrap();
        let expected = rho * service / (2.0 * (1.0 - rho));
        agree(&format!("rho {rho}"), expected, 0.0, |seed| mean_wait(engine(1), seed, gap, |_| 2));
    }
}

/// The chance that all of `servers` are busy, with a load of `offered` erlang (Erlang's C, by the recursion
/// of his B).
fn erlang_c(servers: u64, offered: f64) -> f64 {
    let mut blocked = 1.0;
    for server in 1..=servers {
        blocked = offered * blocked / (server as f64 + offered * blocked);
    }
    let rho = offered / servers as f64;
    blocked / (1.0 - rho + rho * blocked)
}

/// The table of any textbook: two servers at a load of one erlang are both busy in a third of all cases.
#[test]
fn erlang_knows_his_table() {
    assert!((erlang_c(1, 0.7) - 0.7).abs() < 1e-12);
    assert!((erlang_c(2, 1.0) - 1.0 / 3.0).abs() < 1e-12);
    assert!((erlang_c(10, 8.0) - 0.409_180_15).abs() < 1e-8);
}

/// As many slots, steps that take as long whatever the batch, and memoryless output lengths: M/M/c, `C / (c
/// mu - lambda)`.
///
/// Two things set an engine apart from that. It admits between steps only, so that a job that finds others
/// running waits up to a step more, half of one on average; and lengths are whole numbers of steps, whose
/// spread is a share `1 / mean` less, for which a wait is shorter by half that share. Together less than
/// half a step.
#[test]
fn slots_with_memoryless_outputs_are_m_m_c() {
    let mean = 12.0;
    let service = STEP.as_secs_f64() * mean;
    for (slots, rho) in [(1, 0.5), (3, 0.7), (6, 0.7)] {
        let offered = rho * slots as f64;
        let gap = Nanos::from_secs_f64(service / offered).unwrap();
        let expected = erlang_c(slots, offered) * service / (slots as f64 - offered);
        agree(&format!("{slots} slots at {rho}"), expected, 0.5 * STEP.as_secs_f64(), |seed| {
            mean_wait(engine(slots), seed, gap, |draws| draws.geometric(mean))
        });
    }
}

/// Replicas of fixed service that take turns are M/D/c, since whoever came `c` jobs before leaves first.
/// The wait of each job follows from that of the one `c` before it (Lindley's recursion), to the
/// nanosecond.
#[test]
fn turns_with_fixed_service_are_m_d_c() {
    const SERVERS: usize = 4;
    let service = STEP * 5;
    let engines = (0..SERVERS).map(|_| engine(1)).collect();
    let mut replicas = Replicas::new(engines, ReplicaRouting::RoundRobin).unwrap();
    let (mut draws, mut at, mut free) = (Draws(7), ms(0), Vec::new());
    for id in 0..2_000 {
        at += draws.gap(service / 3);
        replicas.submit(job(id as u64, 1, 5, at)).unwrap();
        let before = if id < SERVERS { at } else { free[id - SERVERS] };
        free.push(at.max(before) + service);
    }
    let emissions = drain(&mut replicas);
    let lasts: Vec<_> = emissions.iter().filter(|emission| emission.last).collect();
    assert!(lasts.iter().all(|last| last.at == free[last.job.0 as usize]));
    assert_eq!(lasts.len(), free.len());
    assert!(lasts.iter().filter(|last| last.timing.queue() > Nanos::ZERO).count() > 500);
}
