//! A simulated engine as what an experiment measures, in a virtual time of its own.

#[cfg(feature = "http")]
mod embedded;
mod passes;
mod spec;

use std::num::NonZeroU64;

use fizeau_core::Nanos;
use fizeau_harness::{SelfWatch, TaskDriver};
use fizeau_record::{DeploymentRecord, EngineChoices, ReferenceFiles, SpeedOfLightReference};
use fizeau_sim::{Scenario, SimTransport, VirtualTime};
use fizeau_transport::{Backend, KeepText};

#[cfg(feature = "http")]
pub use embedded::EmbeddedEngine;
pub use passes::published_passes;
pub use spec::{DraftSpec, SimulatedSystemSpec, StepTimeSpec};

use crate::endpoint::EndpointSpec;
use crate::event::{RunEvent, RunNote, Watcher};
use crate::experiment::{EndpointKind, Experiment, PreparedExperiment, PreparedRun};
use crate::hint::LimitSource;
use crate::input::ExperimentError;
use crate::system::SystemUnderTest;
use crate::whatif::CaseEngine;
use crate::workload::{CacheBlocks, ContextLimit};

/// A simulated engine as what experiments measure. Each runs in a virtual time of its own, on an engine that nothing was asked of
/// before, and gives what it would give over HTTP.
///
/// ```
/// use fizeau_experiment::{SimulatedSystemSpec, SweepLoads, SweepRates, WorkloadSpec};
/// use fizeau_workload::Lengths;
///
/// let mut spec = SimulatedSystemSpec::new("llama-3.1-70b", "h100-sxm");
/// spec.deployment.tp = 4;
/// let engine = spec.load()?;
/// let mut workload = WorkloadSpec::default();
/// workload.lengths = Lengths::fixed(250, 50);
/// let sweep = engine.experiment();
/// let sweep = sweep.loads(SweepLoads::new(&[1, 8], SweepRates::default())?).workload(workload);
/// let report = engine.run(&sweep, &mut ())?;
/// assert_eq!(report.levels().len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct SimulatedSystem {
    scenario: Scenario,
    light: SpeedOfLightReference,
    network_delay: Nanos,
    notes: Vec<String>,
}

impl SimulatedSystem {
    /// How long a request is on its way, where nothing else is said: about the time of a loopback connection.
    pub const NETWORK_DELAY: Nanos = Nanos::from_micros(50);

    /// The engine of `scenario`. A run's folder then has no files of model and device: [`SimulatedSystemSpec`] keeps them, so that
    /// the speed of light can be computed again for those that are not built in.
    pub fn new(scenario: Scenario) -> Self {
        let mut said = DeploymentRecord::default();
        let deployment = scenario.system().deployment();
        (said.tp, said.pp) = (deployment.tensor(), deployment.pipeline());
        (said.ep, said.dp) = (deployment.expert_groups(), deployment.attention_groups());
        said.memory_share = scenario.system().serving().memory_share;
        Self::recorded(scenario, said, ReferenceFiles::default())
    }

    /// The engine of `scenario`, whose model and device are in `files`, with what it settled where `said` is silent.
    fn recorded(scenario: Scenario, mut said: DeploymentRecord, files: ReferenceFiles) -> Self {
        let system = scenario.system();
        said.choices = EngineChoices::default();
        said.replicas = system.deployment().replicas();
        said.max_num_seqs = NonZeroU64::new(scenario.config().max_num_seqs);
        said.draft = scenario.config().drafts.as_ref().map_or(0, |drafts| drafts.length);
        said.disaggregated = scenario.is_disaggregated();
        said.reserve_bytes = system.serving().reserve.get() as u64;
        let light = SpeedOfLightReference::new(scenario.model_name(), system.clone());
        let light = light.recorded(said, files);
        Self { scenario, light, network_delay: Self::NETWORK_DELAY, notes: Vec::new() }
    }

    /// The same, with so much time for a request to reach the engine. Above 0, a request that follows the end of a reply comes too
    /// late for the step that begins then, as in reality.
    pub const fn network_delay(mut self, delay: Nanos) -> Self {
        self.network_delay = delay;
        self
    }

    /// What is simulated.
    pub const fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// What the reader should know of model, device and constants, each in one line.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// An experiment with it, for [`run`](Self::run): a sweep, unless other settings are given.
    pub fn experiment(&self) -> Experiment {
        let name = self.scenario.model_name();
        let mut system = SystemUnderTest::simulated(self.scenario.describe(), name);
        system.light = Ok(self.light.clone());
        system.limit = self.scenario.longest_request().map(|(tokens, cache)| {
            let cache = cache.map(|(blocks, block)| CacheBlocks { blocks, block });
            ContextLimit::new(tokens, LimitSource::SimulatedEngine).with_cache(cache)
        });
        // Nobody is there: it says what kinds of prompt there may be.
        let mut nobody = EndpointSpec::new("http://127.0.0.1:1", name);
        nobody.backend = Backend::Vllm.into();
        Experiment::new(nobody).system(system)
    }

    /// Runs `experiment`, one of [its own](Self::experiment), in virtual time.
    ///
    /// # Errors
    /// If an input is wrong, or something breaks in the midst.
    pub fn run<K: EndpointKind>(
        &self,
        experiment: &Experiment<K>,
        watcher: &mut impl Watcher,
    ) -> Result<<K::Prepared as PreparedRun>::Outcome, ExperimentError> {
        self.run_prepared(experiment.prepare()?, watcher)
    }
}

impl CaseEngine for SimulatedSystem {
    fn experiment(&self) -> Experiment {
        self.experiment()
    }

    fn devices(&self) -> u64 {
        self.scenario.devices()
    }

    fn run_prepared<K: EndpointKind>(
        &self,
        prepared: PreparedExperiment<K>,
        watcher: &mut impl Watcher,
    ) -> Result<<K::Prepared as PreparedRun>::Outcome, ExperimentError> {
        let (time, cancel) = (VirtualTime::new(), prepared.cancel().clone());
        let transport = SimTransport::new(&time, self.scenario.serve());
        let transport = transport.with_delay(self.network_delay);
        let transport = match prepared.keep_text() {
            KeepText::Yes => transport.keeping_text(),
            KeepText::No => transport,
        };
        let rig = TaskDriver {
            transport: &transport,
            timer: &time,
            watch: SelfWatch::Off,
            cancel: &cancel,
        };
        let ended = time.block_on(prepared.run_with(rig, &mut *watcher));
        let outcome = ended.map_err(ExperimentError::broken)??;
        if let Some(times) = NonZeroU64::new(transport.gauges().preemptions) {
            watcher.event(RunEvent::Note(RunNote::Preempted { times }));
        }
        Ok(outcome)
    }
}
