mod in_flight;
mod probe;

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroUsize};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use fizeau_core::{
    Arrival, Channel, Clock, Failure, FailureClass, Nanos, Outcome, PerSec, Release, Request,
    RequestMarks, RequestPurpose, Tape, TapeSink, Transport,
};
use fizeau_harness::{
    Cancel, DriveEnding, DriveError, DriveLimits, DriveNotice, LevelRun, Measure, Observer,
    PlannedLevel, Preconnect, WorkerPool,
};
use fizeau_transport::MonotonicClock;
use fizeau_workload::{ArrivalLaw, Lengths, Plan, PlanSpec, WalkError};

/// What the workers of a pool did, seen from the server's side.
#[derive(Default)]
struct Seen {
    in_flight: AtomicUsize,
    most_in_flight: AtomicUsize,
    /// Which worker sent which request; warm-up ones too.
    sent: Mutex<Vec<(usize, u64)>>,
    connected: Mutex<BTreeMap<usize, usize>>,
    made: AtomicUsize,
    /// Which worker sent each probe.
    probes: Mutex<Vec<usize>>,
}

impl Seen {
    fn probes(&self) -> usize {
        self.probes.lock().unwrap().len()
    }
}

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Answered,
    /// It is answered once so many probes have been sent.
    AfterProbes(usize),
    /// It is answered so long after its instant.
    At(Nanos),
    Fails,
    Hangs,
    Panics,
    Unsendable,
}

/// A server in memory: each request takes some rounds of the event loop, and no time is waited for.
struct Fake {
    worker: usize,
    seen: Arc<Seen>,
    fate: fn(u64) -> Fate,
    clock: MonotonicClock,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("there is no such route")]
struct NoRoute;

struct InFlight<'a>(&'a Seen);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Transport for Fake {
    type Error = NoRoute;

    async fn send(&self, request: &Request, release: Release) -> Result<Tape, NoRoute> {
        let seen = &*self.seen;
        let now = seen.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
        let _in_flight = InFlight(seen);
        seen.most_in_flight.fetch_max(now, Ordering::SeqCst);
        if request.part == RequestPurpose::Probe {
            seen.probes.lock().unwrap().push(self.worker);
            return Ok(Tape { request: request.id, ..Tape::sent_at(release.released) });
        }
        seen.sent.lock().unwrap().push((self.worker, request.id.0));
        match (self.fate)(request.id.0) {
            Fate::Answered => {}
            Fate::AfterProbes(count) => {
                let began = std::time::Instant::now();
                while seen.probes() < count {
                    assert!(began.elapsed().as_secs() < 20, "the probe stream has run dry");
                    tokio::task::yield_now().await;
                }
            }
            Fate::At(after) => {
                while self.clock.now() < release.intended + after {
                    tokio::task::yield_now().await;
                }
            }
            Fate::Fails => {
                let outcome = Outcome::Failed(Failure::new(FailureClass::Truncated, "by design"));
                return Ok(Tape {
                    request: request.id,
                    outcome,
                    ..Tape::sent_at(release.released)
                });
            }
            Fate::Hangs => std::future::pending().await,
            Fate::Panics => panic!("the worker's own panic"),
            Fate::Unsendable => return Err(NoRoute),
        }
        for _ in 0..request.id.0 * 7 % 11 {
            tokio::task::yield_now().await;
        }
        let mut tape = Tape::sent_at(release.released);
        tape.request = request.id;
        tape.text = Some(format!("reply {}", request.id));
        tape.marks =
            RequestMarks { end: Some(self.clock.now()), ..RequestMarks::released(release) };
        tape.arrivals.push(Arrival::tokens(release.released, 1, Channel::Visible));
        Ok(tape)
    }
}

impl Preconnect for Fake {
    async fn preconnect(&self, count: usize) -> Result<(), Failure> {
        if count > 1_000 {
            return Err(Failure::new(FailureClass::Connect, "the server's backlog is full"));
        }
        *self.seen.connected.lock().unwrap().entry(self.worker).or_default() += count;
        Ok(())
    }
}

struct Stand {
    pool: WorkerPool<NoRoute>,
    seen: Arc<Seen>,
    cancel: Cancel,
}

impl Stand {
    fn new(threads: usize, fate: fn(u64) -> Fate) -> Self {
        let (seen, cancel) = (Arc::new(Seen::default()), Cancel::new());
        let clock = MonotonicClock::new();
        let shared = Arc::clone(&seen);
        let make = move |worker| {
            shared.made.fetch_add(1, Ordering::SeqCst);
            Fake { worker, seen: Arc::clone(&shared), fate, clock }
        };
        let threads = NonZeroUsize::new(threads).unwrap();
        let pool = WorkerPool::start(threads, clock, cancel.clone(), make).unwrap();
        Self { pool, seen, cancel }
    }

    fn run<K: TapeSink>(
        &mut self,
        plan: &Plan,
        load: DriveLimits,
        sink: &mut K,
        observer: &mut impl Observer,
    ) -> Result<LevelRun, DriveError<WalkError, NoRoute, K::Error>> {
        block_on(self.pool.measure(PlannedLevel::new(plan, load), sink, observer))
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn plan(requests: u64, arrivals: ArrivalLaw) -> Plan {
    let spec =
        PlanSpec { lengths: Lengths::fixed(4, 4), arrivals, ..PlanSpec::new(requests).unwrap() };
    Plan::new(spec).unwrap()
}

fn cap(n: u32) -> DriveLimits {
    DriveLimits { max_in_flight: NonZeroU32::new(n), stop_after: None }
}

fn ids(tapes: &[Tape]) -> Vec<u64> {
    let mut ids: Vec<u64> = tapes.iter().map(|tape| tape.request.0).collect();
    ids.sort_unstable();
    ids
}

fn answered(_: u64) -> Fate {
    Fate::Answered
}

#[test]
fn any_number_of_workers_sends_the_same_requests_once_and_keeps_the_cap() {
    let rate = ArrivalLaw::Constant { rate: PerSec::new(20_000.0) };
    for arrivals in [ArrivalLaw::ClosedLoop, ArrivalLaw::AllAtOnce, rate] {
        let plan = plan(60, arrivals);
        for (workers, limit) in [(1, 5), (2, 5), (3, 5), (3, 2), (2, 1)] {
            let mut stand = Stand::new(workers, answered);
            let mut tapes = Vec::new();
            let run = stand.run(&plan, cap(limit), &mut tapes, &mut ()).unwrap();
            assert_eq!(ids(&tapes), (0..60).collect::<Vec<_>>(), "{workers} workers");
            assert_eq!(run.driven.ended, DriveEnding::Exhausted);
            assert_eq!(run.summary.requests.completed, 60);
            assert!(stand.seen.most_in_flight.load(Ordering::SeqCst) <= limit as usize);
        }
    }
}

#[test]
fn in_an_open_loop_each_worker_has_its_own_part_of_the_schedule() {
    let plan = plan(40, ArrivalLaw::Constant { rate: PerSec::new(20_000.0) });
    let mut stand = Stand::new(3, answered);
    let mut tapes = Vec::new();
    let run = stand.run(&plan, DriveLimits::default(), &mut tapes, &mut ()).unwrap();
    assert_eq!(run.client.watch.threads, 3);
    assert!(stand.seen.sent.lock().unwrap().iter().all(|(worker, id)| *worker as u64 == id % 3));
    assert_eq!(ids(&tapes), (0..40).collect::<Vec<_>>());
    for tape in tapes {
        let at = Nanos::from_micros(50) * (tape.request.0 + 1);
        assert_eq!(tape.marks.intended, run.driven.start + at, "the schedule's zero is common");
        assert!(tape.marks.released >= tape.marks.intended);
    }
}

#[test]
fn without_a_cap_nothing_waits_for_anything() {
    let plan = plan(50, ArrivalLaw::AllAtOnce);
    // All but the last of each worker hang.
    let mut stand = Stand::new(2, |id| if id < 48 { Fate::Hangs } else { Fate::Answered });
    let mut watcher = CallOff { after: 2, ended: 0, cancel: stand.cancel.clone() };
    let run = stand.run(&plan, DriveLimits::default(), &mut Vec::new(), &mut watcher).unwrap();
    assert_eq!(run.summary.requests.sent, 50, "the last left although none before them ended");
}

/// Calls the run off after so many measured requests.
struct CallOff {
    after: u64,
    ended: u64,
    cancel: Cancel,
}

impl Observer for CallOff {
    fn notice(&mut self, notice: DriveNotice<'_>) {
        if let DriveNotice::RequestEnded(_) = notice {
            self.ended += 1;
            if self.ended == self.after {
                self.cancel.cancel();
            }
        }
    }
}

#[test]
fn calling_off_reaches_every_worker_and_marks_what_was_in_flight() {
    // 0 to 5 are answered and the rest hangs, so that all four slots of both workers end up taken.
    let mut stand = Stand::new(2, |id| if id < 6 { Fate::Answered } else { Fate::Hangs });
    let plan = plan(1_000, ArrivalLaw::ClosedLoop);
    let mut watcher = CallOff { after: 6, ended: 0, cancel: stand.cancel.clone() };
    let mut tapes = Vec::new();
    let run = stand.run(&plan, cap(4), &mut tapes, &mut watcher).unwrap();
    assert!(run.is_partial());
    assert_eq!(run.summary.requests.completed, 6);
    let cancelled = tapes.iter().filter(
        |tape| matches!(&tape.outcome, Outcome::Failed(f) if f.class == FailureClass::Cancelled),
    );
    assert_eq!(cancelled.count() + 6, stand.seen.sent.lock().unwrap().len());
    assert_eq!(stand.seen.in_flight.load(Ordering::SeqCst), 0, "abandoned on the wire too");
}

#[test]
fn a_sink_that_breaks_stops_the_level_and_has_all_that_came_before() {
    #[derive(Debug, thiserror::Error)]
    #[error("disk full")]
    struct Full;
    struct Small(Vec<Tape>);
    impl TapeSink for Small {
        type Error = Full;
        fn record(&mut self, tape: &Tape) -> Result<(), Full> {
            if self.0.len() == 3 {
                return Err(Full);
            }
            self.0.push(tape.clone());
            Ok(())
        }
    }
    // Far more than could be sent by the time that the error is seen.
    let endless = plan(u64::MAX >> 8, ArrivalLaw::ClosedLoop);
    let mut stand = Stand::new(2, answered);
    let mut sink = Small(Vec::new());
    let error = stand.run(&endless, cap(4), &mut sink, &mut ()).unwrap_err();
    assert!(matches!(error, DriveError::Sink(Full)));
    assert_eq!(sink.0.len(), 3);
    assert!(!stand.cancel.is_cancelled(), "the run itself was not called off");
    let mut tapes = Vec::new();
    stand.run(&plan(5, ArrivalLaw::ClosedLoop), cap(4), &mut tapes, &mut ()).unwrap();
    assert_eq!(tapes.len(), 5, "the pool is good for another level");
}

#[test]
fn a_request_that_cannot_be_sent_ends_the_level_with_its_number() {
    let mut stand = Stand::new(2, |id| if id == 7 { Fate::Unsendable } else { Fate::Answered });
    let plan = plan(u64::MAX >> 8, ArrivalLaw::ClosedLoop);
    let mut tapes = Vec::new();
    let error = stand.run(&plan, cap(3), &mut tapes, &mut ()).unwrap_err();
    let DriveError::Unsendable { request, error } = error else { panic!("{error}") };
    assert_eq!((request.0, error), (7, NoRoute));
    let sent = stand.seen.sent.lock().unwrap().len();
    assert!(!ids(&tapes).contains(&7) && tapes.len() + 1 == sent, "all others left their tapes");
}

#[test]
fn a_panic_of_a_worker_is_the_callers() {
    let mut stand = Stand::new(2, |id| if id == 5 { Fate::Panics } else { Fate::Answered });
    let plan = plan(u64::MAX >> 8, ArrivalLaw::ClosedLoop);
    let run = || stand.run(&plan, cap(3), &mut Vec::new(), &mut ()).map(drop);
    let panic = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"the worker's own panic"));
}

#[test]
fn a_time_limit_ends_every_worker() {
    let mut stand = Stand::new(3, answered);
    let load = DriveLimits { stop_after: Some(Nanos::from_millis(3)), ..cap(4) };
    let plan = plan(u64::MAX >> 8, ArrivalLaw::ClosedLoop);
    let run = stand.run(&plan, load, &mut Vec::new(), &mut ()).unwrap();
    assert_eq!(run.driven.ended, DriveEnding::TimeUp);
    assert!(!run.is_partial());
}

#[test]
fn the_cap_holds_back_as_many_with_any_number_of_workers() {
    // None is answered before all are due, so that all but those that have the slots first wait.
    let fate = |id| Fate::At(Nanos::from_micros(30_000 - 50 * id));
    let plan = plan(200, ArrivalLaw::Constant { rate: PerSec::new(20_000.0) });
    for workers in [1, 2, 3, 4] {
        let mut stand = Stand::new(workers, fate);
        let run = stand.run(&plan, cap(8), &mut Vec::new(), &mut ()).unwrap();
        assert_eq!(run.driven.held_back, 192, "{workers} workers");
        assert_eq!(run.summary.requests.held_back, 192);
    }
}

#[test]
fn warm_up_and_connections_come_first_and_are_shared_out() {
    let mut stand = Stand::new(3, answered);
    let plan = plan(20, ArrivalLaw::ClosedLoop);
    let level = PlannedLevel { warmup: 7, ..PlannedLevel::new(&plan, cap(8)) };
    let mut tapes = Vec::new();
    let run = block_on(stand.pool.measure(level, &mut tapes, &mut ())).unwrap();
    assert_eq!((run.warmup.sent, run.warmup.failed), (7, 0));
    assert_eq!((run.summary.requests.sent, tapes.len()), (20, 20));
    let connected = stand.seen.connected.lock().unwrap();
    assert_eq!(*connected, BTreeMap::from([(0, 3), (1, 3), (2, 2)]));
    assert!(tapes.iter().all(|tape| tape.marks.intended >= run.driven.start));
}

#[test]
fn connections_that_cannot_be_made_are_told_before_a_level() {
    let stand = Stand::new(1, answered);
    assert!(block_on(stand.pool.preconnect(8)).is_ok());
    let failure = block_on(stand.pool.preconnect(10_000)).unwrap_err();
    assert_eq!(failure.class, FailureClass::Connect);
}

#[test]
fn levels_share_a_worker_pool_and_its_transports() {
    let mut stand = Stand::new(2, answered);
    let workload = PlanSpec { lengths: Lengths::fixed(4, 4), ..PlanSpec::new(100).unwrap() };
    let plan = Plan::new(PlanSpec { arrivals: ArrivalLaw::ClosedLoop, ..workload }).unwrap();
    let mut threads = Vec::new();
    for slots in [1, 2, 4] {
        let load = DriveLimits { max_in_flight: NonZeroU32::new(slots), stop_after: None };
        let level = PlannedLevel::new(&plan, load);
        let run = block_on(stand.pool.measure(level, &mut Vec::new(), &mut ())).unwrap();
        assert_eq!(run.summary.requests.completed, 100);
        threads.push(run.client.watch.threads);
    }
    assert_eq!(threads, [1, 2, 2], "a worker without a slot measures nothing");
    assert_eq!(stand.seen.made.load(Ordering::SeqCst), 2);
}
