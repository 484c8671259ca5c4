//! An experiment that is decided: made ready, and run.

use fizeau_core::{FailureClass, Prompt, Timer};
use fizeau_harness::{Measure, Pacer, WorkerPool};
use fizeau_record::{ClientCalibration, RunDocument, RunFolder};
use fizeau_transport::{
    ConnectionUse, KeepText, MonotonicClock, RequestError, context_limit, listed_model,
};
use fizeau_workload::Shard;

use super::kind::{EndpointKind, PreparedRun};
use super::preflight::{first_request, preflight};
use super::sharded::{
    ShardOutcome, SharedRun, check_resumed, check_together, follow, lead, tell_others,
};
use super::{Experiment, RunConduct};
use crate::client::MeasuringClient;
use crate::endpoint::{EmptiedCaches, EndpointSource, PreparedEndpoint, needs_of};
use crate::event::{RunEvent, RunNote, Watcher};
use crate::hint::{InputHint, LimitSource};
use crate::input::{Blame, EndpointError, ExperimentError, InputError, InputField};
use crate::profiled::ProfiledLevel;
use crate::shards::{ShardError, ShardGroup, ShardOffer};
use crate::workload::{ContextLimit, PromptSalt};

/// An experiment that is decided, and whose folder is taken. Nothing has been sent.
#[derive(Debug)]
pub struct PreparedExperiment<K: EndpointKind> {
    experiment: Experiment<K>,
    endpoints: Vec<PreparedEndpoint>,
    run: K::Prepared,
    folder: Option<RunFolder>,
}

impl<K: EndpointKind> Experiment<K> {
    /// Decides all that can be decided before anything is sent, and takes the folder, where it is not for shards that have not met. Files are
    /// read.
    ///
    /// # Errors
    /// If an input is wrong, a file cannot be read, or the folder cannot be written.
    pub fn prepare(&self) -> Result<PreparedExperiment<K>, ExperimentError> {
        self.check()?;
        self.check_resumed_by_as_many()?;
        // Of two that take themselves for shard 0 each has to come to where they meet: the folder is taken thereafter.
        let is_taken = self.conduct.meets.is_none() || self.conduct.shards.is_some();
        // What another process may still write is not read; where there is nothing, the run that is missing is refused.
        let resumed = self.settings.resume().filter(|path| is_taken && path.is_dir());
        let resumed = resumed.map(|path| RunFolder::claim_again(path).blame(InputField::Resume));
        let resumed = resumed.transpose()?;
        let (endpoints, run) = self.decide(&self.sources())?;
        let folder = match (resumed, &self.conduct.folder) {
            (None, Some(path)) if is_taken => Some(RunFolder::claim(path).blame(InputField::Out)?),
            (None, Some(path)) if self.settings.resume().is_none() => {
                RunFolder::check_free(path).blame(InputField::Out)?;
                RunFolder::check_writable(path).blame(InputField::Out)?;
                None
            }
            (resumed, _) => resumed,
        };
        Ok(PreparedExperiment { experiment: self.clone(), endpoints, run, folder })
    }

    /// Refuses what was said and would not hold.
    fn check(&self) -> Result<(), InputError> {
        if let Some(field) = self.conduct.discarded_setting {
            let why =
                "the settings that were given later replaced this one; set it in those settings";
            return Err(InputError::new(field, why));
        }
        match (self.settings.resume(), &self.conduct.folder) {
            (Some(resumed), Some(folder)) if resumed != folder => {
                let why = "a sweep that is resumed goes on in its own folder; name no other";
                Err(InputError::new(InputField::Out, why).given(folder.display()))
            }
            _ => Ok(()),
        }
    }

    fn sources(&self) -> Vec<EndpointSource> {
        let own = self.conduct.endpoint.clone();
        std::iter::once(own).chain(self.settings.other_endpoint().cloned()).collect()
    }

    fn decide(
        &self,
        sources: &[EndpointSource],
    ) -> Result<(Vec<PreparedEndpoint>, K::Prepared), ExperimentError> {
        let RunConduct { system, origin, .. } = &self.conduct;
        let keep_text = self.settings.keep_text();
        let endpoints = sources.iter().map(|source| source.prepare(keep_text));
        let endpoints: Vec<PreparedEndpoint> = endpoints.collect::<Result<_, _>>()?;
        let mut system = system.clone();
        let called = endpoints.first().map(PreparedEndpoint::describe);
        system.endpoint = system.endpoint.or(called);
        let mut settings = self.settings.clone();
        let salt = &mut settings.workload_mut().salt;
        if let (Some(group), PromptSalt::Fresh) = (&self.conduct.shards, *salt) {
            *salt = PromptSalt::Given(group.salt());
        }
        let run = settings.decide(&endpoints, system, origin)?;
        let met = self.conduct.shards.as_ref().map(ShardGroup::missing);
        if let Some(missing) = met.or_else(|| Some(self.conduct.meets.as_ref()?.missing)) {
            check_together(&run, &endpoints, missing)?;
        }
        ProfiledLevel::of(&endpoints).check(run.most_levels())?;
        Ok((endpoints, run))
    }
}

impl<K: EndpointKind> PreparedExperiment<K> {
    /// It, decided.
    pub const fn prepared(&self) -> &K::Prepared {
        &self.run
    }

    /// The endpoint that is called; of an A/B run the baseline, which comes first, and the candidate.
    pub fn endpoints(&self) -> &[PreparedEndpoint] {
        &self.endpoints
    }

    /// Where its files are; none where it keeps none. Nobody else takes it until the last clone of it is dropped.
    pub const fn folder(&self) -> Option<&RunFolder> {
        self.folder.as_ref()
    }

    /// The shards that measure it together, once they have met.
    pub const fn shards(&self) -> Option<&ShardGroup> {
        self.experiment.conduct.shards.as_ref()
    }

    /// Waits for the other shards, where it is [measured by](Experiment::measured_by) several that have not met; what one alone can find
    /// wrong with it was refused before. It blocks until they are there.
    ///
    /// # Errors
    /// If one of them does not come, or they are not of one run.
    pub fn meet(mut self) -> Result<Self, ExperimentError> {
        let conduct = &self.experiment.conduct;
        let Some(spec) = conduct.meets.as_ref().filter(|_| conduct.shards.is_none()) else {
            return Ok(self);
        };
        let resumed = self.experiment.settings.resume();
        let resumed = resumed.map(|path| ShardOffer::resuming(path.to_path_buf()));
        let offer = match resumed.transpose().blame(InputField::Resume)? {
            Some(offer) => offer,
            None => ShardOffer { out: conduct.folder.clone(), ..ShardOffer::default() },
        };
        let group = ShardGroup::meet(spec, offer, &conduct.cancel)?;
        // Shard 0 drew the salt of the prompts of all.
        self.experiment.conduct.shards = Some(group.clone());
        let prepared = self.experiment.prepare();
        tell_others(Some(&group), prepared)
    }

    /// What calls it off.
    #[cfg(feature = "simulate")]
    pub(crate) const fn cancel(&self) -> &fizeau_harness::Cancel {
        &self.experiment.conduct.cancel
    }

    /// Whether whatever measures it has to keep the text of replies.
    pub fn keep_text(&self) -> KeepText {
        self.experiment.settings.keep_text()
    }

    /// The same, with a client of which is known what it can do at most.
    #[must_use]
    pub fn calibrated(mut self, calibration: ClientCalibration) -> Self {
        let client = &mut self.run.basis_mut().client;
        *client = std::mem::take(client).calibrated(calibration);
        self
    }

    /// Makes ready to measure over HTTP: [meets](Self::meet) the other shards, sees that there is room for the client, finds out what
    /// endpoints are where that is asked for, and whether they answer.
    ///
    /// # Errors
    /// If a shard does not come, the system has no room, the workload is longer than the server says it takes, or an endpoint cannot be used.
    pub async fn open(self, watcher: &mut impl Watcher) -> Result<Self, ExperimentError> {
        let mut met = self.meet()?;
        let group = met.shards().cloned();
        tell_others(group.as_ref(), met.open_alone(watcher).await)?;
        Ok(met)
    }

    /// The same, of who has met whom there is to meet. In place: an experiment that is handed on by value is on the stack once more.
    async fn open_alone(&mut self, watcher: &mut impl Watcher) -> Result<(), ExperimentError> {
        self.prepare_client()?;
        self.announce(watcher);
        let mut sources = self.experiment.sources();
        let mut is_found = false;
        for source in &mut sources {
            if let Some(found) = source.detect().await? {
                watcher.event(RunEvent::Detected(Box::new(found.clone())));
                let light = &mut self.experiment.conduct.system.light;
                if let (Ok(reference), Some(server)) = (light, &found.server) {
                    *reference = reference.clone().answered_by(server);
                }
                *source = source.as_found(found);
                is_found = true;
            }
        }
        if is_found {
            (self.endpoints, self.run) = self.experiment.decide(&sources)?;
            self.prepare_client()?;
        }
        let Err(error) = self.check_each(watcher).await else { return Ok(()) };
        self.with_text_prompts(error, watcher).await
    }

    /// Where a server refused token ids (`error`) and takes the same prompt as text, the run sends text.
    async fn with_text_prompts(
        &mut self,
        error: ExperimentError,
        watcher: &mut impl Watcher,
    ) -> Result<(), ExperimentError> {
        let prompt = first_request(self.run.basis().work.plan()).map(|request| request.prompt);
        let refused = match &error {
            ExperimentError::Endpoint(refused) if is_refusal(refused) => {
                refused.message().to_owned()
            }
            _ => return Err(error),
        };
        if !matches!(prompt, Ok(Prompt::TokenIds(_))) {
            return Err(error);
        }
        let as_text = |endpoint: &PreparedEndpoint| {
            let target = endpoint.target.clone().with_text_prompts();
            PreparedEndpoint { target, ..endpoint.clone() }.into()
        };
        let sources: Vec<EndpointSource> = self.endpoints.iter().map(as_text).collect();
        let Ok(decided) = self.experiment.decide(&sources) else { return Err(error) };
        (self.endpoints, self.run) = decided;
        self.prepare_client()?;
        if self.check_each(watcher).await.is_err() {
            return Err(error);
        }
        watcher.event(RunEvent::Note(RunNote::TextPrompts { refused }));
        Ok(())
    }

    async fn check_each(&self, watcher: &mut impl Watcher) -> Result<(), ExperimentError> {
        for endpoint in &self.endpoints {
            self.check(endpoint, watcher).await?;
        }
        Ok(())
    }

    fn prepare_client(&mut self) -> Result<(), ExperimentError> {
        let needs = needs_of(&self.endpoints, self.run.most_in_flight());
        self.run.basis_mut().client = self.experiment.conduct.client.prepare(needs)?;
        Ok(())
    }

    /// Says what one might not expect of where requests go and of what they need, before the first of them leaves.
    fn announce(&self, watcher: &mut impl Watcher) {
        let mut note = |note| watcher.event(RunEvent::Note(note));
        for PreparedEndpoint { reached, target, .. } in &self.endpoints {
            let urls: Vec<String> = target.urls().collect();
            if reached.is_unchecked(&urls) {
                note(RunNote::Unchecked);
            }
            reached.proxies(&urls).into_iter().for_each(|proxy| note(RunNote::Proxy(proxy)));
        }
        let client = &self.run.basis().client;
        let is_per_request = |endpoint: &PreparedEndpoint| {
            endpoint.reached.connection_use == ConnectionUse::PerRequest
        };
        let requests = self.run.requests().filter(|_| self.endpoints.iter().any(is_per_request));
        if let Some((requests, limit)) = requests.and_then(|n| Some((n, client.scarce_ports(n)?))) {
            note(RunNote::ScarcePorts { requests, limit });
        }
        let uncapped = self.run.uncapped_requests();
        if let Some((requests, limit)) =
            uncapped.and_then(|n| Some((n, client.scarce_connections(n)?)))
        {
            note(RunNote::ScarceConnections { requests, limit });
        }
    }

    /// Refuses a workload that is too long for the model as the server says, where nobody else has said how much it takes; then asks each
    /// server for one reply. Not to know is nothing to fail over.
    async fn check(
        &self,
        endpoint: &PreparedEndpoint,
        watcher: &mut impl Watcher,
    ) -> Result<(), ExperimentError> {
        let (target, basis) = (&endpoint.target, self.run.basis());
        if basis.limit.is_none()
            && let Ok(Some(tokens)) = context_limit(target).await
        {
            self.run.check(&ContextLimit::new(tokens, LimitSource::Server))?;
        }
        preflight(target, MonotonicClock::new(), basis.work.plan(), watcher).await?;
        // A server that takes any name says in its list which model it has.
        if let Ok(Some(served)) = listed_model(target).await
            && served != target.model()
            && served.split(':').next() != Some(target.model())
        {
            let requested = target.model().to_owned();
            watcher.event(RunEvent::Note(RunNote::OtherModel { requested, served }));
        }
        Ok(())
    }

    /// Runs it over HTTP. A run that is interrupted gives what it has.
    ///
    /// # Errors
    /// If the endpoint cannot be used, something breaks in the midst, or what comes of it is at another shard.
    pub async fn run(
        self,
        watcher: &mut impl Watcher,
    ) -> Result<<K::Prepared as PreparedRun>::Outcome, ExperimentError> {
        match Box::pin(self.run_shared(watcher)).await? {
            ShardOutcome::Whole(outcome) => Ok(outcome),
            ShardOutcome::Cut { why, .. } => Err(ShardError::PeerMissing(why).into()),
            ShardOutcome::Part(part) => Err(ExperimentError::told(part)),
        }
    }

    /// Runs it over HTTP together with the other shards of its [group](Experiment::shards), or alone where it has none: shard 0 has what
    /// comes of all of them, the others their parts.
    ///
    /// # Errors
    /// If the endpoint cannot be used, something breaks in the midst, the shards are not of one run, or one of them is gone.
    pub async fn run_shared(
        self,
        watcher: &mut impl Watcher,
    ) -> Result<ShardOutcome<<K::Prepared as PreparedRun>::Outcome>, ExperimentError> {
        let (group, folder) = (self.experiment.conduct.shards.clone(), self.folder.clone());
        // On the heap, as in what calls this.
        let outcome = match &group {
            Some(group) => {
                tell_others(Some(group), Box::pin(self.run_together(group, watcher)).await)
            }
            None => Box::pin(self.run_alone(watcher)).await.map(ShardOutcome::Whole),
        };
        let is_unsent = match (&outcome, &group) {
            (Ok(_), _) => false,
            (Err(_), Some(group)) => !group.has_begun(),
            (Err(error), None) => {
                matches!(error, ExperimentError::Shards(ShardError::LateStart(_)))
            }
        };
        // The same command is not to find a run there of which there is nothing.
        folder.iter().filter(|_| is_unsent).for_each(RunFolder::withdraw);
        outcome
    }

    async fn run_alone(
        mut self,
        watcher: &mut impl Watcher,
    ) -> Result<<K::Prepared as PreparedRun>::Outcome, ExperimentError> {
        let clock = MonotonicClock::new();
        self.find_metrics(clock, watcher)?;
        let pools = self.pools(clock, Shard::WHOLE).await?;
        let document = self.document(&clock)?;
        let basis = self.run.basis_mut();
        basis.caches = EmptiedCaches::of(&self.endpoints);
        basis.profiled = ProfiledLevel::of(&self.endpoints);
        self.measure(pools, Pacer::new(clock), &document, watcher).await
    }

    async fn run_together(
        mut self,
        group: &ShardGroup,
        watcher: &mut impl Watcher,
    ) -> Result<ShardOutcome<<K::Prepared as PreparedRun>::Outcome>, ExperimentError> {
        let clock = group.clock();
        let document = self.document(&clock)?;
        check_resumed(group, &document, self.run.basis())?;
        group.agree(&document)?;
        let pools = self.pools(clock, group.shard()).await?;
        if !group.is_first() {
            return Ok(ShardOutcome::Part(follow(&self.run, pools, group, &document).await?));
        }
        self.find_metrics(clock, watcher)?;
        self.run.basis_mut().client.shards = Some(group.clone());
        let folder = self.folder();
        self.keep(&document, watcher)?;
        let timer = Pacer::new(clock);
        let shared = SharedRun { group, document: &document, folder };
        lead(&self.run, pools, timer, shared, watcher).await
    }

    /// Finds the pages of metrics that are read beside the levels.
    fn find_metrics(
        &mut self,
        clock: MonotonicClock,
        watcher: &mut impl Watcher,
    ) -> Result<(), ExperimentError> {
        let Some(spec) = &self.experiment.conduct.telemetry else { return Ok(()) };
        let Some(endpoint) = self.endpoints.last() else { return Ok(()) };
        let telemetry = spec.find(endpoint, clock, watcher)?;
        // Of an A/B run the candidate is read alone: to know what reading costs is what it is for.
        if telemetry.is_empty() && self.endpoints.len() > 1 {
            let why = "the candidate's pages cannot be read, so both sides would be alike";
            return Err(EndpointError::new(why).into());
        }
        self.run.basis_mut().telemetry = Some(telemetry);
        Ok(())
    }

    /// The threads that measure each endpoint, with the connections that `shard` needs before the first request.
    async fn pools(
        &self,
        clock: MonotonicClock,
        shard: Shard,
    ) -> Result<Vec<WorkerPool<RequestError>>, ExperimentError> {
        let (basis, mut pools) = (self.run.basis(), Vec::new());
        for PreparedEndpoint { target, .. } in &self.endpoints {
            let (tokenizer, cancel) = (basis.work.tokenizer(), &self.experiment.conduct.cancel);
            let pool = basis.client.start(target, clock, tokenizer, cancel)?;
            let ready = pool.preconnect(shard.share_of(self.run.connections_ahead())).await;
            ready.map_err(EndpointError::new)?;
            pools.push(pool);
        }
        Ok(pools)
    }

    /// What goes on record of it, measured by `clock`.
    fn document(&self, clock: &MonotonicClock) -> Result<RunDocument, ExperimentError> {
        let document = self.run.document()?;
        match self.endpoints.first() {
            Some(endpoint) => endpoint.measured(document, &self.run.basis().client, clock),
            None => Ok(document),
        }
    }

    /// Runs it with whatever can measure: a worker pool or a rig over any transport, in virtual time too. What calls it off is that one's.
    ///
    /// # Errors
    /// If something breaks in the midst, or it is of two endpoints.
    pub async fn run_with(
        self,
        with: impl Measure,
        watcher: &mut impl Watcher,
    ) -> Result<<K::Prepared as PreparedRun>::Outcome, ExperimentError> {
        self.run_with_each(vec![with], Pacer::new(MonotonicClock::new()), watcher).await
    }

    /// As [`run_with`](Self::run_with), with one of `with` for each endpoint; `timer` waits for the pauses between.
    ///
    /// # Errors
    /// If something breaks in the midst, or there are too few.
    pub async fn run_with_each<M: Measure, C: Timer>(
        mut self,
        with: Vec<M>,
        timer: C,
        watcher: &mut impl Watcher,
    ) -> Result<<K::Prepared as PreparedRun>::Outcome, ExperimentError> {
        let thresholds = self.experiment.conduct.client.thresholds;
        self.run.basis_mut().client = MeasuringClient::of_record(thresholds, None, None);
        self.measure(with, timer, &self.run.document()?, watcher).await
    }

    async fn measure<M: Measure, C: Timer>(
        &self,
        with: Vec<M>,
        timer: C,
        document: &RunDocument,
        watcher: &mut impl Watcher,
    ) -> Result<<K::Prepared as PreparedRun>::Outcome, ExperimentError> {
        self.keep(document, watcher)?;
        Box::pin(self.run.measure(with, timer, self.folder(), watcher)).await
    }

    /// Puts it on record, and says that it begins.
    fn keep(
        &self,
        document: &RunDocument,
        watcher: &mut impl Watcher,
    ) -> Result<(), ExperimentError> {
        self.folder().map_or(Ok(()), |folder| self.run.keep(folder, document))?;
        watcher.event(RunEvent::Prepared(Box::new(self.run.basis().setup.clone())));
        Ok(())
    }
}

/// Whether a server said that it does not want the request, as it may do of token ids.
const fn is_refusal(error: &EndpointError) -> bool {
    matches!(
        error.hint,
        Some(InputHint::Failed {
            class: FailureClass::Status,
            status: Some(400 | 404 | 415 | 422 | 500),
            ..
        })
    )
}
