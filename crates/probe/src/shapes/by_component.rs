//! What a probe would measure of a model at a load, in words.

use fizeau_roofline::{PassPhase, System, UniformLoad};

use super::{ModelPass, model_operators};
use crate::measurement::Component;

/// The rows of a probe that bear on `system` under `load`, each component with what its rows are of: memory and arithmetic, and each
/// operator of a decode step and of a prefill once. A component says what its rows are, so that names leave that out.
#[must_use]
pub fn rows_by_component(system: &System, load: &UniformLoad) -> Vec<(Component, Vec<String>)> {
    let running = load.concurrency.get() as f64;
    let passes = [
        (PassPhase::Decode, system.decode_pass(load, running)),
        (PassPhase::Prefill, system.prefill_pass(load)),
    ];
    let mut found = vec![
        (Component::Memory, vec!["reads of more than caches hold".to_owned()]),
        (Component::Compute, vec!["peak arithmetic".to_owned()]),
    ];
    let operators = passes
        .iter()
        .flat_map(|(phase, pass)| model_operators(system, ModelPass::of(*phase, pass)));
    for operator in operators {
        let component = operator.operation.component();
        let name = operator.to_string().replace(", gemm ", " ").replace(" to bf16", "");
        let name = name.strip_prefix("attention ").unwrap_or(&name).replace(", norm,", "");
        match found.iter_mut().find(|(known, _)| *known == component) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => found.push((component, vec![name])),
        }
    }
    found
}
