//! What a sweep is to be, from typed values, before an endpoint or a file is looked at.

use std::num::NonZeroU64;
use std::path::PathBuf;

use fizeau_core::Nanos;
use fizeau_metrics::{GoodputGoals, Metric, Precision, Slo, WindowChoice};
use fizeau_record::{GoalSource, Profile};
use fizeau_roofline::HourlyRate;
use fizeau_transport::Target;

use super::{
    LEVEL_TIME, LEVEL_TIME_UNTIL_KNOWN, LevelSize, PreparedSweep, SweepLoads, SweepProtocol,
    SweepSpec,
};
use crate::basis::RunBasis;
use crate::hint::InputHint;
use crate::input::{Blame, InputError, InputField};
use crate::system::{PromptReader, RunOrigin, SystemUnderTest};
use crate::workload::{PreparedWorkload, WorkloadSpec};

/// What a sweep is to be. By default the usual [loads](SweepLoads) of the usual [workload](WorkloadSpec), each measured once for
/// [`LEVEL_TIME`], until more load brings nothing.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SweepSettings {
    /// What is asked. Arrivals are each level's own, and so is the number of requests.
    pub workload: WorkloadSpec,
    /// At which loads.
    pub loads: SweepLoads,
    /// How large a level is. Where it says no time, a level of a server lasts [`LEVEL_TIME`], or [`LEVEL_TIME_UNTIL_KNOWN`] where it
    /// ends once a figure is known; one of a simulated engine as long as its requests take. Where it says no number of requests, a
    /// closed loop of a workload without end goes on until its time is up.
    pub size: LevelSize,
    /// How it goes on from level to level.
    pub protocol: SweepProtocol,
    /// What a level must keep to be run at; none for the [usual goals](Self::USUAL_GOALS), which are then said to be assumed.
    pub slo: Option<Slo>,
    /// What is put first among the levels that do.
    pub profile: Profile,
    /// The goals of single requests, for goodput.
    pub goals: GoodputGoals,
    /// Which part of each level is looked at beside the whole.
    pub window: WindowChoice,
    /// What is to be known before a level ends; its size is then the most that it may take.
    pub until: Option<Precision>,
    /// What an hour of a device costs; none for the lowest that was published of it.
    pub price: Option<HourlyRate>,
    /// The folder of a sweep that was interrupted, to resume: it must have been of these settings, and what is finished there is not
    /// measured again.
    pub resume: Option<PathBuf>,
}

impl Default for SweepSettings {
    fn default() -> Self {
        Self {
            workload: WorkloadSpec::default(),
            loads: SweepLoads::default(),
            size: LevelSize::default(),
            protocol: SweepProtocol::default(),
            slo: None,
            profile: Profile::GENERAL,
            goals: GoodputGoals::NONE,
            window: WindowChoice::AUTO,
            until: None,
            price: None,
            resume: None,
        }
    }
}

impl SweepSettings {
    /// The goals where none are given: what a person who chats would call prompt and fluent. To miss them is no failure.
    pub const USUAL_GOALS: &str = "p99 ttft<500ms, p99 tpot<20ms";

    /// Refuses what no workload and no endpoint could mend.
    ///
    /// # Errors
    /// If a level takes no time, the protocol cannot be carried out, or good requests are asked for and nothing says
    /// which are.
    pub fn check(&self) -> Result<(), InputError> {
        check_goals(self.slo.as_ref(), self.profile, &self.goals)?;
        self.size.check()?;
        self.protocol.check()
    }

    /// How long a level that `reader` answers releases requests at most.
    pub(crate) fn level_time(&self, reader: PromptReader) -> Option<Nanos> {
        let usual = || match (reader, self.until.as_ref().map(Precision::earliest_end)) {
            (PromptReader::Simulation, _) => None,
            (PromptReader::Server, Some(None)) => Some(LEVEL_TIME_UNTIL_KNOWN),
            (PromptReader::Server, Some(Some(_)) | None) => Some(LEVEL_TIME),
        };
        self.size.time.or_else(usual)
    }

    /// The sweep that `target` is asked, decided. Files are read; nothing is sent.
    ///
    /// # Errors
    /// If an input is wrong, a file cannot be read, or a request is longer than the model is known to take.
    pub fn prepare(
        &self,
        target: &Target,
        system: SystemUnderTest,
        origin: &RunOrigin,
    ) -> Result<PreparedSweep, InputError> {
        self.check()?;
        let mut settings = self.clone();
        settings.size.time = self.level_time(system.reader);
        let goal_source = match settings.slo {
            Some(_) => GoalSource::Given,
            None => {
                settings.slo = Some(Self::USUAL_GOALS.parse().blame(InputField::Slo)?);
                GoalSource::Assumed
            }
        };
        settings.decided(goal_source, target, system, origin)
    }

    /// The sweep of these settings, which say all that there is to say.
    fn decided(
        self,
        goal_source: GoalSource,
        target: &Target,
        system: SystemUnderTest,
        origin: &RunOrigin,
    ) -> Result<PreparedSweep, InputError> {
        let parts = WorkloadSpec { requests: self.requests(), ..self.workload.clone() };
        let parts = parts.parts(target)?;
        let work = PreparedWorkload::of(parts.clone())?;
        let mut size = self.size;
        if self.until.is_some() {
            size.requests = Some(work.requests());
        }
        let mut described = work.described(NonZeroU64::MIN);
        if let Some(arrivals) = self.loads.words() {
            described.arrivals = arrivals;
        }
        let is_served = system.reader == PromptReader::Server;
        let basis = RunBasis::new(&self.workload, work, described, system, origin)?;
        let published = || basis.light.as_ref().ok()?.published_price();
        Ok(PreparedSweep {
            spec: SweepSpec {
                levels: self.loads.known(),
                spacing: self.loads.spacing(),
                requests_per_session: basis.work.requests_per_arrival(),
                workload: if is_served { parts.spec } else { parts.unread_spec() },
                tokenizer: parts.tokenizer,
                dataset: parts.dataset,
                size,
                goals: self.goals.clone(),
                window: self.window,
                until: self.until.clone(),
            },
            price: self.price.clone().or_else(published),
            is_by_time: is_served
                && size.time.is_some()
                && size.requests.is_none()
                && self.workload.source.is_endless(),
            settings: self,
            goal_source,
            resumed: None,
            basis,
        })
    }

    /// How many requests the largest of its levels has.
    fn requests(&self) -> Option<NonZeroU64> {
        let most = || match (&self.until, self.size.requests) {
            (Some(_), None) => self.workload.most_until_known(),
            _ => self.loads.known().into_iter().map(|load| self.size.requests_at(load)).max(),
        };
        self.workload.requests.or_else(most)
    }
}

/// Refuses what could not be judged afterwards: goals on good requests, and the profile that puts them first, where no `goals` say
/// which requests are good.
///
/// # Errors
/// What could not be judged.
pub fn check_goals(
    slo: Option<&Slo>,
    profile: Profile,
    goals: &GoodputGoals,
) -> Result<(), InputError> {
    let needs = |field| {
        let why = "the share of good requests needs goals for single requests";
        InputError::new(field, why).hint(InputHint::NeedsGoodput)
    };
    let is_about = |metric| matches!(metric, Metric::GoodShare | Metric::GoodputPerSec);
    let of_slo = slo.and_then(|slo| slo.goals.iter().find(|goal| is_about(goal.metric)));
    match of_slo {
        _ if *goals != GoodputGoals::NONE => Ok(()),
        Some(goal) => Err(needs(InputField::Slo).given(goal)),
        None if profile.name == Profile::AGENT.name => {
            Err(needs(InputField::Profile).given(profile.name))
        }
        None => Ok(()),
    }
}
