//! Goals for a single request, and whether it met them.

mod attainment;
mod parse;

pub(crate) use attainment::GoodTally;
pub use attainment::{GoalAttainment, GoodputAttainment, GroupAttainment};
pub use parse::GoodputError;

use fizeau_core::{Millis, Tape};
use serde::{Deserialize, Serialize};

use crate::{LoadPacing, Metric, PooledSample, RequestMetrics, inter_token};

/// Goals for a single request: groups of goals, of which one must be met in full.
///
/// The spelling is that of vLLM's `--goodput`, in milliseconds: `ttft:500 tpot:50`. The word `or` begins another group:
/// a request is good if it succeeded and meets every goal of at least one group. A goal is met if the request has the figure
/// and it is no greater than the limit; so a reply of a single token, which has no TPOT, cannot meet a goal for TPOT. Where there is a
/// schedule, goals for `ttft` and `e2el` are met only if those from the schedule, `ttft_scheduled` and `e2el_scheduled`, keep the limit
/// too, as goals for the percentiles of a level are ([`Slo`](crate::Slo)).
///
/// ```
/// use fizeau_core::Millis;
/// use fizeau_metrics::{GoodputGoals, Metric, RequestGoal};
/// let goals: GoodputGoals = "ttft:500 tpot:50 or e2el:2000".parse()?;
/// assert_eq!(goals.groups().len(), 2);
/// let ttft = RequestGoal { metric: Metric::Ttft, limit: Millis::new(500.0) };
/// assert_eq!(goals.groups()[0][0], ttft);
/// assert_eq!(goals.to_string(), "ttft:500 tpot:50 or e2el:2000");
/// # Ok::<(), fizeau_metrics::GoodputError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct GoodputGoals {
    groups: Vec<Vec<RequestGoal>>,
}

/// The most that one figure of a request may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RequestGoal {
    /// Of which figure: one of [`Metric::series`], or [`Metric::Itl`], which stands for the 99th percentile of the request's own
    /// inter-token latencies, weighted by tokens, with linear interpolation. That describes the gaps that there were and estimates
    /// nothing, so it needs but one of them.
    pub metric: Metric,
    /// The limit, itself allowed.
    pub limit: Millis,
}

/// What goals of vLLM's own spelling can say: one group, of no more than three figures.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SimpleGoals {
    /// The most that send start to first token may take; absent if no goal was given.
    pub ttft: Option<Millis>,
    /// The slowest mean pace after the first event.
    pub tpot: Option<Millis>,
    /// The most that send start to last token may take.
    pub e2el: Option<Millis>,
}

impl RequestGoal {
    /// The figures of a request that can have a goal, in the order in which messages list them.
    fn metrics() -> impl Iterator<Item = Metric> {
        let can =
            |metric: &Metric| *metric == Metric::Itl || Metric::series().any(|of| of == *metric);
        Metric::ALL.iter().copied().filter(can)
    }

    /// The word for `metric` in goals and files.
    const fn key(metric: Metric) -> &'static str {
        match metric {
            Metric::Itl => "itl_p99",
            _ => metric.entry().key,
        }
    }
}

impl GoodputGoals {
    /// No goals at all.
    pub const NONE: Self = Self { groups: Vec::new() };

    /// Goals of which one of `groups` must be met in full. A group without a goal would be met by anything and is left out.
    #[must_use]
    pub fn any_of(groups: impl IntoIterator<Item = Vec<RequestGoal>>) -> Self {
        Self { groups: groups.into_iter().filter(|group| !group.is_empty()).collect() }
    }

    /// The groups, none of them empty.
    #[must_use]
    pub fn groups(&self) -> &[Vec<RequestGoal>] {
        &self.groups
    }

    /// Whether no goal is given at all; goodput is then absent.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Whether the request succeeded and met every goal of at least one group; without goals, whether it succeeded.
    #[must_use]
    pub fn are_met_by(&self, tape: &Tape, pacing: LoadPacing) -> bool {
        let metrics = RequestMetrics::of(tape);
        let figures = self.figures(tape, &metrics);
        let met = |group: &Vec<RequestGoal>| group.iter().all(|goal| figures.meet(goal, pacing));
        tape.is_success() && (self.is_empty() || self.groups.iter().any(met))
    }

    /// The same goals as vLLM has them; none where they go beyond that: a second group, or another figure.
    #[must_use]
    pub fn simple(&self) -> Option<SimpleGoals> {
        let mut simple = SimpleGoals::default();
        let (group, more) = match self.groups.split_first() {
            None => return Some(simple),
            Some((group, more)) => (group, more),
        };
        for goal in group {
            *match goal.metric {
                Metric::Ttft => &mut simple.ttft,
                Metric::Tpot => &mut simple.tpot,
                Metric::E2el => &mut simple.e2el,
                _ => return None,
            } = Some(goal.limit);
        }
        more.is_empty().then_some(simple)
    }

    /// What the goals are about, of one request. The percentile of its gaps costs a sort, so it is taken only for a goal.
    fn figures<'a>(&self, tape: &Tape, metrics: &'a RequestMetrics) -> GoalFigures<'a> {
        let mut goals = self.groups.iter().flatten();
        let requested = goals.any(|goal| goal.metric == Metric::Itl);
        GoalFigures { metrics, itl_p99: requested.then(|| itl_p99(tape)).flatten() }
    }
}

/// The figures of one request that goals may be about.
struct GoalFigures<'a> {
    metrics: &'a RequestMetrics,
    itl_p99: Option<Millis>,
}

impl GoalFigures<'_> {
    /// Of a request that failed there are none, so it meets nothing.
    fn meet(&self, goal: &RequestGoal, pacing: LoadPacing) -> bool {
        let keeps = |metric| self.of(metric).is_some_and(|figure| figure <= goal.limit);
        let scheduled = goal.metric.scheduled().filter(|_| pacing.has_schedule());
        keeps(goal.metric) && scheduled.is_none_or(keeps)
    }

    fn of(&self, metric: Metric) -> Option<Millis> {
        match metric {
            Metric::Itl => self.itl_p99,
            _ => metric.of_request(self.metrics).map(Millis::new),
        }
    }
}

fn itl_p99(tape: &Tape) -> Option<Millis> {
    let mut gaps = PooledSample::default();
    for share in inter_token(tape) {
        gaps.push_shared(share.gap, share.tokens);
    }
    gaps.percentiles(&[99.0]).into_iter().next().flatten()
}
