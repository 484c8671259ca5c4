//! Runs to watch, in virtual time: every one of them goes the same way.

use std::time::Duration;

use fizeau_core::{Clock, Nanos, Stamp};
use fizeau_harness::{Cancel, SelfWatch, TaskDriver};
use fizeau_sim::{Scenario, SimTransport, VirtualTime};
use fizeau_transport::{Backend, Target};
use fizeau_workload::Lengths;

use super::screen::ScreenState;
use crate::{Experiment, RunEvent, SweepLoads, SweepRates, Watcher, WorkloadSpec, level_size};

/// Sweeps the built-in engine over levels of 40 s, and calls `look` after each event.
pub(super) fn watch(levels: &[u32], look: impl FnMut(&mut ScreenState, Duration)) {
    let (time, cancel) = (VirtualTime::new(), Cancel::new());
    let transport = SimTransport::new(&time, Scenario::llama_3_1_8b_h100().unwrap().engine());
    let rig =
        TaskDriver { transport: &transport, timer: &time, watch: SelfWatch::Off, cancel: &cancel };
    let lengths = Lengths::fixed(250, 100);
    let workload = WorkloadSpec { lengths, ..WorkloadSpec::default() };
    let experiment =
        Experiment::new(Target::new("http://127.0.0.1:1", Backend::Vllm, "m").unwrap())
            .workload(workload)
            .loads(SweepLoads::new(levels, SweepRates::default()).unwrap())
            .size(level_size(None, Some(Nanos::from_secs(40)), Some(2)).unwrap());
    let title = "fizeau sweep  meta-llama/Llama-3.1-8B-Instruct at http://127.0.0.1:8000";
    let state = ScreenState::new(title.to_owned());
    let mut watching = Watching { state, time: &time, look };
    time.block_on(experiment.run_with(rig, &mut watching)).unwrap().unwrap();
}

struct Watching<'a, F> {
    state: ScreenState,
    time: &'a VirtualTime,
    look: F,
}

impl<F: FnMut(&mut ScreenState, Duration)> Watcher for Watching<'_, F> {
    fn event(&mut self, event: RunEvent) {
        let now = Duration::from_nanos((self.time.now().saturating_since(Stamp::EPOCH)).as_nanos());
        self.state.note(&event, now);
        if !matches!(event, RunEvent::Note(_) | RunEvent::Prepared(_)) {
            (self.look)(&mut self.state, now);
        }
    }
}
