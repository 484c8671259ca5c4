//! Matters beside an answer: what a mechanism makes of the same load, what it costs, what a goal takes.

mod apart;
mod calibration;
mod chunks;
mod cost;
mod data_sheet;
mod energy;
mod goal;
mod measured;
#[cfg(feature = "probe")]
mod operators;
mod speculation;

pub use cost::SolServing;
pub use measured::{MeasuredLoad, MeasuredLoadError};

use fizeau_roofline::{EstimateKind, LimitingResources, System, UniformLoad};
use serde_json::{Map, Value};

use super::grid::Grid;
use super::quantity::row;

/// What a matter is intermediate of.
#[derive(Debug, Clone, Copy)]
pub struct SolSubject<'a> {
    /// The model on its devices.
    pub system: &'a System,
    /// What is asked of it.
    pub load: &'a UniformLoad,
    /// The sequences that run.
    pub batch: f64,
}

/// A matter beside an answer, with figures by either account. [`super::SolView`] shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct SolExtra {
    key: &'static str,
    title: String,
    rows: Vec<Row>,
    notes: Vec<String>,
    limits: Option<LimitingResources>,
    own: Option<OwnTable>,
    /// A goal that nothing is expected to meet.
    is_missed: bool,
}

/// A matter that has no figures by either account.
#[derive(Debug, Clone, PartialEq)]
struct OwnTable {
    lines: Vec<String>,
    fields: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq)]
struct Row {
    key: &'static str,
    name: &'static str,
    values: Values,
}

#[derive(Debug, Clone, PartialEq)]
enum Values {
    /// By the bound and by the expectation; none where there is no such thing.
    Both([Option<f64>; 2]),
    /// The same by either, or known for the expectation alone.
    One(f64),
    Word(String),
}

impl SolExtra {
    const fn new(key: &'static str, title: String) -> Self {
        Self {
            key,
            title,
            rows: Vec::new(),
            notes: Vec::new(),
            limits: None,
            own: None,
            is_missed: false,
        }
    }

    /// Says in `limited` where one of `asides` has it that a limit of power is what holds a phase back.
    pub fn limit(asides: &[Self], limited: &mut LimitingResources) {
        let capped = asides.iter().filter_map(|aside| aside.limits);
        *limited = capped.fold(*limited, LimitingResources::or_power_of);
    }

    /// Whether it is a goal that nothing which was tried is expected to meet.
    #[must_use]
    pub const fn is_missed(&self) -> bool {
        self.is_missed
    }

    fn both<T>(&mut self, key: &'static str, name: &'static str, of: impl Fn(usize) -> T)
    where
        Option<f64>: From<T>,
    {
        self.maybe(key, name, [of(0).into(), of(1).into()]);
    }

    fn maybe(&mut self, key: &'static str, name: &'static str, values: [Option<f64>; 2]) {
        self.rows.push(Row { key, name, values: Values::Both(values) });
    }

    fn one(&mut self, key: &'static str, name: &'static str, value: f64) {
        self.rows.push(Row { key, name, values: Values::One(value) });
    }

    fn word(&mut self, key: &'static str, name: &'static str, word: impl Into<String>) {
        self.rows.push(Row { key, name, values: Values::Word(word.into()) });
    }

    /// The same with a sentence below its figures.
    #[must_use]
    pub fn noted(mut self, note: impl Into<String>) -> Self {
        self.note(note);
        self
    }

    fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// A table of the figures.
    pub(super) fn lines(&self) -> Vec<String> {
        if let Some(own) = &self.own {
            return own.lines.clone();
        }
        let mut grid = Grid::new(&[&self.title, "bound", "expected"]);
        let mut words = Vec::new();
        for Row { name, values, .. } in &self.rows {
            let name = format!("  {name}");
            match values {
                Values::Both(both) => grid.row(row(&name, both.iter().copied())),
                Values::One(value) => {
                    let mut cells = row(&name, std::iter::once(*value));
                    cells.insert(1, String::new());
                    grid.row(cells);
                }
                Values::Word(word) => words.push(format!("{name}: {word}")),
            }
        }
        let mut lines = grid.lines();
        lines.extend(words);
        lines.extend(self.notes.iter().map(|note| format!("  {note}")));
        lines
    }

    /// The figures by name, for the document.
    pub(super) fn entry(&self) -> (String, Value) {
        if let Some(own) = &self.own {
            return (self.key.to_owned(), own.fields.clone().into());
        }
        let mut fields = Map::new();
        for Row { key, values, .. } in &self.rows {
            let value = match values {
                Values::Both([bound, expected]) => {
                    serde_json::json!({"bound": bound, "expected": expected})
                }
                Values::One(value) => (*value).into(),
                Values::Word(word) => word.as_str().into(),
            };
            fields.insert((*key).to_owned(), value);
        }
        if !self.notes.is_empty() {
            fields.insert("notes".to_owned(), self.notes.clone().into());
        }
        (self.key.to_owned(), fields.into())
    }
}

/// The same by each account, the bound first.
fn by_each<T>(of: impl Fn(EstimateKind) -> T) -> [T; 2] {
    EstimateKind::ALL.map(of)
}
