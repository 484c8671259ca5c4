//! A sweep as text for a terminal.

mod chart;
mod grid;
mod imported;
mod marks;
mod parts;
mod repeats;
mod speed_of_light;
mod table;

pub(crate) use chart::Pen;

use crate::text::{TextStyle, VERDICT, Verbosity, plain, requested_lengths, shown};
use crate::{ChecklistRows, Shown, shards};
use fizeau_record::text::Charset;
use fizeau_record::text::{MILLION, listed, wrap};
use fizeau_record::{
    EngineRecord, FrontierPosition, LevelReport, OperatingPoint, SweepReport, UnknownFact,
};
use table::{Column, Row, Table};

/// How to write for a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal<'a> {
    /// Columns of text that fit on a line. The table takes what it gets: intervals and all columns with room between them
    /// where it is wide; at 80 it is drawn closer and may leave columns out, which it then names.
    pub width: usize,
    /// Whether to use colours.
    pub style: TextStyle,
    /// What the chart of the frontier is drawn with.
    pub charset: Charset,
    /// How much to show.
    pub verbosity: Verbosity,
    /// Which rows of the checklist to show.
    pub checklist: ChecklistRows,
    /// Where the report lies; no line about it if absent.
    pub report: Option<&'a str>,
}

impl Shown<'_, SweepReport> {
    /// What was run, the table of levels, a chart of the frontier, the operating point, the verdict with a line for each reason, the
    /// checklist, and where the report lies; in full also what explains the reasons, the notes, the share of the speed of light by phase, the steady state of each level, the
    /// frontier as a list, how the operating point was decided, and the client's proof. Ends with a newline.
    #[must_use]
    pub fn terminal(&self, terminal: &Terminal<'_>) -> String {
        let mut out = Vec::new();
        self.say_setup(terminal.verbosity, &mut out);
        out.push(TextLine::Blank);
        self.say_tables(terminal, &mut out);
        self.say_chart(terminal, &mut out);
        self.say_repeats(terminal, &mut out);
        self.say_goals(terminal.verbosity, &mut out);
        out.push(TextLine::Blank);
        let is_full = terminal.verbosity == Verbosity::Full;
        if is_full {
            self.say_light(terminal, &mut out);
        }
        // Who leaves requests out is shown what is left.
        if is_full || self.has_requested_parts() {
            self.say_parts(terminal, &mut out);
            out.push(TextLine::Blank);
        }
        self.say_places(terminal.verbosity, &mut out);
        let knee = match terminal.verbosity {
            Verbosity::Full => self.knee(),
            Verbosity::Brief => self.explained_knee(),
        };
        if let Some(knee) = knee {
            out.push(TextLine::text(format!("Knee: {knee}")));
        }
        self.say_operating_point(terminal.verbosity, &mut out);
        out.extend(self.sustained_words().into_iter().map(TextLine::text));
        out.extend(self.until_lines().into_iter().map(TextLine::text));
        out.extend(self.failure_lines().into_iter().map(TextLine::text));
        for reason in self.speed_of_light_reasons() {
            out.push(TextLine::text(format!("Speed of light: not computed; {reason}")));
        }
        let client = self.client_lines().filter(|_| terminal.verbosity == Verbosity::Full);
        out.extend(client.into_iter().flatten().map(TextLine::text));
        if terminal.verbosity == Verbosity::Full {
            self.say_servers(&mut out);
        }
        self.say_shards(terminal.verbosity, &mut out);
        self.say_verdict(terminal.verbosity, &mut out);
        self.say_not_known(terminal.verbosity, &mut out);
        let checklist =
            Shown(&self.checklist()).text(terminal.checklist, terminal.width.min(SENTENCE));
        out.push(TextLine::Whole(checklist));
        if let Some(report) = terminal.report {
            // A path is not broken over lines, so that it can be copied.
            out.push(TextLine::Whole(format!("Report: {}", plain(report))));
        }
        finish(out, terminal)
    }

    /// What the servers were at, level by level.
    fn say_servers(&self, out: &mut Vec<TextLine>) {
        for level in self.levels() {
            let said = Shown(level).telemetry_sentences().into_iter();
            out.extend(said.map(|words| TextLine::text(format!("{}, {words}", level.load))));
        }
    }

    /// How each client fared, where several measured together.
    fn say_shards(&self, verbosity: Verbosity, out: &mut Vec<TextLine>) {
        let Some(all) = shards::over(self.levels()) else { return };
        out.extend(shards::sentences(&all).into_iter().map(TextLine::text));
        out.extend(shards::table_lines(&all, verbosity).into_iter().map(TextLine::Whole));
    }

    /// What another tool that measured did not tell, in full with the reasons.
    fn say_not_known(&self, verbosity: Verbosity, out: &mut Vec<TextLine>) {
        let all = self.not_known();
        match verbosity {
            _ if all.is_empty() => {}
            Verbosity::Brief => {
                let names: Vec<_> = all.iter().map(|known| known.what.clone()).collect();
                out.push(TextLine::text(format!("Not known: {}", names.join(", "))));
            }
            Verbosity::Full => {
                out.push(TextLine::text("Not known:".to_owned()));
                let line = |known: &UnknownFact| {
                    TextLine::text(format!("  {}: {}", known.what, known.why))
                };
                out.extend(all.into_iter().map(line));
            }
        }
    }

    fn say_setup(&self, verbosity: Verbosity, out: &mut Vec<TextLine>) {
        let setup = self.setup();
        let (endpoint, workload) = (&setup.endpoint, &setup.workload);
        let (url, path) = (&endpoint.base_url, &endpoint.path);
        out.push(TextLine::text(format!(
            "Model {} at {url}{path} (backend {})",
            endpoint.model, endpoint.backend
        )));
        out.push(TextLine::text(format!(
            "{}: {}, seed {}; {}",
            workload.dataset,
            requested_lengths(workload),
            workload.seed_words(),
            workload.arrivals_words()
        )));
        match &setup.engine {
            EngineRecord::Simulated { description } if self.is_simulated() => {
                // The first part names model and device.
                let brief = description.split(';').next().unwrap_or_default();
                let description = if verbosity == Verbosity::Full { description } else { brief };
                let words = "Simulated in virtual time, not measured";
                out.push(TextLine::text(format!("{words}: {description}")));
            }
            EngineRecord::Simulated { description } => {
                let words = "The engine was simulated, not run on hardware";
                out.push(TextLine::text(match verbosity {
                    Verbosity::Brief => words.to_owned(),
                    Verbosity::Full => format!("{words}: {description}"),
                }));
            }
            EngineRecord::Remote { description: Some(description) } => {
                out.push(TextLine::text(format!("Engine: {description}")))
            }
            EngineRecord::Remote { description: None } => {}
        }
    }

    /// The tables of levels, one for each kind of load, and what their marks mean.
    fn say_tables(&self, terminal: &Terminal<'_>, out: &mut Vec<TextLine>) {
        let mut left_out = Vec::new();
        for kind in self.kinds() {
            let table = self.table(&kind, terminal.charset).draw(terminal.width, terminal.style);
            out.extend(table.lines.into_iter().map(TextLine::Whole));
            out.push(TextLine::Blank);
            for name in table.left_out {
                if !left_out.contains(&name) {
                    left_out.push(name);
                }
            }
        }
        self.say_marks(terminal, &left_out, out);
    }

    fn say_chart(&self, terminal: &Terminal<'_>, out: &mut Vec<TextLine>) {
        let &Terminal { width, style, charset, verbosity, .. } = terminal;
        let rows = match verbosity {
            Verbosity::Brief => 7,
            Verbosity::Full => 10,
        };
        if let Some(chart) = self.chart(Pen { width, rows, charset, style }) {
            out.extend([TextLine::Blank, TextLine::text(chart.key)]);
            out.extend(chart.lines.into_iter().map(TextLine::Whole));
        }
    }

    /// The table of the levels with these indices, which are of one kind of load.
    fn table(&self, kind: &[usize], charset: Charset) -> Table {
        let row = |i: &usize| match self.positions().get(*i) {
            _ if self.operating_point().level() == Some(*i) => Row::OperatingPoint,
            Some(FrontierPosition::Frontier) => Row::Frontier,
            Some(FrontierPosition::Dominated { .. } | FrontierPosition::LeftOut { .. }) | None => {
                Row::Other
            }
        };
        let levels: Vec<&LevelReport> = kind.iter().filter_map(|&i| self.levels().get(i)).collect();
        Table { rows: kind.iter().map(row).collect(), columns: Column::of(&levels, charset) }
    }

    /// Which levels are on the frontier, which another one beats, and which are left out; in brief the last alone, since the table marks
    /// the others.
    fn say_places(&self, verbosity: Verbosity, out: &mut Vec<TextLine>) {
        let load = |i: usize| self.label_of(i);
        let (mut frontier, mut dominated) = (Vec::new(), Vec::new());
        let mut left_out: Vec<(&str, Vec<String>)> = Vec::new();
        for (level, place) in self.with_positions() {
            match place {
                FrontierPosition::Frontier => frontier.push(self.label(level.load)),
                FrontierPosition::Dominated { by } => {
                    dominated.push(format!("{} (by {})", self.label(level.load), load(*by)));
                }
                FrontierPosition::LeftOut { reason } => {
                    // The reasons of the verdict say in brief why it is invalid.
                    let reason = match (verbosity, reason.split_once(": ")) {
                        (Verbosity::Brief, Some((verdict @ "invalid", _))) => verdict,
                        _ => shown(reason, verbosity),
                    };
                    let load = self.label(level.load);
                    match left_out.iter_mut().find(|(known, _)| *known == reason) {
                        Some((_, loads)) => loads.push(load),
                        None => left_out.push((reason, vec![load])),
                    }
                }
            }
        }
        let left_out = left_out.into_iter();
        let left_out = left_out.map(|(reason, loads)| format!("{} ({reason})", listed(&loads)));
        let left_out = left_out.chain(self.never_measured()).collect();
        let name = if self.compares_stand_ins() {
            "Frontier of requests/s against p99 E2EL*"
        } else {
            "Frontier of requests/s against p99 E2EL"
        };
        let lists = [(name, frontier), ("Dominated", dominated), ("Left out", left_out)];
        for (i, (name, list)) in lists.into_iter().enumerate() {
            let nobody = list.is_empty();
            let list = if nobody { "none".to_owned() } else { list.join(", ") };
            // Nothing left out is nothing to say.
            if !nobody && i == 2 || verbosity == Verbosity::Full && i < 2 {
                out.push(TextLine::text(format!("{name}: {list}")));
            }
        }
    }

    fn say_operating_point(&self, verbosity: Verbosity, out: &mut Vec<TextLine>) {
        let chosen = self.operating_point();
        let decided = match verbosity {
            Verbosity::Brief => self.other_answer().into_iter().collect(),
            Verbosity::Full => self.decision_lines(),
        };
        if *chosen != OperatingPoint::NoGoal {
            out.push(TextLine::text(format!("Operating point: {}", self.operating_words())));
            let cost = self.cost_words().map(|cost| format!("{MILLION} there: {cost}"));
            let goals = self.assumed_goals().into_iter().chain(self.goal_words());
            let lines = goals.chain(cost).chain(decided);
            out.extend(lines.map(|line| TextLine::text(format!("  {line}"))));
        }
    }

    fn say_verdict(&self, verbosity: Verbosity, out: &mut Vec<TextLine>) {
        out.push(TextLine::text(format!("{VERDICT} {}", self.verdict().as_str())));
        for reason in self.reasons() {
            let (verdict, text) = (reason.verdict.as_str(), shown(reason.text, verbosity));
            let is_everywhere =
                reason.places.len() == self.levels().len() && reason.places.len() > 1;
            let at = match reason.figures_of {
                None if is_everywhere => "every level".to_owned(),
                Some(worst) if is_everywhere => {
                    format!("every level; {} at {}", reason.figures_word(), self.label(worst))
                }
                _ => format!("at {}", reason.at()),
            };
            out.push(TextLine::text(format!("  {verdict}: {text} ({at})")));
        }
        let notes = self.level_notes(verbosity).lines(verbosity).into_iter();
        out.extend(notes.map(|note| TextLine::text(format!("  {note}"))));
    }
}

/// A line of the report before it is fitted to the width.
#[derive(Debug)]
enum TextLine {
    Blank,
    /// Of words that may go to a further line.
    Text(String),
    /// As it is.
    Whole(String),
}

impl TextLine {
    fn text(text: String) -> Self {
        Self::Text(text)
    }
}

/// The most columns that a sentence takes: longer lines are hard to read.
const SENTENCE: usize = 120;

fn finish(lines: Vec<TextLine>, terminal: &Terminal<'_>) -> String {
    let width = terminal.width.min(SENTENCE);
    let mut out = String::new();
    for line in lines {
        match line {
            TextLine::Blank => {}
            TextLine::Text(text) => {
                out.push_str(&wrap(&terminal.charset.words(&plain(&text)), width))
            }
            TextLine::Whole(text) => out.push_str(&text),
        }
        out.push('\n');
    }
    out
}
