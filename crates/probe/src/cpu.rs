//! The processor as what is measured.

mod array;
mod attention;
mod available;
mod chase;
mod clock;
mod facts;
#[cfg(test)]
mod fake_tree;
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
mod topology;
mod trials;

use std::num::NonZeroU32;
use std::path::Path;

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
        let (cpus, quota) = (system::allowed_cpus(), available::quota());
        Self::within(Path::new(topology::PROCESSORS), &cpus, quota)
    }

    /// On as many of `cpus` as a quota lets run at once: more would be stopped for a part of each period.
    fn within(folder: &Path, cpus: &[u32], quota: Option<f64>) -> Self {
        let all = Self::on(folder, cpus);
        let count = all.cpus.len();
        let Some(quota) = quota.filter(|quota| *quota < count as f64) else { return all };
        let most = (quota as usize).max(1);
        let mut fewer = Self::on(folder, &all.cpus[..most]);
        fewer.device.unavailable.push(format!(
            "more threads than {most}: a control group (cgroup) lets this program have the time of {quota:.1} of {count} processors"
        ));
        fewer
    }

    /// On `cpus`, which a `folder` describes.
    fn on(folder: &Path, cpus: &[u32]) -> Self {
        let topology = topology::Topology::of(folder, if cpus.is_empty() { &[0] } else { cpus });
        let (device, clock) = (facts::device(&topology), clock::HostClock::start());
        Self { cpus: topology.cpus, device, clock, curves: trials::SizeCurves::Usual }
    }

    /// The same, with curves of every kernel and every kind of store, and not only of reads, writes and triads: by size on one thread and
    /// on all, and by threads. That is some 300 measurements more.
    #[must_use]
    pub fn with_all_curves(self) -> Self {
        Self { curves: trials::SizeCurves::Every, ..self }
    }

    /// The same, on at most `threads` threads.
    ///
    /// # Errors
    /// If there are fewer processors.
    pub fn on_threads(threads: NonZeroU32) -> Result<Self, Unavailable> {
        let backend = Self::new();
        let (asked, all) = (threads.get(), backend.all());
        if asked > all {
            let text = format!(
                "{asked} threads: this program may use {all} processors; ask for at most {all}"
            );
            return Err(Unavailable::because(text));
        }
        // Caches of processors that are not used hold nothing.
        Ok(Self::on(Path::new(topology::PROCESSORS), &backend.cpus[..asked as usize]))
    }

    /// As many threads as there are processors for.
    fn all(&self) -> u32 {
        self.cpus.len() as u32
    }

    /// What every array of memory has at least: four times the last caches of all threads together.
    fn array_bytes(&self) -> f64 {
        4.0 * self.device.last_cache.map_or(facts::USUAL_LAST_CACHE, Bytes::get)
    }

    /// The same for what one thread alone goes through, which lies in one last cache.
    fn own_array_bytes(&self) -> f64 {
        4.0 * self.device.caches.last().copied().map_or(facts::USUAL_LAST_CACHE, Bytes::get)
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
            Component::Latency => trials::latency(self.all(), self.own_array_bytes()),
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
        let last_cache = self.device.last_cache;
        let on = measure::Measuring { cpus, clock: self.clock, time, trial, last_cache };
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest that a trial of the component works on.
    fn largest(backend: &CpuBackend, component: Component) -> f64 {
        let trials = backend.trials(component);
        let sizes = trials.iter().filter_map(|trial| match trial.operation {
            Operation::Memory { working_set, .. } | Operation::Latency { working_set, .. } => {
                working_set.map(Bytes::get)
            }
            _ => None,
        });
        sizes.fold(0.0, f64::max)
    }

    /// What a container leaves of them by its quota, of which the affinity says nothing.
    #[test]
    fn no_more_threads_than_a_quota_lets_run() {
        let tree = topology::tests::two_last_caches("quota");
        let cpus: Vec<u32> = (0..8).collect();
        for (quota, threads) in [(None, 8), (Some(8.0), 8), (Some(2.5), 2), (Some(0.5), 1)] {
            let backend = CpuBackend::within(tree.root(), &cpus, quota);
            assert_eq!(backend.all(), threads, "{quota:?}");
            let told = backend.device.unavailable.iter().filter(|line| line.contains("cgroup"));
            assert_eq!(told.count(), usize::from(threads < 8), "{quota:?}");
        }
    }

    /// Arrays that one last cache holds in part are spread over all of them by all threads.
    #[test]
    fn arrays_are_larger_than_all_last_caches_together() {
        const MIB: f64 = 1024.0 * 1024.0;
        let tree = topology::tests::two_last_caches("backend");
        let cpus: Vec<u32> = (0..8).collect();
        let all = CpuBackend::on(tree.root(), &cpus);
        assert_eq!(all.device.last_cache, Some(Bytes::new(64.0 * MIB)));
        assert_eq!(all.device.caches.last(), Some(&Bytes::new(32.0 * MIB)));
        let memory = all.trials(Component::Memory);
        let least = memory.iter().filter(|trial| trial.weight > 2.0).map(|trial| {
            let Operation::Memory { working_set, .. } = trial.operation else { return 0.0 };
            working_set.map_or(0.0, Bytes::get)
        });
        assert!(least.fold(f64::INFINITY, f64::min) >= 4.0 * 64.0 * MIB, "{memory:?}");
        assert!(largest(&all, Component::Latency) >= 4.0 * 32.0 * MIB);
        // One processor has one of them.
        let one = CpuBackend::on(tree.root(), &cpus[..1]);
        assert!(largest(&one, Component::Memory) < largest(&all, Component::Memory));
        assert!(one.device.units.iter().all(|units| units.cores == 1));
        assert!(all.device.units.iter().all(|units| units.cores == 4));
    }
}
