//! A table with the columns of another.

use std::collections::HashMap;

use fizeau::report::csv_field;

use super::table::{Field, Table};
use crate::exit::Fail;

/// `table` with the columns of `other` in the rows that agree in every column that both have. A column of `table` that is
/// empty in every row is taken from `other` too.
///
/// # Errors
/// If they have no column in common, or two rows of `other` are for the same.
pub(super) fn join(table: &Table, other: &Table) -> Result<Table, Fail> {
    let (mine, heads) = (Columns::read(table)?, Columns::read(other)?);
    let shared: Vec<(usize, usize)> = (0..mine.heads.len())
        .filter(|&at| !mine.is_empty(at))
        .filter_map(|at| Some((at, heads.place(mine.heads.get(at)?)?)))
        .collect();
    if shared.is_empty() {
        return Err(Fail::usage(format!(
            "--join: {} has no column in common with the table, such as run; it has {}",
            other.name(),
            heads.heads.join(", ")
        )));
    }
    let key = |row: &[String], places: &mut dyn Iterator<Item = usize>| -> Vec<String> {
        places.map(|at| canonical(row.get(at).map_or("", String::as_str))).collect()
    };
    let mut found: HashMap<Vec<String>, usize> = HashMap::new();
    for (number, row) in heads.rows.iter().enumerate() {
        let key = key(row, &mut shared.iter().map(|pair| pair.1));
        if let Some(before) = found.insert(key, number) {
            let what = format!("it is for the same as row {before}; give one row for each");
            return Err(other.wrong(number, &what));
        }
    }
    let new: Vec<usize> =
        (0..heads.heads.len()).filter(|at| !shared.iter().any(|pair| pair.1 == *at)).collect();
    let kept: Vec<usize> = (0..mine.heads.len())
        .filter(|&at| !new.iter().any(|&new| heads.heads.get(new) == mine.heads.get(at)))
        .collect();
    let mut used = vec![false; heads.rows.len()];
    let mut text = line(&mine.heads, &kept, Some(&heads.heads), &new);
    for row in &mine.rows {
        let number = found.get(&key(row, &mut shared.iter().map(|pair| pair.0))).copied();
        number.and_then(|number| used.get_mut(number)).into_iter().for_each(|used| *used = true);
        let joined = number.and_then(|number| heads.rows.get(number));
        text.push_str(&line(row, &kept, joined, &new));
    }
    let unused = used.iter().filter(|used| !**used).count();
    if unused > 0 {
        tell!("note: --join: {unused} of {} rows are for none of the table", used.len());
    }
    Table::new(table.name(), text.into_bytes())
}

/// A line of both.
fn line(row: &[String], kept: &[usize], other: Option<&Vec<String>>, new: &[usize]) -> String {
    let own = kept.iter().map(|&at| row.get(at));
    let more = new.iter().map(|&at| other.and_then(|other| other.get(at)));
    let fields = own.chain(more).map(|field| csv_field(field.map_or("", String::as_str)));
    fields.collect::<Vec<_>>().join(",") + "\n"
}

/// A number by its value, so that `4` and `4.0` are the same.
fn canonical(text: &str) -> String {
    text.trim().parse::<f64>().map_or_else(|_| text.to_owned(), |number| number.to_string())
}

/// All of a table.
struct Columns {
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Columns {
    fn read(table: &Table) -> Result<Self, Fail> {
        let heads = table.heads()?;
        let names: Vec<&str> = heads.iter().map(String::as_str).collect();
        let mut rows = Vec::with_capacity(table.len());
        table.each(&names, |_, fields: &[Field<'_>]| {
            rows.push(fields.iter().map(|field| field.words().into_owned()).collect());
            Ok(())
        })?;
        Ok(Self { rows, heads })
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.heads.iter().position(|head| head == name)
    }

    /// Whether no row has anything in a column.
    fn is_empty(&self, at: usize) -> bool {
        self.rows.iter().all(|row| row.get(at).is_none_or(String::is_empty))
    }
}
