//! How narrow an interval is asked for: `p99 ttft ci=5%`.

use std::fmt;
use std::str::FromStr;

use fizeau_core::{Confidence, Nanos};

use crate::level::RequestSeries;
use crate::{LevelTally, Metric, SampleSupport, Statistic, mean_of_runs};

/// How well figures of a level are to be known: one or more, separated by commas.
///
/// Each is `[[statistic] metric] ci=SHARE`, the share by which the ends of the figure's 95 % interval may lie off, such as
/// `2%` or `0.02`: half the width of the interval over the figure. Statistics and metrics are those of a
/// [`Slo`](crate::Slo); a latency without a statistic means its p99. Without a metric it is the mean E2EL, which every level
/// has; by Little's law the rates of a closed loop are then known as well. Pooled gaps (ITL, ICL) have an interval of their
/// mean alone, goodput and greatest values none.
///
/// With a time behind it (`ci=2% from 2s`) a goal only shortens a level whose figure is known early, from that time on, and a
/// level that never comes to know it is none that failed. What too few requests support an interval of, as at low loads, then
/// goes by three means: those of the first, the middle and the last third of the requests, and Student's interval around them.
/// It is for means of latencies.
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
    /// From when on it may end a level that has a time of its own, and need not be reached; none for a level that is to go on
    /// until it is.
    pub from: Option<Nanos>,
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

impl Precision {
    /// From when on a level may end early, where every goal says so; none where one is to be reached.
    #[must_use]
    pub fn earliest_end(&self) -> Option<Nanos> {
        let all: Option<Vec<Nanos>> = self.goals.iter().map(|goal| goal.from).collect();
        all?.into_iter().max()
    }
}

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
            let mut found = rows.estimate(goal.metric, goal.statistic);
            if goal.from.is_some() && !matches!(found, Some(SampleSupport::Known(_))) {
                found = of_thirds(&rows, goal).map(SampleSupport::Known).or(found);
            }
            let width = |(value, half): (f64, f64)| half / value;
            let half_width = found.map(|found| found.map(width));
            // Nothing is within a share of zero.
            let is_number = |width: &SampleSupport<f64>| width.known().is_none_or(f64::is_finite);
            PrecisionOutcome { goal, half_width: half_width.filter(is_number) }
        };
        asked.goals.iter().map(outcome).collect()
    }
}

/// A mean and half of its interval by three means of successive requests: a wave of a closed loop, whose requests hang together, is
/// in one of them. None of fewer than three requests, and of what is no latency of a request's own.
fn of_thirds(rows: &RequestSeries<'_>, goal: PrecisionGoal) -> Option<(f64, f64)> {
    let values = rows.latency(goal.metric).filter(|_| goal.statistic == Statistic::Mean)?;
    let cut = |third: usize| third * values.len() / 3;
    let means = (0..3).map(|third| {
        let part = values.get(cut(third)..cut(third + 1))?;
        (!part.is_empty()).then(|| part.iter().sum::<f64>() / part.len() as f64)
    });
    let found = mean_of_runs(&means.collect::<Option<Vec<f64>>>()?, Confidence::P95)?;
    Some((found.value(), (found.high() - found.low()) / 2.0))
}

/// Why a text does not say how well a figure is to be known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrecisionError {
    /// It has another form.
    #[error(
        "`{0}`: write `[[statistic] metric] ci=SHARE [from TIME]`, for instance `ci=2%`, `p99 ttft ci=5%` or `ci=2% from 2s`"
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
    /// The time is none, or the figure is no mean of a latency.
    #[error(
        "`{piece}`: `from` takes a length of time such as `2s`, behind the mean of a latency such as ttft or e2el"
    )]
    From {
        /// The piece.
        piece: String,
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
    let (share, from) = share.split_once("from").map_or((share, None), |(a, b)| (a, Some(b)));
    let within = parse_share(piece, share.trim())?;
    let wrong = || PrecisionError::From { piece: piece.to_owned() };
    let from = from.map(|time| Nanos::parse_in(time.trim(), Nanos::from_secs(1)));
    let from = from.transpose().map_err(|_| wrong())?;
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
    let goal = PrecisionGoal { statistic, metric, within, from };
    let is_of_thirds = statistic == Statistic::Mean && !matches!(metric, Metric::Itl | Metric::Icl);
    if from.is_some() && !is_of_thirds {
        return Err(wrong());
    }
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
        write!(f, "{} ci={percent}%", self.metric.entry().key)?;
        self.from.map_or(Ok(()), |from| write!(f, " from {}s", from.as_secs_f64()))
    }
}
