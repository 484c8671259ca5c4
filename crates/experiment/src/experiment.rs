//! A whole experiment for a program: from an endpoint, a workload, loads and goals to what came of it.

mod handle;
mod kind;
mod preflight;
mod prepared;
mod resumed;
mod sharded;

use std::path::PathBuf;

use fizeau_harness::{Cancel, Measure};
use fizeau_metrics::{GoodputGoals, Precision, Slo};
use fizeau_record::{EngineRecord, SpeedOfLightReference};

pub use handle::{EventStream, ExperimentHandle, PendingOutcome};
pub use kind::{EndpointKind, ExperimentKind, PreparedRun};
pub use prepared::PreparedExperiment;
pub(crate) use sharded::check_until;
pub use sharded::{OrderedLevel, ShardOutcome, ShardPart};

use crate::client::ClientSpec;
use crate::endpoint::EndpointSource;
use crate::event::Watcher;
use crate::input::{ExperimentError, InputField};
use crate::shards::{RunShards, ShardGroup, ShardSpec};
use crate::sweep::{LevelSize, SweepLoads, SweepProtocol, SweepSettings};
use crate::system::{RunOrigin, SystemUnderTest};
use crate::telemetry::TelemetrySpec;
use crate::workload::WorkloadSpec;

/// A whole experiment: against an endpoint over HTTP ([`run`](Self::run), [`spawn`](Self::spawn)) or whatever else can measure
/// ([`run_with`](Self::run_with)), in either clock.
///
/// What it is is said by its settings: [`SweepSettings`] (by default), [`LevelSettings`](crate::LevelSettings),
/// [`SearchSettings`](crate::SearchSettings), [`AbSettings`](crate::AbSettings), or
/// [`CalibrationSettings`](crate::CalibrationSettings) for what the client itself can do. One request goes ahead, so that an endpoint that
/// cannot be used is one error and not a thousand failures.
///
/// ```
/// use fizeau_experiment::{Experiment, LevelSettings, SweepRates, SweepLoads};
/// use fizeau_transport::{Backend, Target};
///
/// let target = Target::new("http://127.0.0.1:8000", Backend::Vllm, "llama")?;
/// let sweep = Experiment::new(target.clone())
///     .loads(SweepLoads::new(&[1, 8, 64], SweepRates::default())?)
///     .slo("p99 ttft<500ms".parse()?);
/// let mut level = LevelSettings::default();
/// level.max_in_flight = 8.try_into().ok();
/// let level = Experiment::new(target).settings(level);
/// # let _ = (sweep, level);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Experiment<K = SweepSettings> {
    pub(crate) settings: K,
    pub(crate) conduct: RunConduct,
}

/// What is alike in all kinds of experiments.
#[derive(Debug, Clone)]
pub(crate) struct RunConduct {
    pub(crate) endpoint: EndpointSource,
    pub(crate) system: SystemUnderTest,
    pub(crate) client: ClientSpec,
    origin: RunOrigin,
    pub(crate) folder: Option<PathBuf>,
    shards: Option<ShardGroup>,
    /// How it takes part in a meeting that is still to come.
    meets: Option<ShardSpec>,
    telemetry: Option<TelemetrySpec>,
    pub(crate) cancel: Cancel,
    /// The last of the settings that was set by itself, if any was.
    last_setting: Option<InputField>,
    /// One of them that whole settings replaced later.
    discarded_setting: Option<InputField>,
}

impl Experiment {
    /// A sweep of an endpoint, of the usual [loads](SweepLoads) and the usual [workload](WorkloadSpec), whose prompts are salted so that no
    /// cache of an earlier run helps.
    pub fn new(endpoint: impl Into<EndpointSource>) -> Self {
        Self {
            settings: SweepSettings::default(),
            conduct: RunConduct {
                endpoint: endpoint.into(),
                system: SystemUnderTest::default(),
                client: ClientSpec::default(),
                origin: RunOrigin::now(),
                folder: None,
                shards: None,
                meets: None,
                telemetry: None,
                cancel: Cancel::new(),
                last_setting: None,
                discarded_setting: None,
            },
        }
    }

    /// What is asked. Arrivals and the number of requests are each level's own.
    pub fn workload(mut self, workload: WorkloadSpec) -> Self {
        self.settings.workload = workload;
        self.with_setting(InputField::Workload)
    }

    /// At which loads.
    pub fn loads(mut self, loads: SweepLoads) -> Self {
        self.settings.loads = loads;
        self.with_setting(InputField::Levels)
    }

    /// How it goes on from level to level.
    pub fn protocol(mut self, protocol: SweepProtocol) -> Self {
        self.settings.protocol = protocol;
        self.with_setting(InputField::Budget)
    }

    /// How large a level is.
    pub fn size(mut self, size: LevelSize) -> Self {
        self.settings.size = size;
        self.with_setting(InputField::LevelSeconds)
    }

    /// What a level must keep to be run at.
    pub fn slo(mut self, slo: Slo) -> Self {
        self.settings.slo = Some(slo);
        self.with_setting(InputField::Slo)
    }

    /// The goals of single requests, for goodput.
    pub fn goodput(mut self, goals: GoodputGoals) -> Self {
        self.settings.goals = goals;
        self.with_setting(InputField::Goodput)
    }

    /// What is to be known before a level ends; its size is then the most that it may take.
    pub fn until(mut self, precision: Precision) -> Self {
        self.settings.until = Some(precision);
        self.with_setting(InputField::Until)
    }

    const fn with_setting(mut self, field: InputField) -> Self {
        self.conduct.last_setting = Some(field);
        self
    }
}

impl<K> Experiment<K> {
    /// All that it is to be: a sweep, a level, a search, an A/B run or a calibration. Say it first: a workload, loads or goals that were
    /// said before it would be lost, and are refused when it is prepared.
    pub fn settings<N>(mut self, settings: N) -> Experiment<N> {
        let last = self.conduct.last_setting.take();
        self.conduct.discarded_setting = self.conduct.discarded_setting.or(last);
        Experiment { settings, conduct: self.conduct }
    }

    /// The client that measures.
    pub fn client(mut self, client: ClientSpec) -> Self {
        self.conduct.client = client;
        self
    }

    /// What levels are compared with.
    pub fn speed_of_light(mut self, reference: SpeedOfLightReference) -> Self {
        self.conduct.system.light = Ok(reference);
        self
    }

    /// What the endpoint is, for the record.
    pub fn engine(mut self, engine: EngineRecord) -> Self {
        self.conduct.system.engine = engine;
        self
    }

    /// All that is known of what is measured: where it is not the endpoint, but some [`other transport`](Self::run_with).
    pub fn system(mut self, system: SystemUnderTest) -> Self {
        self.conduct.system = system;
        self
    }

    /// Who runs it, for the record: by default this library, since the experiment was made.
    pub fn origin(mut self, origin: RunOrigin) -> Self {
        self.conduct.origin = origin;
        self
    }

    /// Keeps `run.json` in this folder, the files of each level (of several levels in a folder of its own within it) as its requests end,
    /// and what came of all of it at the end.
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.conduct.folder = Some(folder.into());
        self
    }

    /// Measures it together with the other shards of `group`, all of which ask the same prompts: see
    /// [`run_shared`](PreparedExperiment::run_shared).
    pub fn shards(mut self, group: ShardGroup) -> Self {
        self.conduct.shards = Some(group);
        self
    }

    /// Measures it by `shards`: [together](PreparedExperiment::meet) where they are several that do so, and by itself where this client is
    /// alone or measures a share of its own.
    pub fn measured_by(mut self, shards: &RunShards) -> Self {
        self.conduct.meets = shards.spec().cloned();
        self
    }

    /// Reads these pages of metrics beside each level that is measured over HTTP, and holds what they say against what the client saw. By
    /// default none is read. An A/B run reads those of the candidate, while it has its turn: against one and the same endpoint that
    /// shows what reading costs.
    pub fn telemetry(mut self, telemetry: TelemetrySpec) -> Self {
        self.conduct.telemetry = Some(telemetry);
        self
    }

    /// What calls it off; what was measured until then is kept.
    pub fn cancel(mut self, cancel: Cancel) -> Self {
        self.conduct.cancel = cancel;
        self
    }
}

impl<K: ExperimentKind> Experiment<K> {
    /// Runs it over HTTP. A run that is interrupted gives what it has.
    ///
    /// The future is `!Send`, as the transport is that it checks the endpoint with: see [`spawn`](Self::spawn).
    ///
    /// # Errors
    /// If an input is wrong, the endpoint cannot be used, or something breaks in the midst.
    pub async fn run(&self, watcher: &mut impl Watcher) -> Result<K::Outcome, ExperimentError> {
        K::run(self, watcher).await
    }
}

impl<K: EndpointKind> Experiment<K> {
    /// Runs it with whatever can measure: a worker pool or a rig over any transport, in virtual time too. What calls it off is that one's.
    /// An A/B run takes two: see [`PreparedExperiment::run_with_each`].
    ///
    /// # Errors
    /// If an input is wrong, or something breaks in the midst.
    pub async fn run_with(
        &self,
        with: impl Measure,
        watcher: &mut impl Watcher,
    ) -> Result<<K::Prepared as PreparedRun>::Outcome, ExperimentError> {
        Box::pin(self.prepare()?.run_with(with, watcher)).await
    }
}
