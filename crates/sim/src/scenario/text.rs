//! A scenario in words.

use fizeau_roofline::{Model, System};

use super::Scenario;

pub(super) fn describe(scenario: &Scenario) -> String {
    let (config, overheads) = (scenario.config(), &scenario.asked.overheads);
    format!(
        "{} ({}) on {}; {} slots, {} tokens of KV cache, {} prompt \
         tokens a step; roofline at {:.0} % of bandwidth and {:.0} % of compute, plus {} a step and {} a sequence",
        scenario.model_name(),
        most_common_format(scenario.model()),
        devices(scenario.system()),
        config.max_num_seqs,
        config.kv_capacity(),
        config.max_batched_tokens,
        overheads.bandwidth_efficiency * 100.0,
        overheads.compute_efficiency * 100.0,
        overheads.per_step,
        overheads.per_sequence,
    )
}

/// `one NVIDIA H100 SXM`, `4 NVIDIA H100 SXM (TP4)`.
pub(super) fn devices(system: &System) -> String {
    let (deployment, title) = (system.deployment(), system.device().title());
    match deployment.devices() {
        1 => format!("one {title}"),
        many => format!("{many} {title} ({deployment})"),
    }
}

/// How most of the weights are stored.
fn most_common_format(model: &Model) -> String {
    let tensors = model.tensors();
    let most = tensors.iter().max_by_key(|tensors| tensors.stored);
    most.map(|tensors| tensors.format.to_string()).unwrap_or_default()
}
