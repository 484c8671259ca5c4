//! What is on the frontier of levels, as text of 80 columns and as JSON.

mod answer;

use std::borrow::Cow;

use fizeau_pareto::{Axis, FrontierAnswer, FrontierQuery, Objective};
use fizeau_record::text::{percent, wrap};
use fizeau_record::variant_letter as letter;
use serde_json::{Map, Value, json};

use crate::text::{WIDTH, capital, plain};
use crate::{ExcludedLevel, Shown};

/// What the rows of a [`LevelTable`](crate::LevelTable) are, for who reads what is on their frontier.
///
/// ```
/// use fizeau_pareto::{Axis, FrontierQuery, RowPoints};
/// use fizeau_report::{FrontierLevels, Shown};
///
/// let query = FrontierQuery::new(vec![Axis::maximize("rps"), Axis::minimize("p99_ms")]);
/// let heads = ["run", "load", "rps", "p99_ms"];
/// let (mut rows, mut levels) = (RowPoints::new(query.clone(), &heads)?, FrontierLevels::new(&query));
/// for (number, row) in [["a", "concurrency 1", "1", "210"], ["a", "concurrency 8", "7", "480"]].iter().enumerate() {
///     let field = |name: &str| Some(row[heads.iter().position(|head| *head == name)?].into());
///     rows.add(number, &field)?;
///     levels.add(&field);
/// }
/// let answer = rows.answer()?;
/// assert!(levels.text(&answer, &[], &[]).starts_with("2 levels of 1 run: rps (more is better)"));
/// assert!(Shown(&answer).to_json(Some(&levels))?.contains("\"load\":\"concurrency 8\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FrontierLevels<'a> {
    query: &'a FrontierQuery,
    rows: Vec<Level>,
    /// Each run, or whatever column tells the rows apart, in order.
    parties: Vec<String>,
}

#[derive(Debug)]
struct Level {
    /// Which of the parties.
    party: usize,
    run: String,
    load: String,
    setting: Setting,
    figures: Vec<Option<f64>>,
    /// The columns in which the greatest value stands in for a 99th percentile.
    greatest: String,
    /// Why to doubt it; none where its verdict is that it is valid, or it has none.
    doubt: Option<String>,
}

/// What a level was measured on.
#[derive(Debug, PartialEq)]
struct Setting {
    hardware: String,
    precision: String,
    devices: Option<f64>,
    deployment: String,
}

/// The columns that say what a row is, in order.
const ABOUT: [&str; 10] = [
    "run",
    "load",
    "hardware",
    "precision",
    "devices",
    "deployment",
    "greatest_for_p99",
    "verdict",
    "completed",
    "failed",
];

impl ExcludedLevel {
    /// That it is compared with nothing, in a line.
    #[must_use]
    pub fn words(&self) -> String {
        format!("left out: {} at {} ({})", self.run, self.load, self.reason)
    }
}

impl<'a> FrontierLevels<'a> {
    /// No rows yet.
    #[must_use]
    pub const fn new(query: &'a FrontierQuery) -> Self {
        Self { query, rows: Vec::new(), parties: Vec::new() }
    }

    /// The columns that it reads.
    #[must_use]
    pub fn columns(&self) -> Vec<&'a str> {
        let axes = self.query.axes.iter().map(Axis::name);
        ABOUT.into_iter().chain([self.by()]).chain(axes).collect()
    }

    /// The column that tells the rows apart.
    fn by(&self) -> &'a str {
        self.query.by.as_deref().unwrap_or("run")
    }

    /// Takes in the next row. `fields` has what a field says, by the name of its column; none where it is empty.
    pub fn add<'f>(&mut self, fields: &dyn Fn(&str) -> Option<Cow<'f, str>>) {
        let word = |name: &str| fields(name).unwrap_or_default().into_owned();
        let number = |name: &str| fields(name)?.trim().parse().ok().filter(|n: &f64| !n.is_nan());
        let [
            run,
            load,
            hardware,
            precision,
            devices,
            deployment,
            greatest,
            verdict,
            completed,
            failed,
        ] = ABOUT;
        let failed = number(failed).filter(|failed| *failed > 0.0);
        let share = failed.zip(number(completed)).map(|(failed, done)| failed / (failed + done));
        let doubt = match (&*word(verdict), share) {
            ("" | "valid", _) => None,
            (verdict, Some(share)) => Some(format!("{verdict}, {} failed", percent(share))),
            (verdict, None) => Some(verdict.to_owned()),
        };
        let own = word(self.by());
        let known = self.parties.iter().position(|known| *known == own);
        let party = known.unwrap_or_else(|| {
            self.parties.push(own);
            self.parties.len() - 1
        });
        let (hardware, precision, deployment) = (word(hardware), word(precision), word(deployment));
        self.rows.push(Level {
            party,
            run: word(run),
            load: word(load),
            setting: Setting { hardware, precision, devices: number(devices), deployment },
            figures: self.query.axes.iter().map(|axis| number(axis.name())).collect(),
            greatest: word(greatest),
            doubt,
        });
    }

    /// A row in words: `tp 2 at concurrency 16`.
    #[must_use]
    pub fn at(&self, row: usize) -> String {
        self.rows
            .get(row)
            .map_or_else(String::new, |level| format!("{} at {}", level.run, level.load))
    }

    /// That these rows lack a figure, each in a line.
    #[must_use]
    pub fn missing_columns(&self, skipped: &[usize]) -> Vec<String> {
        let lacks = |row: &usize| {
            let figures = &self.rows.get(*row)?.figures;
            let missing =
                self.query.axes.iter().zip(figures).find(|(_, figure)| figure.is_none())?;
            Some(format!("left out: {} (no {})", self.at(*row), missing.0.name()))
        };
        skipped.iter().filter_map(lacks).collect()
    }

    /// The rows on any frontier, as objects.
    fn json(&self, answer: &FrontierAnswer) -> Value {
        let point = |row: usize| {
            let level = self.rows.get(row)?;
            let mut point = Map::new();
            point.insert("row".to_owned(), json!(row));
            point.insert("run".to_owned(), json!(level.run));
            point.insert("load".to_owned(), json!(level.load));
            for (axis, figure) in self.query.axes.iter().zip(&level.figures) {
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

    /// The parties, the rows on any frontier, and what is not among them: the rows that were `skipped`, and levels that are `out` of
    /// the table. Ends with a newline.
    #[must_use]
    pub fn text(
        &self,
        answer: &FrontierAnswer,
        skipped: &[usize],
        out: &[ExcludedLevel],
    ) -> String {
        let mut text = String::new();
        let mut line = |words: &str| {
            text.push_str(&wrapped(words));
            text.push('\n');
        };
        let (levels, parties) = (counted(self.rows.len(), "level"), self.parties.len());
        let what = self.by();
        line(&format!("{levels} of {}: {}", counted(parties, what), words(&self.query.axes)));
        for (index, name) in self.parties.iter().enumerate() {
            line(&format!("  {} {name}{}", letter(index), self.setting(index)));
        }
        line("");
        self.table(answer).iter().for_each(|row| line(row));
        self.marks(answer).iter().for_each(|mark| line(mark));
        let beaten = answer.rows.len() - answer.shown().len();
        if beaten > 0 {
            let (what, none) = (counted(beaten, "level"), "");
            let near = self.query.epsilons.as_ref().map_or(none, |_| " or come within epsilon of");
            line(&format!("Not shown: {what} that others beat{near}"));
        }
        let remarks = Shown(answer).remarks(|row| self.at(row));
        let left_out = out.iter().map(ExcludedLevel::words).chain(self.missing_columns(skipped));
        remarks.into_iter().chain(left_out).for_each(|words| line(&capital(&words)));
        text
    }

    /// What the marks in the table mean.
    fn marks(&self, answer: &FrontierAnswer) -> Vec<String> {
        let what = self.by();
        let mut marks = Vec::new();
        if self.is_marked(answer) {
            marks.push(match answer.layers {
                Some(_) => "+ on the frontier of all".to_owned(),
                None => format!(
                    "+ on the frontier of all rows; a row without + is on the frontier of its own {what} only"
                ),
            });
        }
        if answer.undecided.as_ref().is_some_and(|undecided| !undecided.is_empty()) {
            marks.push(
                "~ perhaps on it: another is better by the figures, but not beyond their \
                 intervals"
                    .to_owned(),
            );
        }
        marks.extend(self.doubted(answer));
        let shown = answer.shown();
        let mut shown = shown.iter().filter_map(|&row| self.rows.get(row));
        let axes = 0..self.query.axes.len();
        if shown.any(|level| axes.clone().any(|axis| self.is_greatest(level, axis))) {
            marks.push(
                "* fewer than 100 values: the greatest seen, since a p99 needs 100".to_owned(),
            );
        }
        marks
    }

    /// The rows that are shown and whose verdict is another than that they are valid.
    fn doubted(&self, answer: &FrontierAnswer) -> Option<String> {
        let shown = answer.shown();
        let words = |&row: &usize| {
            let doubt = self.rows.get(row)?.doubt.as_ref()?;
            Some(format!("{} ({doubt})", self.at(row)))
        };
        let doubted: Vec<String> = shown.iter().filter_map(words).collect();
        let others = doubted.len().saturating_sub(MOST_NAMED);
        let named = doubted.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", ");
        let more = if others > 0 { format!(" and {others} more") } else { String::new() };
        (!doubted.is_empty())
            .then(|| format!("Not valid: {named}{more}; the report of each says why"))
    }

    /// Whether the frontier of all is marked: where it is not all that is shown.
    fn is_marked(&self, answer: &FrontierAnswer) -> bool {
        answer.layers.is_some() || (answer.by.is_some() && self.parties.len() > 1)
    }

    /// Whether the greatest value stands in for the percentile that an axis is named after.
    fn is_greatest(&self, level: &Level, axis: usize) -> bool {
        let name = self.query.axes.get(axis).map(Axis::name);
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
    fn table(&self, answer: &FrontierAnswer) -> Vec<String> {
        let mut rows: Vec<(usize, &Level)> =
            answer.shown().into_iter().filter_map(|row| Some((row, self.rows.get(row)?))).collect();
        let first = |level: &Level| level.figures.first().copied().flatten().unwrap_or_default();
        rows.sort_by(|a, b| first(a.1).total_cmp(&first(b.1)).then(a.0.cmp(&b.0)));
        let own = |level: &Level| match self.by() {
            "run" => level.load.clone(),
            _ => format!("{}, {}", level.run, level.load),
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
            let load: String = plain(&load).chars().take(load_width).collect();
            let layer = answer.layer_of(*row).map(|layer| layer.to_string()).unwrap_or_default();
            let party = letter(level.party);
            lines.push(format!(
                "{mark} {party:letters$} {load:load_width$}{layer:>layer_width$}{cells}"
            ));
        }
        if heads.iter().zip(&self.query.axes).any(|(head, axis)| head.trim() != axis.name()) {
            for (head, axis) in heads.iter().zip(&self.query.axes) {
                lines.push(format!("  {}: {}", head.trim(), axis.name()));
            }
        }
        lines
    }

    /// The names of the axes, or numbers for them where there is no room; each at least as wide as a figure.
    fn heads(&self, room: usize) -> Vec<String> {
        let names: Vec<String> =
            self.query.axes.iter().map(|axis| format!("{:>10}", axis.name())).collect();
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
        let decimals = decimals(least);
        let cell = |(_, level): &(usize, &Level)| {
            let star = if self.is_greatest(level, axis) { "*" } else { "" };
            figure(level)
                .map_or_else(|| "-".to_owned(), |figure| format!("{figure:.decimals$}{star}"))
        };
        rows.iter().map(cell).collect()
    }
}

/// So many levels are named where each is doubted.
const MOST_NAMED: usize = 6;

fn counted(many: usize, what: &str) -> String {
    match many {
        1 => format!("1 {what}"),
        many if what == "run" || what == "level" => format!("{many} {what}s"),
        many => format!("{many} values of {what}"),
    }
}

/// Each axis with its direction in words.
fn words(axes: &[Axis]) -> String {
    let one = |axis: &Axis| {
        let better = match axis.direction() {
            Objective::Maximize => "more is better",
            Objective::Minimize => "less is better",
        };
        // The names of the others have their unit in them.
        let unit = if axis.name() == "cost_per_million_output" { "USD, " } else { "" };
        format!("{} ({unit}{better})", axis.name())
    };
    axes.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// As many decimals as suit the least of a column, other than zero.
fn decimals(least: f64) -> usize {
    match least {
        least if least < 0.01 => (1.0 - least.log10().floor()).clamp(4.0, 12.0) as usize,
        least if least < 0.1 => 3,
        least if least < 10.0 => 2,
        least if least < 100.0 => 1,
        _ => 0,
    }
}

/// Broken between words; further lines stand further in. A line that fits is left as it is.
fn wrapped(text: &str) -> String {
    let text = plain(text);
    if text.chars().count() <= WIDTH {
        return text.trim_end().to_owned();
    }
    wrap(&text, WIDTH)
}

#[cfg(test)]
mod tests {
    use super::decimals;

    #[test]
    fn rows_of_a_small_figure_can_be_told_apart() {
        assert_eq!([2e-4, 3e-5, 0.05, 42.0].map(decimals), [5, 6, 3, 1]);
        assert_eq!(decimals(f64::INFINITY), 0);
    }
}
