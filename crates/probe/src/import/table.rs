//! Tables whose columns are found by their header.

use super::cell;
use super::reading::Reading;

/// The names of columns, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Header {
    names: Vec<String>,
}

impl Header {
    pub(super) fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let plain = |name: &str| name.trim().to_ascii_lowercase();
        Self { names: names.into_iter().map(plain).collect() }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|own| own == name)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// `cells` by their columns' names; none unless there are as many.
    pub(super) fn row<'a>(&'a self, cells: Vec<&'a str>) -> Option<Row<'a>> {
        (cells.len() == self.names.len()).then_some(Row { header: self, cells })
    }
}

/// One row of a table.
#[derive(Debug)]
pub(super) struct Row<'a> {
    header: &'a Header,
    cells: Vec<&'a str>,
}

impl<'a> Row<'a> {
    /// The cell of the column `name`; none where there is no such column, or nothing in it.
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.nth(name, 0)
    }

    /// The same of the column that has this name for the `occurrence`th time, counted from 0.
    pub(super) fn nth(&self, name: &str, occurrence: usize) -> Option<&'a str> {
        let mut found = self.cells().filter(|(own, _)| *own == name);
        Some(found.nth(occurrence)?.1).filter(|cell| !cell.is_empty())
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        cell::number(self.text(name)?)
    }

    pub(super) fn count(&self, name: &str) -> Option<u64> {
        cell::count(self.text(name)?)
    }

    /// All columns with their cells.
    pub(super) fn cells(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.header.names().zip(self.cells.iter().map(|cell| cell.trim()))
    }
}

/// Reads tables of values with commas between them: from each line that `header` takes for one on, the lines that `is_row` takes
/// for rows, each of which is given to `add`. A row that does not have the header's columns is left out.
pub(super) fn read_rows(
    reading: &mut Reading<'_>,
    header: impl Fn(&str) -> Option<Header>,
    is_row: impl Fn(&str) -> bool,
    mut add: impl FnMut(&mut Reading<'_>, usize, &Row<'_>),
) {
    let mut table = None;
    for line in reading.source().lines() {
        let text = line.text.trim();
        if let Some(found) = header(text) {
            table = Some(found);
        } else if let Some(header) = table.as_ref().filter(|_| is_row(text)) {
            match header.row(cells(text, ',')) {
                Some(row) => add(reading, line.number, &row),
                None => reading.skip(line.number, OTHER_COLUMNS),
            }
        }
    }
}

/// Why a row is left out.
pub(super) const OTHER_COLUMNS: &str = "it does not have the header's columns";

/// The cells of a line, a `separator` between two. Within quotes it is none.
pub(super) fn cells(line: &str, separator: char) -> Vec<&str> {
    let mut cells = Vec::new();
    let (mut start, mut is_quoted) = (0, false);
    for (at, c) in line.char_indices() {
        if c == '"' {
            is_quoted = !is_quoted;
        } else if c == separator && !is_quoted {
            cells.push(&line[start..at]);
            start = at + c.len_utf8();
        }
    }
    cells.push(&line[start..]);
    cells.into_iter().map(|cell| cell.trim().trim_matches('"')).collect()
}

/// The cells of a line with two spaces or more between columns, whose names have single ones.
pub(super) fn wide_cells(line: &str) -> Vec<&str> {
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}
