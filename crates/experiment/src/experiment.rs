//! A whole experiment for a program: from an endpoint, a workload, loads and goals to what came of it.

mod handle;

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;

use fizeau_harness::{Cancel, Host, Measure};
use fizeau_metrics::{GoodputGoals, Precision, Slo, WindowChoice};
use fizeau_record::{
    Connections, Endpoint, Engine, Profile, RunFolder, Setup, SweepReport, ToolVersion,
};
use fizeau_transport::{MonotonicClock, Target};

pub use handle::{EventStream, ExperimentHandle};

use crate::client::{Client, ClientSpec, ConnectionNeeds};
use crate::endpoint::{preflight, split_url};
use crate::event::{Event, Watcher};
use crate::input::{EndpointError, ExperimentError};
use crate::reference::SpeedOfLightReference;
use crate::scheduler::SweepScheduler;
use crate::sweep::{LevelSize, PreparedSweep, SweepLoads, SweepProtocol, SweepSpec};
use crate::wall_time::WallTime;
use crate::workload::{PreparedWorkload, WorkloadSpec};

/// A whole experiment: a workload at one load or several, against an endpoint over HTTP ([`run`](Self::run),
/// [`spawn`](Self::spawn)) or whatever else can measure ([`run_with`](Self::run_with)), in either clock.
///
/// By default it is the usual [loads](SweepLoads) of the usual [workload](WorkloadSpec), whose prompts are salted so that no cache of
/// an earlier run helps; one request goes ahead, so that an endpoint that cannot be used is one error and not a thousand failures.
///
/// ```
/// use fizeau_experiment::{Experiment, Rates, SweepLoads};
/// use fizeau_transport::{Backend, Target};
///
/// let target = Target::new("http://127.0.0.1:8000", Backend::Vllm, "llama")?;
/// let experiment = Experiment::new(target)
///     .loads(SweepLoads::new(&[1, 8, 64], Rates::default())?)
///     .slo("p99 ttft<500ms".parse()?);
/// # let _ = experiment;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Experiment {
    target: Target,
    engine: Engine,
    workload: WorkloadSpec,
    loads: SweepLoads,
    protocol: SweepProtocol,
    size: LevelSize,
    slo: Option<Slo>,
    goals: GoodputGoals,
    window: WindowChoice,
    until: Option<Precision>,
    client: ClientSpec,
    reference: Option<Arc<SpeedOfLightReference>>,
    folder: Option<PathBuf>,
    checks: Checks,
    cancel: Cancel,
}

/// What is looked at before the first request that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Checks {
    Endpoint,
    Nothing,
}

impl Experiment {
    /// An experiment on `target`, of the usual loads and the usual workload.
    pub fn new(target: Target) -> Self {
        Self {
            target,
            engine: Engine::Remote { description: None },
            workload: WorkloadSpec::default(),
            loads: SweepLoads::default(),
            protocol: SweepProtocol::default(),
            size: LevelSize { requests: None, time: None, warmup: None },
            slo: None,
            goals: GoodputGoals::NONE,
            window: WindowChoice::AUTO,
            until: None,
            client: ClientSpec::default(),
            reference: None,
            folder: None,
            checks: Checks::Endpoint,
            cancel: Cancel::new(),
        }
    }

    /// What is asked. Arrivals and the number of requests are each level's own.
    pub fn workload(self, workload: WorkloadSpec) -> Self {
        Self { workload, ..self }
    }

    /// At which loads.
    pub fn loads(self, loads: SweepLoads) -> Self {
        Self { loads, ..self }
    }

    /// How it goes on from level to level.
    pub fn protocol(self, protocol: SweepProtocol) -> Self {
        Self { protocol, ..self }
    }

    /// How large a level is.
    pub fn size(self, size: LevelSize) -> Self {
        Self { size, ..self }
    }

    /// What a level must keep to be run at.
    pub fn slo(self, slo: Slo) -> Self {
        Self { slo: Some(slo), ..self }
    }

    /// The goals of single requests, for goodput.
    pub fn goodput(self, goals: GoodputGoals) -> Self {
        Self { goals, ..self }
    }

    /// What is to be known before a level ends; its size is then the most that it may take.
    pub fn until(self, precision: Precision) -> Self {
        Self { until: Some(precision), ..self }
    }

    /// The client that measures.
    pub fn client(self, client: ClientSpec) -> Self {
        Self { client, ..self }
    }

    /// What levels are held against.
    pub fn speed_of_light(self, reference: SpeedOfLightReference) -> Self {
        Self { reference: Some(Arc::new(reference)), ..self }
    }

    /// What the endpoint is, for the record.
    pub fn engine(self, engine: Engine) -> Self {
        Self { engine, ..self }
    }

    /// Keeps the files of each level in a folder of its own within this one, as its requests end, and `sweep.json` at the end.
    pub fn folder(self, folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()), ..self }
    }

    /// What calls it off; what was measured until then is kept.
    pub fn cancel(self, cancel: Cancel) -> Self {
        Self { cancel, ..self }
    }

    /// Sends no request ahead of those that count.
    pub fn without_preflight(self) -> Self {
        Self { checks: Checks::Nothing, ..self }
    }

    /// Runs it over HTTP. A run that is called off gives what it has.
    ///
    /// The future is `!Send`, as the transport is that it checks the endpoint with: see [`spawn`](Self::spawn).
    ///
    /// # Errors
    /// If an input is wrong, the endpoint cannot be used, or something breaks in the midst.
    pub async fn run(&self, watcher: &mut impl Watcher) -> Result<SweepReport, ExperimentError> {
        let sample = self.sample()?;
        let most = self.loads.most_connections(self.size);
        let client = self.client.prepare(ConnectionNeeds::of(most))?;
        let clock = MonotonicClock::new();
        if self.checks == Checks::Endpoint {
            preflight(&self.target, clock, sample.plan(), |_| ()).await?;
        }
        let crew = client.start(&self.target, clock, sample.tokenizer(), &self.cancel)?;
        crew.preconnect(most).await.map_err(EndpointError::new)?;
        self.measure(crew, &sample, &client, watcher).await
    }

    /// Runs it with whatever can measure: a crew or a rig over any transport, in virtual time too. What calls it off is that one's.
    ///
    /// # Errors
    /// If an input is wrong, or something breaks in the midst.
    pub async fn run_with(
        &self,
        with: impl Measure,
        watcher: &mut impl Watcher,
    ) -> Result<SweepReport, ExperimentError> {
        let client = Client::of_record(self.client.thresholds, None, None);
        self.measure(with, &self.sample()?, &client, watcher).await
    }

    /// The workload at the largest level.
    fn sample(&self) -> Result<PreparedWorkload, ExperimentError> {
        let sizes = self.loads.known().into_iter().map(|load| self.size.requests_at(load));
        let requests = self.workload.requests.or_else(|| sizes.max());
        let workload = WorkloadSpec { requests, ..self.workload.clone() };
        Ok(workload.prepare(&self.target)?)
    }

    async fn measure(
        &self,
        with: impl Measure,
        sample: &PreparedWorkload,
        client: &Client,
        watcher: &mut impl Watcher,
    ) -> Result<SweepReport, ExperimentError> {
        self.protocol.check()?;
        let parts = self.workload.parts(&self.target)?;
        let prepared = PreparedSweep {
            spec: SweepSpec {
                levels: self.loads.known(),
                spacing: self.loads.spacing(),
                workload: parts.spec,
                tokenizer: parts.tokenizer,
                dataset: parts.dataset,
                size: self.size,
                goals: self.goals.clone(),
                window: self.window,
                until: self.until.clone(),
            },
            loads: self.loads.clone(),
            protocol: self.protocol.clone(),
            slo: self.slo.clone(),
            profile: Profile::GENERAL,
            setup: self.setup(sample),
            price: None,
            light: self.reference.as_deref().ok_or("no model and device were given"),
            client,
            sample,
            is_by_time: false,
        };
        let folder = self.folder.as_ref().map(RunFolder::create).transpose();
        let folder = folder.map_err(ExperimentError::broken)?;
        watcher.event(Event::Prepared(Box::new(prepared.setup.clone())));
        let scheduler = SweepScheduler::new(&prepared, with, folder.as_ref(), watcher);
        let report = scheduler.run().await?;
        if let Some(folder) = folder {
            folder.write_json("sweep.json", &report).map_err(ExperimentError::broken)?;
        }
        Ok(report)
    }

    fn setup(&self, sample: &PreparedWorkload) -> Setup {
        let (url, here) = (self.target.url(), Host::here());
        let (base_url, path) = split_url(&url);
        let mut workload = sample.described(NonZeroU64::MIN);
        if let Some(arrivals) = self.loads.words() {
            workload.arrivals = arrivals;
        }
        let mut setup = Setup {
            tool: ToolVersion {
                name: "fizeau".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                commit: None,
            },
            started: WallTime::now().rfc3339(),
            command_line: Vec::new(),
            endpoint: Endpoint {
                base_url: base_url.to_owned(),
                path: path.to_owned(),
                backend: self.target.backend().as_str().to_owned(),
                model: self.target.model().to_owned(),
                connections: Connections::default(),
            },
            engine: self.engine.clone(),
            workload,
            host: fizeau_record::Host {
                os: here.system,
                cpu: here.cpu,
                cores: here.logical_cpus.and_then(|n| u32::try_from(n).ok()),
            },
            model_config: None,
            hardware: None,
            deployment: None,
            precision: None,
        };
        self.reference.iter().for_each(|reference| reference.describe_in(&mut setup));
        setup
    }
}
