//! What is compared: a statistic of a latency, a rate, or a share.

use std::fmt;
use std::str::FromStr;

use crate::{BetterDirection, GoodputGoals, Metric, Statistic};

/// One figure of a level: a statistic of a latency (`p99 ttft`), a rate (`output_tps`), or a share (`good_share`).
///
/// `Display` writes a form that parses to an equal value.
///
/// ```
/// use fizeau_metrics::{BetterDirection, LevelFigure};
/// let figure: LevelFigure = "median ttft".parse()?;
/// assert_eq!(figure, LevelFigure::P50_TTFT);
/// assert_eq!(figure.to_string(), "p50 ttft");
/// assert_eq!(LevelFigure::OUTPUT_TPS.direction(), BetterDirection::HigherIsBetter);
/// assert!("ttft".parse::<LevelFigure>().is_err()); // of a latency, which statistic?
/// # Ok::<(), fizeau_metrics::FigureError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct LevelFigure {
    /// Which metric.
    pub metric: Metric,
    /// Which statistic of it; [`Statistic::Value`] for a rate or a share.
    pub statistic: Statistic,
}

/// Why a text names no figure. The message names it and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("metric `{text}`: {what}")]
pub struct FigureError {
    text: String,
    what: String,
}

impl LevelFigure {
    /// Median TTFT.
    pub const P50_TTFT: Self = Self { metric: Metric::Ttft, statistic: Statistic::P50 };
    /// 99th percentile of TTFT.
    pub const P99_TTFT: Self = Self { metric: Metric::Ttft, statistic: Statistic::P99 };
    /// Median TPOT.
    pub const P50_TPOT: Self = Self { metric: Metric::Tpot, statistic: Statistic::P50 };
    /// 99th percentile of TPOT.
    pub const P99_TPOT: Self = Self { metric: Metric::Tpot, statistic: Statistic::P99 };
    /// Median end-to-end latency.
    const P50_E2EL: Self = Self { metric: Metric::E2el, statistic: Statistic::P50 };
    /// 99th percentile of the end-to-end latency.
    const P99_E2EL: Self = Self { metric: Metric::E2el, statistic: Statistic::P99 };
    /// Output tokens per second.
    pub const OUTPUT_TPS: Self =
        Self { metric: Metric::OutputTokensPerSec, statistic: Statistic::Value };
    /// Requests completed per second.
    pub const RPS: Self = Self { metric: Metric::RequestsPerSec, statistic: Statistic::Value };
    /// The share of all sent that met every goal for a request.
    pub const GOOD_SHARE: Self = Self { metric: Metric::GoodShare, statistic: Statistic::Value };
    /// The share of all sent that failed.
    pub const FAILED_SHARE: Self =
        Self { metric: Metric::FailedShare, statistic: Statistic::Value };

    /// Which way is good.
    #[must_use]
    pub const fn direction(self) -> BetterDirection {
        self.metric.direction()
    }

    /// The unit: `ms`, `req/s`, `tok/s`; empty for a share.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        self.metric.entry().unit
    }

    /// The name for people: `p99 TTFT`, `output TPS`.
    #[must_use]
    pub fn label(self) -> String {
        format!("{} {}", self.statistic.as_str(), self.metric.entry().label).trim_start().to_owned()
    }

    /// All that a level can have.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        Metric::goals().flat_map(|metric| {
            metric.statistics().iter().map(move |&statistic| Self { metric, statistic })
        })
    }
}

impl fmt::Display for LevelFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{} {}", self.statistic.as_str(), self.metric.entry().key);
        f.pad(text.trim_start())
    }
}

impl FromStr for LevelFigure {
    type Err = FigureError;

    fn from_str(text: &str) -> Result<Self, FigureError> {
        let wrong = |what: String| Err(FigureError { text: text.trim().to_owned(), what });
        let words: Vec<&str> = text.split_whitespace().collect();
        let (statistic, name) = match words[..] {
            [name] => (None, name),
            [statistic, name] => (Some(statistic), name),
            _ => return wrong(SHAPE.to_owned()),
        };
        let Some(metric) = Metric::named(name) else {
            let names = Metric::goal_names();
            return wrong(format!("unknown name `{name}`; the metrics are {names}"));
        };
        match (metric.is_latency(), statistic) {
            (false, None) => Ok(Self { metric, statistic: Statistic::Value }),
            (false, Some(statistic)) => {
                let metric = metric.entry().key;
                wrong(format!("{metric} is one number a level; drop `{statistic}`"))
            }
            (true, _) => match statistic.and_then(Statistic::named) {
                Some(statistic) => Ok(Self { metric, statistic }),
                None => wrong(STATISTIC.to_owned()),
            },
        }
    }
}

const SHAPE: &str =
    "write `statistic metric`, for instance `p99 ttft`, or a rate by itself, as `output_tps`";
const STATISTIC: &str =
    "say which statistic: mean, p50, p90, p95, p99, p999 or max, as in `p50 ttft`";

/// Which figures are looked at. To be settled before the measurement is seen: who picks those that differ afterwards finds
/// differences that are none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FigureChoice {
    /// Those that get an answer, and Holm's correction among them. Each more makes every other harder to tell apart.
    pub decided: Vec<LevelFigure>,
    /// Those that are shown with an uncorrected p-value and without an answer.
    pub beside: Vec<LevelFigure>,
    /// Whether a p99 that takes more requests than two runs have may be stood in for by a lower percentile.
    pub(super) takes_lower_tails: bool,
}

/// What replies are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyOutput {
    /// Tokens.
    Tokens,
    /// Nothing that comes in tokens: embeddings.
    None,
}

impl FigureChoice {
    /// Median and p99 of TTFT and TPOT, and output tokens per second are decided; beside them the end-to-end latency and
    /// requests per second, which mostly follow from those.
    #[must_use]
    pub fn usual() -> Self {
        Self {
            decided: vec![
                LevelFigure::P50_TTFT,
                LevelFigure::P99_TTFT,
                LevelFigure::P50_TPOT,
                LevelFigure::P99_TPOT,
                LevelFigure::OUTPUT_TPS,
            ],
            beside: vec![LevelFigure::P50_E2EL, LevelFigure::P99_E2EL, LevelFigure::RPS],
            takes_lower_tails: true,
        }
    }

    /// For embeddings, which come without tokens: median and p99 of the end-to-end latency, and requests per second.
    #[must_use]
    pub(crate) fn without_tokens() -> Self {
        let decided = vec![LevelFigure::P50_E2EL, LevelFigure::P99_E2EL, LevelFigure::RPS];
        Self { decided, beside: Vec::new(), takes_lower_tails: true }
    }

    /// Decides over the share of good requests as well: for runs that have goals for a request.
    #[must_use]
    pub fn with_goals(mut self) -> Self {
        if !self.decided.contains(&LevelFigure::GOOD_SHARE) {
            self.decided.push(LevelFigure::GOOD_SHARE);
        }
        self
    }

    /// Decides over the share of failed requests as well, whatever else was asked for: where requests failed, what the others came to
    /// is not the whole.
    #[must_use]
    pub fn with_failures(mut self) -> Self {
        if !self.decided.contains(&LevelFigure::FAILED_SHARE) {
            self.decided.push(LevelFigure::FAILED_SHARE);
        }
        self
    }

    /// Those that were `asked` for; else the usual ones that such replies have, and the good share where there are goals.
    #[must_use]
    pub fn fitting(asked: &[LevelFigure], goals: &GoodputGoals, output: ReplyOutput) -> Self {
        if !asked.is_empty() {
            return Self::only(asked.iter().copied());
        }
        let usual = match output {
            ReplyOutput::Tokens => Self::usual(),
            ReplyOutput::None => Self::without_tokens(),
        };
        if goals.is_empty() { usual } else { usual.with_goals() }
    }

    /// All of them, and whether each is decided.
    pub(super) fn all(&self) -> impl Iterator<Item = (LevelFigure, bool)> + '_ {
        let decided = self.decided.iter().map(|figure| (*figure, true));
        decided.chain(self.beside.iter().map(|figure| (*figure, false)))
    }

    /// These alone, each with an answer; what comes twice counts once.
    #[must_use]
    pub fn only(figures: impl IntoIterator<Item = LevelFigure>) -> Self {
        let decided = fizeau_core::distinct(figures);
        Self { decided, beside: Vec::new(), takes_lower_tails: false }
    }

    /// The same figures, none with an answer.
    #[must_use]
    pub fn undecided(self) -> Self {
        Self { decided: Vec::new(), beside: self.decided, takes_lower_tails: false }
    }
}
