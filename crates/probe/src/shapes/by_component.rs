//! What a probe would measure of a model at a load, in words.

use fizeau_roofline::{PassPhase, System, UniformLoad};

use super::{ModelPass, model_operators};
use crate::gpu_coverage::{GpuCoverage, coverage};
use crate::measurement::Component;

/// The rows of a probe that bear on a system under a load, by who can measure them. Components say what their rows are, so that names
/// leave that out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelRows {
    /// What this program measures: each component, with what its rows are of, such as `qkv 64 x 6144 x 4096`.
    pub measured: Vec<(Component, Vec<String>)>,
    /// What other tools print, each with their names: `attention prefill 2048: FlashInfer`.
    pub imported: Vec<String>,
    /// What neither this program measures nor any tool prints that it reads.
    pub unmeasured: Vec<String>,
}

impl ModelRows {
    /// Those of `system` under `load`, measured on a processor: memory and arithmetic, and each operator of a decode step and of a prefill
    /// once.
    #[must_use]
    pub fn on_processor(system: &System, load: &UniformLoad) -> Self {
        Self::of(system, load, |_| GpuCoverage::Kernel)
    }

    /// The same, measured on a GPU.
    #[must_use]
    pub fn on_gpu(system: &System, load: &UniformLoad) -> Self {
        Self::of(system, load, coverage)
    }

    /// Whether this program measures rows of `component` here.
    #[must_use]
    pub fn measures(&self, component: Component) -> bool {
        self.measured.iter().any(|(known, _)| *known == component)
    }

    fn of(
        system: &System,
        load: &UniformLoad,
        covered: impl Fn(&crate::Operation) -> GpuCoverage,
    ) -> Self {
        let running = load.concurrency.get() as f64;
        let passes = [
            (PassPhase::Decode, system.decode_pass(load, running)),
            (PassPhase::Prefill, system.prefill_pass(load)),
        ];
        let mut rows = Self::default();
        rows.measure(Component::Memory, "reads of more than caches hold".to_owned());
        rows.measure(Component::Compute, "peak arithmetic".to_owned());
        for (phase, pass) in &passes {
            for operator in model_operators(system, ModelPass::of(*phase, pass)) {
                let component = operator.operation.component();
                let name = operator.to_string().replace(", gemm ", " ").replace(" to bf16", "");
                let name = name.strip_prefix("attention ").unwrap_or(&name).replace(", norm,", "");
                match covered(&operator.operation) {
                    GpuCoverage::Kernel => rows.measure(component, name),
                    GpuCoverage::Printed(tools) => {
                        once(&mut rows.imported, format!("{component} {name}: {tools}"));
                    }
                    GpuCoverage::Nowhere => {
                        once(&mut rows.unmeasured, format!("{component} {name}"));
                    }
                }
            }
        }
        rows
    }

    fn measure(&mut self, component: Component, name: String) {
        match self.measured.iter_mut().find(|(known, _)| *known == component) {
            Some((_, names)) => once(names, name),
            None => self.measured.push((component, vec![name])),
        }
    }
}

/// Adds `name`, unless it is there.
fn once(names: &mut Vec<String>, name: String) {
    if !names.contains(&name) {
        names.push(name);
    }
}
