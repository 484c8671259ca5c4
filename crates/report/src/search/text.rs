//! A search as text.

use std::fmt::Write;

use fizeau_pareto::{SearchEnding, Standing};

use super::json::standing;
use super::{SearchPurpose, SearchReport, SearchedLevel, SearchedLoad};
use crate::number::{number, percent};
use crate::terminal::{plain, wrap};
use crate::{GoalResult, LoadPoint};

/// As wide as the other tables of commands that print text alone.
const WIDTH: usize = 80;
/// As many goals as there is room for; the file has all of them.
const GOALS: usize = 4;

impl SearchReport {
    /// All levels in a table of 80 columns, then the answer and how far it is to be trusted. Ends with a newline.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        wrapped(
            &mut out,
            &format!("Search: the highest {} with {}", self.asked.load.what(), self.slo),
        );
        wrapped(&mut out, &format!("on {}", self.setup.engine.words()));
        out.push('\n');
        self.table(&mut out);
        out.push('\n');
        wrapped(&mut out, &self.answer());
        let further = [self.broken(), self.unsure(), self.wrong_order(), self.confirmation_words()];
        further.into_iter().flatten().for_each(|text| wrapped(&mut out, &text));
        out
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
        for (index, level) in self.levels.iter().enumerate() {
            let mut row = format!(
                "{:>3} {:12} {:>8}",
                index + 1,
                self.purpose(level),
                shown(level.level.load)
            );
            for (goal, head) in self.goals_at(level).iter().zip(&heads) {
                row.push_str(&format!(" {:>1$}", cell(goal), head.len().max(11)));
            }
            line(out, &format!("{row}  {}", words(level)));
        }
    }

    fn purpose(&self, level: &SearchedLevel) -> &'static str {
        match (level.purpose, self.asked.load) {
            (SearchPurpose::Start, SearchedLoad::Rate) => "start, slots",
            (SearchPurpose::Start, SearchedLoad::Concurrency) => "start",
            (SearchPurpose::Evaluation, _) => "edge",
            (SearchPurpose::Confirmation, _) => "confirmation",
        }
    }

    /// The answer in a sentence or two.
    #[must_use]
    pub fn answer(&self) -> String {
        let runs = self.levels.iter().filter(|level| level.purpose != SearchPurpose::Confirmation);
        let runs = match runs.count() {
            1 => "1 run".to_owned(),
            runs => format!("{runs} runs"),
        };
        let unit = self.asked.load.words();
        match (self.load(), self.found.edge, self.found.ending) {
            (Some(load), Some(_), SearchEnding::AllGood) => format!(
                "Found in {runs}: at least {} {unit}, the highest that was to be tried (--to): the goals hold there",
                shown(load)
            ),
            (Some(load), Some(edge), SearchEnding::Decided | SearchEnding::OutOfRuns) => format!(
                "Found in {runs}: {} {unit}; the goals break between {} and {} ({} confidence)",
                shown(load),
                number(edge.low()),
                number(edge.high()),
                percent(self.asked.confidence),
            ),
            (_, _, SearchEnding::BrokenOff) => {
                format!("Broken off after {runs}: nothing is decided")
            }
            _ => format!("Nothing found in {runs}: {}", self.nearest()),
        }
    }

    /// What of the goals could be had at the load that misses them least.
    fn nearest(&self) -> String {
        let nearest = self.found.nearest.and_then(|index| self.evaluation(index));
        let Some(nearest) = nearest else {
            return "no level has the figures that the goals are about".to_owned();
        };
        let goals = self.goals_at(nearest);
        let goals: Vec<String> = goals.iter().map(GoalResult::words).collect();
        format!(
            "the goals are missed at the lowest load too. The nearest is {} {}: {}",
            shown(nearest.level.load),
            self.asked.load.words(),
            goals.join("; ")
        )
    }

    fn broken(&self) -> Option<String> {
        Some(format!("First to break: {}", self.first_broken?.describe()))
    }

    fn unsure(&self) -> Option<String> {
        let is_wide = self.found.ending == SearchEnding::OutOfRuns;
        is_wide.then(|| {
            format!(
                "Not to {}: the runs were used up. More of them (--max-runs) or longer ones (--level-seconds, \
                 --num-prompts) make it narrower",
                percent(self.asked.tolerance)
            )
        })
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
        let all = self.levels.iter().filter(|level| level.purpose == SearchPurpose::Confirmation);
        let missed = all.filter(|level| !self.holds(level)).count();
        let (load, unit) = (shown(last.level.load), self.asked.load.words());
        let seconds = number(last.level.summary.throughput.duration.get());
        let goals: Vec<String> = self.goals_at(last).iter().map(GoalResult::words).collect();
        let saturated = if last.is_borne() { "" } else { "; the queue grew" };
        let goals = format!("{}{saturated}", goals.join("; "));
        Some(match (self.holds(last), missed) {
            (true, 0) => format!("Confirmed over {seconds} s at {load} {unit}: {goals}"),
            (true, _) => format!(
                "Missed over a long run at the load that was found, and confirmed over {seconds} s a step below it, at \
                 {load} {unit}: {goals}"
            ),
            (false, _) => format!("Not confirmed over {seconds} s at {load} {unit}: {goals}"),
        })
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

/// A load with all its digits: there are at most four.
fn shown(load: LoadPoint) -> String {
    load.value().to_string()
}

fn cell(goal: &GoalResult) -> String {
    let Some(value) = goal.outcome.measured else { return "-".to_owned() };
    let mark = if goal.stand_in.is_some() { "*" } else { "" };
    format!("{}{mark}", number(value))
}

fn words(level: &SearchedLevel) -> &'static str {
    match (level.standing, level.is_borne()) {
        (Standing::Bad, false) => "saturated",
        (of, _) => standing(of),
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
