//! Sessions, shards and probes over several workers.

use fizeau_core::Seconds;
use fizeau_harness::Probe;
use fizeau_workload::{PromptContent, Sessions, Shard, TextSource, ThinkTime, Turns};

use super::*;

fn talks(requests: u64, arrivals: ArrivalLaw, think: ThinkTime) -> Plan {
    let turns = |n| NonZeroU32::new(n).unwrap();
    let turns = Turns::Uniform { least: turns(1), most: turns(5) };
    let content = PromptContent::Chat(TextSource::Words);
    let spec = plan(requests, arrivals).spec().clone();
    Plan::new(PlanSpec { content, sessions: Some(Sessions { turns, think }), ..spec }).unwrap()
}

#[test]
fn shards_with_any_number_of_workers_make_up_the_plan() {
    let rate = ArrivalLaw::Constant { rate: PerSec::new(20_000.0) };
    let micros = ThinkTime::Exponential { mean: Seconds::new(3e-4) };
    for (arrivals, think) in [
        (ArrivalLaw::ClosedLoop, ThinkTime::None),
        (ArrivalLaw::ClosedLoop, micros),
        (rate.clone(), ThinkTime::None),
        (rate, micros),
        (ArrivalLaw::AllAtOnce, micros),
    ] {
        let plan = talks(90, arrivals, think);
        for (shards, workers, limit) in [(1, 1, 4), (1, 3, 4), (2, 2, 3), (3, 2, 1), (4, 3, 7)] {
            let mut stand = Stand::new(workers, answered);
            let mut all = Vec::new();
            for index in 0..shards {
                let shard = Shard::new(index, shards).unwrap();
                let level = PlannedLevel { shard, ..PlannedLevel::new(&plan, cap(limit)) };
                let mut tapes = Vec::new();
                let run = block_on(stand.pool.measure(level, &mut tapes, &mut ())).unwrap();
                assert_eq!((run.driven.ended, run.driven.abandoned), (DriveEnding::Exhausted, 0));
                assert!(tapes.iter().all(|tape| tape.session.0 % shards == index));
                all.extend(tapes);
            }
            assert_eq!(ids(&all), (0..90).collect::<Vec<_>>(), "{workers} workers");
            assert!(stand.seen.most_in_flight.load(Ordering::SeqCst) <= limit as usize);
            // The turns of a session are one worker's, and in order.
            let sender: BTreeMap<u64, usize> =
                stand.seen.sent.lock().unwrap().iter().map(|(worker, id)| (*id, *worker)).collect();
            let mut sessions: BTreeMap<u64, Vec<&Tape>> = BTreeMap::new();
            for tape in &all {
                sessions.entry(tape.session.0).or_default().push(tape);
            }
            for turns in sessions.values() {
                let first = sender[&turns[0].request.0];
                assert!(turns.iter().all(|tape| sender[&tape.request.0] == first));
                assert!(turns.iter().enumerate().all(|(turn, tape)| tape.turn as usize == turn));
                assert!(turns.iter().all(|tape| tape.text.is_none()));
            }
        }
    }
}

#[test]
fn what_workers_could_not_send_is_added_up() {
    let turns = Turns::Fixed(NonZeroU32::new(3).unwrap());
    let talks = talks(60, ArrivalLaw::ClosedLoop, ThinkTime::None);
    let sessions = Some(Sessions { turns, think: ThinkTime::None });
    let plan = Plan::new(PlanSpec { sessions, ..talks.spec().clone() }).unwrap();
    // The first turn of every other session fails.
    let mut stand = Stand::new(3, |id| if id % 6 == 0 { Fate::Fails } else { Fate::Answered });
    let mut tapes = Vec::new();
    let run = stand.run(&plan, cap(5), &mut tapes, &mut ()).unwrap();
    assert_eq!((run.driven.abandoned, tapes.len()), (20, 40));
    let said = run.validity().reasons.iter().any(|reason| reason.text.starts_with("20 of 60 "));
    assert!(said, "{:?}", run.validity());
}

/// A level with probes beside it: `rate` a second.
fn probed(
    stand: &mut Stand,
    plan: &Plan,
    load: DriveLimits,
    rate: ArrivalLaw,
) -> (LevelRun, Vec<Tape>) {
    let probes = self::plan(1_000_000, rate);
    let probe = Some(Probe { plan: &probes });
    let level = PlannedLevel { probe, ..PlannedLevel::new(plan, load) };
    let mut tapes = Vec::new();
    let run = block_on(stand.pool.measure(level, &mut tapes, &mut ())).unwrap();
    (run, tapes)
}

#[test]
fn one_worker_probes_until_the_load_of_all_is_over() {
    let rate = || ArrivalLaw::Constant { rate: PerSec::new(10_000.0) };
    let plan = plan(3, rate());
    // The first worker is done at once; the last request waits for more probes than come until then.
    let fate = |id| if id == 2 { Fate::AfterProbes(50) } else { Fate::Answered };
    let mut stand = Stand::new(3, fate);
    let (run, tapes) = probed(&mut stand, &plan, DriveLimits::default(), rate());
    assert_eq!(run.driven.ended, DriveEnding::Exhausted);
    let probes = tapes.iter().filter(|tape| tape.part == RequestPurpose::Probe).count();
    assert_eq!((tapes.len() - probes, probes), (3, stand.seen.probes()));
    assert!(probes >= 50);
    assert!(stand.seen.probes.lock().unwrap().iter().all(|worker| *worker == 0));
}

#[test]
fn probes_need_no_slot() {
    // The only slot is taken until the probes have been sent.
    let mut stand = Stand::new(1, |_| Fate::AfterProbes(5));
    let plan = plan(1, ArrivalLaw::ClosedLoop);
    let rate = ArrivalLaw::Constant { rate: PerSec::new(10_000.0) };
    let (run, _) = probed(&mut stand, &plan, cap(1), rate);
    assert_eq!(run.driven.ended, DriveEnding::Exhausted);
    assert_eq!(run.driven.held_back, 0);
}

#[test]
fn a_level_that_is_called_off_ends_its_probes() {
    let mut stand = Stand::new(2, |_| Fate::Hangs);
    let plan = plan(2, ArrivalLaw::ClosedLoop);
    let probes = self::plan(1_000_000, ArrivalLaw::Constant { rate: PerSec::new(10_000.0) });
    let probe = Some(Probe { plan: &probes });
    let level = PlannedLevel { probe, ..PlannedLevel::new(&plan, cap(2)) };
    let mut watcher = CallOff { after: 3, ended: 0, cancel: stand.cancel.clone() };
    let run = block_on(stand.pool.measure(level, &mut Vec::new(), &mut watcher)).unwrap();
    assert_eq!(
        run.driven.ended,
        DriveEnding::Cancelled,
        "although no request of the load ever ended"
    );
}

#[test]
fn a_time_limit_ends_those_who_wait_for_a_slot_and_the_probes_with_them() {
    // When the time is up, the first worker has a slot and the third has two. The first heads the queue for the next, and
    // the second, which has none, stands behind it.
    let fate = |id| match id {
        0 => Fate::AfterProbes(400),
        2 | 5 => Fate::AfterProbes(600),
        _ => Fate::Answered,
    };
    let rate = |rate| ArrivalLaw::Constant { rate: PerSec::new(rate) };
    let (plan, probes) = (plan(1_000, rate(1_000.0)), plan(1_000_000, rate(10_000.0)));
    let load = DriveLimits { stop_after: Some(Nanos::from_millis(20)), ..cap(3) };
    let level =
        PlannedLevel { probe: Some(Probe { plan: &probes }), ..PlannedLevel::new(&plan, load) };
    let mut stand = Stand::new(3, fate);
    // Probes that never end are called off.
    let mut watcher = CallOff { after: 20_000, ended: 0, cancel: stand.cancel.clone() };
    let run = block_on(stand.pool.measure(level, &mut Vec::new(), &mut watcher)).unwrap();
    assert_eq!(run.driven.ended, DriveEnding::TimeUp);
}

#[test]
fn a_load_ends_although_the_next_probe_is_always_due() {
    for workers in [1, 2] {
        let mut stand = Stand::new(workers, answered);
        let rate = ArrivalLaw::Constant { rate: PerSec::new(1e9) };
        let plan = plan(200, ArrivalLaw::ClosedLoop);
        let (run, tapes) = probed(&mut stand, &plan, cap(4), rate);
        assert_eq!(run.driven.ended, DriveEnding::Exhausted);
        assert_eq!(tapes.iter().filter(|tape| tape.part == RequestPurpose::Load).count(), 200);
    }
}
