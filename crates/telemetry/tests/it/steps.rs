//! Steps beside their bounds, by records that are made up: those that wait for the host, and those of one rank of several.

use fizeau_core::{Seconds, Stamp};
use fizeau_roofline::{Deployment, Device, KnownModel, System};
use fizeau_telemetry::{ForwardPass, HostBoundSteps, JudgedStep, ScheduledWork, StepsAssessment};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn system() -> System {
    let model = KnownModel::named("llama-3.1-8b").unwrap().model().unwrap();
    System::new(model, Device::named("h100-sxm").unwrap().clone(), Deployment::SINGLE).unwrap()
}

/// So many sequences that decode, each of a thousand tokens.
fn decoding(requests: u64) -> ScheduledWork {
    ScheduledWork {
        num_decode_requests: requests,
        sum_decode_kv_tokens: 1_000 * requests,
        ..ScheduledWork::default()
    }
}

/// The steps of an engine one after another.
struct Engine {
    system: System,
    now: Seconds,
    counter: u64,
    steps: Vec<JudgedStep>,
}

impl Engine {
    fn new() -> Self {
        let (now, steps) = (Seconds::default(), Vec::new());
        Self { system: system(), now, counter: 0, steps }
    }

    /// A step over `work` that takes so many times its bound and so many seconds more, after so many seconds in which none ran.
    fn step(&mut self, work: ScheduledWork, times: f64, more: f64, idle: f64) -> Seconds {
        let bound = self.system.bound_sums(&work.even_sums()).total;
        let wall_time = bound * times + Seconds::new(more);
        self.now = self.now + wall_time + Seconds::new(idle);
        self.counter += 1;
        let pass = ForwardPass {
            counter_id: self.counter,
            wall_time,
            scheduled_requests: work,
            ..ForwardPass::default()
        };
        let at = Stamp::EPOCH + self.now.to_nanos().unwrap();
        self.steps.push(JudgedStep::of(at, &pass, &self.system));
        bound
    }

    fn steps(
        mut self,
        count: u64,
        work: impl Fn(u64) -> ScheduledWork,
        [times, more, idle]: [f64; 3],
    ) -> Self {
        for index in 0..count {
            self.step(work(index), times, more, idle);
        }
        self
    }

    fn found(&self) -> Option<HostBoundSteps> {
        StepsAssessment::of_judged(&self.steps, 0).unwrap().host_bound
    }
}

#[test]
fn time_between_steps_is_the_host_s() {
    let engine = Engine::new().steps(50, |_| decoding(4), [1.25, 0.0, 8e-3]);
    let found = engine.found().unwrap();
    let bound = engine.system.bound_sums(&decoding(4).even_sums()).total.to_millis().get();
    assert_eq!((found.steps, found.batch), (49, 4.0));
    assert!((found.bound.get() - bound).abs() < 1e-9);
    assert!((found.between.get() - 8.0).abs() < 1e-3, "{found:?}");
    assert!((found.cycle.get() - (1.25 * bound + 8.0)).abs() < 1e-3, "{found:?}");
    assert!((found.floor.get() - 0.25 * bound).abs() < 1e-9, "{found:?}");
    let said = found.to_string();
    assert!(
        said.starts_with("host-bound steps: decode steps of 4.0 requests come every "),
        "{said}"
    );
    assert!(
        said.ends_with("; 8.00 ms of it lie between steps, where the host schedules"),
        "{said}"
    );
    // The page about it shows just that.
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/telemetry.md"));
    let page = page.unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains(&format!("note: {said}")), "{said}");
    let text = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<HostBoundSteps>(&text).unwrap(), found);
}

#[test]
fn a_floor_under_steps_of_every_size_is_the_host_s() {
    let engine = Engine::new().steps(50, |index| decoding(1 + index % 8), [1.1, 6e-3, 0.0]);
    let found = engine.found().unwrap();
    assert!(found.between.get() < 1e-3, "{found:?}");
    assert!(found.floor.get() > 6.0 && found.floor.get() < 7.0, "{found:?}");
    let said = found.to_string();
    assert!(said.contains("; even the shortest step takes 6."), "{said}");
}

#[test]
fn an_engine_that_waits_for_its_silicon_is_not_found() {
    // As near its bounds as engines come.
    assert_eq!(Engine::new().steps(50, |_| decoding(4), [1.4, 0.0, 1e-3]).found(), None);
    // Too few to tell.
    assert_eq!(Engine::new().steps(20, |_| decoding(4), [1.2, 0.0, 8e-3]).found(), None);
    // Batches that compute as long as they read.
    let full = |_| ScheduledWork { sum_decode_kv_tokens: 20_000, ..decoding(2_000) };
    assert_eq!(Engine::new().steps(50, full, [1.2, 0.0, 8e-2]).found(), None);
    // Far from the bound, but more so where there is more to read: kernels that are slow.
    let long = |index| ScheduledWork {
        sum_decode_kv_tokens: 1_000 + 20_000 * (index % 50),
        ..decoding(1)
    };
    assert_eq!(Engine::new().steps(500, long, [3.5, 0.0, 0.0]).found(), None);
}

#[test]
fn an_idle_engine_waits_for_requests_and_not_for_the_host() {
    let prompt = ScheduledWork {
        num_prefill_requests: 1,
        sum_prefill_tokens: 100,
        ..ScheduledWork::default()
    };
    let mut engine = Engine::new();
    for _ in 0..50 {
        engine.step(prompt, 1.2, 0.0, 1.0);
        engine.step(decoding(1), 1.2, 0.0, 0.0);
    }
    assert_eq!(engine.found(), None);
    // Nor is a step that did not come told from time in which none ran.
    let mut engine = Engine::new();
    for _ in 0..50 {
        engine.step(decoding(1), 1.2, 0.0, 1.0);
        engine.counter += 1;
    }
    assert_eq!(engine.found(), None);
}

#[test]
fn ranks_are_told_apart() {
    let system = system();
    let bound = system.bound_sums(&decoding(4).even_sums()).total;
    let steps: Vec<JudgedStep> = (0..100_u32)
        .map(|index| {
            let pass = ForwardPass {
                dp_rank: index % 2,
                counter_id: u64::from(index / 2),
                wall_time: bound * 1.1,
                scheduled_requests: decoding(4),
                ..ForwardPass::default()
            };
            // Each rank has a step every five bounds, and they take turns.
            let at = Stamp::EPOCH + (bound * 2.5 * f64::from(index)).to_nanos().unwrap();
            JudgedStep::of(at, &pass, &system)
        })
        .collect();
    let found = StepsAssessment::of_judged(&steps, 0).unwrap().host_bound.unwrap();
    assert_eq!(found.steps, 98);
    assert!((found.cycle / found.bound - 5.0).abs() < 1e-3, "{found:?}");
}

#[test]
fn what_a_calibrated_engine_takes_as_well_is_no_finding() {
    let mut engine = Engine::new().steps(50, |_| decoding(4), [1.25, 0.0, 8e-3]);
    let cycle = Seconds::new(engine.found().unwrap().cycle.get() / 1e3);
    let mut predicted = |times: f64| {
        let step = |step: JudgedStep| step.predicted(Some(cycle * times));
        engine.steps = engine.steps.drain(..).map(step).collect();
        engine.found()
    };
    assert_eq!(predicted(1.0 / 1.4), None);
    let found = predicted(1.0 / 2.0).unwrap();
    assert!((found.cycle / found.calibrated.unwrap() - 2.0).abs() < 1e-9);
    assert!(found.to_string().contains(" and 2.0 times the calibrated step; "), "{found}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, rng_seed: RngSeed::Fixed(24), ..ProptestConfig::default() })]

    /// The bound of one group's batch is never above that of a step of all groups with that batch in it, as long as that is the
    /// largest: its caches and its attention are there as they are, and the others' work comes on top.
    #[test]
    fn a_groups_share_is_no_more_than_the_step(
        groups in 1u32..9,
        decodes in 0u64..400, context in 1u64..20_000,
        prompts in 0u64..3, chunk in 1u64..2_000, before in 0u64..4_000,
    ) {
        let model = KnownModel::named("deepseek-v3").unwrap().model().unwrap();
        let device = Device::named("h200-sxm").unwrap().clone();
        let deployment = Deployment::SINGLE.with_tensor(8).unwrap().with_attention_groups(groups).unwrap();
        let system = System::new(model, device, deployment).unwrap();
        let of = |times: u64| ScheduledWork {
            num_prefill_requests: times * prompts,
            sum_prefill_tokens: times * prompts * chunk,
            sum_prefill_kv_tokens: times * prompts * before,
            num_decode_requests: times * decodes,
            sum_decode_kv_tokens: times * decodes * context,
            ..ScheduledWork::default()
        };
        let pass = ForwardPass { scheduled_requests: of(1), ..ForwardPass::default() };
        let bound = JudgedStep::of(Stamp::EPOCH, &pass, &system).bound;
        let all = system.bound_sums(&of(u64::from(groups)).even_sums()).total;
        prop_assert!(bound.get() <= all.get() * (1.0 + 1e-12), "{bound:?} {all:?}");
        if groups == 1 && prompts < 2 {
            prop_assert_eq!(bound, all);
        }
    }
}
