//! A search as text.

use fizeau_metrics::{Distribution, Quantile, SampleSupport, Statistic};
use fizeau_pareto::SearchEnding;

use super::{MoreTime, SearchJudgement, SearchPurpose, SearchReport, SearchedLevel};
use crate::GoalResult;
use crate::goal::name;
use crate::text::{four_digits, listed, minutes_and_seconds, number, percent};
use fizeau_core::{LoadKind, Millis};

impl SearchReport {
    /// What is to be said beside the answer: what missed the goals, where they break and how surely that is known, what ended the
    /// search, what more time would buy.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let further = [
            self.missed_words(),
            self.undecided_words(),
            self.edge_words(),
            self.broken(),
            self.assumed(),
            self.wrong_order(),
            self.no_evidence(),
            Some(self.ending_words()),
            self.more_words(),
        ];
        further.into_iter().flatten().collect()
    }

    /// The answer in a sentence: the best load that kept the goals, for how long, and whether a long level confirmed it.
    #[must_use]
    pub fn answer(&self) -> String {
        let Some(best) = self.best_kept() else {
            return match (self.refuted().last(), self.result.ending) {
                (Some(lowest), _) => self.refuted_words(lowest),
                (None, _) if self.rests_on_nothing() => {
                    "No answer: no level that was measured tells what the server can carry"
                        .to_owned()
                }
                (None, SearchEnding::BrokenOff) => "No measured load kept the goals".to_owned(),
                (None, _) => self.nearest(),
            };
        };
        let time = seconds_of(best);
        let how = match (best.purpose, self.requested.confirm) {
            (SearchPurpose::Confirmation, _) => format!("confirmed over {time}"),
            (_, Some(_)) => format!("observed for {time} and not confirmed over a longer time"),
            (_, None) => format!("observed for {time}"),
        };
        let highest = match self.result.ending {
            SearchEnding::AllGood => {
                format!(". No higher load was allowed{}", self.highest(best))
            }
            _ => String::new(),
        };
        let load = self.load_words(best);
        format!("Best load that kept the goals: {load}, {how} ({}){highest}", self.goal_words(best))
    }

    /// That no load kept the goals for long, and no short level was at a lower one than `lowest`.
    fn refuted_words(&self, lowest: &SearchedLevel) -> String {
        let goals = self.goals_at(lowest).into_iter();
        let mut missed = goals.filter(|goal| !goal.is_met()).map(|goal| goal.outcome.goal);
        if lowest.judgement == SearchJudgement::Missed
            && missed.all(|goal| !goal.breaks_under_load())
        {
            return format!(
                "No load kept all goals. At {}, about the highest that keeps those which load breaks, another is missed ({}), and a lower \
                 load misses it by more",
                self.load_words(lowest),
                self.why_missed(lowest),
            );
        }
        format!(
            "No load down to {} kept the goals over a long level ({}). Short levels put the \
             limit there or above. A lower load may keep them: search up to {}",
            self.load_words(lowest),
            self.why_missed(lowest),
            four_digits(lowest.level.load.value()),
        )
    }

    /// Whether levels were measured, and none of them is evidence.
    fn rests_on_nothing(&self) -> bool {
        !self.levels.is_empty() && self.levels.iter().all(|level| !level.is_evidence())
    }

    /// Which levels count neither way, and why.
    fn no_evidence(&self) -> Option<String> {
        let mut levels = self.levels.iter().filter(|level| !level.is_evidence());
        let first = levels.next()?;
        let count = match levels.count() {
            0 => "1 level counts".to_owned(),
            others => format!("{} levels count", others + 1),
        };
        let load = first.level.load;
        let why = first.level.no_evidence().unwrap_or_default();
        Some(format!("{count} neither as kept nor as missed. At {load}: {why}"))
    }

    fn load_words(&self, level: &SearchedLevel) -> String {
        format!("{} {}", four_digits(level.level.load.value()), self.requested.load.words())
    }

    /// The lowest load that missed the goals, and which.
    fn missed_words(&self) -> Option<String> {
        self.best_kept()?;
        let missed = self.lowest_missed()?;
        let (load, time) = (self.load_words(missed), seconds_of(missed));
        let why = self.why_missed(missed);
        Some(format!("Lowest load that missed them: {load}, observed for {time} ({why})"))
    }

    /// The loads above the best that missed a goal by less than is sure.
    fn undecided_words(&self) -> Option<String> {
        let best = self.best_kept()?.level.load.value();
        let mut loads: Vec<f64> = self
            .evaluations()
            .filter(|level| level.is_undecided() && !level.holds())
            .map(|level| level.level.load.value())
            .filter(|load| *load > best)
            .collect();
        loads.sort_by(f64::total_cmp);
        loads.dedup();
        let loads: Vec<String> = loads.into_iter().map(four_digits).collect();
        let unit = self.requested.load.words();
        (!loads.is_empty())
            .then(|| format!("Too near to the limit to decide: {} {unit}", listed(&loads)))
    }

    fn why_missed(&self, missed: &SearchedLevel) -> String {
        match missed.judgement {
            SearchJudgement::Saturated => "the queue grew to the end".to_owned(),
            SearchJudgement::Failing => self.failures(missed),
            SearchJudgement::Held | SearchJudgement::Missed | SearchJudgement::Invalid => {
                let goals = self.goals_at(missed).into_iter().filter(|goal| !goal.is_met());
                goals.map(|goal| self.words_of(&goal)).collect::<Vec<_>>().join("; ")
            }
        }
    }

    /// Where the goals break, and how surely that is known.
    fn edge_words(&self) -> Option<String> {
        // Where long levels refuted all that was tried, nothing bounds it from below.
        self.load()?;
        let edge = self.result.edge.filter(|edge| edge.high().is_finite())?;
        let (low, high) =
            (self.slots_or(edge.low(), f64::floor), self.slots_or(edge.high(), f64::ceil));
        let unit = self.requested.load.words();
        let width = self.precision().map_or_else(String::new, |of| format!("+-{}; ", percent(of)));
        let sure = self.how_sure();
        Some(format!("The goals break between {low} and {high} {unit} ({width}{sure})"))
    }

    /// How many levels it took, and what ended it.
    fn ending_words(&self) -> String {
        let runs = self.runs();
        let taken = self.elapsed.map_or_else(String::new, |elapsed| {
            let budget = self
                .requested
                .budget
                .map(|budget| format!(" of {}", minutes_and_seconds(budget.into())));
            format!(" in {}{}", minutes_and_seconds(elapsed.into()), budget.unwrap_or_default())
        });
        let tolerance = percent(self.requested.tolerance);
        let why = match self.result.ending {
            SearchEnding::Decided if self.refuted().next().is_some() => {
                format!("narrowed to {tolerance} before the confirmation")
            }
            SearchEnding::Decided => format!("the limit is known to {tolerance}, as requested"),
            SearchEnding::Undecided => {
                "stopped, since a load next to the limit stays too near to it to decide".to_owned()
            }
            SearchEnding::OutOfRuns => {
                format!(
                    "stopped at the largest number of levels allowed, before {tolerance} \
                     precision"
                )
            }
            SearchEnding::OutOfTime => {
                format!(
                    "stopped before {tolerance} precision, since no further level fits into its time"
                )
            }
            SearchEnding::AllGood => "the highest load allowed keeps the goals".to_owned(),
            SearchEnding::Refuted => {
                "a long level missed the goals at the highest load allowed".to_owned()
            }
            SearchEnding::Unmet => "the lowest load allowed misses the goals".to_owned(),
            SearchEnding::Unmeasurable => {
                "stopped, since several levels in a row were invalid".to_owned()
            }
            SearchEnding::BrokenOff => "broken off".to_owned(),
        };
        format!("{runs}{taken}: {why}")
    }

    /// What more time would buy.
    fn more_words(&self) -> Option<String> {
        let Some(MoreTime { time_s, confirms_for_s, precision, precision_then }) = self.more_time()
        else {
            let words = match (self.best_kept(), self.result.ending) {
                (_, SearchEnding::Unmeasurable) => return None,
                (_, SearchEnding::Undecided) => "Longer levels would decide it",
                (_, SearchEnding::AllGood) => "More time would not raise it; search higher loads",
                (Some(_), _) => "More time would only make the interval narrower",
                (None, SearchEnding::BrokenOff) => return None,
                (None, SearchEnding::OutOfTime) => "More time would let it try lower loads",
                (None, _) => "More time would not help; search lower loads, or loosen the goals",
            };
            return Some(words.to_owned());
        };
        let best = self.best_kept().map(|best| self.load_words(best)).unwrap_or_default();
        let confirms = confirms_for_s.map(|time| format!("confirm {best} over {time:.0} s"));
        let narrows = match precision.zip(precision_then) {
            Some((now, then)) => {
                Some(format!("narrow the interval from {} to {}", percent(now), percent(then)))
            }
            None if precision.is_none() && self.result.ending != SearchEnding::AllGood => {
                Some(format!("search above {best} for the load at which the goals break"))
            }
            None => None,
        };
        let both: Vec<String> = [confirms, narrows].into_iter().flatten().collect();
        let of = if self.is_simulated() { " of simulated time" } else { "" };
        Some(format!("About {}{of} would {}", more(time_s), both.join(" and ")))
    }

    /// An end of the edge; of slots whole ones.
    fn slots_or(&self, load: f64, whole: fn(f64) -> f64) -> String {
        match self.requested.load {
            LoadKind::Rate => four_digits(load),
            LoadKind::Concurrency => whole(load).to_string(),
        }
    }

    fn runs(&self) -> String {
        let short = self.levels.iter().filter(|level| level.purpose != SearchPurpose::Confirmation);
        let long = self.levels.iter().filter(|level| level.purpose == SearchPurpose::Confirmation);
        let of = |count: usize, what: &str| match count {
            1 => format!("1 {what}"),
            count => format!("{count} {what}s"),
        };
        match long.count() {
            0 => of(short.count(), "level"),
            long => format!("{} and {}", of(short.count(), "level"), of(long, "confirmation")),
        }
    }

    /// What the interval rests on.
    fn how_sure(&self) -> String {
        match (self.result.has_errors, self.refuted().next()) {
            (_, Some(_)) => "the long levels that kept and missed the goals".to_owned(),
            (true, None) => format!("{} confidence", percent(self.requested.confidence)),
            (false, None) => "the error of each level is assumed".to_owned(),
        }
    }

    /// Why no higher load was allowed than that of the `best` level.
    fn highest(&self, best: &SearchedLevel) -> String {
        match (self.requested.to, self.requested.load) {
            (_, LoadKind::Rate) if self.would_be_a_burst(best) => {
                let sent = self.most_sent();
                format!(
                    ": a level of {sent} requests would send all of them before the first is \
                     answered; give levels more requests to search higher"
                )
            }
            (Some(_), _) => String::new(),
            (None, LoadKind::Rate) => {
                ": it is 100 times the first load, since no highest load was given".to_owned()
            }
            (None, LoadKind::Concurrency) => ", since no highest load was given".to_owned(),
        }
    }

    /// Whether a short level at more than the load of `best` would send its requests in less time than the quickest level's took.
    fn would_be_a_burst(&self, best: &SearchedLevel) -> bool {
        let times = self.levels.iter().filter_map(|level| level.level.summary.metrics.e2el.mean);
        let quickest = times.map(Millis::get).reduce(f64::min);
        // A load has four digits.
        let most = quickest.map(|time| self.most_sent() as f64 / (time / 1e3));
        most.is_some_and(|most| best.level.load.value() > 0.998 * most)
    }

    /// The most requests of a short level.
    fn most_sent(&self) -> u64 {
        self.evaluations().map(|level| level.level.summary.requests.sent).max().unwrap_or(0)
    }

    /// Which of the goals could be met at the load that misses them least.
    fn nearest(&self) -> String {
        let nearest = self.result.nearest.and_then(|index| self.evaluation(index));
        let Some(nearest) = nearest else {
            return "No load kept the goals: no level has the figures that the goals are about"
                .to_owned();
        };
        let unit = self.requested.load.words();
        let loads = self.evaluations().map(|level| level.level.load);
        let lowest = loads.reduce(|a, b| if b.value() < a.value() { b } else { a });
        let lowest = lowest.map_or_else(String::new, |load| four_digits(load.value()));
        let whose = match (self.result.ending, self.requested.from, self.requested.load) {
            (SearchEnding::Unmet, Some(_), _) => "the lowest load allowed",
            (SearchEnding::Unmet, None, LoadKind::Rate) => {
                "a hundredth of the first rate, since no lowest rate was given"
            }
            (SearchEnding::Unmet, None, LoadKind::Concurrency) => "the lowest there is",
            _ => "the lowest that was tried",
        };
        format!(
            "No load kept the goals, down to {lowest} {unit}, {whose}. The nearest is {}: {}",
            self.load_words(nearest),
            self.goal_words(nearest),
        )
    }

    fn words_of(&self, goal: &GoalResult) -> String {
        if self.is_simulated() { goal.words_simulated() } else { goal.words() }
    }

    /// The goals at a level, and what else speaks against it.
    fn goal_words(&self, level: &SearchedLevel) -> String {
        let goals: Vec<String> =
            self.goals_at(level).iter().map(|goal| self.words_of(goal)).collect();
        let more = match level.judgement {
            SearchJudgement::Saturated => "; the queue grew".to_owned(),
            SearchJudgement::Failing => format!("; {}", self.failures(level)),
            SearchJudgement::Held | SearchJudgement::Missed | SearchJudgement::Invalid => {
                String::new()
            }
        };
        format!("{}{more}", goals.join("; "))
    }

    fn failures(&self, level: &SearchedLevel) -> String {
        let requests = &level.level.summary.requests;
        format!("{} of {} requests failed", requests.failed, requests.sent)
    }

    fn broken(&self) -> Option<String> {
        let edge = self.result.edge.filter(|edge| edge.high().is_finite())?;
        match (self.first_broken, self.refuted().next()) {
            (Some(goal), _) => Some(format!("First to break: {}", goal.describe())),
            // Then the long level says what broke.
            (None, Some(_)) => None,
            (None, None) => Some(format!(
                "Saturated before any goal broke: above {}, more requests are sent than served, or \
                requests fail",
                four_digits(edge.value())
            )),
        }
    }

    /// What the interval assumes, where levels have none of their own.
    fn assumed(&self) -> Option<String> {
        // Where long levels bound the edge, they and no error of short ones are what the interval rests on.
        let is_of_short = self.precision().is_some() && self.refuted().next().is_none();
        (is_of_short && !self.result.has_errors).then(|| {
            format!(
                "The interval assumes an error of 10 % for each level, since {}. Longer levels \
                 would have errors that are measured",
                self.missing_interval()
            )
        })
    }

    /// Which figure has no interval, and why.
    fn missing_interval(&self) -> String {
        let goal = self.first_broken.or_else(|| self.slo.goals.first().copied());
        let Some(goal) = goal else { return "the levels have no intervals".to_owned() };
        let needs = self.evaluations().filter_map(|level| {
            let sample = goal.metric.distribution(&level.level.summary)?;
            needed(sample, goal.statistic)
        });
        let name = name(&goal);
        match needs.max() {
            Some(needs) => format!(
                "the {name} of levels near the limit has no interval; an interval needs {needs} values \
                 here"
            ),
            None => format!("the {name} of levels near the limit has no interval"),
        }
    }

    fn wrong_order(&self) -> Option<String> {
        let (missed, kept) = self.result.not_monotone?;
        let load = |index| Some(four_digits(self.evaluation(index)?.level.load.value()));
        Some(format!(
            "Not monotone: the goals were missed at {} and kept at {}, more than chance \
             explains. There may be several limits; this one assumes that more load is never \
             easier to serve",
            load(missed)?,
            load(kept)?
        ))
    }
}

/// How long a level took.
fn seconds_of(level: &SearchedLevel) -> String {
    match level.level.summary.throughput.duration.get() {
        seconds if seconds >= 9.95 => format!("{seconds:.0} s"),
        seconds => format!("{} s", number(seconds)),
    }
}

/// So much more time, roughly: `40 more seconds`, `5 more minutes`.
fn more(seconds: f64) -> String {
    let (count, unit) = match seconds {
        ..90.0 => (10.0 * (seconds / 10.0).ceil(), "second"),
        ..5_400.0 => ((seconds / 60.0).ceil(), "minute"),
        _ => ((seconds / 3_600.0).ceil(), "hour"),
    };
    format!("{count} more {unit}{}", if count == 1.0 { "" } else { "s" })
}

/// How many values the interval of a percentile takes, where there are fewer.
fn needed(sample: &Distribution, statistic: Statistic) -> Option<u64> {
    match sample.quantile(statistic)? {
        Quantile::Known { interval: Some(SampleSupport::NotSupported { needs, .. }), .. }
        | Quantile::Withheld { needs } => Some(needs),
        Quantile::Known { .. } | Quantile::Absent => None,
    }
}
