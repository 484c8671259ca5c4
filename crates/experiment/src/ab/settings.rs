//! What an A/B run is to be, from typed values, before anything is sent.

use std::num::{NonZeroU32, NonZeroU64};

use fizeau_core::Nanos;
use fizeau_harness::{DriveLimits, TextAfter};
use fizeau_metrics::{ComparisonSettings, GoodputGoals, LevelFigure, LoadPacing, Slo};
use fizeau_record::{AbParty, AbPrompts, EndpointRecord, Profile};
use fizeau_transport::Target;
use fizeau_workload::{Pacing, PromptContent, Salt};

use super::{AbSpec, PreparedAb, RoundCount};
use crate::basis::RunBasis;
use crate::client::in_flight;
use crate::endpoint::{EndpointSource, PreparedEndpoint, split_url};
use crate::input::{InputError, InputField};
use crate::level::{check_load, level_load, warmups_of};
use crate::sweep::{LevelSize, check_goals};
use crate::system::{RunOrigin, SystemUnderTest};
use crate::workload::{PlanParts, PreparedWorkload, WorkloadSpec};

/// The requests of a turn where no cap suggests more: enough for a p99.
const REQUESTS: NonZeroU64 = NonZeroU64::new(100).unwrap();

/// What an A/B run is to be: the endpoint of the experiment is the baseline (A), which a candidate (B) is compared with.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AbSettings {
    /// The candidate.
    pub candidate: EndpointSource,
    /// What A and B are called, where somebody gave them names.
    pub names: [Option<String>; 2],
    /// What is asked of both sides, and when. By default ten requests for each slot, and at least a hundred.
    pub workload: WorkloadSpec,
    /// How many rounds.
    pub rounds: RoundCount,
    /// A pause before each turn.
    pub settle: Nanos,
    /// The most requests in flight, on each side alike; none for no limit, which only an open loop and all at once can have.
    pub max_in_flight: Option<NonZeroU32>,
    /// How many requests are sent first in each turn that do not count; none for a tenth of them, at most fifty.
    pub warmups: Option<u64>,
    /// What the prompts of a round have in common; none for the same prompts, unless some server is on both sides.
    pub prompts: Option<AbPrompts>,
    /// The goals of single requests, for goodput.
    pub goals: GoodputGoals,
    /// What each side must keep over its rounds; none where nobody asks.
    pub slo: Option<Slo>,
    /// How strictly the sides are compared; at which figures shows when it is known whether there are tokens.
    pub comparison: ComparisonSettings,
    /// The figures that are asked for by name; empty for the usual ones.
    pub figures: Vec<LevelFigure>,
}

/// A side of an A/B run, ready to be called.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AbSide {
    /// What it is called, where somebody gave it a name.
    pub name: Option<String>,
    /// What is called.
    pub endpoint: PreparedEndpoint,
    /// What that is, for the record.
    pub record: EndpointRecord,
}

impl AbSide {
    pub(super) fn party(&self) -> AbParty {
        AbParty { name: self.name.clone(), endpoint: self.record.clone() }
    }
}

impl AbSettings {
    /// So many rounds of `workload` against `candidate` too, two seconds between turns, compared as by default.
    #[must_use]
    pub fn new(
        candidate: impl Into<EndpointSource>,
        workload: WorkloadSpec,
        rounds: RoundCount,
    ) -> Self {
        Self {
            candidate: candidate.into(),
            names: [None, None],
            workload,
            rounds,
            settle: Nanos::from_secs(2),
            max_in_flight: None,
            warmups: None,
            prompts: None,
            goals: GoodputGoals::NONE,
            slo: None,
            comparison: ComparisonSettings::default(),
            figures: Vec::new(),
        }
    }

    /// The workload, in a form that both sides take: text where one of them takes no token ids.
    fn read(&self, a: &Target, b: &Target) -> Result<PlanParts, InputError> {
        let by_default = |cap: NonZeroU32| LevelSize::default().requests_at(cap.into());
        let requests = self.max_in_flight.map_or(REQUESTS, by_default);
        let requests = self.workload.requests.or(Some(requests));
        let (plainer, other) = if b.takes_token_ids() { (a, b) } else { (b, a) };
        let parts = WorkloadSpec { requests, ..self.workload.clone() }.parts(plainer)?;
        parts.check_sendable(other)?;
        Ok(parts)
    }

    /// The run on `a` and `b`, decided; of both is known what `system` says. Files are read; nothing is sent.
    ///
    /// # Errors
    /// If an input is wrong, a side does not take what a file has, the workload is longer than the models are said to take, or cannot
    /// differ between the sides though it is asked to.
    pub fn prepare(
        &self,
        a: PreparedEndpoint,
        b: PreparedEndpoint,
        system: SystemUnderTest,
        origin: &RunOrigin,
    ) -> Result<PreparedAb, InputError> {
        check_goals(self.slo.as_ref(), Profile::GENERAL, &self.goals)?;
        check_load(&self.workload, self.max_in_flight)?;
        let parts = self.read(&a.target, &b.target)?;
        let (prompts, note) = self.prompts(&parts, &a.target, &b.target)?;
        let work = PreparedWorkload::of(parts.clone())?;
        let [a_name, b_name] = self.names.clone();
        // What was said of the system holds for both; else each is what its endpoint says.
        let said = system.endpoint.clone().filter(|said| *said != a.describe());
        let side = |name, endpoint: PreparedEndpoint| {
            let record = said.clone().unwrap_or_else(|| endpoint.describe());
            AbSide { name, endpoint, record }
        };
        let PlanParts { spec: workload, tokenizer, dataset, .. } = parts;
        let spec = AbSpec {
            rounds: self.rounds,
            workload,
            tokenizer,
            dataset,
            load: DriveLimits { max_in_flight: self.max_in_flight, stop_after: None },
            warmup: warmups_of(work.requests(), self.warmups),
            settle: self.settle,
            prompts,
            goals: self.goals.clone(),
            text: TextAfter::Drop,
        };
        let described = work.described(NonZeroU64::MIN);
        Ok(PreparedAb {
            pace: match work.plan().pacing() {
                Pacing::ClosedLoop => LoadPacing::ClosedLoop,
                Pacing::AtOnce => LoadPacing::AllAtOnce,
                Pacing::OpenLoop { .. } => LoadPacing::OpenLoop,
            },
            load: level_load(&work, NonZeroU64::MIN, self.max_in_flight),
            basis: RunBasis::new(&self.workload, work, described, system, origin)?,
            spec,
            sides: [side(a_name, a), side(b_name, b)],
            comparison: self.comparison.clone(),
            figures: self.figures.clone(),
            slo: self.slo.clone(),
            note,
        })
    }

    /// Whether each side needs prompts of its own, and what is to be known of it.
    fn prompts(
        &self,
        parts: &PlanParts,
        a: &Target,
        b: &Target,
    ) -> Result<(AbPrompts, Option<&'static str>), InputError> {
        let is_fixed = matches!(parts.spec.content, PromptContent::VllmRandom(_));
        match self.prompts {
            Some(AbPrompts::OwnBySide) if is_fixed => {
                let why = "the prompts of vllm-random follow from its seed, and a salt cannot change \
                     them";
                Err(InputError::new(InputField::SidePrompts, why))
            }
            Some(prompts) => Ok((prompts, None)),
            None if !are_one(a, b) => Ok((AbPrompts::Same, None)),
            None if is_fixed || parts.spec.salt == Salt::NONE => Ok((
                AbPrompts::Same,
                Some(
                    "A and B have the same address and get the same prompts, so the server's \
                     prefix cache helps the side that comes second in a round",
                ),
            )),
            None => Ok((
                AbPrompts::OwnBySide,
                Some(
                    "A and B have the same address, so each side gets prompts of its own with the \
                     same lengths; neither finds the other's prompts in a prefix cache",
                ),
            )),
        }
    }
}

impl PreparedAb {
    /// The most requests in flight: both sides keep their connections while the other has its turn.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        let (requests, cap) = (self.basis.work.requests().get(), self.spec.load.max_in_flight);
        in_flight(requests, cap, self.basis.work.plan().pacing()).saturating_mul(2)
    }

    /// What of the workload is not as one might think, each in one line.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.note.map(str::to_owned).into_iter().chain(self.basis.notes()).collect()
    }
}

/// Whether some server is on both sides.
fn are_one(a: &Target, b: &Target) -> bool {
    let origins = |target: &Target| -> Vec<String> {
        target.urls().map(|url| split_url(&url).0.to_owned()).collect()
    };
    let of_b = origins(b);
    origins(a).iter().any(|url| of_b.contains(url))
}
