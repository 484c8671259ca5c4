//! A search as text.

use crate::grouped::{GroupedReason, grouped, placed};
use crate::text::{VERDICT, Verbosity, line, sentence, shown};
use crate::{Shown, shards};
use fizeau_core::{LevelLoad, LoadKind};
use fizeau_pareto::EdgeSide;
use fizeau_record::text::{four_digits, number};
use fizeau_record::{
    EngineRecord, GoalResult, SearchJudgement, SearchPurpose, SearchReport, SearchedLevel,
};

/// As many goals as there is room for; the file has all of them.
const GOALS: usize = 4;

impl Shown<'_, SearchReport> {
    /// All levels in a table of 80 columns, then the answer and how far it is to be trusted. Ends with a newline.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        let end = if self.slo.is_range() { ", at the tight end" } else { "" };
        let what = self.requested.load.as_str();
        sentence(&mut out, &format!("Search: the highest {what} with {}{end}", self.slo));
        sentence(&mut out, &self.endpoint());
        out.push('\n');
        self.table(&mut out);
        out.push('\n');
        sentence(&mut out, &self.answer());
        self.remarks().iter().for_each(|text| sentence(&mut out, text));
        if let Some(all) = shards::over(self.levels.iter().map(|one| &one.level)) {
            shards::sentences(&all).iter().for_each(|text| sentence(&mut out, text));
            let table = shards::table_lines(&all, Verbosity::Brief);
            table.iter().for_each(|text| line(&mut out, text));
        }
        self.verdict_words().iter().for_each(|text| sentence(&mut out, text));
        out
    }

    /// The verdict, and the reasons against the levels that count, each kind once with its loads.
    fn verdict_words(&self) -> Vec<String> {
        let levels = self.levels.iter().filter(|level| level.is_evidence());
        let reasons = levels.flat_map(|searched| {
            searched.doubts().map(move |reason| placed(searched.level.load, reason))
        });
        let words = |reason: GroupedReason<'_, LevelLoad>| {
            let text = shown(reason.text, Verbosity::Brief);
            format!("  {}: {text} (at {})", reason.verdict.as_str(), reason.at())
        };
        let verdict = format!("{VERDICT} {}", self.verdict().as_str());
        std::iter::once(verdict).chain(grouped(reasons).into_iter().map(words)).collect()
    }

    /// The engine, or the server and its model.
    fn endpoint(&self) -> String {
        let endpoint = &self.setup.endpoint;
        match &self.setup.engine {
            EngineRecord::Simulated { .. } => {
                format!("Engine: {}", self.setup.engine.words().replacen(": ", ", ", 1))
            }
            EngineRecord::Remote { description } => {
                let said =
                    description.as_ref().map_or_else(String::new, |said| format!(" ({said})"));
                format!("Endpoint: {} at {}{said}", endpoint.model, endpoint.base_url)
            }
        }
    }

    fn table(&self, out: &mut String) {
        let goals = self.slo.goals.iter().take(GOALS);
        let heads: Vec<String> = goals
            .map(|goal| {
                let parts =
                    [goal.statistic.as_str(), goal.metric.entry().label, goal.metric.entry().unit];
                parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
            })
            .collect();
        let mut head = format!("{:>5} {:7} {:>12}", "level", "purpose", self.requested.load.unit());
        heads.iter().for_each(|text| head.push_str(&format!(" {text:>11}")));
        line(out, &format!("{head}  goals"));
        let mut has_stand_in = false;
        for (index, level) in self.levels.iter().enumerate() {
            let load = self.load_cell(level);
            let mut row = format!("{:>5} {:7} {load:>12}", index + 1, purpose(level));
            for (goal, head) in self.goals_at(level).iter().zip(&heads) {
                has_stand_in |= goal.stand_in.is_some();
                row.push_str(&format!(" {:>1$}", cell(goal), head.len().max(11)));
            }
            line(out, &format!("{row}  {}", words(level)));
        }
        if has_stand_in {
            sentence(
                out,
                "* the greatest value, since there are too few requests for the percentile",
            );
        }
    }

    /// The load; of the closed loop that a search of a rate begins with, what it is too.
    fn load_cell(&self, level: &SearchedLevel) -> String {
        let load = four_digits(level.level.load.value());
        match (self.requested.load, level.level.load) {
            (LoadKind::Rate, LevelLoad::Concurrency(_)) => format!("{load} in flight"),
            _ => load,
        }
    }
}

const fn purpose(level: &SearchedLevel) -> &'static str {
    match level.purpose {
        SearchPurpose::Start => "start",
        SearchPurpose::Evaluation => "search",
        SearchPurpose::Confirmation => "confirm",
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
        (SearchJudgement::Invalid, _) => "invalid",
        (SearchJudgement::Held, SearchPurpose::Confirmation) => "met",
        (SearchJudgement::Missed, SearchPurpose::Confirmation) => "missed",
        (SearchJudgement::Held | SearchJudgement::Missed, _) => {
            match (level.side, level.judgement) {
                (EdgeSide::Good, _) => "met",
                (EdgeSide::Bad, _) => "missed",
                (EdgeSide::Undecided, SearchJudgement::Held) => "met, unsure",
                (EdgeSide::Undecided, _) => "missed, unsure",
            }
        }
    }
}
