//! One level of a plan, as it is asked for.

use std::num::NonZeroU32;

use fizeau_metrics::{GoodputGoals, Precision, WindowChoice};
use fizeau_workload::{Pacing, Shard, Walk, Workload};

use crate::Cancel;
use crate::drive::{Load, Probing, TextAfter};

/// One level of a plan, to be measured.
#[derive(Debug, Clone, Copy)]
pub struct PlannedLevel<'a> {
    /// The measured requests.
    pub plan: &'a dyn Workload,
    /// Which of the plan's sessions are ours.
    pub shard: Shard,
    /// How many requests to send first that do not count, at the level's own concurrency.
    pub warmup: u64,
    /// How hard to press.
    pub load: Load,
    /// Per-request goals, for goodput.
    pub goals: &'a GoodputGoals,
    /// Which part of it is looked at beside the whole: its steady state, where nothing else is asked.
    pub window: WindowChoice,
    /// A thin stream of requests beside the load.
    pub probe: Option<Probe<'a>>,
    /// What becomes of the text of replies, where the transport keeps it.
    pub text: TextAfter,
    /// Release nothing more once this is known well enough, and let what is in flight finish. The plan has the most requests
    /// that are sent.
    ///
    /// It is looked at when 100 requests have completed, and then each time that there are a fifth more (or as many as the
    /// interval needs). Ending a level because an interval is narrow favours those that happen to come out narrow: the interval
    /// then encloses the truth a little less often than it says.
    pub until: Option<&'a Precision>,
}

/// A thin stream of small requests beside the load, which shows what somebody else's request meets there.
///
/// It runs outside of the load's cap, from the start of the level until the load is over; then no further probe is
/// released, and those in flight finish. At most 256 probes are in flight: who waits for that keeps its intended instant. Their tapes go where the load's go and are marked [`Part::Probe`]. They have the
/// numbers of their own plan, so that a tape of the load may have the same.
///
/// [`Part::Probe`]: fizeau_core::Part::Probe
#[derive(Debug, Clone, Copy)]
pub struct Probe<'a> {
    /// What is sent, and when: an open loop at a small rate, with requests enough for the whole level.
    pub plan: &'a dyn Workload,
}

impl Probe<'_> {
    /// The stream, to be ended by `over`.
    pub(crate) fn until(self, over: &Cancel) -> Probing<Walk> {
        Probing { requests: self.plan.walk(Shard::WHOLE.sessions()), until: over.clone() }
    }
}

impl<'a> PlannedLevel<'a> {
    /// The whole of `plan` under `load`, without warm-up, goals or probes; text is dropped.
    ///
    /// ```
    /// use fizeau_harness::{Load, PlannedLevel};
    /// use fizeau_workload::{Plan, Spec};
    ///
    /// let plan = Plan::new(Spec::new(100)?)?;
    /// let level = PlannedLevel { warmup: 5, ..PlannedLevel::new(&plan, Load::default()) };
    /// assert_eq!(level.warmup, 5);
    /// # Ok::<(), fizeau_workload::SpecError>(())
    /// ```
    #[must_use]
    pub const fn new(plan: &'a dyn Workload, load: Load) -> Self {
        const NO_GOALS: &GoodputGoals = &GoodputGoals::NONE;
        Self {
            plan,
            shard: Shard::WHOLE,
            warmup: 0,
            load,
            goals: NO_GOALS,
            window: WindowChoice::AUTO,
            probe: None,
            text: TextAfter::Drop,
            until: None,
        }
    }

    /// How many connections it wants before it begins: see [`connections_ahead`]; and one for its probes.
    #[must_use]
    pub fn connections_ahead(&self) -> u64 {
        let (requests, cap) = (self.plan.requests().get(), self.load.max_in_flight);
        connections_ahead(requests, cap, self.plan.pacing()) + u64::from(self.probe.is_some())
    }
}

/// How many connections a level of so many `requests` wants before it begins: one a slot; without a cap, at a finite rate,
/// one for each request of five seconds, but at least 16, and all at once one a request up to 1,024. An open loop may
/// never need as many as it has requests.
///
/// ```
/// use fizeau_core::PerSec;
/// use fizeau_harness::connections_ahead;
/// use fizeau_workload::Pacing;
///
/// let pacing = Pacing::OpenLoop { peak: Some(PerSec::new(4.0)) };
/// assert_eq!(connections_ahead(1_000, None, pacing), 20);
/// ```
#[must_use]
pub fn connections_ahead(requests: u64, cap: Option<NonZeroU32>, pacing: Pacing) -> u64 {
    let most = match (cap, pacing) {
        (Some(cap), _) => cap.get().into(),
        // A cast of a number above what the type holds gives the greatest there is.
        (None, Pacing::OpenLoop { peak: Some(rate) }) => ((rate.get() * 5.0).ceil() as u64).max(16),
        (None, Pacing::AtOnce | Pacing::ClosedLoop | Pacing::OpenLoop { peak: None }) => 1_024,
    };
    requests.min(most)
}
