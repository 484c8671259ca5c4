//! What a watcher reads of the requests in flight.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};

use fizeau_core::{Nanos, Stamp};
use fizeau_harness::{
    Cancel, DriveLimits, DriveNotice, InFlight, Measure, Observer, PlannedLevel, SelfWatch,
    StartGate, TaskDriver,
};
use fizeau_workload::{ArrivalLaw, Lengths, Plan, PlanSpec};

use crate::stand::{Paused, Server, paused};

/// Reads the count each time that a request ends.
#[derive(Default)]
pub(crate) struct Reader {
    pub(crate) count: InFlight,
    pub(crate) read: Vec<u64>,
    /// Called off after so many.
    pub(crate) off: Option<(usize, Cancel)>,
}

impl Observer for Reader {
    fn notice(&mut self, notice: DriveNotice<'_>) {
        match notice {
            DriveNotice::WarmedUp { in_flight, .. } => self.count = in_flight.clone(),
            DriveNotice::RequestEnded(_) => self.read.push(self.count.get()),
            _ => {}
        }
        if let Some((_, cancel)) = self.off.take_if(|(after, _)| self.read.len() == *after) {
            cancel.cancel();
        }
    }
}

fn read(off: Option<usize>) -> Reader {
    paused(async move {
        let time = Paused::new();
        let server = Server::new(&time, Nanos::from_millis(100));
        let cancel = Cancel::new();
        let mut rig =
            TaskDriver { transport: &server, timer: &time, watch: SelfWatch::Off, cancel: &cancel };
        let workload = PlanSpec { lengths: Lengths::fixed(8, 1), ..PlanSpec::new(20).unwrap() };
        let plan = Plan::new(PlanSpec { arrivals: ArrivalLaw::ClosedLoop, ..workload }).unwrap();
        let load = DriveLimits { max_in_flight: NonZeroU32::new(4), stop_after: None };
        let level = PlannedLevel { warmup: 3, ..PlannedLevel::new(&plan, load) };
        let off = off.map(|after| (after, cancel.clone()));
        let mut reader = Reader { off, ..Reader::default() };
        rig.measure(level, &mut Vec::new(), &mut reader).await.unwrap();
        reader
    })
}

#[test]
fn a_closed_loop_has_its_concurrency_in_flight_until_it_runs_out() {
    let reader = read(None);
    // Four end at one instant; each makes room for the next before its tape is kept.
    let (steady, last) = reader.read.split_at(16);
    assert!(steady.iter().all(|&count| (1..=4).contains(&count)), "{steady:?}");
    assert_eq!(steady[0], 4, "{steady:?}");
    assert!(last.iter().all(|&count| count < 4), "{last:?}");
    assert_eq!(reader.count.get(), 0);
}

#[test]
fn who_is_called_off_is_no_longer_in_flight() {
    let reader = read(Some(6));
    assert!(reader.read[5] > 0, "{:?}", reader.read);
    assert_eq!(reader.count.get(), 0);
}

/// All are ready once it was asked, and begin a second later.
#[derive(Debug, Default)]
struct Gate(AtomicBool);

impl StartGate for Gate {
    fn begin(&self, ready: Stamp) -> Option<Stamp> {
        self.0.store(true, Ordering::Relaxed);
        Some(ready + Nanos::from_secs(1))
    }
}

/// What was agreed on when the end of the warm-up was heard of, if the gate was open by then.
struct Behind<'a>(&'a Gate, Option<Stamp>);

impl Observer for Behind<'_> {
    fn notice(&mut self, notice: DriveNotice<'_>) {
        if let DriveNotice::WarmedUp { agreed, .. } = notice {
            self.1 = agreed.filter(|_| self.0.0.load(Ordering::Relaxed));
        }
    }
}

#[test]
fn the_end_of_the_warm_up_is_heard_of_once_all_are_ready() {
    paused(async move {
        let time = Paused::new();
        let server = Server::new(&time, Nanos::from_millis(100));
        let (cancel, gate) = (Cancel::new(), Gate::default());
        let mut rig =
            TaskDriver { transport: &server, timer: &time, watch: SelfWatch::Off, cancel: &cancel };
        let workload = PlanSpec { lengths: Lengths::fixed(8, 1), ..PlanSpec::new(2).unwrap() };
        let plan = Plan::new(PlanSpec { arrivals: ArrivalLaw::ClosedLoop, ..workload }).unwrap();
        let load = DriveLimits { max_in_flight: NonZeroU32::new(1), stop_after: None };
        let start = Some(&gate as &dyn StartGate);
        let level = PlannedLevel { warmup: 3, start, ..PlannedLevel::new(&plan, load) };
        let (mut tapes, mut behind) = (Vec::new(), Behind(&gate, None));
        rig.measure(level, &mut tapes, &mut behind).await.unwrap();
        assert_eq!(tapes.first().and_then(|tape| tape.marks.send_start), behind.1);
        assert!(behind.1.is_some());
    });
}
