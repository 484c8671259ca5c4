//! Goals on a level: `p99 ttft<500ms..800ms, p99 tpot<50ms, goodput>0.99`.

mod parse;

pub use parse::SloError;

use std::fmt;

use fizeau_core::Interval;
use serde::{Deserialize, Serialize};

use crate::{BetterDirection, LevelSummary, Metric, Statistic};

/// A set of goals that a level must meet all of.
///
/// Goals are separated by commas; each is `[statistic] metric comparison number[unit]`:
///
/// - statistic: `mean`, `p50` (or `median`), `p90`, `p95`, `p99` (if none is given), `p999` (or `p99.9`),
///   `max`;
/// - metric: a latency (`ttft`, `ttft_scheduled`, `first_visible`, `tpot`, `itl`, `icl`, `e2el`,
///   `e2el_scheduled`) with a unit of `ns`, `us`, `ms` (if none is given) or `s`; or a figure without a
///   statistic or a unit: `rps`, `output_tps`, `goodput_per_s`, `good_share`, `failed_share`. `goodput` is short for
///   `good_share` with a number up to 1, else for `goodput_per_s`, and `failed` for `failed_share`; shares are also written in `%`;
/// - comparison: `<`, `<=`, `>`, `>=`;
/// - number: one, or a range from the limit that is wanted to the one that would still do: `ttft<500ms..800ms`,
///   `goodput>0.99..0.95`.
///
/// Under an open loop `ttft` and `e2el` must keep their limits from the schedule too, as `ttft_scheduled` and `e2el_scheduled`.
///
/// `Display` writes a form that parses to an equal value, which is how it is stored too.
///
/// ```
/// let slo: fizeau_metrics::Slo = "p99 ttft<500ms, mean tpot<50ms".parse()?;
/// assert_eq!(slo.goals.len(), 2);
/// assert_eq!(slo.to_string(), "p99 ttft<500ms, mean tpot<50ms");
/// # Ok::<(), fizeau_metrics::SloError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub struct Slo {
    /// The goals, in the order in which they were given; at least one.
    pub goals: Vec<Goal>,
}

/// One goal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    /// Which statistic of the metric; [`Statistic::Value`] for a rate or a share.
    pub statistic: Statistic,
    /// Which metric.
    pub metric: Metric,
    /// In which direction.
    pub comparison: Comparison,
    /// The limit, in the metric's unit: milliseconds for latencies, per second for rates, 0 to 1 for shares. Of a range its
    /// tight end, which is what the goal is compared with.
    pub limit: f64,
    /// The loose end of a range, which would still do; none for a plain limit.
    pub loosest: Option<f64>,
}

/// In which direction a goal lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// Less than the limit.
    Less,
    /// The limit or less.
    LessOrEqual,
    /// More than the limit.
    Greater,
    /// The limit or more.
    GreaterOrEqual,
}

/// How a goal came out at a level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GoalOutcome {
    /// The goal.
    pub goal: Goal,
    /// What was measured; absent if the level does not have the figure or its sample cannot support it.
    pub measured: Option<f64>,
    /// Where the true figure lies, at 95 %; absent if there is no figure, or no telling.
    pub interval: Option<Interval<f64>>,
    /// The share of the requests that failed, where it is more than the goal [allows](Goal::failures_allowed).
    pub failures: Option<f64>,
    /// What was measured from the schedule of an open loop, where that misses the goal and the figure from the sending does not.
    pub from_schedule: Option<f64>,
    /// What the percentile is over all that were sent, where that misses the goal and the one over the completed does not.
    pub over_sent: Option<f64>,
}

impl Slo {
    /// These goals.
    ///
    /// # Errors
    /// If there is none, or one is not to be had: a limit that is no number, a share above 1, a latency that is to be large.
    ///
    /// ```
    /// use fizeau_metrics::{Comparison, Goal, Metric, Slo, Statistic};
    /// let at_most = |limit| Goal::new(Statistic::P99, Metric::Ttft, Comparison::Less, limit);
    /// assert_eq!(Slo::new([at_most(500.0)])?, "p99 ttft<500ms".parse()?);
    /// assert!(Slo::new([at_most(f64::NAN)]).is_err() && Slo::new([at_most(-1.0)]).is_err());
    /// assert!(Slo::new([]).is_err());
    /// # Ok::<(), fizeau_metrics::SloError>(())
    /// ```
    pub fn new(goals: impl IntoIterator<Item = Goal>) -> Result<Self, SloError> {
        // As text they are checked in one place.
        Self { goals: goals.into_iter().collect() }.to_string().parse()
    }

    /// Whether a goal is a range.
    #[must_use]
    pub fn is_range(&self) -> bool {
        self.goals.iter().any(|goal| goal.loosest.is_some())
    }

    /// The same goals as plain limits, of ranges the tight ends.
    #[must_use]
    pub fn tight(&self) -> Self {
        let tight = |&goal: &Goal| Goal { loosest: None, ..goal };
        Self { goals: self.goals.iter().map(tight).collect() }
    }

    /// The same goals as plain limits, of ranges the loose ends.
    ///
    /// ```
    /// let slo: fizeau_metrics::Slo = "p99 ttft<500ms..800ms, rps>3".parse()?;
    /// assert_eq!(slo.tight().to_string(), "p99 ttft<500ms, rps>3");
    /// assert_eq!(slo.loose().to_string(), "p99 ttft<800ms, rps>3");
    /// # Ok::<(), fizeau_metrics::SloError>(())
    /// ```
    #[must_use]
    pub fn loose(&self) -> Self {
        let loose = |&goal: &Goal| {
            let limit = goal.loosest.unwrap_or(goal.limit);
            Goal { limit, loosest: None, ..goal }
        };
        Self { goals: self.goals.iter().map(loose).collect() }
    }

    /// How each goal comes out at `level`, in the order of the goals; ranges are compared with their tight ends.
    #[must_use]
    pub fn evaluate(&self, level: &LevelSummary) -> Vec<GoalOutcome> {
        self.goals.iter().map(|goal| GoalOutcome::of(*goal, level)).collect()
    }
}

impl fmt::Display for Slo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, goal) in self.goals.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{goal}")?;
        }
        Ok(())
    }
}

impl Goal {
    /// A plain limit, in the metric's unit.
    #[must_use]
    pub const fn new(
        statistic: Statistic,
        metric: Metric,
        comparison: Comparison,
        limit: f64,
    ) -> Self {
        Self { statistic, metric, comparison, limit, loosest: None }
    }

    /// Whether more load breaks it: an upper limit of what should be low, or a lower one of the share of good requests. A lower limit of a
    /// rate is rather reached by more load.
    #[must_use]
    pub fn breaks_under_load(&self) -> bool {
        let is_upper = matches!(self.comparison, Comparison::Less | Comparison::LessOrEqual);
        match self.metric {
            Metric::GoodShare => !is_upper,
            metric => is_upper && metric.direction() == BetterDirection::LowerIsBetter,
        }
    }

    /// The most of the requests sent that may fail, as a share. A failed one met nothing: of a percentile it is what lies beyond it, of
    /// the greatest value nothing, and of a mean, which has no value for it, as much as of a p99. None of rates and shares, in which
    /// it counts by itself.
    #[must_use]
    pub const fn failures_allowed(&self) -> Option<f64> {
        if !self.metric.is_latency() {
            return None;
        }
        match self.statistic {
            Statistic::P50 => Some(0.5),
            Statistic::P90 => Some(0.1),
            Statistic::P95 => Some(0.05),
            Statistic::P99 | Statistic::Mean => Some(0.01),
            Statistic::P999 => Some(0.001),
            Statistic::Max => Some(0.0),
            Statistic::Value => None,
        }
    }

    /// Under an open loop users do not wait for one another: what TTFT or E2EL come to from the schedule, where that misses the goal and
    /// the figure from the sending does not.
    fn missed_from_schedule(&self, level: &LevelSummary) -> Option<f64> {
        level.arrivals.as_ref()?;
        let scheduled = self.metric.scheduled()?;
        let [waited, sent] = [scheduled, self.metric].map(|metric| {
            let sample = metric.distribution(level)?;
            let over_sent = sample.over_sent.as_ref().and_then(|all| all.get(self.statistic));
            Some(over_sent.or(Some(sample.value_or_max(self.statistic)?.value))?.get())
        });
        self.where_it_alone_misses(waited, sent)
    }

    /// A failed request has no latency, and lies beyond every limit: the percentile over all that were sent, where that misses the
    /// goal and the one over those that completed does not.
    fn missed_over_sent(&self, level: &LevelSummary) -> Option<f64> {
        let sample = self.metric.distribution(level)?;
        let over_sent = sample.over_sent.as_ref()?.get(self.statistic)?;
        self.where_it_alone_misses(
            Some(over_sent.get()),
            Some(sample.statistic(self.statistic)?.get()),
        )
    }

    fn where_it_alone_misses(&self, strict: Option<f64>, plain: Option<f64>) -> Option<f64> {
        let holds = |value: f64| self.comparison.holds(value, self.limit);
        strict.filter(|strict| !holds(*strict) && plain.is_some_and(holds))
    }

    /// `failed`, the share of the requests that failed, where that alone misses the goal.
    #[must_use]
    pub fn missed_by(&self, failed: f64) -> Option<f64> {
        self.failures_allowed().filter(|allowed| failed > *allowed).map(|_| failed)
    }

    /// The goal as a person would write it: `p99 TTFT < 500 ms`, `RPS > 10 req/s`, `good share >= 0.99..0.95`.
    #[must_use]
    pub fn describe(&self) -> String {
        let loosest = self.loosest.map(|loosest| format!("..{loosest}")).unwrap_or_default();
        let parts = [
            self.statistic.as_str().to_owned(),
            self.metric.entry().label.to_owned(),
            self.comparison.as_str().to_owned(),
            format!("{}{loosest}", self.limit),
            self.metric.entry().unit.to_owned(),
        ];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(" ")
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.statistic != Statistic::Value {
            write!(f, "{} ", self.statistic.as_str())?;
        }
        let unit = if self.metric.is_latency() { "ms" } else { "" };
        let (metric, comparison) = (self.metric.entry().key, self.comparison.as_str());
        write!(f, "{metric}{comparison}{}{unit}", self.limit)?;
        self.loosest.map_or(Ok(()), |loosest| write!(f, "..{loosest}{unit}"))
    }
}

impl Comparison {
    /// Whether `measured` lies in this direction of `limit`.
    #[must_use]
    pub fn holds(self, measured: f64, limit: f64) -> bool {
        match self {
            Self::Less => measured < limit,
            Self::LessOrEqual => measured <= limit,
            Self::Greater => measured > limit,
            Self::GreaterOrEqual => measured >= limit,
        }
    }
}

fizeau_core::words! {
    /// The sign: `<`, `<=`, `>`, `>=`.
    pub(crate) Comparison::as_str {
        Less = "<", LessOrEqual = "<=", Greater = ">", GreaterOrEqual = ">=",
    }
}

impl GoalOutcome {
    /// How `goal` comes out at `level`; a range is compared with its tight end.
    #[must_use]
    pub fn of(goal: Goal, level: &LevelSummary) -> Self {
        Self {
            goal,
            measured: goal.metric.measured(goal.statistic, level),
            interval: goal.metric.interval(goal.statistic, level),
            from_schedule: goal.missed_from_schedule(level),
            over_sent: goal.missed_over_sent(level),
            failures: level.requests.failed_share().and_then(|failed| goal.missed_by(failed)),
        }
    }

    /// Whether the goal is met. A figure that is absent meets nothing: a goal is met only where that was
    /// shown. Nor is it met by some requests where too many others failed, or by a wait that a cap on requests in flight hides.
    #[must_use]
    pub fn is_met(&self) -> bool {
        let holds = |measured| self.goal.comparison.holds(measured, self.goal.limit);
        self.failures.is_none() && self.deciding_figure().is_some_and(holds)
    }

    /// The figure that decides: what was measured, or from the schedule or over all that were sent, where that alone misses the goal.
    #[must_use]
    pub fn deciding_figure(&self) -> Option<f64> {
        self.from_schedule.or(self.over_sent).or(self.measured)
    }

    /// Whether the figure that decides is another than the one measured, which the interval is of.
    #[must_use]
    pub const fn is_missed_otherwise(&self) -> bool {
        self.from_schedule.is_some() || self.over_sent.is_some()
    }
}
