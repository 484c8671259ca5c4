//! What is put first where several levels keep the goals.

use fizeau_pareto::{Direction, Preference, StepRule};

use crate::{LevelReport, Tail};

/// What is put first among the levels that keep every goal: a few settings, of which the uses people have are some.
///
/// First the rule of the step leaves out what is not worth its latency. Of what remains, the levels count whose first figure is
/// no worse than `factor` times the best there is; of these the one with the best second figure is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Profile {
    /// Its name, as on the command line.
    pub name: &'static str,
    /// When a level is not worth its latency though it keeps the goals; none to take it all the same.
    pub rule: Option<StepRule>,
    /// What counts first.
    pub first: Aim,
    /// By what factor the first may be worse than the best of all levels; from 1 on.
    pub factor: f64,
    /// What decides among those.
    pub then: Aim,
}

/// A figure that a profile looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Aim {
    /// The most requests per second.
    RequestsPerSec,
    /// The most good requests per second; where there are no goals for requests, the most of any.
    GoodputPerSec,
    /// The least p99 TTFT, or greatest where the sample has none.
    TailTtft,
    /// The least p99 E2EL, likewise.
    TailE2el,
}

/// Twice the latency for under 10 % more throughput.
const RULE: Option<StepRule> = Some(StepRule { most_cost: 2.0, least_gain: 0.10 });

impl Profile {
    /// No use in particular: the most requests per second that are worth their latency.
    pub const GENERAL: Self = Self {
        name: "general",
        rule: RULE,
        first: Aim::RequestsPerSec,
        factor: 1.0,
        then: Aim::TailE2el,
    };
    /// Somebody waits for the first word: a p99 TTFT of at most twice the least of all levels within the goals, and then the
    /// most requests per second.
    pub const CHAT: Self = Self {
        name: "chat",
        rule: RULE,
        first: Aim::TailTtft,
        factor: 2.0,
        then: Aim::RequestsPerSec,
    };
    /// Nobody waits: the most requests per second within the goals, whatever the last ones cost.
    pub const BATCH: Self = Self { name: "batch", rule: None, ..Self::GENERAL };
    /// Programs wait, and only what is in time counts: good requests per second within 5 % of the most, and of those levels
    /// the least p99 E2EL, since each call of a chain waits for the one before.
    pub const AGENT: Self = Self {
        name: "agent",
        rule: RULE,
        first: Aim::GoodputPerSec,
        factor: 1.05,
        then: Aim::TailE2el,
    };

    /// All that have a name.
    pub const ALL: [Self; 4] = [Self::GENERAL, Self::CHAT, Self::BATCH, Self::AGENT];

    /// The profile of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name == name)
    }

    /// The same with another rule of the step, or none.
    #[must_use]
    pub const fn with_rule(self, rule: Option<StepRule>) -> Self {
        Self { rule, ..self }
    }

    /// The place among `levels` of the one to prefer; none without levels that have the figures.
    pub(super) fn prefer(&self, levels: &[&LevelReport]) -> Option<usize> {
        let figures: Vec<[f64; 2]> =
            levels.iter().map(|level| [self.first.of(level), self.then.of(level)]).collect();
        let (first, then) = (self.first.direction(), self.then.direction());
        Preference { first, factor: self.factor, then }.choose(&figures)
    }

    /// What it puts first, in words: `p99 TTFT first, within 2 times the least, then requests/s`.
    pub(super) fn words(&self) -> String {
        let best = match self.first.direction() {
            Direction::Maximize => "most",
            Direction::Minimize => "least",
        };
        let factor = self.factor;
        let within = match factor > 1.0 {
            true => format!(" (within {factor} times the {best})"),
            false => String::new(),
        };
        format!("{} first{within}, then {}", self.first.label(), self.then.label())
    }
}

impl Default for Profile {
    fn default() -> Self {
        Self::GENERAL
    }
}

impl Aim {
    const fn direction(self) -> Direction {
        match self {
            Self::RequestsPerSec | Self::GoodputPerSec => Direction::Maximize,
            Self::TailTtft | Self::TailE2el => Direction::Minimize,
        }
    }

    const fn label(self) -> &'static str {
        match self {
            Self::RequestsPerSec => "requests/s",
            Self::GoodputPerSec => "good requests/s",
            Self::TailTtft => "p99 TTFT",
            Self::TailE2el => "p99 E2EL",
        }
    }

    /// The figure at a level; NaN where there is none.
    fn of(self, level: &LevelReport) -> f64 {
        let (rates, metrics) = (&level.summary.throughput, &level.summary.metrics);
        let tail = |sample| Tail::of(sample).map_or(f64::NAN, |tail| tail.ms());
        let requests = rates.requests_per_s.get();
        match self {
            Self::RequestsPerSec => requests,
            Self::GoodputPerSec => rates.goodput.map_or(requests, |goodput| goodput.rate.get()),
            Self::TailTtft => tail(&metrics.ttft),
            Self::TailE2el => tail(&metrics.e2el),
        }
    }
}
