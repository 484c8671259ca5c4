//! A search as text.

use fizeau_metrics::{Distribution, Quantile, Statistic, Support, Verdict};
use fizeau_pareto::{SearchEnding, Standing};

use super::{SearchJudgement, SearchPurpose, SearchReport, SearchedLevel};
use crate::GoalResult;
use crate::goal::name;
use crate::text::listed;
use crate::text::{four_digits, number, percent};
use fizeau_core::LoadKind;

impl SearchReport {
    /// What is to be said beside the answer: how far it is to be trusted, what broke, whether it was confirmed, the verdict.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let further = [
            self.refuted_words(),
            self.broken(),
            self.unsure(),
            self.wrong_order(),
            self.confirmation_words(),
        ];
        further.into_iter().flatten().chain(self.verdict_words()).collect()
    }

    /// The answer in a sentence or two.
    #[must_use]
    pub fn answer(&self) -> String {
        let runs = self.runs();
        let unit = self.asked.load.words();
        match (self.load(), self.found.edge, self.found.ending) {
            (Some(load), Some(edge), SearchEnding::AllGood) if edge.high().is_infinite() => {
                format!(
                    "Found in {runs}: at least {} {unit}, the highest that was to be tried{}: the goals hold there",
                    four_digits(load.value()),
                    self.highest(),
                )
            }
            (Some(load), Some(edge), ending) if ending != SearchEnding::BrokenOff => format!(
                "Found in {runs}: {} {unit}; the goals break between {} and {} ({})",
                four_digits(load.value()),
                self.slots_or(edge.low(), f64::floor),
                self.slots_or(edge.high(), f64::ceil),
                self.how_sure(),
            ),
            (_, _, SearchEnding::BrokenOff) => {
                format!("Broken off after {runs}: nothing is decided")
            }
            (None, Some(edge), _) => format!(
                "Nothing confirmed in {runs}: over a long run the goals were missed down to {} {unit}. The short runs put the \
                 edge there or above; a lower load may keep the goals: search up to {0}",
                self.slots_or(edge.high(), f64::ceil),
            ),
            _ => format!("Nothing found in {runs}: {}", self.nearest()),
        }
    }

    /// An end of the edge; of slots whole ones.
    fn slots_or(&self, load: f64, whole: fn(f64) -> f64) -> String {
        match self.asked.load {
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
            0 => of(short.count(), "run"),
            long => format!("{} and {}", of(short.count(), "run"), of(long, "long one")),
        }
    }

    /// What the interval rests on.
    fn how_sure(&self) -> String {
        match (self.found.has_errors, self.refuted().next()) {
            (_, Some(_)) => "the loads of the long runs that held and missed".to_owned(),
            (true, None) => format!("{} confidence", percent(self.asked.confidence)),
            (false, None) => "at a confidence that is assumed".to_owned(),
        }
    }

    fn highest(&self) -> &'static str {
        match (self.asked.to, self.asked.load) {
            (Some(_), _) => "",
            (None, LoadKind::Rate) => " (100 times the first, since no highest was given)",
            (None, LoadKind::Concurrency) => " (no other was given)",
        }
    }

    /// What of the goals could be had at the load that misses them least.
    fn nearest(&self) -> String {
        let nearest = self.found.nearest.and_then(|index| self.evaluation(index));
        let Some(nearest) = nearest else {
            return "no level has the figures that the goals are about".to_owned();
        };
        let unit = self.asked.load.words();
        let loads = self.evaluations().map(|level| level.level.load);
        let lowest = loads.reduce(|a, b| if b.value() < a.value() { b } else { a });
        let lowest = lowest.map_or_else(String::new, |load| four_digits(load.value()));
        let whose = match (self.found.ending, self.asked.from, self.asked.load) {
            (SearchEnding::Unmet, Some(_), _) => "the lowest that was to be tried",
            (SearchEnding::Unmet, None, LoadKind::Rate) => {
                "a hundredth of the first rate, since no lowest was given"
            }
            (SearchEnding::Unmet, None, LoadKind::Concurrency) => "the lowest there is",
            _ => "the lowest that was tried",
        };
        format!(
            "the goals are missed at {lowest} {unit} too, {whose}. The nearest is {} {unit}: {}",
            four_digits(nearest.level.load.value()),
            self.goal_words(nearest),
        )
    }

    /// The goals at a level, and what else speaks against it.
    fn goal_words(&self, level: &SearchedLevel) -> String {
        let words =
            if self.is_simulated() { GoalResult::words_simulated } else { GoalResult::words };
        let goals: Vec<String> = self.goals_at(level).iter().map(words).collect();
        let requests = &level.level.summary.requests;
        let more = match level.judgement {
            SearchJudgement::Saturated => "; the queue grew".to_owned(),
            SearchJudgement::Failing => {
                format!("; {} of {} requests failed", requests.failed, requests.sent)
            }
            SearchJudgement::Held | SearchJudgement::Missed => String::new(),
        };
        format!("{}{more}", goals.join("; "))
    }

    /// The loads that seemed to be the answer until a long run.
    fn refuted_words(&self) -> Option<String> {
        self.load()?;
        let loads: Vec<String> =
            self.refuted().map(|level| four_digits(level.level.load.value())).collect();
        let unit = self.asked.load.words();
        (!loads.is_empty()).then(|| {
            format!(
                "Missed over a long run: {} {unit}, within the goals by the short runs",
                listed(&loads)
            )
        })
    }

    fn broken(&self) -> Option<String> {
        let edge = self.found.edge.filter(|edge| edge.high().is_finite())?;
        match (self.first_broken, self.refuted().next()) {
            (Some(goal), _) => Some(format!("First to break: {}", goal.describe())),
            // Then the long run says what broke.
            (None, Some(_)) => None,
            (None, None) => Some(format!(
                "Saturated before any goal broke: above {} more is sent than served, or requests fail",
                four_digits(edge.value())
            )),
        }
    }

    fn unsure(&self) -> Option<String> {
        let is_wide = self.found.ending == SearchEnding::OutOfRuns;
        let wide = is_wide.then(|| {
            format!(
                "Not to {}: the runs were used up. More of them or longer ones make it \
                 narrower",
                percent(self.asked.tolerance)
            )
        });
        // Where long runs bound the edge, they and no error of short ones are what the interval rests on.
        let is_of_short = self.found.edge.is_some() && self.refuted().next().is_none();
        let assumed = (is_of_short && !self.found.has_errors).then(|| {
            format!(
                "No confidence can be given: {}; an error of 10 % is assumed of each. Longer levels would \
                 have an interval",
                self.lacking()
            )
        });
        let both: Vec<String> = [wide, assumed].into_iter().flatten().collect();
        (!both.is_empty()).then(|| both.join(". "))
    }

    /// Which figure has no interval, and why.
    fn lacking(&self) -> String {
        let goal = self.first_broken.or_else(|| self.slo.goals.first().copied());
        let Some(goal) = goal else { return "the levels have no intervals".to_owned() };
        let needs = self.evaluations().filter_map(|level| {
            let sample = goal.metric.distribution(&level.level.summary)?;
            needed(sample, goal.statistic)
        });
        let name = name(&goal);
        match needs.max() {
            Some(needs) => format!(
                "the {name} of levels near the edge has no interval, which takes {needs} values here"
            ),
            None => format!("the {name} of levels near the edge has no interval"),
        }
    }

    /// The verdict, and the reasons against the levels that count.
    fn verdict_words(&self) -> Vec<String> {
        let mut lines = vec![format!("Verdict: {}", self.verdict().as_str())];
        let levels = self.levels.iter().filter(|level| level.standing != Standing::Bad);
        for reason in levels.flat_map(|level| &level.level.validity.reasons) {
            let text = format!("  {}: {}", reason.verdict.as_str(), reason.text);
            if reason.verdict != Verdict::Valid && !lines.contains(&text) {
                lines.push(text);
            }
        }
        lines
    }

    fn wrong_order(&self) -> Option<String> {
        let (missed, kept) = self.found.not_monotone?;
        let load = |index| Some(four_digits(self.evaluation(index)?.level.load.value()));
        Some(format!(
            "Not monotone: the goals were missed at {} and kept at {}, which is more than chance. There may be several edges; \
             this one is that of a response made monotone",
            load(missed)?,
            load(kept)?
        ))
    }

    fn confirmation_words(&self) -> Option<String> {
        let last = self.confirmed()?;
        let (load, unit) = (four_digits(last.level.load.value()), self.asked.load.words());
        let seconds = number(last.level.summary.throughput.duration.get());
        let confirmed = if last.holds() { "Confirmed" } else { "Not confirmed" };
        Some(format!("{confirmed} over {seconds} s at {load} {unit}: {}", self.goal_words(last)))
    }
}

/// How many values the interval of a percentile takes, where there are fewer.
fn needed(sample: &Distribution, statistic: Statistic) -> Option<u64> {
    match sample.quantile(statistic)? {
        Quantile::Known { interval: Some(Support::NotSupported { needs, .. }), .. }
        | Quantile::Withheld { needs } => Some(needs),
        Quantile::Known { .. } | Quantile::Absent => None,
    }
}
