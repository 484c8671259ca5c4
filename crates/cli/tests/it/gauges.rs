//! What pages of metrics say of an engine's state at an instant, against the steps of the engine itself.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use fizeau::core::{Nanos, Stamp};
use fizeau::experiment::{
    Experiment, SweepLoads, SweepRates, TelemetrySpec, WorkloadSpec, level_size,
};
use fizeau::roofline::{Device, KnownModel};
use fizeau::sim::http::{ServerConfig, TimeScale};
use fizeau::sim::{EnginePass, Scenario, Serve as _};
use fizeau::transport::{Backend, Target};
use fizeau::workload::Lengths;
use serde_json::Value;

use crate::stand::{Scratch, serve};

/// Tokens of a block of the simulated engine's cache.
const BLOCK: f64 = 16.0;

/// How full the engine was in one step, and how many tokens it had generated since it began once the step was over.
#[derive(Clone, Copy)]
struct StepState {
    generated: f64,
    running: f64,
    /// Who waited once the step had begun, and before it took some of them in.
    waiting: [f64; 2],
    /// The fewest and the most blocks that the contexts of its sequences fill.
    blocks: [f64; 2],
}

/// Prompts are read whole, so that each sequence of a step gets a token by it. An engine that stood still between two steps was empty.
fn states(passes: &[EnginePass]) -> Vec<StepState> {
    let (mut generated, mut over) = (0.0, Stamp::EPOCH);
    let mut states = Vec::new();
    for pass in passes {
        if pass.end - pass.length > over {
            states.push(StepState { generated, running: 0.0, waiting: [0.0; 2], blocks: [0.0; 2] });
        }
        let [running, left] =
            [pass.decode_sequences + pass.prefill_sequences, pass.waiting].map(|n| n as f64);
        let waiting = [left, left + pass.prefill_sequences as f64];
        let contexts = pass.decode_context_tokens + pass.prefill_tokens;
        let full = contexts.get() as f64 / BLOCK;
        (generated, over) = (generated + running, pass.end);
        let blocks = [full, full + 2.0 * running];
        states.push(StepState { generated, running, waiting, blocks });
    }
    states
}

/// The gauges and counters of each page in `text`, whose lines have what changed from one page to the next.
fn pages(text: &str) -> Vec<BTreeMap<String, f64>> {
    let mut now = BTreeMap::new();
    let page = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        for series in line["changed"].as_array().into_iter().flatten() {
            let name = series[0].as_str().unwrap().to_owned();
            now.extend(series[2].as_f64().map(|value| (name, value)));
        }
        now.clone()
    };
    text.lines().map(page).collect()
}

/// A page says by its counter of tokens after which step it was made: whatever the machine is doing, its gauges are those of the step
/// that was under way, or of one beside it.
#[test]
fn gauges_are_within_one_step_of_the_engine() {
    let model = KnownModel::named("llama-3.1-8b").unwrap().model().unwrap();
    let device = Device::named("h100-sxm").unwrap().clone();
    let two_slots = Scenario::new("m", model, device, 2).unwrap();
    let passes = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&passes);
    let engine = two_slots.engine();
    let capacity = engine.gauges().blocks as f64;
    let config = ServerConfig::new(engine)
        .with_time_scale(TimeScale::new(0.5).unwrap())
        .with_passes(move |pass| kept.lock().unwrap().push(pass));
    let server = serve(config);
    let scratch = Scratch::new("gauges");
    let folder = scratch.path("run");
    let mut workload = WorkloadSpec::default();
    workload.lengths = Lengths::fixed(100, 12);
    let mut telemetry = TelemetrySpec::default();
    telemetry.interval = Nanos::from_millis(5);
    let target = Target::new(&server.base_url(), Backend::Vllm, "m").unwrap();
    let experiment = Experiment::new(target)
        .workload(workload)
        .loads(SweepLoads::new(&[5], SweepRates::default()).unwrap())
        .size(level_size(Some(20), None, Some(0)).unwrap())
        .telemetry(telemetry)
        .folder(&folder);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let sweep = runtime.block_on(experiment.run(&mut ())).unwrap();

    let steps = states(&passes.lock().unwrap());
    let text =
        std::fs::read_to_string(format!("{folder}/concurrency-0005/telemetry.jsonl")).unwrap();
    let pages = pages(&text);
    let mut seen = [0.0_f64; 2];
    let mut under_load = 0;
    for page in &pages {
        let of = |name: &str| page[&format!("vllm:{name}")];
        let made = of("generation_tokens_total");
        let next = steps.iter().position(|step| step.generated > made).unwrap_or(steps.len());
        // The last step that was over, the one under way, and the one that follows it.
        let beside = &steps[next.saturating_sub(1)..steps.len().min(next + 2)];
        let is_over = next == steps.len();
        let fits = |value: f64, of: fn(&StepState) -> [f64; 2]| {
            let idle = is_over.then_some([0.0, 0.0]);
            let ranges: Vec<_> = beside.iter().map(of).chain(idle).collect();
            let low = ranges.iter().map(|range| range[0]).fold(f64::INFINITY, f64::min);
            let high = ranges.iter().map(|range| range[1]).fold(0.0, f64::max);
            assert!((low..=high).contains(&value), "{value} is not in {low} to {high} at {made}");
        };
        let [running, waiting] = ["num_requests_running", "num_requests_waiting"].map(of);
        fits(running, |step| [step.running; 2]);
        fits(waiting, |step| step.waiting);
        fits(of("kv_cache_usage_perc") * capacity, |step| step.blocks);
        seen = [seen[0].max(running), seen[1].max(waiting)];
        under_load += u64::from(running > 0.0);
    }
    assert!(under_load >= 3, "{under_load} of {} pages are of the load", pages.len());
    let server = sweep.levels()[0].telemetry.as_ref().unwrap().server.as_ref().unwrap();
    let peaks = [&server.running, &server.waiting].map(|told| told.as_ref().unwrap().figure.peak);
    assert_eq!(peaks, seen.map(Some), "the figures are of these pages");
    // Nobody waits for anything but room.
    let by_reason = &server.waiting_by_reason;
    assert_eq!(by_reason["capacity"].figure, server.waiting.as_ref().unwrap().figure);
    assert_eq!(by_reason["deferred"].figure.peak, Some(0.0));
}
