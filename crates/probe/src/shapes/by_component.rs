//! What a probe would measure of a model at a load, in words.

use fizeau_roofline::{PassPhase, System, UniformLoad};

use super::{ModelPass, model_operators};
use crate::gpu_coverage::imported_from;
use crate::measurement::Component;

/// A row that a probe could have of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelRow {
    /// What it is of: `qkv 64 x 6144 x 4096`.
    pub name: String,
    /// Where this program measures it on no GPU, the tools whose output has it.
    pub imported_on_gpus: Option<&'static str>,
}

/// The rows of a probe that bear on `system` under `load`, each component with what its rows are of: memory and arithmetic, and each
/// operator of a decode step and of a prefill once. A component says what its rows are, so that names leave that out.
#[must_use]
pub fn rows_by_component(system: &System, load: &UniformLoad) -> Vec<(Component, Vec<ModelRow>)> {
    let running = load.concurrency.get() as f64;
    let passes = [
        (PassPhase::Decode, system.decode_pass(load, running)),
        (PassPhase::Prefill, system.prefill_pass(load)),
    ];
    let measured = |name: &str| vec![ModelRow { name: name.to_owned(), imported_on_gpus: None }];
    let mut found = vec![
        (Component::Memory, measured("reads of more than caches hold")),
        (Component::Compute, measured("peak arithmetic")),
    ];
    let operators = passes
        .iter()
        .flat_map(|(phase, pass)| model_operators(system, ModelPass::of(*phase, pass)));
    for operator in operators {
        let component = operator.operation.component();
        let name = operator.to_string().replace(", gemm ", " ").replace(" to bf16", "");
        let name = name.strip_prefix("attention ").unwrap_or(&name).replace(", norm,", "");
        let row = ModelRow { name, imported_on_gpus: imported_from(&operator.operation) };
        match found.iter_mut().find(|(known, _)| *known == component) {
            Some((_, rows)) if rows.contains(&row) => {}
            Some((_, rows)) => rows.push(row),
            None => found.push((component, vec![row])),
        }
    }
    found
}
