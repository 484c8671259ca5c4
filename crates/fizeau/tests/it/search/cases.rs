//! Searches of simulated engines whose true answers are known.

use std::num::NonZeroU64;

use fizeau::core::{Clock, LoadKind, Nanos, Stamp, Tokens};
use fizeau::experiment::{LevelSize, LevelSpec};
use fizeau::experiment::{
    LoadSearch, LoadSearchSpec, SearchStep, SweepRunner, SweepSpec, SweptLevel,
};
use fizeau::harness::{Cancel, SelfWatch, TaskDriver};
use fizeau::metrics::GoodputGoals;
use fizeau::roofline::{Device, KnownModel, System};
use fizeau::sim::{EngineConfig, Overheads, Scenario, SimTransport, VirtualTime};
use fizeau::workload::{Length, Lengths, PlanSpec, PromptContent, Seed};

/// A goal on an engine, and where it breaks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) engine: Engine,
    pub(crate) over: LoadKind,
    pub(crate) slo: &'static str,
    pub(crate) goodput: &'static str,
    /// Mean lengths of prompts and replies; each is uniform within a fifth of it.
    pub(crate) lengths: (u64, u64),
    /// Requests of a level.
    pub(crate) requests: u64,
    /// The highest load within the goal, from levels of [`LONG`] requests: `cargo xtask bench search truth`.
    pub(crate) truth: f64,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Engine {
    /// Llama-3.1-8B on one H100, with 64 slots.
    Small,
    /// Llama-3.1-70B on four of them, with 256 slots.
    Large,
}

pub(crate) const CASES: [Case; 5] = [
    Case {
        name: "8B, rate, p99 TTFT: the queue",
        engine: Engine::Small,
        over: LoadKind::Rate,
        slo: "p99 ttft<500ms",
        goodput: "",
        lengths: (1000, 200),
        requests: 20_000,
        truth: 19.56,
    },
    Case {
        name: "8B, rate, p99 TPOT",
        engine: Engine::Small,
        over: LoadKind::Rate,
        slo: "p99 tpot<11ms",
        goodput: "",
        lengths: (1000, 200),
        requests: 20_000,
        truth: 13.8,
    },
    Case {
        name: "8B, concurrency, mean TPOT",
        engine: Engine::Small,
        over: LoadKind::Concurrency,
        slo: "mean tpot<12ms",
        goodput: "",
        lengths: (1000, 200),
        requests: 5_000,
        truth: 49.5,
    },
    Case {
        name: "8B, rate, goodput",
        engine: Engine::Small,
        over: LoadKind::Rate,
        slo: "goodput>0.95",
        goodput: "ttft:200 tpot:15",
        lengths: (500, 100),
        requests: 20_000,
        truth: 48.5,
    },
    Case {
        name: "70B on four, rate, p95 E2EL and p99 TTFT",
        engine: Engine::Large,
        over: LoadKind::Rate,
        slo: "p95 e2el<6s, p99 ttft<1s",
        goodput: "",
        lengths: (2000, 250),
        requests: 20_000,
        truth: 2.42,
    },
];

/// Requests of a level that is to know the truth.
pub(crate) const LONG: u64 = 40_000;

impl Engine {
    fn scenario(self) -> Scenario {
        match self {
            Self::Small => Scenario::llama_3_1_8b_h100().unwrap(),
            Self::Large => {
                let model = KnownModel::named("llama-3.1-70b").unwrap().model().unwrap();
                let device = Device::named("h100-sxm").unwrap().clone();
                let system = System::new(model, device, "TP4".parse().unwrap()).unwrap();
                let config = EngineConfig::new(256, Tokens::ZERO);
                Scenario::of("Llama-3.1-70B", system, config, Overheads::default()).unwrap()
            }
        }
    }
}

impl Case {
    fn sweep(&self, seed: u64) -> SweepSpec {
        let about = |nominal| Length::Uniform { nominal: Tokens::new(nominal), ratio: 0.2 };
        let (input, output) = (about(self.lengths.0), about(self.lengths.1));
        let workload = PlanSpec {
            lengths: Lengths::Independent { input, output },
            content: PromptContent::Unread,
            seed: Seed(seed),
            ..PlanSpec::new(1).unwrap()
        };
        let goals: GoodputGoals = self.goodput.parse().unwrap();
        let mut spec = SweepSpec::new([], workload);
        spec.goals = goals;
        spec
    }

    pub(crate) fn size(requests: u64) -> LevelSize {
        LevelSize::new(NonZeroU64::new(requests), None, None)
    }

    pub(crate) fn spec(&self) -> LoadSearchSpec {
        let mut spec = LoadSearchSpec::new(self.over, self.slo.parse().unwrap());
        spec.size = Self::size(self.requests);
        spec
    }

    /// A whole search, with how many levels it took.
    pub(crate) fn found(&self, seed: u64) -> LoadSearch {
        self.searched(self.spec(), seed).0
    }

    /// The search that is asked for, and how long it took.
    pub(crate) fn searched(&self, requested: LoadSearchSpec, seed: u64) -> (LoadSearch, Nanos) {
        let spec = self.sweep(seed);
        let mut search = LoadSearch::new(requested).unwrap();
        let time = VirtualTime::new();
        let engine = SimTransport::new(&time, self.engine.scenario().serve());
        let cancel = Cancel::new();
        let rig =
            TaskDriver { transport: &engine, timer: &time, watch: SelfWatch::Off, cancel: &cancel };
        let mut sweep = SweepRunner::new(rig, &spec, None);
        let all = time.block_on(async {
            while let SearchStep::Measure(ask) | SearchStep::Confirm(ask) = search.next() {
                let level = sweep.level(ask, &mut ()).await.unwrap().unwrap();
                search.observe(&level.run.summary);
                search.note_elapsed(time.now().saturating_since(Stamp::EPOCH));
            }
        });
        all.unwrap();
        (search, time.now().saturating_since(Stamp::EPOCH))
    }

    /// How far off the truth the answer is, as a share of it.
    pub(crate) fn off(&self, search: &LoadSearch) -> f64 {
        search.result().edge.map_or(f64::INFINITY, |edge| edge.value() / self.truth - 1.0)
    }

    /// One level.
    pub(crate) fn level(&self, ask: LevelSpec, seed: u64) -> SweptLevel {
        let spec = self.sweep(seed);
        let time = VirtualTime::new();
        let engine = SimTransport::new(&time, self.engine.scenario().serve());
        let cancel = Cancel::new();
        let rig =
            TaskDriver { transport: &engine, timer: &time, watch: SelfWatch::Off, cancel: &cancel };
        let mut sweep = SweepRunner::new(rig, &spec, None);
        time.block_on(sweep.level(ask, &mut ())).unwrap().unwrap().unwrap()
    }
}
