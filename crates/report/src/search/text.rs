//! A search as text.

use std::fmt::Write;

use fizeau_metrics::{Distribution, Quantile, Statistic, Support, Verdict};
use fizeau_pareto::{SearchEnding, Standing};

use super::json::standing;
use super::{SearchJudgement, SearchPurpose, SearchReport, SearchedLevel, SearchedLoad};
use crate::goal::name;
use crate::number::{number, percent};
use crate::terminal::{plain, wrap};
use crate::words::listed;
use crate::{Engine, GoalResult, LoadPoint};

/// As wide as the other tables of commands that print text alone.
const WIDTH: usize = 80;
/// As many goals as there is room for; the file has all of them.
const GOALS: usize = 4;

impl SearchReport {
    /// All levels in a table of 80 columns, then the answer and how far it is to be trusted. Ends with a newline.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        let end = if self.slo.is_range() { ", at the tight end" } else { "" };
        let what = self.asked.load.what();
        wrapped(&mut out, &format!("Search: the highest {what} with {}{end}", self.slo));
        wrapped(&mut out, &format!("on {}", self.endpoint()));
        out.push('\n');
        self.table(&mut out);
        out.push('\n');
        wrapped(&mut out, &self.answer());
        let further = [
            self.refuted_words(),
            self.broken(),
            self.unsure(),
            self.wrong_order(),
            self.confirmation_words(),
        ];
        further.into_iter().flatten().for_each(|text| wrapped(&mut out, &text));
        self.verdict_words().iter().for_each(|text| wrapped(&mut out, text));
        out
    }

    /// The engine, or the server and its model.
    fn endpoint(&self) -> String {
        let endpoint = &self.setup.endpoint;
        match &self.setup.engine {
            Engine::Simulated { .. } => self.setup.engine.words(),
            Engine::Remote { description } => {
                let said =
                    description.as_ref().map_or_else(String::new, |said| format!(" ({said})"));
                format!("{} at {}{said}", endpoint.model, endpoint.base_url)
            }
        }
    }

    fn table(&self, out: &mut String) {
        let goals = self.slo.goals().iter().take(GOALS);
        let heads: Vec<String> = goals
            .map(|goal| {
                let parts = [goal.statistic.as_str(), goal.metric.label(), goal.metric.unit()];
                parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
            })
            .collect();
        let mut head = format!("{:>3} {:12} {:>8}", "run", "for", self.asked.load.unit());
        heads.iter().for_each(|text| head.push_str(&format!(" {text:>11}")));
        line(out, &format!("{head}  standing"));
        let mut has_stand_in = false;
        for (index, level) in self.levels.iter().enumerate() {
            let load = self.load_cell(level);
            let mut row = format!("{:>3} {:12} {load:>8}", index + 1, purpose(level));
            for (goal, head) in self.goals_at(level).iter().zip(&heads) {
                has_stand_in |= goal.stand_in.is_some();
                row.push_str(&format!(" {:>1$}", cell(goal), head.len().max(11)));
            }
            line(out, &format!("{row}  {}", words(level)));
        }
        if has_stand_in {
            wrapped(out, "* the greatest value: there are too few for the percentile");
        }
    }

    /// The load; of the closed loop that a search of a rate begins with, what it is too.
    fn load_cell(&self, level: &SearchedLevel) -> String {
        let load = shown(level.level.load);
        match (self.asked.load, level.level.load) {
            (SearchedLoad::Rate, LoadPoint::Concurrency(_)) => format!("{load} slots"),
            _ => load,
        }
    }

    /// The answer in a sentence or two.
    #[must_use]
    pub fn answer(&self) -> String {
        let runs = self.runs();
        let unit = self.asked.load.words();
        match (self.load(), self.found.edge, self.found.ending) {
            (Some(load), Some(edge), SearchEnding::AllGood) if edge.high().is_infinite() => {
                format!(
                    "Found in {runs}: at least {} {unit}, the highest that was to be tried ({}): the goals hold there",
                    shown(load),
                    self.highest(),
                )
            }
            (Some(load), Some(edge), ending) if ending != SearchEnding::BrokenOff => format!(
                "Found in {runs}: {} {unit}; the goals break between {} and {} ({})",
                shown(load),
                self.slots_or(edge.low(), f64::floor),
                self.slots_or(edge.high(), f64::ceil),
                self.how_sure(),
            ),
            (_, _, SearchEnding::BrokenOff) => {
                format!("Broken off after {runs}: nothing is decided")
            }
            (None, Some(edge), _) => format!(
                "Nothing confirmed in {runs}: over a long run the goals were missed down to {} {unit}. The short runs put the \
                 edge there or above; a lower load may keep the goals (--to {0})",
                self.slots_or(edge.high(), f64::ceil),
            ),
            _ => format!("Nothing found in {runs}: {}", self.nearest()),
        }
    }

    /// An end of the edge; of slots whole ones.
    fn slots_or(&self, load: f64, whole: fn(f64) -> f64) -> String {
        match self.asked.load {
            SearchedLoad::Rate => bound(load),
            SearchedLoad::Concurrency => whole(load).to_string(),
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
            (Some(_), _) => "--to",
            (None, SearchedLoad::Rate) => "100 times the first; --to sets another",
            (None, SearchedLoad::Concurrency) => "--to sets another",
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
        let lowest = lowest.map_or_else(String::new, shown);
        let whose = match (self.found.ending, self.asked.from, self.asked.load) {
            (SearchEnding::Unmet, Some(_), _) => "the lowest that was to be tried (--from)",
            (SearchEnding::Unmet, None, SearchedLoad::Rate) => {
                "a hundredth of the first rate (--from sets another)"
            }
            (SearchEnding::Unmet, None, SearchedLoad::Concurrency) => "the lowest there is",
            _ => "the lowest that was tried",
        };
        format!(
            "the goals are missed at {lowest} {unit} too, {whose}. The nearest is {} {unit}: {}",
            shown(nearest.level.load),
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
        let loads: Vec<String> = self.refuted().map(|level| shown(level.level.load)).collect();
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
                bound(edge.value())
            )),
        }
    }

    fn unsure(&self) -> Option<String> {
        let is_wide = self.found.ending == SearchEnding::OutOfRuns;
        let wide = is_wide.then(|| {
            format!(
                "Not to {}: the runs were used up. More of them (--max-runs) or longer ones (--level-seconds, \
                 --num-prompts) make it narrower",
                percent(self.asked.tolerance)
            )
        });
        // Where long runs bound the edge, they and no error of short ones are what the interval rests on.
        let is_of_short = self.found.edge.is_some() && self.refuted().next().is_none();
        let assumed = (is_of_short && !self.found.has_errors).then(|| {
            format!(
                "No confidence can be given: {}; an error of 10 % is assumed of each. Longer levels (--level-seconds, \
                 --num-prompts) would have an interval",
                self.lacking()
            )
        });
        let both: Vec<String> = [wide, assumed].into_iter().flatten().collect();
        (!both.is_empty()).then(|| both.join(". "))
    }

    /// Which figure has no interval, and why.
    fn lacking(&self) -> String {
        let goal = self.first_broken.or_else(|| self.slo.goals().first().copied());
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
        let load = |index| Some(shown(self.evaluation(index)?.level.load));
        Some(format!(
            "Not monotone: the goals were missed at {} and kept at {}, which is more than chance. There may be several edges; \
             this one is that of a response made monotone",
            load(missed)?,
            load(kept)?
        ))
    }

    fn confirmation_words(&self) -> Option<String> {
        let last = self.confirmed()?;
        let (load, unit) = (shown(last.level.load), self.asked.load.words());
        let seconds = number(last.level.summary.throughput.duration.get());
        let confirmed = if last.holds() { "Confirmed" } else { "Not confirmed" };
        Some(format!("{confirmed} over {seconds} s at {load} {unit}: {}", self.goal_words(last)))
    }
}

const fn purpose(level: &SearchedLevel) -> &'static str {
    match level.purpose {
        SearchPurpose::Start => "start",
        SearchPurpose::Evaluation => "edge",
        SearchPurpose::Confirmation => "confirmation",
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

impl SearchedLoad {
    const fn what(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Concurrency => "concurrency",
        }
    }

    const fn unit(self) -> &'static str {
        match self {
            Self::Rate => "req/s",
            Self::Concurrency => "conc",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Rate => "requests/s",
            Self::Concurrency => "in flight",
        }
    }
}

/// A load, to four digits.
fn shown(load: LoadPoint) -> String {
    match load {
        LoadPoint::Concurrency(slots) => slots.to_string(),
        LoadPoint::Rate(rate) => bound(rate.get()),
    }
}

/// A load to four digits, without zeros at its end.
fn bound(load: f64) -> String {
    let decimals = (3.0 - load.abs().log10().floor()).clamp(0.0, 12.0);
    let text = format!("{load:.0$}", if decimals.is_finite() { decimals as usize } else { 0 });
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

fn cell(goal: &GoalResult) -> String {
    let Some(value) = goal.outcome.measured else { return "-".to_owned() };
    let mark = if goal.stand_in.is_some() { "*" } else { "" };
    format!("{}{mark}", number(value))
}

const fn words(level: &SearchedLevel) -> &'static str {
    match (level.judgement, level.purpose) {
        (SearchJudgement::Saturated, _) => "saturated",
        (SearchJudgement::Failing, _) => "failing",
        (SearchJudgement::Held, SearchPurpose::Confirmation) => "held",
        (SearchJudgement::Missed, SearchPurpose::Confirmation) => "missed",
        (SearchJudgement::Held | SearchJudgement::Missed, _) => standing(level.standing),
    }
}

fn line(out: &mut String, text: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{}", plain(text).trim_end());
}

fn wrapped(out: &mut String, text: &str) {
    for part in wrap(&plain(text), WIDTH).lines() {
        line(out, part);
    }
}
