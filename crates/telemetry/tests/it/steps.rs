//! Steps beside their bounds, by records that are made up: those that wait for the host, and those of one rank of several.

use fizeau_core::{Seconds, Stamp};
use fizeau_roofline::{ContextSpan, Deployment, Device, KnownModel, Model, Pass, System};
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

/// Models with windows of several kinds, chunks, and an indexer.
fn windowed() -> impl Strategy<Value = System> {
    macro_rules! fixture {
        ($name:literal) => {
            include_str!(concat!("../../../../fixtures/configs/", $name, ".json"))
        };
    }
    let read = |text: &str| Model::from_config_json(text).unwrap();
    let known = |name: &str| KnownModel::named(name).unwrap().model().unwrap();
    let models = [
        read(fixture!("gemma-3-27b")),
        read(fixture!("mistral-7b-v0.1")),
        read(fixture!("llama-4-scout")),
        known("gpt-oss-120b"),
        known("deepseek-v3.2"),
    ];
    let on = |model: Model| {
        let deployment = Deployment::SINGLE.with_tensor(8).unwrap();
        System::new(model, Device::named("h200-sxm").unwrap().clone(), deployment).unwrap()
    };
    prop::sample::select(models.map(on).to_vec())
}

/// What a record says of sequences and prompts (what they had cached, what is computed).
fn record(contexts: &[u64], prompts: &[(u64, u64)], has_variance: bool) -> ScheduledWork {
    let (count, sum) = (contexts.len() as f64, contexts.iter().sum::<u64>());
    let mean = sum as f64 / count.max(1.0);
    let squares: f64 = contexts.iter().map(|context| (*context as f64 - mean).powi(2)).sum();
    ScheduledWork {
        num_prefill_requests: prompts.len() as u64,
        sum_prefill_tokens: prompts.iter().map(|prompt| prompt.1).sum(),
        sum_prefill_kv_tokens: prompts.iter().map(|prompt| prompt.0).sum(),
        num_decode_requests: contexts.len() as u64,
        sum_decode_kv_tokens: sum,
        var_decode_kv_tokens: if has_variance { squares / count.max(1.0) } else { 0.0 },
        ..ScheduledWork::default()
    }
}

fn judged(work: ScheduledWork, system: &System) -> Seconds {
    let pass = ForwardPass { scheduled_requests: work, ..ForwardPass::default() };
    JudgedStep::of(Stamp::EPOCH, &pass, system).bound
}

/// The bound of contexts that are all known, which are cut by windows one by one.
fn truth(contexts: &[u64], prompts: &[(u64, u64)], system: &System) -> f64 {
    let (decoding, reading) = (contexts.len() as f64, prompts.len() as f64);
    let all = system.bound_sums(&record(contexts, prompts, true).even_sums());
    let (mut memory, mut arithmetic) = (all.weights.get(), all.matrices.get());
    let mut add = |pass: Pass, alike: f64| {
        let time = system.bound_pass(&pass);
        memory += time.cache.get() / alike;
        arithmetic += time.attention.get() / alike;
    };
    for context in contexts {
        add(Pass::decode(decoding, ContextSpan::at(*context as f64)), decoding);
    }
    for (cached, tokens) in prompts {
        let mut pass = Pass::prefill((cached + tokens) as f64, *cached as f64);
        pass.prompts = reading;
        add(pass, reading);
    }
    memory.max(arithmetic)
}

/// Half of 64 sequences of gemma-3-27b lie within the window of 1,024 tokens.
#[test]
fn contexts_on_both_sides_of_a_window_are_not_taken_to_be_alike() {
    let text = include_str!("../../../../fixtures/configs/gemma-3-27b.json");
    let model = Model::from_config_json(text).unwrap();
    let device = Device::named("h200-sxm").unwrap().clone();
    let system = System::new(model, device, Deployment::SINGLE).unwrap();
    let contexts: Vec<u64> = (0..64).map(|index| if index < 32 { 100 } else { 4_000 }).collect();
    let work = record(&contexts, &[], true);
    let exact = truth(&contexts, &[], &system);
    let alike = system.bound_sums(&work.even_sums()).total.get();
    assert!(alike / exact > 1.14, "{alike} {exact}");
    let told = judged(work, &system).get();
    // Other contexts of this mean and variance read 538 tokens each within windows, and these 562.
    assert!(told <= exact && told > 0.99 * exact, "{told} {exact}");
    // A record without the variance leaves it open.
    let silent = ScheduledWork {
        sum_decode_kv_tokens: work.sum_decode_kv_tokens + 1,
        var_decode_kv_tokens: 0.0,
        ..work
    };
    assert!(judged(silent, &system).get() < exact);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, rng_seed: RngSeed::Fixed(25), ..ProptestConfig::default() })]

    /// However a record's sums are split into contexts, the step's bound is not above that of these contexts.
    #[test]
    fn a_step_is_held_against_no_more_than_its_contexts_take(
        system in windowed(),
        contexts in prop::collection::vec(1_u64..20_000, 0..60),
        prompts in prop::collection::vec((0_u64..9_000, 1_u64..9_000), 0..4),
    ) {
        let exact = truth(&contexts, &prompts, &system) * (1.0 + 1e-9);
        let told = judged(record(&contexts, &prompts, true), &system).get();
        prop_assert!(told <= exact, "{told} {exact}");
        let silent = record(&contexts, &prompts, false);
        if !silent.sum_decode_kv_tokens.is_multiple_of(silent.num_decode_requests) {
            let silent = judged(silent, &system).get();
            prop_assert!(silent <= exact, "{silent} {exact}");
        }
    }
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
