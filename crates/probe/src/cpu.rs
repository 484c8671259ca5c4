//! The processor as what is measured.

mod array;
mod attention;
mod chase;
mod clock;
mod facts;
mod gemm;
mod isa;
mod lanes;
mod measure;
mod memory;
mod norm;
mod peak;
mod recurrence;
mod stream;
mod system;
mod team;
mod trials;

use std::num::NonZeroU32;

use fizeau_core::{Bytes, Nanos};

use crate::device::DeviceFacts;
use crate::host::ProbeHost;
use crate::measurement::{Component, Measurement, Operation};
use crate::trial::{ProbeBackend, ProbeTrial, Unavailable};

/// The processor of this machine, by kernels for x86-64 and aarch64 that are chosen where the program runs.
#[derive(Debug)]
pub struct CpuBackend {
    cpus: Vec<u32>,
    device: DeviceFacts,
    clock: clock::HostClock,
    curves: trials::SizeCurves,
}

impl CpuBackend {
    /// Looks at the processor; measures nothing yet.
    #[must_use]
    pub fn new() -> Self {
        let cpus = system::allowed_cpus();
        let cpus = if cpus.is_empty() { vec![0] } else { cpus };
        let (device, clock) = (facts::device(), clock::HostClock::start());
        Self { cpus, device, clock, curves: trials::SizeCurves::Usual }
    }

    /// The same, with curves by size of every kernel and every kind of store on one thread and on all, and not only of reads, writes
    /// and triads: some 300 measurements more.
    #[must_use]
    pub fn with_all_curves(self) -> Self {
        Self { curves: trials::SizeCurves::Every, ..self }
    }

    /// The same, on at most `threads` threads.
    ///
    /// # Errors
    /// If there are fewer processors.
    pub fn on_threads(threads: NonZeroU32) -> Result<Self, Unavailable> {
        let mut backend = Self::new();
        let (asked, all) = (threads.get(), backend.all());
        if asked > all {
            let text = format!(
                "{asked} threads: this program may use {all} processors; ask for at most {all}"
            );
            return Err(Unavailable::because(text));
        }
        backend.cpus.truncate(asked as usize);
        Ok(backend)
    }

    /// As many threads as there are processors for.
    fn all(&self) -> u32 {
        self.cpus.len() as u32
    }

    /// What every array of memory has at least: four times the last cache.
    fn array_bytes(&self) -> f64 {
        4.0 * self.device.last_cache.map_or(facts::USUAL_LAST_CACHE, Bytes::get)
    }
}

impl Default for CpuBackend {
    fn default() -> Self {
        Self::new()
    }
}

impl ProbeBackend for CpuBackend {
    fn host(&self) -> ProbeHost {
        facts::host()
    }

    fn devices(&self) -> Vec<DeviceFacts> {
        vec![self.device.clone()]
    }

    fn trials(&self, component: Component) -> Vec<ProbeTrial> {
        match component {
            Component::Memory => trials::memory(self.all(), self.array_bytes(), self.curves),
            Component::Latency => trials::latency(self.all(), self.array_bytes()),
            Component::Compute => trials::compute(self.all()),
            Component::Gemm => trials::gemm(self.all(), gemm::OpenBlas::installed()),
            Component::Attention => trials::attention(self.all()),
            Component::Collective | Component::Launch | Component::Other => Vec::new(),
        }
    }

    fn measure(&mut self, trial: &ProbeTrial, time: Nanos) -> Result<Measurement, Unavailable> {
        if trial.threads > self.all() {
            return Err(Unavailable::because(format!(
                "{} threads on {} processors would wait for one another",
                trial.threads,
                self.all()
            )));
        }
        let cpus = &self.cpus[..trial.threads.max(1) as usize];
        let on = measure::Measuring { cpus, clock: self.clock, time, trial };
        match &trial.operation {
            Operation::Memory { kernel, stores, working_set } => {
                on.memory(*kernel, *stores, working_set.ok_or_else(no_size)?)
            }
            Operation::Latency { working_set, .. } => {
                on.chase(working_set.ok_or_else(no_size)?, 0, self.array_bytes())
            }
            Operation::LoadedLatency { working_set, injector_pause, .. } => {
                on.chase(working_set.ok_or_else(no_size)?, *injector_pause, self.array_bytes())
            }
            Operation::Peak => on.peak(),
            Operation::Gemm { shape, .. } => on.gemm(*shape),
            Operation::Attention { shape, .. } => on.attention(*shape),
            Operation::Recurrence { shape, .. } => on.recurrence(*shape),
            Operation::Norm { shape, .. } => on.norm(*shape),
            _ => Err(Unavailable::because("processors have no such engine; GPUs have")),
        }
    }
}

fn no_size() -> Unavailable {
    Unavailable::because("the size of the arrays is missing")
}
