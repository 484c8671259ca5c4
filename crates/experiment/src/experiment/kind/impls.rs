//! A level, a sweep, a search and an A/B run, each as an experiment.

use std::path::Path;

use fizeau_core::Timer;
use fizeau_harness::{Measure, TextAfter, connections_ahead};
use fizeau_record::{AbReport, RunDocument, RunFolder, StoredRun, SweepReport};
use fizeau_transport::KeepText;
use fizeau_workload::Pacing;

use super::{EndpointKind, ExperimentKind, PreparedRun};
use crate::ab::{AbSettings, PreparedAb};
use crate::basis::RunBasis;
use crate::client::in_flight;
use crate::document::keep_run;
use crate::endpoint::{EndpointSource, PreparedEndpoint};
use crate::event::Watcher;
use crate::experiment::{Experiment, OrderedLevel, check_until};
use crate::input::{Blame, ExperimentError, InputError, InputField};
use crate::level::{LevelSettings, PreparedLevel};
use crate::measured_level::MeasuredLevel;
use crate::search::{PreparedSearch, SearchOutcome, SearchSettings};
use crate::sweep::{PreparedSweep, SweepSettings};
use crate::system::{RunOrigin, SystemUnderTest};
use crate::workload::{ContextLimit, PromptSalt, WorkloadSpec};

/// The only one.
fn alone<T>(mut of: Vec<T>) -> Result<T, ExperimentError> {
    of.pop().ok_or_else(|| ExperimentError::broken("the run has no level to measure"))
}

fn first(endpoints: &[PreparedEndpoint]) -> Result<&PreparedEndpoint, InputError> {
    endpoints
        .first()
        .ok_or_else(|| InputError::new(InputField::BaseUrl, "name at least one server"))
}

macro_rules! runs {
    ($($settings:ty => $prepared:ty,)+) => {
        $(impl ExperimentKind for $settings {
            type Outcome = <$prepared as PreparedRun>::Outcome;

            async fn run(
                experiment: &Experiment<Self>,
                watcher: &mut impl Watcher,
            ) -> Result<Self::Outcome, ExperimentError> {
                // On the heap: a thread of somebody else's may have a small stack.
                let opened = Box::pin(experiment.prepare()?.open(watcher)).await?;
                Box::pin(opened.run(watcher)).await
            }
        })+
    };
}

/// Where what all runs have is in a kind of them.
macro_rules! basis {
    ($($at:ident).+) => {
        fn basis(&self) -> &RunBasis {
            &self.$($at).+
        }

        fn basis_mut(&mut self) -> &mut RunBasis {
            &mut self.$($at).+
        }
    };
}

runs! {
    LevelSettings => PreparedLevel,
    SweepSettings => PreparedSweep,
    SearchSettings => PreparedSearch,
    AbSettings => PreparedAb,
}

impl EndpointKind for LevelSettings {
    type Prepared = PreparedLevel;

    fn workload_mut(&mut self) -> &mut WorkloadSpec {
        &mut self.workload
    }

    fn keep_text(&self) -> KeepText {
        self.workload.keep_text(self.text)
    }

    fn decide(
        &self,
        endpoints: &[PreparedEndpoint],
        system: SystemUnderTest,
        origin: &RunOrigin,
    ) -> Result<PreparedLevel, InputError> {
        self.prepare(&first(endpoints)?.target, system, origin)
    }
}

impl PreparedRun for PreparedLevel {
    type Outcome = MeasuredLevel;

    basis!(basis);

    fn check(&self, limit: &ContextLimit) -> Result<(), InputError> {
        Self::check(self, limit)
    }

    fn most_in_flight(&self) -> u64 {
        let work = &self.basis.work;
        in_flight(work.requests().get(), self.load.max_in_flight, work.plan().pacing())
    }

    fn connections_ahead(&self) -> u64 {
        self.level().connections_ahead()
    }

    fn most_levels(&self) -> Option<u32> {
        Some(1)
    }

    fn requests(&self) -> Option<u64> {
        Some(self.basis.work.requests().get())
    }

    fn uncapped_requests(&self) -> Option<u64> {
        let is_open = matches!(self.basis.work.plan().pacing(), Pacing::OpenLoop { .. });
        self.requests().filter(|_| is_open && self.load.max_in_flight.is_none())
    }

    fn document(&self) -> Result<RunDocument, ExperimentError> {
        Self::document(self)
    }

    fn check_together(&self) -> Result<(), InputError> {
        check_until(self.settings.until.as_ref())?;
        let why = "shards that meet agree on an instant by themselves; give none";
        let given = self.settings.start_at.as_ref();
        given.map_or(Ok(()), |_| Err(InputError::new(InputField::StartAt, why)))
    }

    fn ordered(&self, _: &str) -> Result<OrderedLevel, ExperimentError> {
        Self::ordered(self)
    }

    async fn measure<M: Measure, C: Timer>(
        &self,
        with: Vec<M>,
        _: C,
        folder: Option<&RunFolder>,
        watcher: &mut impl Watcher,
    ) -> Result<MeasuredLevel, ExperimentError> {
        self.run(alone(with)?, folder, watcher).await
    }
}

impl EndpointKind for SweepSettings {
    type Prepared = PreparedSweep;

    fn resume(&self) -> Option<&Path> {
        self.resume.as_deref()
    }

    fn workload_mut(&mut self) -> &mut WorkloadSpec {
        &mut self.workload
    }

    fn keep_text(&self) -> KeepText {
        self.workload.keep_text(TextAfter::Drop)
    }

    fn decide(
        &self,
        endpoints: &[PreparedEndpoint],
        system: SystemUnderTest,
        origin: &RunOrigin,
    ) -> Result<PreparedSweep, InputError> {
        let (target, mut own) = (&first(endpoints)?.target, self.clone());
        let Some(path) = &self.resume else { return own.prepare(target, system, origin) };
        let run = StoredRun::open(path).blame(InputField::Resume)?;
        if run.written().levels.first().is_none_or(|level| level.load.is_none()) {
            let why = format!("{} holds no sweep that can be resumed", path.display());
            return Err(InputError::new(InputField::Resume, why));
        }
        // A salt that nobody chose was drawn: the prompts of a second one would be others.
        let drawn = run.written().salt().filter(|salt| *salt != 0);
        if let (PromptSalt::Fresh, Some(drawn)) = (own.workload.salt, drawn) {
            own.workload.salt = PromptSalt::Given(drawn);
        }
        Ok(own.prepare(target, system, origin)?.resuming(run))
    }
}

impl PreparedRun for PreparedSweep {
    type Outcome = SweepReport;

    basis!(basis);

    fn most_in_flight(&self) -> u64 {
        self.settings.loads.most_connections(self.settings.size)
    }

    fn connections_ahead(&self) -> u64 {
        self.most_in_flight()
    }

    fn most_levels(&self) -> Option<u32> {
        Some(Self::most_levels(self))
    }

    fn document(&self) -> Result<RunDocument, ExperimentError> {
        Self::document(self)
    }

    fn keep(&self, folder: &RunFolder, document: &RunDocument) -> Result<(), ExperimentError> {
        match &self.resumed {
            Some(run) => Ok(Self::check_resumed(run, document)?),
            None => keep_run(folder, document, self.basis.speed_of_light().ok())
                .map_err(ExperimentError::broken),
        }
    }

    fn check_together(&self) -> Result<(), InputError> {
        check_until(self.spec.until.as_ref())
    }

    fn ordered(&self, name: &str) -> Result<OrderedLevel, ExperimentError> {
        Self::ordered(self, name)
    }

    async fn measure<M: Measure, C: Timer>(
        &self,
        with: Vec<M>,
        _: C,
        folder: Option<&RunFolder>,
        watcher: &mut impl Watcher,
    ) -> Result<SweepReport, ExperimentError> {
        self.run(alone(with)?, folder, watcher).await
    }
}

impl EndpointKind for SearchSettings {
    type Prepared = PreparedSearch;

    fn workload_mut(&mut self) -> &mut WorkloadSpec {
        &mut self.levels.workload
    }

    fn keep_text(&self) -> KeepText {
        self.levels.keep_text()
    }

    fn decide(
        &self,
        endpoints: &[PreparedEndpoint],
        system: SystemUnderTest,
        origin: &RunOrigin,
    ) -> Result<PreparedSearch, InputError> {
        self.prepare(&first(endpoints)?.target, system, origin)
    }
}

impl PreparedRun for PreparedSearch {
    type Outcome = SearchOutcome;

    basis!(levels.basis);

    fn most_in_flight(&self) -> u64 {
        self.levels.most_in_flight()
    }

    fn connections_ahead(&self) -> u64 {
        self.levels.connections_ahead()
    }

    fn document(&self) -> Result<RunDocument, ExperimentError> {
        self.levels.document()
    }

    fn check_together(&self) -> Result<(), InputError> {
        self.levels.check_together()
    }

    fn ordered(&self, name: &str) -> Result<OrderedLevel, ExperimentError> {
        self.levels.ordered(name)
    }

    async fn measure<M: Measure, C: Timer>(
        &self,
        with: Vec<M>,
        _: C,
        folder: Option<&RunFolder>,
        watcher: &mut impl Watcher,
    ) -> Result<SearchOutcome, ExperimentError> {
        self.run(alone(with)?, folder, watcher).await
    }
}

impl EndpointKind for AbSettings {
    type Prepared = PreparedAb;

    fn other_endpoint(&self) -> Option<&EndpointSource> {
        Some(&self.candidate)
    }

    fn workload_mut(&mut self) -> &mut WorkloadSpec {
        &mut self.workload
    }

    fn keep_text(&self) -> KeepText {
        self.workload.keep_text(TextAfter::Drop)
    }

    fn decide(
        &self,
        endpoints: &[PreparedEndpoint],
        system: SystemUnderTest,
        origin: &RunOrigin,
    ) -> Result<PreparedAb, InputError> {
        let [a, b] = endpoints else {
            return Err(InputError::new(InputField::BaseUrl, "an A/B run needs two endpoints"));
        };
        self.prepare(a.clone(), b.clone(), system, origin)
    }
}

impl PreparedRun for PreparedAb {
    type Outcome = AbReport;

    basis!(basis);

    fn most_in_flight(&self) -> u64 {
        self.in_flight()
    }

    fn connections_ahead(&self) -> u64 {
        let (plan, cap) = (self.basis.work.plan(), self.spec.load.max_in_flight);
        connections_ahead(plan.requests().get(), cap, plan.pacing())
    }

    fn requests(&self) -> Option<u64> {
        let turns = 2 * u64::from(self.spec.rounds.get());
        Some(self.basis.work.requests().get().saturating_mul(turns))
    }

    fn document(&self) -> Result<RunDocument, ExperimentError> {
        Self::document(self)
    }

    fn ordered(&self, name: &str) -> Result<OrderedLevel, ExperimentError> {
        Self::ordered(self, name)
    }

    async fn measure<M: Measure, C: Timer>(
        &self,
        with: Vec<M>,
        timer: C,
        folder: Option<&RunFolder>,
        watcher: &mut impl Watcher,
    ) -> Result<AbReport, ExperimentError> {
        let mut with = with.into_iter();
        let (Some(a), Some(b)) = (with.next(), with.next()) else {
            return Err(ExperimentError::broken("an A/B run needs two endpoints"));
        };
        self.run(a, b, timer, folder, watcher).await
    }
}
