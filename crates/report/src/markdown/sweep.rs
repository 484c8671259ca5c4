//! A sweep as Markdown.

use super::escape;
use super::{folded, table};
use crate::Shown;
use crate::sweep::{ONE_RUN_NOTE, SATURATED_NOTE};
use crate::table::{Cell, Column, PLUS_MINUS, PLUS_MINUS_NOTE, columns};
use crate::terminal::Pen;
use crate::{Charset, TextStyle, Verbosity};
use fizeau_record::STAND_IN_NOTE;
use fizeau_record::text::MILLION;
use fizeau_record::text::percent;
use fizeau_record::{CheckOutcome, FrontierPosition, LevelReport, OperatingPoint, SweepReport};

impl Shown<'_, SweepReport> {
    /// The report as Markdown, as GitHub shows it: the verdict first, then what one came for, the levels, and the rest folded
    /// away. Foreign text is escaped. Ends with a newline.
    ///
    /// In a step of GitHub's actions it goes to the file that `GITHUB_STEP_SUMMARY` names.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut out = format!("## {}\n\n{}\n", escape(&self.title()), self.verdict_words());
        out.push_str(&table(&["".into(), "".into()], &[true, true], &self.facts_rows()));
        out.push('\n');
        for kind in self.kinds() {
            out.push_str(&self.levels_table(&kind));
            out.push('\n');
        }
        for note in self.marks() {
            out.push_str(&format!("{}  \n", escape(&note)));
        }
        out.push('\n');
        let pen = Pen { width: 80, rows: 10, charset: Charset::Ascii, style: TextStyle::Plain };
        if let Some(chart) = self.chart(pen) {
            let marks = "+ on the frontier, > the operating point";
            let drawn = chart.lines.join("\n");
            let content = format!("{}; {marks}\n\n```text\n{drawn}\n```", escape(&chart.key));
            out.push_str(&folded("Frontier", &content));
        }
        out.push_str(&self.checklist_rows());
        out.push_str(&self.setup_rows());
        out
    }

    /// `**Verdict: suspect.**`, and each reason.
    fn verdict_words(&self) -> String {
        let mut out = format!("**Verdict: {}.**\n", self.verdict().as_str());
        for reason in self.reasons() {
            let (word, text, at) = (reason.verdict.as_str(), escape(reason.text), reason.at());
            out.push_str(&format!("- {word}: {text} (at {})\n", escape(&at)));
        }
        for note in self.level_notes(Verbosity::Full).lines(Verbosity::Full) {
            out.push_str(&format!("- {}\n", escape(&note)));
        }
        let not_known = self.not_known();
        if !not_known.is_empty() {
            out.push_str("\nNot known:\n\n");
        }
        for known in not_known {
            out.push_str(&format!("- {}: {}\n", escape(&known.what), escape(&known.why)));
        }
        out.push('\n');
        out
    }

    /// What a reader came for, name by name.
    fn facts_rows(&self) -> Vec<Vec<String>> {
        let mut rows: Vec<(&str, String)> = Vec::new();
        let chosen = self.operating_point();
        let point = match chosen {
            OperatingPoint::NoGoal => "none: no goal was given".to_owned(),
            _ => self.operating_words(),
        };
        rows.push(("Operating point", point));
        rows.extend(self.assumed_goals().map(|goals| ("Goals", goals)));
        rows.extend(self.goal_words().into_iter().map(|goal| ("Goal", goal)));
        rows.extend(self.cost_words().map(|cost| (MILLION, cost)));
        let light = chosen.level().and_then(|i| self.levels().get(i));
        let light = light.and_then(|level| Some((level, level.speed_of_light.comparison()?)));
        if let Some((level, light)) = light {
            let share = level.speed_of_light.output_share();
            let share = share.map_or_else(|| "-".to_owned(), |share| percent(share.get()));
            let limit = light.bound.limited_by;
            let of = match (light.even_routing, light.shares.output_tokens_per_s) {
                (Some(_), Some(of_bound)) => {
                    let of_bound = percent(of_bound.get());
                    format!("output tokens/s at even routing of experts, {of_bound} of the bound")
                }
                _ => "the bound of output tokens/s".to_owned(),
            };
            rows.push(("Speed of light", format!("{share} of {of}, which {limit} limits")));
        }
        for reason in self.speed_of_light_reasons() {
            rows.push(("Speed of light", format!("not computed; {reason}")));
        }
        rows.push(("Knee", self.knee().unwrap_or_else(|| "none seen".to_owned())));
        rows.into_iter().map(|(name, value)| vec![name.to_owned(), escape(&value)]).collect()
    }

    /// The levels with these indices, which are of one kind of load. Intervals stand beside their figures.
    fn levels_table(&self, kind: &[usize]) -> String {
        let levels: Vec<&LevelReport> = kind.iter().filter_map(|&i| self.levels().get(i)).collect();
        let columns = columns(&levels);
        let (mut heads, mut cells): (Vec<String>, Vec<Vec<String>>) = Default::default();
        for column in columns {
            match cells.last_mut().filter(|_| column.head == PLUS_MINUS) {
                Some(figures) => {
                    figures.iter_mut().zip(&column.cells).for_each(|(figure, half)| {
                        if half.text != "-" {
                            figure.push_str(&format!(" ± {}", half.text));
                        }
                    })
                }
                None => {
                    heads.push(head(&column));
                    cells.push(column.cells.iter().map(text).collect());
                }
            }
        }
        heads.push("place".to_owned());
        let row = |(row, level): (usize, &usize)| {
            let cells = cells.iter().map(|column| column.get(row).cloned().unwrap_or_default());
            cells.chain([self.place_words(*level)]).collect::<Vec<String>>()
        };
        let rows: Vec<Vec<String>> = kind.iter().enumerate().map(row).collect();
        let last = heads.len() - 1;
        let words: Vec<bool> = (0..heads.len()).map(|column| column == last).collect();
        table(&heads, &words, &rows)
    }

    fn place_words(&self, level: usize) -> String {
        match self.positions().get(level) {
            _ if self.operating_point().level() == Some(level) => "**operating point**".to_owned(),
            Some(FrontierPosition::Frontier) => "frontier".to_owned(),
            Some(FrontierPosition::Dominated { by }) => format!("beaten by {}", self.label_of(*by)),
            Some(FrontierPosition::LeftOut { reason }) => format!("left out: {}", escape(reason)),
            None => String::new(),
        }
    }

    /// What the marks in the table mean, and what it lacks.
    fn marks(&self) -> Vec<String> {
        let mut notes = vec![PLUS_MINUS_NOTE.to_owned()];
        if !self.repeats().is_empty() {
            notes.push(ONE_RUN_NOTE.to_owned());
        }
        if self.has_stand_in() {
            notes.push(format!("*: {STAND_IN_NOTE}"));
        }
        if self.levels().iter().any(LevelReport::is_saturated) {
            notes.push(format!("!: {SATURATED_NOTE}"));
        }
        notes.extend(self.failure_lines());
        let never = self.never_measured();
        if !never.is_empty() {
            notes.push(format!("Left out: {}", never.join(", ")));
        }
        notes
    }

    fn checklist_rows(&self) -> String {
        let checklist = self.checklist();
        let passed = checklist.count(CheckOutcome::Pass);
        let summary = format!("Checklist: {passed} of {} pass", checklist.rows().len());
        let rows: Vec<Vec<String>> = checklist
            .rows()
            .iter()
            .map(|row| {
                let outcome = row.outcome.as_str();
                vec![row.check.to_string(), outcome.to_owned(), escape(&row.evidence)]
            })
            .map(|row| row.into_iter().map(|cell| cell.replace('_', "&#95;")).collect())
            .collect();
        let heads = ["row", "outcome", "evidence"].map(str::to_owned);
        folded(&summary, &table(&heads, &[true; 3], &rows))
    }

    fn setup_rows(&self) -> String {
        let goals = self.slo().map_or_else(|| "not given".to_owned(), ToString::to_string);
        let rows = self.setup().rows().into_iter().chain([("Goals", goals)]);
        let rows: Vec<Vec<String>> =
            rows.map(|(name, value)| vec![name.to_owned(), escape(&value)]).collect();
        folded("What was run, and on what", &table(&["".into(), "".into()], &[true; 2], &rows))
    }
}

/// A head in one line, with its unit: `req/s`, `TTFT p50, ms`.
fn head(column: &Column) -> String {
    match (column.group, column.head) {
        ("", head) => head.to_owned(),
        (group, head) if head.starts_with('/') => format!("{group}{head}"),
        (group, head) => match group.split_once(' ') {
            Some((name, unit)) => format!("{name} {head}, {unit}"),
            None => format!("{group}, {head}"),
        },
    }
}

/// A cell, whose mark is not to be taken for markup.
fn text(cell: &Cell) -> String {
    let mark = if cell.marked { "&#42;" } else { "" };
    format!("{}{mark}", cell.text.trim_end())
}
