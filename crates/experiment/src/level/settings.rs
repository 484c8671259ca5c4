//! What one level is to be, from typed values, before an endpoint or a file is looked at.

use std::num::{NonZeroU32, NonZeroU64};

use fizeau_core::{LevelLoad, Nanos, Seconds};
use fizeau_harness::{DriveLimits, TextAfter};
use fizeau_metrics::{GoodputGoals, Precision, Slo, WindowChoice};
use fizeau_record::Profile;
use fizeau_roofline::HourlyRate;
use fizeau_transport::Target;
use fizeau_workload::{ArrivalLaw, Pacing, RampSpan, Shard};

use super::{PreparedLevel, ProbeSpec, cap_of};
use crate::basis::RunBasis;
use crate::hint::InputHint;
use crate::input::{InputError, InputField};
use crate::shards::StartTime;
use crate::sweep::{LevelSize, check_goals};
use crate::system::{PromptReader, RunOrigin, SystemUnderTest};
use crate::workload::{PreparedWorkload, PromptSalt, PromptSource, WorkloadSpec};

/// What one level is to be. By default a thousand requests of the usual [workload](WorkloadSpec). The load is for you to say: how many are
/// [in flight](Self::max_in_flight), or the workload's [arrivals](WorkloadSpec::arrivals).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LevelSettings {
    /// What is asked, how often and when.
    pub workload: WorkloadSpec,
    /// The most requests in flight, of all shards together; none for no limit, which only an open loop and all at once can have.
    pub max_in_flight: Option<NonZeroU32>,
    /// How many requests are sent first that do not count; none for a tenth of the level, at most fifty.
    pub warmups: Option<u64>,
    /// Which share of it is sent from here.
    pub shard: Shard,
    /// The instant of the wall clock at which it begins, after its warm-up; none for as soon as it can.
    pub start_at: Option<StartTime>,
    /// A thin stream of small requests beside it.
    pub probe: Option<ProbeSpec>,
    /// Release nothing more after this time. Where nobody says how many requests there are, a workload without end then has as many
    /// as the time has room for, and a ramp over requests is one over the time.
    pub time: Option<Nanos>,
    /// What the level must keep; none where nobody asks.
    pub slo: Option<Slo>,
    /// The goals of single requests, for goodput.
    pub goals: GoodputGoals,
    /// Which part of it is looked at beside the whole.
    pub window: WindowChoice,
    /// What is to be known before it ends; its requests are then the most that are sent.
    pub until: Option<Precision>,
    /// What becomes of the text of replies.
    pub text: TextAfter,
    /// What an hour of a device costs, where somebody says.
    pub price: Option<HourlyRate>,
}

impl Default for LevelSettings {
    fn default() -> Self {
        Self {
            workload: WorkloadSpec::default(),
            max_in_flight: None,
            warmups: None,
            shard: Shard::WHOLE,
            start_at: None,
            probe: None,
            time: None,
            slo: None,
            goals: GoodputGoals::NONE,
            window: WindowChoice::AUTO,
            until: None,
            text: TextAfter::Drop,
            price: None,
        }
    }
}

impl LevelSettings {
    /// The level that `target` is asked, decided. Files are read; nothing is sent.
    ///
    /// # Errors
    /// If an input is wrong, a file cannot be read, or a request is longer than the model is known to take.
    pub fn prepare(
        &self,
        target: &Target,
        system: SystemUnderTest,
        origin: &RunOrigin,
    ) -> Result<PreparedLevel, InputError> {
        self.check_shard()?;
        check_goals(self.slo.as_ref(), Profile::GENERAL, &self.goals)?;
        LevelSize { time: self.time, ..LevelSize::default() }.check()?;
        check_load(&self.workload, self.max_in_flight)?;
        let workload = self.sized_workload()?;
        let work = workload.prepare(target)?.ended_after(self.time)?;
        let work = match system.reader {
            PromptReader::Simulation => work.unread()?,
            PromptReader::Server => work,
        };
        let ends = [
            (InputField::Until, self.until.is_some()),
            (InputField::LevelSeconds, self.time.is_some()),
        ];
        if let Some((field, _)) = ends.into_iter().find(|(_, is_given)| *is_given)
            && work.plan().pacing() == Pacing::AtOnce
        {
            let why = "all requests would leave at once";
            return Err(InputError::new(field, why).hint(InputHint::NeedsLoad));
        }
        let probe = self.probe.map(|probe| probe.plan(target, &workload, work.salt()));
        let one_in = self.shard.count();
        let cap = self.max_in_flight.map(|cap| cap_of(self.shard, cap));
        let cap = cap.map(|cap| NonZeroU32::new(cap).unwrap_or(NonZeroU32::MIN));
        let level_load = level_load(&work, one_in, cap);
        let described = work.described(one_in);
        let level = PreparedLevel {
            basis: RunBasis::new(&workload, work, described, system, origin)?,
            settings: Self { workload, ..self.clone() },
            load: DriveLimits { max_in_flight: cap, stop_after: self.time },
            level_load,
            probe: probe.transpose()?,
        };
        level.basis.limit.iter().try_for_each(|limit| level.check(limit))?;
        Ok(level)
    }

    /// What is asked, with as many requests as the level has room for where nobody says how many.
    fn sized_workload(&self) -> Result<WorkloadSpec, InputError> {
        let mut workload = self.workload.clone();
        if workload.requests.is_some() {
            return Ok(workload);
        }
        let ramp = match &mut workload.arrivals {
            ArrivalLaw::Ramp { over: over @ RampSpan::Requests, .. } => Some(over),
            _ => None,
        };
        match (ramp, self.time) {
            (Some(over), Some(time)) => *over = RampSpan::Time(Seconds::new(time.as_secs_f64())),
            (Some(_), None) if self.until.is_some() => {
                let why = "a ramp goes over all requests or over a time, and nothing says how many or how long";
                return Err(InputError::new(InputField::Arrivals, why));
            }
            _ => {}
        }
        workload.most = match (&self.until, self.time) {
            (Some(_), _) => workload.most_until_known(),
            (None, Some(time)) => workload.most_in(time),
            (None, None) => None,
        };
        Ok(workload)
    }

    /// Refuses shares that would not be of one run.
    fn check_shard(&self) -> Result<(), InputError> {
        let is_drawn = self.workload.salt == PromptSalt::Fresh
            && !matches!(self.workload.source, PromptSource::VllmRandom(_));
        if self.shard == Shard::WHOLE || !is_drawn {
            return Ok(());
        }
        let why = "each shard would draw a salt of its own";
        Err(InputError::new(InputField::Shard, why).given(self.shard).hint(InputHint::SameSalt))
    }
}

/// Refuses a closed loop of which nobody said how many requests it holds in flight: all of them would leave at once. A trace whose times
/// are left out may do that.
pub(crate) fn check_load(
    workload: &WorkloadSpec,
    cap: Option<NonZeroU32>,
) -> Result<(), InputError> {
    let is_trace = matches!(workload.source, PromptSource::Trace(_));
    if cap.is_some() || is_trace || workload.arrivals != ArrivalLaw::ClosedLoop {
        return Ok(());
    }
    let why = "a closed loop holds so many requests in flight, and nothing says how many";
    Err(InputError::new(InputField::MaxConcurrency, why).hint(InputHint::NeedsLoad))
}

/// As many requests first as were `given`, or by default: a tenth of the run, at most the fifty that good methodology asks for.
pub(crate) fn warmups_of(requests: NonZeroU64, given: Option<u64>) -> u64 {
    given.unwrap_or_else(|| requests.get().div_ceil(10).min(50))
}

/// The rate of requests, all turns counted, where the load has one; else how many are in flight.
pub(crate) fn level_load(
    work: &PreparedWorkload,
    one_in: NonZeroU64,
    cap: Option<NonZeroU32>,
) -> LevelLoad {
    if let (Pacing::OpenLoop { .. }, Some(rate)) = (work.plan().pacing(), work.mean_rate()) {
        let share = work.requests_per_arrival() / one_in.get() as f64;
        return LevelLoad::Rate(rate * share);
    }
    let all = NonZeroU32::try_from(work.requests()).unwrap_or(NonZeroU32::MAX);
    LevelLoad::Concurrency(cap.map_or(all, |cap| cap.min(all)))
}
