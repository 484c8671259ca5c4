//! What is put first where several levels keep the goals.

use fizeau_core::document;
use fizeau_pareto::{Objective, Preference, StepRule};

use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use crate::reasons::listed;
use crate::reasons::reasons;
use crate::text::percent;
use crate::{LevelReport, TailLatency};

document! {
    /// What is put first among levels within the goals, as `sweep.json` has it.
    #[serde(remote = "Self")]
    #[cfg_attr(feature = "schema", schemars(transform = listed::<Self>))]
    pub(crate) struct ProfileDocument as "Profile", from |profile: Profile| {} {
        pub(crate) name: String = profile.name.to_owned(),
        pub(crate) step_rule: Option<String> = profile.rule.map(|rule| rule.to_string()),
        first: ProfileAim = profile.first,
        keep: ProfileAim = profile.keep,
        factor: f64 = profile.factor,
    }
}

reasons!(ProfileDocument, |of| { step_rule => "every level within the goals is taken" });

/// What is put first among the levels that keep every goal: a few settings, of which the uses people have are some.
///
/// First the rule of the step leaves out what is not worth its latency. Of what remains, the levels count that give up no more
/// than `factor` of the figure `keep`, from the best there is; of these the one with the best figure `first` is chosen. Without
/// the bound, a latency put first would always choose the lowest load.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Profile {
    /// Its name, as on the command line.
    pub name: &'static str,
    /// When a level is not worth its latency though it keeps the goals; none to take it anyway.
    pub rule: Option<StepRule>,
    /// What is put first.
    pub first: ProfileAim,
    /// What may be given up for it.
    pub keep: ProfileAim,
    /// How much of that: by what factor it may be worse than the best of all levels, from 1 on. 1.25 leaves 80 %.
    pub factor: f64,
}

/// A figure that a profile looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ProfileAim {
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

/// What is put first, and when a step is worth it, as far as it is given.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ProfileChoice {
    /// What is put first.
    pub profile: Option<Profile>,
    /// The rule of the step, or that there is none.
    pub rule: Option<Option<StepRule>>,
}

impl ProfileChoice {
    /// What is said; the rest as `own` has it.
    #[must_use]
    pub fn over(self, own: Profile) -> Profile {
        let profile = self.profile.unwrap_or(own);
        self.rule.map_or(profile, |rule| profile.with_rule(rule))
    }
}

impl Profile {
    /// No use in particular: the most requests per second that are worth their latency.
    pub const GENERAL: Self = Self {
        name: "general",
        rule: RULE,
        first: ProfileAim::RequestsPerSec,
        keep: ProfileAim::RequestsPerSec,
        factor: 1.0,
    };
    /// Somebody waits for the first word: the least p99 TTFT, for which up to a fifth of the requests per second is given up.
    pub const CHAT: Self = Self {
        name: "chat",
        rule: RULE,
        first: ProfileAim::TailTtft,
        keep: ProfileAim::RequestsPerSec,
        factor: 1.25,
    };
    /// Nobody waits: the most requests per second within the goals, whatever the last ones cost.
    pub const BATCH: Self = Self { name: "batch", rule: None, ..Self::GENERAL };
    /// Programs wait, and only what is in time counts: the most good requests per second.
    pub const AGENT: Self = Self {
        name: "agent",
        rule: RULE,
        first: ProfileAim::GoodputPerSec,
        keep: ProfileAim::GoodputPerSec,
        factor: 1.0,
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
            levels.iter().map(|level| [self.keep.of(level), self.first.of(level)]).collect();
        let (keep, first) = (self.keep.direction(), self.first.direction());
        Preference { first: keep, factor: self.factor, then: first }.choose(&figures)
    }

    /// What it puts first, in words: `the least p99 TTFT first, at no less than 80 % of the most requests/s`.
    #[must_use]
    pub fn words(&self) -> String {
        let first = format!("the {} first", self.first.best());
        if self.keep == self.first {
            return first;
        }
        let (best, factor) = (self.keep.best(), self.factor);
        match self.keep.direction() {
            Objective::Maximize => {
                format!("{first}, at no less than {} of the {best}", percent(1.0 / factor))
            }
            Objective::Minimize => format!("{first}, at no more than {factor} times the {best}"),
        }
    }
}

impl Default for Profile {
    fn default() -> Self {
        Self::GENERAL
    }
}

impl ProfileAim {
    const fn direction(self) -> Objective {
        match self {
            Self::RequestsPerSec | Self::GoodputPerSec => Objective::Maximize,
            Self::TailTtft | Self::TailE2el => Objective::Minimize,
        }
    }

    /// The figure at a level; NaN where there is none.
    fn of(self, level: &LevelReport) -> f64 {
        let (rates, metrics) = (&level.summary.throughput, &level.summary.metrics);
        let tail = |sample| TailLatency::of(sample).map_or(f64::NAN, |tail| tail.ms());
        let requests = rates.requests_per_s.get();
        match self {
            Self::RequestsPerSec => requests,
            Self::GoodputPerSec => rates.goodput.map_or(requests, |goodput| goodput.rate.get()),
            Self::TailTtft => tail(&metrics.ttft),
            Self::TailE2el => tail(&metrics.e2el),
        }
    }
}

fizeau_core::words! {
    ProfileAim::best {
        RequestsPerSec = "most requests/s", GoodputPerSec = "most good requests/s",
        TailTtft = "least p99 TTFT", TailE2el = "least p99 E2EL",
    }
}
