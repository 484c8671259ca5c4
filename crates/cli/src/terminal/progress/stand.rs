//! Runs to watch, in virtual time: every one of them goes the same way.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use fizeau::core::{Clock, LevelLoad, Nanos, Part, Stamp};
use fizeau::experiment::{
    AfterLevel, Client, EvaluationContext, Event, LevelPlace, LevelSize, LevelStarted,
    LevelTallies, RequestEnded, Sweep, SweepSpec, load_point,
};
use fizeau::harness::{Cancel, Notice, Observer, Rig, SelfWatch};
use fizeau::metrics::Thresholds;
use fizeau::record::Asked;
use fizeau::sim::{Scenario, SimTransport, VirtualTime};
use fizeau::workload::{Lengths, Spec};

use super::{LiveState, Title};

/// Sweeps the built-in engine over levels of 40 s, and calls `look` after each event.
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
    let client = Client::of_record(Thresholds::default(), None, None);
    let swept = async {
        for (number, ask) in (1..).zip(spec.asks()) {
            let of = spec.levels.len();
            let mut level = LevelStarted::new(ask.load.to_string(), 1_000_000);
            level.place = Some(LevelPlace { number, of });
            level.time = ask.size.time;
            level.after = AfterLevel::Takes(Nanos::from_secs(40) * (of - number) as u64);
            watching.event(&Event::LevelStarted(level));
            let run = sweep.level(ask, &mut watching).await.unwrap().unwrap().run;
            let context = EvaluationContext {
                light: Err("nobody asked"),
                client: &client,
                asked: Asked::default(),
                repeated: None,
            };
            let report = context.report(&run, &LevelTallies::default(), load_point(ask.load));
            watching.event(&Event::LevelEnded(Box::new(report)));
        }
    };
    time.block_on(swept).unwrap();
}

struct Watching<'a, F> {
    state: LiveState,
    time: &'a VirtualTime,
    look: F,
}

impl<F: FnMut(&mut LiveState, Duration)> Watching<'_, F> {
    fn event(&mut self, event: &Event) {
        let now = Duration::from_nanos((self.time.now().saturating_since(Stamp::EPOCH)).as_nanos());
        self.state.note(event, now);
        (self.look)(&mut self.state, now);
    }
}

impl<F: FnMut(&mut LiveState, Duration)> Observer for Watching<'_, F> {
    fn notice(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::WarmedUp { requests, in_flight } => {
                self.event(&Event::WarmedUp { requests, in_flight: in_flight.clone() });
            }
            Notice::RequestEnded(tape) if tape.part == Part::Load => {
                self.event(&Event::RequestEnded(RequestEnded::of(tape)));
            }
            _ => {}
        }
    }
}
