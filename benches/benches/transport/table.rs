//! Figures in rows, round by round, with the bar that each is held against.

use std::fmt::Write;

use serde_json::{Value, json};

/// What a figure may be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bar {
    None,
    /// This at most.
    AtMost(f64),
    /// No further from zero than this.
    Within(f64),
    /// More than this.
    MoreThan(f64),
}

impl Bar {
    pub(crate) fn at_most(bar: Option<f64>) -> Self {
        bar.map_or(Self::None, Self::AtMost)
    }

    pub(crate) fn within(bar: Option<f64>) -> Self {
        bar.map_or(Self::None, Self::Within)
    }

    /// Whether `value` meets it; a value that is not known does not.
    fn is_met_by(self, value: f64) -> bool {
        match self {
            Self::None => true,
            Self::AtMost(bar) => value <= bar,
            Self::Within(bar) => value.abs() <= bar,
            Self::MoreThan(bar) => value > bar,
        }
    }

    fn words(self) -> String {
        match self {
            Self::None => String::new(),
            Self::AtMost(bar) => format!("<= {bar}"),
            Self::Within(bar) => format!("+-{bar}"),
            Self::MoreThan(bar) => format!("> {bar}"),
        }
    }
}

/// One figure, as it is shown.
#[derive(Debug)]
struct Row {
    name: &'static str,
    /// One a round.
    cells: Vec<Value>,
    decimals: usize,
    bar: String,
    /// Whether every round meets the bar; none where there is no bar.
    met: Option<bool>,
}

/// The rows of one shape, and what is to be said below them.
#[derive(Debug)]
pub(crate) struct Table {
    title: String,
    rows: Vec<Row>,
    notes: Vec<String>,
}

impl Table {
    pub(crate) const fn new(title: String) -> Self {
        Self { title, rows: Vec::new(), notes: Vec::new() }
    }

    /// A row of figures, shown with `decimals` decimals; NaN where one is not known.
    pub(crate) fn row(
        &mut self,
        name: &'static str,
        decimals: usize,
        bar: Bar,
        values: impl Iterator<Item = f64>,
    ) {
        let values: Vec<f64> = values.collect();
        let met = || values.iter().all(|value| bar.is_met_by(*value));
        let met = (!matches!(bar, Bar::None)).then(met);
        let cells = values.iter().map(|value| json!(value)).collect();
        self.rows.push(Row { name, cells, decimals, bar: bar.words(), met });
    }

    /// A row of words, which should all be `wanted`.
    pub(crate) fn words<'a>(
        &mut self,
        name: &'static str,
        wanted: Option<&str>,
        words: impl Iterator<Item = &'a str> + Clone,
    ) {
        let met = wanted.map(|wanted| words.clone().all(|word| word == wanted));
        let bar = wanted.unwrap_or_default().to_owned();
        let cells = words.map(|word| json!(word)).collect();
        self.rows.push(Row { name, cells, decimals: 0, bar, met });
    }

    /// A line below the rows.
    pub(crate) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// The whole, 80 columns wide for up to three rounds.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("\n{}\n", self.title);
        let rounds = self.rows.iter().map(|row| row.cells.len()).max().unwrap_or_default();
        let _ = write!(text, "{:35}", "");
        for round in 1..=rounds {
            let _ = write!(text, "{:>9}", format!("round {round}"));
        }
        let _ = writeln!(text, "{:>9}", "bar");
        for row in &self.rows {
            row.write(&mut text, rounds);
        }
        for note in &self.notes {
            wrap(&mut text, note);
        }
        text
    }

    pub(crate) fn to_json(&self) -> Value {
        let row = |row: &Row| {
            let Row { name, cells, bar, met, .. } = row;
            json!({ "figure": name, "values": cells, "bar": bar, "met": met })
        };
        let rows: Vec<Value> = self.rows.iter().map(row).collect();
        json!({ "title": self.title, "rows": rows, "notes": self.notes })
    }
}

impl Row {
    /// Narrow enough for its column, whatever it is.
    fn number(&self, value: f64) -> String {
        let decimals = if value.abs() < 1e3 { self.decimals } else { 0 };
        format!("{value:.decimals$}")
    }

    fn write(&self, text: &mut String, rounds: usize) {
        let _ = write!(text, "{:35}", self.name);
        for round in 0..rounds {
            let shown = match self.cells.get(round) {
                Some(Value::Number(value)) => self.number(value.as_f64().unwrap_or(f64::NAN)),
                Some(Value::String(word)) => word.clone(),
                _ => "-".to_owned(),
            };
            let _ = write!(text, "{shown:>9}");
        }
        let judgement = match self.met {
            None => "",
            Some(true) => "met",
            Some(false) => "missed",
        };
        let line = format!("{:>9}  {judgement}", self.bar);
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

/// Appends `note` in lines of at most 80 columns.
fn wrap(text: &mut String, note: &str) {
    let mut column = 0;
    for word in note.split_whitespace() {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > 78 {
            text.push('\n');
            column = 0;
        }
        text.push_str(if column == 0 { "  " } else { " " });
        text.push_str(word);
        column += 1 + width;
    }
    text.push('\n');
}
