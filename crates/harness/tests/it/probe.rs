//! The probe stream beside the load, in virtual time.

use std::convert::Infallible;
use std::num::NonZeroU32;
use std::pin::pin;
use std::task::{Context, Waker};

use fizeau_core::{FailureClass, Nanos, Outcome, PerSec, RequestPurpose, Stamp, Tape, TapeSink};
use fizeau_harness::{
    Cancel, DriveEnding, DriveLimits, LevelRun, Measure, PlannedLevel, Probe, SelfWatch, TaskDriver,
};
use fizeau_workload::{ArrivalLaw, Lengths, Plan, PlanSpec};

use crate::stand::{Paused, Readings, Server, Streams, paused};

fn plan(requests: u64, arrivals: ArrivalLaw) -> Plan {
    let lengths = Lengths::fixed(4, 4);
    Plan::new(PlanSpec { arrivals, lengths, ..PlanSpec::new(requests).unwrap() }).unwrap()
}

/// Ten requests after each other, 100 ms each, with `rate` probes a second beside them.
async fn level(rate: f64, sink: &mut impl TapeSink, cancel: &Cancel) -> (LevelRun, usize) {
    let time = Paused::new();
    let server = Server::new(&time, Nanos::from_millis(100));
    let mut rig = TaskDriver { transport: &server, timer: &time, watch: SelfWatch::Off, cancel };
    let load = plan(10, ArrivalLaw::ClosedLoop);
    let probes = plan(1_000_000, ArrivalLaw::Constant { rate: PerSec::new(rate) });
    let cap = DriveLimits { max_in_flight: NonZeroU32::new(1), stop_after: None };
    let level =
        PlannedLevel { probe: Some(Probe { plan: &probes }), ..PlannedLevel::new(&load, cap) };
    let run = rig.measure(level, sink, &mut ()).await;
    (run.unwrap_or_else(|error| panic!("{error}")), server.most_in_flight.get())
}

fn of(part: RequestPurpose, tapes: &[Tape]) -> Vec<&Tape> {
    tapes.iter().filter(|tape| tape.part == part).collect()
}

fn at(millis: u64) -> Stamp {
    Stamp::EPOCH + Nanos::from_millis(millis)
}

#[test]
fn probes_leave_on_time_beside_the_load_until_it_is_over_and_then_finish() {
    let mut tapes = Vec::new();
    let (run, most) = paused(level(25.0, &mut tapes, &Cancel::new()));
    let (load, probes) = (of(RequestPurpose::Load, &tapes), of(RequestPurpose::Probe, &tapes));
    assert_eq!(run.driven.ended, DriveEnding::Exhausted);
    assert_eq!(run.summary.requests.sent, 10, "probes have no part in the figures of the load");
    let intended: Vec<Stamp> = load.iter().map(|tape| tape.marks.intended).collect();
    assert_eq!(intended, (0..10).map(|k| at(100 * k)).collect::<Vec<_>>(), "as without probes");
    assert_eq!(most, 4, "one of the load, three probes outside of its cap");
    // The load is over at 1000 ms, where the 25th probe is due.
    assert!((24..=25).contains(&probes.len()), "{}", probes.len());
    for (k, probe) in probes.iter().enumerate() {
        let due = at(40 * (k as u64 + 1));
        assert_eq!((probe.request.0, probe.marks.intended), (k as u64, due));
        assert_eq!(probe.marks.released, due);
        assert!(probe.is_success(), "what was in flight at the end has finished");
    }
}

#[test]
fn calling_off_reaches_the_probes_too() {
    struct CallOff(Cancel, Vec<Tape>);
    impl TapeSink for CallOff {
        type Error = Infallible;
        fn record(&mut self, tape: &Tape) -> Result<(), Infallible> {
            self.1.push(tape.clone());
            if self.1.len() == 8 {
                self.0.cancel();
            }
            Ok(())
        }
    }
    let cancel = Cancel::new();
    let mut sink = CallOff(cancel.clone(), Vec::new());
    let (run, _) = paused(level(25.0, &mut sink, &cancel));
    assert_eq!(run.driven.ended, DriveEnding::Cancelled);
    let is_cancelled = |tape: &&&Tape| matches!(&tape.outcome, Outcome::Failed(f) if f.class == FailureClass::Cancelled);
    for part in [RequestPurpose::Load, RequestPurpose::Probe] {
        assert!(of(part, &sink.1).iter().filter(is_cancelled).count() > 0, "{part:?}");
    }
}

/// Neither the sending of a burst nor the reading of its streams holds a probe up for longer than one of them takes.
#[test]
fn a_due_probe_does_not_wait_for_all_of_the_load() {
    let clock = Readings::default();
    let streams = Streams::new(&clock);
    let cancel = Cancel::new();
    let mut rig =
        TaskDriver { transport: &streams, timer: &clock, watch: SelfWatch::Off, cancel: &cancel };
    // A hundred at once take until 100 ms, and each round of readings takes as long.
    let load = plan(100, ArrivalLaw::AllAtOnce);
    let probes = plan(1_000, ArrivalLaw::Constant { rate: PerSec::new(20.0) });
    let probe = Some(Probe { plan: &probes });
    let level = PlannedLevel { probe, ..PlannedLevel::new(&load, DriveLimits::default()) };
    let (mut tapes, mut nobody) = (Vec::<Tape>::new(), ());
    let mut measuring = pin!(rig.measure(level, &mut tapes, &mut nobody));
    // A runtime polls again as soon as somebody has asked for it; here it always does.
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..10 {
        for _ in 0..20 {
            assert!(measuring.as_mut().poll(&mut cx).is_pending());
        }
        streams.wake();
    }
    let sent = streams.sent.borrow();
    let probes: Vec<_> = sent.iter().filter(|(part, _)| *part == RequestPurpose::Probe).collect();
    assert!(probes.len() >= 10, "{}", probes.len());
    let late =
        probes.iter().map(|(_, release)| release.released.saturating_since(release.intended)).max();
    assert_eq!(late, Some(Nanos::ZERO));
}

/// More probes are due than the server can take: so many wait that memory is bounded, and the load goes on as ever.
#[test]
fn a_stream_that_is_too_fast_is_held_back() {
    let (mut tapes, cancel) = (Vec::new(), Cancel::new());
    let (run, most) = paused(level(1e5, &mut tapes, &cancel));
    assert_eq!((run.driven.ended, run.summary.requests.sent), (DriveEnding::Exhausted, 10));
    assert_eq!(most, 1 + 256, "one of the load, and the most probes that there may be");
    assert_eq!(run.driven.held_back, 0, "this is of the load");
    let probes = of(RequestPurpose::Probe, &tapes);
    let intended = |k: u64| Stamp::EPOCH + Nanos::from_micros(10 * (k + 1));
    assert!(probes.iter().all(|probe| probe.marks.intended == intended(probe.request.0)));
}
