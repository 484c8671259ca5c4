//! Levels of runs as text of 80 columns.

use fizeau::interop::{Table, TableField as Field};
use fizeau::record::text::wrap;
use fizeau::report::LeftOut;
use serde_json::{Map, Value, json};

use super::answer::Answer;
use super::asked::{self, Asked};
use super::sample::Sample;
use super::show;
use crate::exit::Fail;
use crate::terminal::say::printable;

const WIDTH: usize = 80;

/// What the rows of a table of levels are.
pub(super) struct Levels<'a> {
    asked: &'a Asked,
    rows: Vec<Level>,
    /// Each run, or whatever column tells the rows apart, in order.
    parties: Vec<String>,
}

struct Level {
    /// Which of the parties.
    party: usize,
    run: String,
    load: String,
    setting: Setting,
    figures: Vec<Option<f64>>,
    /// The columns in which the greatest value stands in for a 99th percentile.
    greatest: String,
}

/// What a level was measured on.
#[derive(PartialEq)]
struct Setting {
    hardware: String,
    precision: String,
    devices: Option<f64>,
    deployment: String,
}

/// The columns that say what a row is, in order.
const ABOUT: [&str; 7] =
    ["run", "load", "hardware", "precision", "devices", "deployment", "greatest_for_p99"];

/// A level that is compared with nothing, in a line.
pub(super) fn left_out(level: &LeftOut) -> String {
    format!("left out: {} at {} ({})", level.run, level.load, level.reason)
}

impl<'a> Levels<'a> {
    pub(super) fn read(table: &Table, asked: &'a Asked) -> Result<Self, Fail> {
        let mut names = ABOUT.to_vec();
        names.push(asked.by.as_deref().unwrap_or("run"));
        names.extend(asked.axes.iter().map(fizeau::pareto::Axis::name));
        let (mut rows, mut parties) = (Vec::new(), Vec::<String>::new());
        table.each::<Fail>(&names, |_, fields| {
            let word = |at: usize| {
                fields.get(at).map_or_else(String::new, |field| field.words().into_owned())
            };
            let own = word(ABOUT.len());
            let party = match parties.iter().position(|known| *known == own) {
                Some(party) => party,
                None => {
                    parties.push(own);
                    parties.len() - 1
                }
            };
            rows.push(Level {
                party,
                run: word(0),
                load: word(1),
                setting: Setting {
                    hardware: word(2),
                    precision: word(3),
                    devices: fields.get(4).and_then(Field::number),
                    deployment: word(5),
                },
                figures: fields.iter().skip(ABOUT.len() + 1).map(Field::number).collect(),
                greatest: word(6),
            });
            Ok(())
        })?;
        Ok(Self { asked, rows, parties })
    }

    /// A row in words: `tp 2 at concurrency 16`.
    pub(super) fn at(&self, row: usize) -> String {
        self.rows
            .get(row)
            .map_or_else(String::new, |level| format!("{} at {}", level.run, level.load))
    }

    /// The rows that lack a figure, each in a line.
    pub(super) fn lacking(&self, sample: &Sample) -> Vec<String> {
        let lacks = |row: &usize| {
            let figures = &self.rows.get(*row)?.figures;
            let missing =
                self.asked.axes.iter().zip(figures).find(|(_, figure)| figure.is_none())?;
            Some(format!("left out: {} (no {})", self.at(*row), missing.0.name()))
        };
        sample.skipped.iter().filter_map(lacks).collect()
    }

    /// The rows on any frontier, as objects.
    pub(super) fn json(&self, answer: &Answer) -> Value {
        let point = |row: usize| {
            let level = self.rows.get(row)?;
            let mut point = Map::new();
            point.insert("row".to_owned(), json!(row));
            point.insert("run".to_owned(), json!(level.run));
            point.insert("load".to_owned(), json!(level.load));
            for (axis, figure) in self.asked.axes.iter().zip(&level.figures) {
                point.insert(axis.name().to_owned(), json!(figure));
            }
            let place = if answer.is_on_frontier(row) { "all" } else { "own" };
            point.insert("frontier".to_owned(), json!(place));
            if let Some(layer) = answer.layer_of(row) {
                point.insert("layer".to_owned(), json!(layer));
            }
            if !level.greatest.is_empty() {
                let columns: Vec<&str> = level.greatest.split(' ').collect();
                point.insert("greatest_for_p99".to_owned(), json!(columns));
            }
            Some(Value::Object(point))
        };
        answer.on_any().into_iter().filter_map(point).collect()
    }

    /// The parties, the rows on any frontier, and what is not among them. Ends with a newline.
    pub(super) fn text(&self, answer: &Answer, sample: &Sample, out: &[LeftOut]) -> String {
        let mut text = String::new();
        let mut line = |words: &str| {
            text.push_str(&wrapped(words));
            text.push('\n');
        };
        let (levels, parties) = (counted(self.rows.len(), "level"), self.parties.len());
        let what = self.asked.by.as_deref().unwrap_or("run");
        line(&format!(
            "{levels} of {}: {}",
            counted(parties, what),
            asked::words(&self.asked.axes)
        ));
        for (index, name) in self.parties.iter().enumerate() {
            line(&format!("  {} {name}{}", letter(index), self.setting(index)));
        }
        line("");
        self.table(answer).iter().for_each(|row| line(row));
        self.marks(answer).iter().for_each(|mark| line(mark));
        let beaten = answer.rows.len() - answer.shown().len();
        if beaten > 0 {
            line(&format!("Not shown: {} that others beat", counted(beaten, "level")));
        }
        let remarks = show::remarks(answer, |row| self.at(row));
        let left_out = out.iter().map(left_out).chain(self.lacking(sample));
        remarks.into_iter().chain(left_out).for_each(|words| line(&capital(&words)));
        text
    }

    /// What the marks in the table mean.
    fn marks(&self, answer: &Answer) -> Vec<String> {
        let what = self.asked.by.as_deref().unwrap_or("run");
        let mut marks = Vec::new();
        if self.is_marked(answer) {
            marks.push(match answer.layers {
                Some(_) => "+ on the frontier of all".to_owned(),
                None => format!(
                    "+ on the frontier of all; rows without a mark on that of their own {what} alone"
                ),
            });
        }
        if answer.undecided.as_ref().is_some_and(|undecided| !undecided.is_empty()) {
            marks.push(
                "~ on it too: another is better by the figures, but within the intervals that is not \
                 certain"
                    .to_owned(),
            );
        }
        let shown = answer.shown();
        let mut shown = shown.iter().filter_map(|&row| self.rows.get(row));
        let axes = 0..self.asked.axes.len();
        if shown.any(|level| axes.clone().any(|axis| self.is_greatest(level, axis))) {
            marks.push(
                "* fewer than 100 values: the greatest seen, since a p99 needs 100".to_owned(),
            );
        }
        marks
    }

    /// Whether the frontier of all is marked: where it is not all that is shown.
    fn is_marked(&self, answer: &Answer) -> bool {
        answer.layers.is_some() || (answer.by.is_some() && self.parties.len() > 1)
    }

    /// Whether the greatest value stands in for the percentile that an axis is named after.
    fn is_greatest(&self, level: &Level, axis: usize) -> bool {
        let name = self.asked.axes.get(axis).map(fizeau::pareto::Axis::name);
        name.is_some_and(|name| level.greatest.split(' ').any(|column| column == name))
    }

    /// What a party was measured on, where that is the same for all its rows.
    fn setting(&self, party: usize) -> String {
        let mut rows = self.rows.iter().filter(|level| level.party == party);
        let Some(first) = rows.next() else { return String::new() };
        if rows.any(|level| level.setting != first.setting) {
            return String::new();
        }
        let Setting { hardware, precision, devices, deployment } = &first.setting;
        let devices = match (&**deployment, devices) {
            ("", None) => String::new(),
            ("", Some(1.0)) => "one device".to_owned(),
            ("", Some(devices)) => format!("{devices} devices"),
            (deployment, _) => deployment.to_owned(),
        };
        let known: Vec<&str> = [hardware, precision, &devices]
            .into_iter()
            .map(String::as_str)
            .filter(|words| !words.is_empty())
            .collect();
        if known.is_empty() { String::new() } else { format!(" ({})", known.join("; ")) }
    }

    /// A line for each row that is shown, from the least to the greatest of the first axis.
    fn table(&self, answer: &Answer) -> Vec<String> {
        let mut rows: Vec<(usize, &Level)> =
            answer.shown().into_iter().filter_map(|row| Some((row, self.rows.get(row)?))).collect();
        let first = |level: &Level| level.figures.first().copied().flatten().unwrap_or_default();
        rows.sort_by(|a, b| first(a.1).total_cmp(&first(b.1)).then(a.0.cmp(&b.0)));
        let own = |level: &Level| match self.asked.by.as_deref() {
            None | Some("run") => level.load.clone(),
            Some(_) => format!("{}, {}", level.run, level.load),
        };
        let loads: Vec<String> = rows.iter().map(|(_, level)| own(level)).collect();
        let load_width =
            loads.iter().map(|load| load.chars().count()).max().unwrap_or(4).clamp(4, 30);
        let letters = letter(self.parties.len().saturating_sub(1)).len();
        let layer_width = if answer.layers.is_some() { "  layer".len() } else { 0 };
        let heads = self.heads(WIDTH.saturating_sub(load_width + letters + 3 + layer_width));
        let layer_head = if layer_width > 0 { "  layer" } else { "" };
        let head: String = heads.iter().map(|head| format!("  {head}")).collect();
        let mut lines = vec![format!("  {:letters$} {:load_width$}{layer_head}{head}", "", "load")];
        let columns: Vec<Vec<String>> =
            (0..heads.len()).map(|axis| self.column(&rows, axis)).collect();
        for (at, ((row, level), load)) in rows.iter().zip(loads).enumerate() {
            let mark = match self.is_marked(answer) && answer.is_on_frontier(*row) {
                _ if answer.is_undecided(*row) => '~',
                true => '+',
                false => ' ',
            };
            let cells: String = heads
                .iter()
                .zip(&columns)
                .map(|(head, cells)| {
                    format!("  {:>1$}", cells.get(at).map_or("-", String::as_str), head.len())
                })
                .collect();
            let load: String = printable(&load).chars().take(load_width).collect();
            let layer = answer.layer_of(*row).map(|layer| layer.to_string()).unwrap_or_default();
            let party = letter(level.party);
            lines.push(format!(
                "{mark} {party:letters$} {load:load_width$}{layer:>layer_width$}{cells}"
            ));
        }
        if heads.iter().zip(&self.asked.axes).any(|(head, axis)| head.trim() != axis.name()) {
            for (head, axis) in heads.iter().zip(&self.asked.axes) {
                lines.push(format!("  {}: {}", head.trim(), axis.name()));
            }
        }
        lines
    }

    /// The names of the axes, or numbers for them where there is no room; each at least as wide as a figure.
    fn heads(&self, room: usize) -> Vec<String> {
        let names: Vec<String> =
            self.asked.axes.iter().map(|axis| format!("{:>10}", axis.name())).collect();
        match names.iter().map(|name| name.len() + 2).sum::<usize>() <= room {
            true => names,
            false => {
                (1..=names.len()).map(|number| format!("{:>8}", format!("[{number}]"))).collect()
            }
        }
    }

    /// The figures of an axis, with the digits that suit the least of them, and a star behind what stands in for a p99.
    fn column(&self, rows: &[(usize, &Level)], axis: usize) -> Vec<String> {
        let figure = |level: &Level| level.figures.get(axis).copied().flatten();
        let figures = || rows.iter().filter_map(|(_, level)| figure(level)).map(f64::abs);
        let least = figures().filter(|figure| *figure > 0.0).fold(f64::INFINITY, f64::min);
        let decimals = match least {
            least if least < 0.01 => 4,
            least if least < 0.1 => 3,
            least if least < 10.0 => 2,
            least if least < 100.0 => 1,
            _ => 0,
        };
        let cell = |(_, level): &(usize, &Level)| {
            let star = if self.is_greatest(level, axis) { "*" } else { "" };
            figure(level)
                .map_or_else(|| "-".to_owned(), |figure| format!("{figure:.decimals$}{star}"))
        };
        rows.iter().map(cell).collect()
    }
}

fn counted(many: usize, what: &str) -> String {
    match many {
        1 => format!("1 {what}"),
        many if what == "run" || what == "level" => format!("{many} {what}s"),
        many => format!("{many} values of {what}"),
    }
}

fn capital(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// A to Z, then AA, AB, ...
fn letter(index: usize) -> String {
    let last = char::from(b'A' + (index % 26) as u8);
    match index / 26 {
        0 => last.to_string(),
        before => format!("{}{last}", letter(before - 1)),
    }
}

/// Broken between words; further lines stand further in. A line that fits is left as it is.
pub(super) fn wrapped(text: &str) -> String {
    let text = printable(text);
    if text.chars().count() <= WIDTH {
        return text.trim_end().to_owned();
    }
    wrap(&text, WIDTH)
}
