//! How narrow an interval is asked for: `p99 ttft ci=5%`.

use std::fmt;
use std::str::FromStr;

use crate::{LevelTally, Metric, SampleSupport, Statistic};

/// How well figures of a level are to be known: one or more, separated by commas.
///
/// Each is `[[statistic] metric] ci=SHARE`, the share by which the ends of the figure's 95 % interval may lie off, such as
/// `2%` or `0.02`: half the width of the interval over the figure. Statistics and metrics are those of a
/// [`Slo`](crate::Slo); a latency without a statistic means its p99. Without a metric it is the mean E2EL, which every level
/// has; by Little's law the rates of a closed loop are then known as well. Pooled gaps (ITL, ICL) have an interval of their
/// mean alone, goodput and greatest values none.
///
/// ```
/// let asked: fizeau_metrics::Precision = "ci=2%, p99 ttft ci=5%".parse()?;
/// assert_eq!(asked.to_string(), "mean e2el ci=2%, p99 ttft ci=5%");
/// # Ok::<(), fizeau_metrics::PrecisionError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Precision {
    goals: Vec<PrecisionGoal>,
}

/// How well one figure is to be known.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PrecisionGoal {
    /// Which statistic of the metric; [`Statistic::Value`] for a rate.
    pub statistic: Statistic,
    /// Which metric.
    pub metric: Metric,
    /// The most that half the interval's width may be, over the figure: above 0 and below 1.
    pub within: f64,
}

/// How well a figure is known.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PrecisionOutcome {
    /// What was asked for.
    pub goal: PrecisionGoal,
    /// Half the interval's width over the figure; absent where the figure itself is absent or zero.
    pub half_width: Option<SampleSupport<f64>>,
}

impl Precision {}

impl PrecisionOutcome {
    /// Whether the interval is narrow enough.
    #[must_use]
    pub fn is_reached(&self) -> bool {
        matches!(self.half_width, Some(SampleSupport::Known(width)) if width <= self.goal.within)
    }
}

impl LevelTally {
    /// How well the figures that `asked` names are known by now, in its order. It looks at them alone, and is much faster than
    /// a summary.
    #[must_use]
    pub fn precision(&self, asked: &Precision) -> Vec<PrecisionOutcome> {
        let timeline = self.timeline();
        let rows = self.rows(&timeline);
        let outcome = |&goal: &PrecisionGoal| {
            let found = rows.estimate(goal.metric, goal.statistic);
            let width = |(value, half): (f64, f64)| half / value;
            let half_width = found.map(|found| found.map(width));
            // Nothing is within a share of zero.
            let is_number = |width: &SampleSupport<f64>| width.known().is_none_or(f64::is_finite);
            PrecisionOutcome { goal, half_width: half_width.filter(is_number) }
        };
        asked.goals.iter().map(outcome).collect()
    }
}

/// Why a text does not say how well a figure is to be known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrecisionError {
    /// It has another form.
    #[error(
        "`{0}`: write `[[statistic] metric] ci=SHARE`, for instance `ci=2%` or `p99 ttft ci=5%`"
    )]
    Shape(String),
    /// The share is none.
    #[error(
        "`{piece}`: `{text}` is not a share; write one above 0 % and below 100 %, such as `2%`"
    )]
    Share {
        /// The piece.
        piece: String,
        /// What stood for the share.
        text: String,
    },
    /// A metric that does not exist.
    #[error(
        "`{piece}`: unknown metric `{name}`; write for instance ttft, tpot, e2el, rps or output_tps"
    )]
    UnknownMetric {
        /// The piece.
        piece: String,
        /// What stood for the metric.
        name: String,
    },
    /// A statistic that does not exist.
    #[error("`{piece}`: unknown statistic `{name}`; write mean, p50, p90, p95, p99 or p999")]
    UnknownStatistic {
        /// The piece.
        piece: String,
        /// What stood for the statistic.
        name: String,
    },
    /// A figure that has no interval.
    #[error("`{0}`: this figure has no interval: {why}", why = NO_INTERVAL)]
    NoInterval(String),
}

const NO_INTERVAL: &str = "take the mean or a percentile of ttft, tpot or e2el (or of their scheduled or visible kind), the mean of itl or icl, rps or output_tps";

impl FromStr for Precision {
    type Err = PrecisionError;

    fn from_str(text: &str) -> Result<Self, PrecisionError> {
        let goals: Result<Vec<_>, _> = text.split(',').map(|piece| goal(piece.trim())).collect();
        goals.map(|goals| Self { goals })
    }
}

fn goal(piece: &str) -> Result<PrecisionGoal, PrecisionError> {
    let shape = || PrecisionError::Shape(piece.to_owned());
    let (words, share) = piece.rsplit_once("ci=").ok_or_else(shape)?;
    let within = parse_share(piece, share.trim())?;
    let words: Vec<&str> = words.split_whitespace().collect();
    let (statistic, metric) = match words[..] {
        [] => (Statistic::Mean, Metric::E2el),
        [name] => {
            let metric = named(piece, name)?;
            (if metric.is_latency() { Statistic::P99 } else { Statistic::Value }, metric)
        }
        [statistic, name] => {
            let metric = named(piece, name)?;
            let found = Statistic::named(statistic);
            let unknown = || PrecisionError::UnknownStatistic {
                piece: piece.to_owned(),
                name: statistic.to_owned(),
            };
            (found.ok_or_else(unknown)?, metric)
        }
        _ => return Err(shape()),
    };
    let has_interval = match metric {
        Metric::GoodputPerSec | Metric::GoodShare => false,
        _ => metric.statistics().contains(&statistic) && metric.has_interval(statistic),
    };
    let goal = PrecisionGoal { statistic, metric, within };
    has_interval.then_some(goal).ok_or_else(|| PrecisionError::NoInterval(piece.to_owned()))
}

fn named(piece: &str, name: &str) -> Result<Metric, PrecisionError> {
    let unknown =
        || PrecisionError::UnknownMetric { piece: piece.to_owned(), name: name.to_owned() };
    Metric::named(name).ok_or_else(unknown)
}

fn parse_share(piece: &str, text: &str) -> Result<f64, PrecisionError> {
    let number = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse().map(|percent: f64| percent / 100.0),
        None => text.parse(),
    };
    let share = number.ok().filter(|share: &f64| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| PrecisionError::Share { piece: piece.to_owned(), text: text.to_owned() })
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, goal) in self.goals.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            write!(f, "{comma}{goal}")?;
        }
        Ok(())
    }
}

impl fmt::Display for PrecisionGoal {
    /// `p99 ttft ci=5%`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.statistic != Statistic::Value {
            write!(f, "{} ", self.statistic.as_str())?;
        }
        // To a millionth of a percent: 0.02 * 100 is no whole number of floats.
        let percent = (self.within * 1e8).round() / 1e6;
        write!(f, "{} ci={percent}%", self.metric.entry().key)
    }
}
