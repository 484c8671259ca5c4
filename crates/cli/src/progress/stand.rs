//! Runs to watch, in virtual time: every one of them goes the same way.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use fizeau::core::LevelLoad;
use fizeau::core::{Clock, Nanos, Stamp};
use fizeau::experiment::LevelSize;
use fizeau::experiment::{Sweep, SweepSpec};
use fizeau::harness::{Cancel, Notice, Observer, Rig, SelfWatch};
use fizeau::sim::{Scenario, SimTransport, VirtualTime};
use fizeau::workload::{Lengths, Spec};

use super::left::Next;
use super::{After, LiveState, Title};

/// Sweeps the built-in engine over levels of 40 s, and calls `look` after each notice.
pub(crate) fn watch(levels: &[u32], look: impl FnMut(&mut LiveState, Duration)) {
    let time = VirtualTime::new();
    let transport = SimTransport::new(&time, Scenario::llama_3_1_8b_h100().unwrap().engine());
    let cancel = Cancel::new();
    let rig = Rig { transport: &transport, timer: &time, watch: SelfWatch::Off, cancel: &cancel };
    let levels: Vec<LevelLoad> =
        levels.iter().filter_map(|n| NonZeroU32::new(*n)).map(LevelLoad::from).collect();
    let workload = Spec { lengths: Lengths::fixed(250, 100), ..Spec::new(1).unwrap() };
    let requests = NonZeroU64::new(1_000_000);
    let size = LevelSize { requests, time: Some(Nanos::from_millis(40_000)), warmup: Some(2) };
    let spec = SweepSpec { size, ..SweepSpec::new(levels, workload) };
    let subject = "meta-llama/Llama-3.1-8B-Instruct at http://127.0.0.1:8000".to_owned();
    let state = LiveState::new(Title { command: "sweep", subject });
    let mut watching = Watching { state, time: &time, look };
    let mut sweep = Sweep::new(rig, &spec, None);
    let swept = async {
        for to_go in (0..spec.levels.len() as u32).rev() {
            let level = Duration::from_secs(40);
            let next = Next { of: None, time: Some(level), after: After::Takes(level * to_go) };
            watching.state.expect(next);
            sweep.next_level(&mut watching).await.unwrap();
        }
    };
    time.block_on(swept).unwrap();
}

struct Watching<'a, F> {
    state: LiveState,
    time: &'a VirtualTime,
    look: F,
}

impl<F: FnMut(&mut LiveState, Duration)> Observer for Watching<'_, F> {
    fn notice(&mut self, notice: Notice<'_>) {
        let now = Duration::from_nanos((self.time.now().saturating_since(Stamp::EPOCH)).as_nanos());
        self.state.notice(notice, now);
        (self.look)(&mut self.state, now);
    }
}
