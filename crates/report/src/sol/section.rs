//! A part of an answer that is the same as a table and as JSON: figures in rows, ways of reckoning in columns.

use serde_json::{Map, Value};

use super::figures::Number;
use super::grid::Grid;
use super::quantity::row;

/// Figures by row and column, and what is to be said of them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Section {
    /// The name in files.
    pub(super) key: &'static str,
    title: String,
    columns: Vec<(&'static str, String)>,
    rows: Vec<Row>,
    facts: Vec<(&'static str, Value)>,
    notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
struct Row {
    key: &'static str,
    name: &'static str,
    values: Vec<f64>,
}

impl Section {
    pub(super) fn new(
        key: &'static str,
        title: impl Into<String>,
        columns: &[&'static str],
    ) -> Self {
        let columns = columns.iter().map(|name| (*name, name.replace('_', " "))).collect();
        let (rows, facts, notes) = (Vec::new(), Vec::new(), Vec::new());
        Self { key, title: title.into(), columns, rows, facts, notes }
    }

    /// A figure in each column; one that is absent is not finite.
    pub(super) fn row(&mut self, key: &'static str, name: &'static str, values: &[f64]) {
        self.rows.push(Row { key, name, values: values.to_vec() });
    }

    /// What is not a figure of a column; files have it by name.
    pub(super) fn fact(&mut self, key: &'static str, value: impl Into<Value>) {
        self.facts.push((key, value.into()));
    }

    /// A sentence for a person.
    pub(super) fn note(&mut self, sentence: impl Into<String>) {
        self.notes.push(sentence.into());
    }

    /// The table.
    pub(super) fn table(&self) -> Vec<String> {
        let heads = self.columns.iter().map(|(_, head)| head.as_str());
        let heads: Vec<&str> = std::iter::once(self.title.as_str()).chain(heads).collect();
        let mut grid = Grid::new(&heads);
        for Row { name, values, .. } in &self.rows {
            grid.row(row(&format!("  {name}"), values.iter().copied()));
        }
        grid.lines()
    }

    /// What is said below it.
    pub(super) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The facts, and for each column an object with its figures.
    pub(super) fn json(&self) -> Value {
        let mut all: Map<String, Value> =
            self.facts.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        for (place, (column, _)) in self.columns.iter().enumerate() {
            let figure = |row: &Row| {
                let value = row.values.get(place).copied().unwrap_or(f64::NAN);
                let value = serde_json::to_value(Number(value)).unwrap_or(Value::Null);
                (row.key.to_owned(), value)
            };
            let figures: Map<String, Value> = self.rows.iter().map(figure).collect();
            all.insert((*column).to_owned(), Value::Object(figures));
        }
        Value::Object(all)
    }
}

#[cfg(test)]
mod tests {
    use super::Section;

    #[test]
    fn a_table_and_a_document_have_the_same_figures() {
        let mut section = Section::new("energy", "energy", &["bound", "expected"]);
        section.row("joules", "J a token", &[1.5, f64::NAN]);
        section.fact("limit_watts", 700);
        assert_eq!(
            section.table(),
            ["energy       bound  expected", "  J a token   1.50         -"]
        );
        let document = section.json();
        assert_eq!(document["limit_watts"], 700);
        assert_eq!(document["bound"]["joules"], 1.5);
        assert!(document["expected"]["joules"].is_null());
    }
}
