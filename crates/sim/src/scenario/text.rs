//! A scenario in words.

use fizeau_roofline::{Admission, Drafter, Model, Scope, System};

use super::{Scenario, ScenarioSettings, Timing};
use crate::engine::{AdmissionOrder, Chunking, EngineConfig, Policy, PrefixCaching};

/// Model and devices, limits, and what takes time; what is as usual goes without saying.
pub(super) fn describe(scenario: &Scenario) -> String {
    let settings = &scenario.settings;
    let config = scenario.config();
    let each = if config.groups > 1 { " in each of its groups" } else { "" };
    let limits = format!(
        "{} slots and {} tokens of KV cache{each}, {} tokens a step",
        config.max_num_seqs,
        config.kv_capacity(),
        config.max_batched_tokens,
    );
    let words = [
        format!(
            "{} ({}) on {}",
            settings.model_name,
            most_common_format(scenario.model()),
            engines(scenario)
        ),
        [vec![limits], unusual(config), drafts(settings)].concat().join(", "),
        step(settings),
    ];
    words.join("; ")
}

/// `one NVIDIA H100 SXM`, `4 NVIDIA H100 SXM (TP4)`.
pub(super) fn devices(system: &System) -> String {
    let (deployment, title) = (system.deployment(), &system.device().title);
    match deployment.devices() {
        1 => format!("one {title}"),
        many => format!("{many} {title} ({deployment})"),
    }
}

/// The devices, and what the engines on them do.
fn engines(scenario: &Scenario) -> String {
    let (devices, settings) = (devices(&scenario.system), &scenario.settings);
    let replicas = settings.system.deployment().replicas();
    match settings.layout.apart {
        Some(apart) => {
            let [prefill, decode] = apart.engines(replicas);
            format!("{devices}, {prefill} for prefill and {decode} for decode")
        }
        None if replicas > 1 => format!("{devices}, routed {}", settings.layout.routing.as_str()),
        None => devices,
    }
}

/// What is set up otherwise than usual.
fn unusual(config: &EngineConfig) -> Vec<String> {
    let usual = EngineConfig::new(1, config.kv_capacity());
    let words = [
        (config.block != usual.block).then(|| format!("blocks of {}", config.block)),
        (config.policy == Policy::PrefillFirst).then(|| "prompts first".to_owned()),
        (config.chunking == Chunking::Whole).then(|| "prompts in one piece".to_owned()),
        (config.admission == Admission::Whole).then(|| "room reserved".to_owned()),
        (config.prefix_caching == PrefixCaching::On).then(|| "prefix cache".to_owned()),
        (config.order == AdmissionOrder::Priority).then(|| "by priority".to_owned()),
        config.max_waiting.map(|most| format!("at most {most} waiting")),
        config.captured.last().map(|most| format!("batches padded up to {most}")),
        (config.seed != usual.seed).then(|| format!("engine seed {}", config.seed)),
    ];
    words.into_iter().flatten().collect()
}

fn drafts(settings: &ScenarioSettings) -> Vec<String> {
    let Some(drafts) = &settings.config.drafts else { return Vec::new() };
    let by = match &settings.drafter {
        Some(Drafter::Model(drafting)) => format!("a model of {}", size(drafting)),
        Some(Drafter::Share(share)) => format!("what takes {share} of a step for each"),
        _ => "look-up".to_owned(),
    };
    let tokens = drafts.acceptance.tokens(drafts.length);
    vec![format!("drafts of {} by {by}, {tokens:.2} tokens a step expected", drafts.length)]
}

/// `1.2 GB`, on each device.
fn size(system: &System) -> String {
    format!("{:.1} GB", system.weight_bytes_per_device().get() / 1e9)
}

fn step(settings: &ScenarioSettings) -> String {
    let Timing { overheads, power_limit: limit, calibration } = &settings.timing;
    if let Some((calibration, engine)) = calibration {
        // An engine that was not measured has the constants of its device, and a device those of all.
        return match calibration.predictor(&settings.system, engine.as_deref()).scope() {
            Scope::Engine { engine, .. } => format!("calibrated for {engine}"),
            Scope::Device(_) => "calibrated for the device".to_owned(),
            _ => "calibrated for all devices".to_owned(),
        };
    }
    let limit = limit.map(|limit| format!(", at most {:.0} W", limit.get())).unwrap_or_default();
    let also = [(overheads.per_layer, "a layer"), (overheads.per_collective, "a collective")];
    let also = also.iter().filter(|(time, _)| time.as_nanos() > 0);
    let also: Vec<String> = also.map(|(time, what)| format!(", {time} {what}")).collect();
    format!(
        "roofline at {:.0} % of bandwidth and {:.0} % of compute, plus {} a step, {} a sequence{}{limit}",
        overheads.bandwidth_efficiency * 100.0,
        overheads.compute_efficiency * 100.0,
        overheads.per_step,
        overheads.per_sequence,
        also.concat(),
    )
}

/// How most of the weights are stored.
fn most_common_format(model: &Model) -> String {
    let tensors = model.tensors();
    let most = tensors.iter().max_by_key(|tensors| tensors.stored);
    most.map(|tensors| tensors.format.to_string()).unwrap_or_default()
}
