//! An A/B run: the same requests to two endpoints, in rounds, never at the same time.

mod run;
mod settings;

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use fizeau_core::{Nanos, Timer};
use fizeau_harness::{
    Cancel, DriveError, DriveLimits, LevelRun, Measure, Observer, PlannedLevel, TextAfter,
};
use fizeau_metrics::{ComparisonSide, GoodputGoals};
use fizeau_record::{AbPrompts, FolderError, RunFolder};
use fizeau_workload::{Dataset, Plan, PlanSpec, Salt, Seed, SpecError, TextCodec, WalkError};

pub use run::PreparedAb;
pub use settings::{AbSettings, AbSide};

use crate::sweep::plan_of;

/// What an A/B run asks of both sides.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AbSpec {
    /// How many rounds; in each of them both sides are measured once.
    pub rounds: RoundCount,
    /// What is asked in a round. The seed is set for each round, so that no prompt comes again and no prefix cache carries
    /// over from one round to the next.
    pub workload: PlanSpec,
    /// The tokenizer that makes prompts of exact length; only for workloads that ask for it.
    pub tokenizer: Option<Arc<dyn TextCodec>>,
    /// The records of [`fizeau_workload::PromptContent::Dataset`]; only for workloads that ask for them.
    pub dataset: Option<Arc<Dataset>>,
    /// The load, the same on each side.
    pub load: DriveLimits,
    /// How many requests to send first, on each side in each round, that do not count.
    pub warmup: u64,
    /// A pause before each turn, so that it does not meet what the turn before left behind: queues, clocks, heat. It comes
    /// before the warm-up, so that nothing cools between that and what is measured.
    pub settle: Nanos,
    /// What the prompts of a round have in common.
    pub prompts: AbPrompts,
    /// Per-request goals, for goodput.
    pub goals: GoodputGoals,
    /// What becomes of the text of replies, where the transport keeps it.
    pub text: TextAfter,
}

impl AbSpec {
    /// So many rounds of this workload, without a limit of requests in flight, warm-up or pauses; both sides are asked the same.
    #[must_use]
    pub fn new(rounds: RoundCount, workload: PlanSpec) -> Self {
        Self {
            rounds,
            workload,
            tokenizer: None,
            dataset: None,
            load: DriveLimits { max_in_flight: None, stop_after: None },
            warmup: 0,
            settle: Nanos::ZERO,
            prompts: AbPrompts::Same,
            goals: GoodputGoals::NONE,
            text: TextAfter::Drop,
        }
    }

    /// The seed of round `round`, counted from 1: both sides have the same one.
    pub(crate) fn seed_of(&self, round: u32) -> Seed {
        self.workload.seed.child(round.into())
    }

    /// What `side` is asked in round `round`.
    ///
    /// # Errors
    /// If the workload is impossible.
    pub fn plan(&self, round: u32, side: ComparisonSide) -> Result<Plan, SpecError> {
        let salt = match (self.prompts, side) {
            (AbPrompts::Same, _) => self.workload.salt,
            (AbPrompts::OwnBySide, ComparisonSide::Baseline) => child(self.workload.salt, 1),
            (AbPrompts::OwnBySide, ComparisonSide::Candidate) => child(self.workload.salt, 2),
        };
        let spec = PlanSpec { seed: self.seed_of(round), salt, ..self.workload.clone() };
        plan_of(spec, self.tokenizer.as_ref(), self.dataset.as_ref())
    }
}

fn child(salt: Salt, number: u64) -> Salt {
    Salt(Seed(salt.0).child(number).0)
}

/// How many rounds an A/B run has: at least [`RoundCount::LEAST`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RoundCount(u32);

/// Too few rounds to tell a difference from chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0} are too few: give at least {least}, since fewer cannot tell a difference from chance",
    least = RoundCount::LEAST
)]
pub struct TooFewRounds(pub u32);

impl RoundCount {
    /// The fewest.
    pub const LEAST: u32 = 5;

    /// So many rounds.
    ///
    /// # Errors
    /// If there are fewer than [`RoundCount::LEAST`].
    pub const fn new(rounds: u32) -> Result<Self, TooFewRounds> {
        if rounds < Self::LEAST { Err(TooFewRounds(rounds)) } else { Ok(Self(rounds)) }
    }

    /// As a number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Who goes first in round `round`, counted from 1: A, B, A, B, so that the turns are A B, B A, A B, B A. What drifts
    /// with time is then as often in favour of the one as of the other.
    #[must_use]
    pub const fn first_of(round: u32) -> ComparisonSide {
        if round % 2 == 1 { ComparisonSide::Baseline } else { ComparisonSide::Candidate }
    }

    /// Whose turn it is after `done` turns, and in which round; none when all are done.
    fn turn(self, done: u32) -> Option<UpcomingTurn> {
        let round = done / 2 + 1;
        let side = match (done % 2, Self::first_of(round)) {
            (0, first) => first,
            (_, ComparisonSide::Baseline) => ComparisonSide::Candidate,
            (_, ComparisonSide::Candidate) => ComparisonSide::Baseline,
        };
        (round <= self.0).then_some(UpcomingTurn { round, side })
    }
}

/// A turn that is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpcomingTurn {
    /// In which round, from 1.
    pub round: u32,
    /// Whose turn it is.
    pub side: ComparisonSide,
}

/// One side's turn in a round, measured.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AbTurn {
    /// In which round, from 1.
    pub round: u32,
    /// Whose turn it was.
    pub side: ComparisonSide,
    /// What it asked.
    pub plan: Plan,
    /// What came of it.
    pub run: LevelRun,
    /// Where its files are; none if the run keeps no files.
    pub folder: Option<RunFolder>,
}

/// Why an A/B run ended early. Turns measured before are the caller's already.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AbError<T: std::error::Error> {
    /// The workload is impossible.
    #[error(transparent)]
    Workload(#[from] SpecError),
    /// A folder could not be made.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A turn ended early.
    #[error("round {round}, {side}: {error}")]
    Turn {
        /// In which round, from 1.
        round: u32,
        /// Whose turn it was.
        side: ComparisonSide,
        /// Why.
        error: DriveError<WalkError, T, FolderError>,
    },
}

/// An A/B run under way: each call measures the next turn, so that the caller can keep each as it comes.
///
/// The baseline (A) and the candidate (B) are each measured with a [`WorkerPool`](fizeau_harness::WorkerPool) or a [`TaskDriver`](fizeau_harness::TaskDriver), which
/// share a [`Cancel`]. They are never measured at the same time. Tapes go to the turn's file and to the observer, and are not
/// kept.
#[derive(Debug)]
pub struct AbRunner<'a, M, C> {
    a: M,
    b: M,
    timer: C,
    spec: &'a AbSpec,
    folder: Option<&'a RunFolder>,
    done: u32,
}

impl<'a, M: Measure, C: Timer> AbRunner<'a, M, C> {
    /// A run of `spec` on `a` and `b`, whose pauses `timer` waits for; with a `folder`, each turn gets one of its own inside it.
    #[must_use]
    pub const fn new(
        a: M,
        b: M,
        timer: C,
        spec: &'a AbSpec,
        folder: Option<&'a RunFolder>,
    ) -> Self {
        Self { a, b, timer, spec, folder, done: 0 }
    }

    /// Whose turn it is next; none when all are done.
    #[must_use]
    pub fn upcoming(&self) -> Option<UpcomingTurn> {
        self.spec.rounds.turn(self.done)
    }

    /// Measures the next turn; none when all are done or the run has been interrupted. A turn that was interrupted in its
    /// course is returned, and says so: its round counts for nothing.
    ///
    /// # Errors
    /// If the workload is impossible, a file cannot be written, or a request cannot be expressed for an endpoint.
    pub async fn next_turn(
        &mut self,
        observer: &mut impl Observer,
    ) -> Result<Option<AbTurn>, AbError<M::Error>> {
        let Some(UpcomingTurn { round, side }) = self.upcoming() else { return Ok(None) };
        let with = match side {
            ComparisonSide::Baseline => &mut self.a,
            ComparisonSide::Candidate => &mut self.b,
        };
        let plan = self.spec.plan(round, side)?;
        if pause(&self.timer, self.spec.settle, with.cancel()).await.is_err() {
            return Ok(None);
        }
        let folder = self.folder.map(|folder| folder.level(&turn_name(side, round))).transpose()?;
        let mut kept = folder.as_ref().map(RunFolder::tapes).transpose()?;
        let name = turn_name(side, round);
        let level = PlannedLevel {
            name: &name,
            warmup: self.spec.warmup,
            goals: &self.spec.goals,
            text: self.spec.text,
            ..PlannedLevel::new(&plan, self.spec.load)
        };
        let run = with.measure(level, &mut kept, observer).await;
        let run = run.map_err(|error| AbError::Turn { round, side, error })?;
        self.done += 1;
        Ok(Some(AbTurn { round, side, plan, run, folder }))
    }
}

/// The name of a turn's folder: `a-01`, `b-01`.
#[must_use]
pub fn turn_name(side: ComparisonSide, round: u32) -> String {
    let letter = match side {
        ComparisonSide::Baseline => 'a',
        ComparisonSide::Candidate => 'b',
    };
    format!("{letter}-{round:02}")
}

/// The run was interrupted.
struct CalledOff;

/// Waits for `time`, or until the run is interrupted.
async fn pause(timer: &impl Timer, time: Nanos, cancel: &Cancel) -> Result<(), CalledOff> {
    let mut off = pin!(cancel.cancelled());
    let mut over = pin!(timer.sleep_until(timer.now() + time));
    poll_fn(|cx| match off.as_mut().poll(cx) {
        Poll::Ready(()) => Poll::Ready(Err(CalledOff)),
        Poll::Pending if time == Nanos::ZERO => Poll::Ready(Ok(())),
        Poll::Pending => over.as_mut().poll(cx).map(Ok),
    })
    .await
}
