//! What a level's proof is taken over.

use std::num::NonZeroU32;

use fizeau_core::{Clock, Nanos, Stamp, Tape};
use fizeau_harness::{
    Cancel, DriveLimits, DriveNotice, LevelRun, Measure, Observer, PlannedLevel, SelfWatch,
    StartGate, TaskDriver,
};
use fizeau_workload::{ArrivalLaw, Lengths, Plan, PlanSpec};

use crate::stand::{Paused, Server, paused};

/// All begin an hour after they are ready.
#[derive(Debug)]
struct LongGate;

impl StartGate for LongGate {
    fn begin(&self, ready: Stamp) -> Option<Stamp> {
        Some(ready + Nanos::from_secs(3_600))
    }
}

/// A level of one request behind that gate, measured by one task; and when it was over, on a clock that began at the epoch.
async fn behind_the_gate(
    watch: SelfWatch,
    cancel: &Cancel,
    observer: &mut impl Observer,
) -> (LevelRun, Vec<Tape>, Stamp) {
    let time = Paused::new();
    let server = Server::new(&time, Nanos::from_millis(100));
    let mut rig = TaskDriver { transport: &server, timer: &time, watch, cancel };
    let workload = PlanSpec { lengths: Lengths::fixed(8, 1), ..PlanSpec::new(1).unwrap() };
    let plan = Plan::new(PlanSpec { arrivals: ArrivalLaw::ClosedLoop, ..workload }).unwrap();
    let load = DriveLimits { max_in_flight: NonZeroU32::new(1), stop_after: None };
    let start = Some(&LongGate as &dyn StartGate);
    let level = PlannedLevel { start, ..PlannedLevel::new(&plan, load) };
    let mut tapes = Vec::new();
    let run = rig.measure(level, &mut tapes, observer).await.unwrap();
    (run, tapes, time.now())
}

/// Shares of a level of a tenth of a second are not told, since the kernel's accounts are coarser; over an hour they would be.
#[test]
fn the_wait_for_an_agreed_start_is_not_in_the_proof() {
    paused(async {
        let (run, ..) = behind_the_gate(SelfWatch::Thread, &Cancel::new(), &mut ()).await;
        let watched = run.client.watch;
        assert_eq!(
            (watched.cpu_share, watched.run_delay_share, watched.steal_share),
            (None, None, None)
        );
    });
}

/// Whoever calls off as soon as the start was agreed on.
struct CalledOff(Cancel);

impl Observer for CalledOff {
    fn notice(&mut self, notice: DriveNotice<'_>) {
        if let DriveNotice::WarmedUp { .. } = notice {
            self.0.cancel();
        }
    }
}

#[test]
fn the_wait_for_an_agreed_start_can_be_called_off() {
    paused(async {
        let cancel = Cancel::new();
        let mut off = CalledOff(cancel.clone());
        let (_, tapes, over) = behind_the_gate(SelfWatch::Off, &cancel, &mut off).await;
        assert!(tapes.is_empty());
        assert!(over < Stamp::EPOCH + Nanos::from_secs(1), "{over:?}");
    });
}
