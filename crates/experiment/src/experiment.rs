//! A whole experiment for a program: from an endpoint, a workload, loads and goals to what came of it.

mod handle;

use std::path::PathBuf;

use fizeau_harness::{Cancel, Measure};
use fizeau_metrics::{GoodputGoals, Precision, Slo};
use fizeau_record::{Engine, RunDocument, RunFolder, SweepReport};
use fizeau_transport::{MonotonicClock, Target};

pub use handle::{EventStream, ExperimentHandle};

use crate::answering::{Answering, RunOrigin};
use crate::client::{Client, ClientSpec, ConnectionNeeds};
use crate::document::keep_run;
use crate::endpoint::{PreparedEndpoint, preflight};
use crate::event::{Event, Watcher};
use crate::input::{EndpointError, ExperimentError};
use crate::runner::ResumedLevels;
use crate::sweep::{
    LevelSize, PreparedSweep, SweepLoads, SweepProtocol, SweepSettings, SweepWorkload,
};
use crate::workload::WorkloadSpec;
use fizeau_record::SpeedOfLightReference;

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
    endpoint: PreparedEndpoint,
    answering: Answering,
    settings: SweepSettings,
    client: ClientSpec,
    origin: RunOrigin,
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
        Self::at(PreparedEndpoint::of(target))
    }

    /// An experiment on an endpoint that was prepared, of the usual loads and the usual workload.
    pub fn at(endpoint: PreparedEndpoint) -> Self {
        Self {
            answering: Answering::new(endpoint.describe(), Engine::Remote { description: None }),
            endpoint,
            settings: SweepSettings::default(),
            client: ClientSpec::default(),
            origin: RunOrigin::now(),
            folder: None,
            checks: Checks::Endpoint,
            cancel: Cancel::new(),
        }
    }

    /// All that a sweep is to be, in place of what was said before.
    pub fn settings(self, settings: SweepSettings) -> Self {
        Self { settings, ..self }
    }

    /// What is asked. Arrivals and the number of requests are each level's own.
    pub fn workload(mut self, workload: WorkloadSpec) -> Self {
        self.settings.workload = workload;
        self
    }

    /// At which loads.
    pub fn loads(mut self, loads: SweepLoads) -> Self {
        self.settings.loads = loads;
        self
    }

    /// How it goes on from level to level.
    pub fn protocol(mut self, protocol: SweepProtocol) -> Self {
        self.settings.protocol = protocol;
        self
    }

    /// How large a level is.
    pub fn size(mut self, size: LevelSize) -> Self {
        self.settings.size = size;
        self
    }

    /// What a level must keep to be run at.
    pub fn slo(mut self, slo: Slo) -> Self {
        self.settings.slo = Some(slo);
        self
    }

    /// The goals of single requests, for goodput.
    pub fn goodput(mut self, goals: GoodputGoals) -> Self {
        self.settings.goals = goals;
        self
    }

    /// What is to be known before a level ends; its size is then the most that it may take.
    pub fn until(mut self, precision: Precision) -> Self {
        self.settings.until = Some(precision);
        self
    }

    /// The client that measures.
    pub fn client(self, client: ClientSpec) -> Self {
        Self { client, ..self }
    }

    /// What levels are held against.
    pub fn speed_of_light(mut self, reference: SpeedOfLightReference) -> Self {
        self.answering.light = Ok(reference);
        self
    }

    /// What the endpoint is, for the record.
    pub fn engine(mut self, engine: Engine) -> Self {
        self.answering.engine = engine;
        self
    }

    /// Who answers, for the record and for what is asked of them: where it is not the endpoint, but some
    /// [`other transport`](Self::run_with).
    pub fn answering(self, answering: Answering) -> Self {
        Self { answering, ..self }
    }

    /// Who runs it, for the record: by default this library, since the experiment was made.
    pub fn origin(self, origin: RunOrigin) -> Self {
        Self { origin, ..self }
    }

    /// Keeps `run.json` in this folder, the files of each level in a folder of its own within it, as its requests end, and `sweep.json`
    /// at the end.
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
        let workload = self.read()?;
        let most = self.settings.loads.most_connections(self.settings.size);
        let client = self.client.prepare(ConnectionNeeds::of(most))?;
        let (clock, sample) = (MonotonicClock::new(), &workload.sample);
        if self.checks == Checks::Endpoint {
            preflight(&self.endpoint.target, clock, sample.plan(), |_| ()).await?;
        }
        let crew = client.start(&self.endpoint.target, clock, sample.tokenizer(), &self.cancel)?;
        crew.preconnect(most).await.map_err(EndpointError::new)?;
        let mut prepared = self.prepare(workload)?;
        let document = self.endpoint.measured(prepared.document()?, &client, &clock)?;
        prepared.client = client;
        self.measure(crew, &prepared, &document, watcher).await
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
        let mut prepared = self.prepare(self.read()?)?;
        prepared.client = Client::of_record(self.client.thresholds, None, None);
        self.measure(with, &prepared, &prepared.document()?, watcher).await
    }

    fn read(&self) -> Result<SweepWorkload, ExperimentError> {
        self.settings.check()?;
        Ok(self.settings.read(&self.endpoint.target)?)
    }

    fn prepare(&self, workload: SweepWorkload) -> Result<PreparedSweep, ExperimentError> {
        Ok(self.settings.prepare(workload, self.answering.clone(), &self.origin)?)
    }

    async fn measure(
        &self,
        with: impl Measure,
        prepared: &PreparedSweep,
        document: &RunDocument,
        watcher: &mut impl Watcher,
    ) -> Result<SweepReport, ExperimentError> {
        let folder = self.folder.as_ref().map(RunFolder::create).transpose();
        let folder = folder.map_err(ExperimentError::broken)?;
        let kept = folder.iter().map(|folder| keep_run(folder, document, prepared.light().ok()));
        kept.collect::<Result<(), _>>().map_err(ExperimentError::broken)?;
        watcher.event(Event::Prepared(Box::new(prepared.setup.clone())));
        prepared.run(with, folder.as_ref(), ResumedLevels::default(), watcher).await
    }
}
