//! A table with the columns of another.

use std::collections::HashMap;

use csv::Terminator;

use super::{InputTable, InputTableError};
use crate::foreign::csv_of_lines;

impl InputTable {
    /// This table with the columns of `other` in the rows that agree in every column that both have, and how many rows of `other`
    /// are for none of this one. A column that is empty in every row is taken from `other` too.
    ///
    /// # Errors
    /// If they have no column in common, or two rows of `other` are for the same.
    pub fn join(&self, other: &Self) -> Result<(Self, usize), InputTableError> {
        let (mine, others) = (self.all_words(), other.all_words());
        let place = |name: &String| other.heads.iter().position(|head| head == name);
        let is_empty = |at: usize| mine.iter().all(|(_, row)| row[at].is_empty());
        let shared = self.heads.iter().enumerate().filter(|(at, _)| !is_empty(*at));
        let shared: Vec<(usize, usize)> =
            shared.filter_map(|(at, head)| Some((at, place(head)?))).collect();
        if shared.is_empty() {
            let (table, heads) = (other.name.clone(), other.heads.join(", "));
            return Err(InputTableError::NothingShared { table, heads });
        }
        let key = |row: &[String], of: fn(&(usize, usize)) -> usize| -> Vec<String> {
            shared.iter().map(|pair| canonical(&row[of(pair)])).collect()
        };
        let mut found: HashMap<Vec<String>, usize> = HashMap::new();
        for (at, (number, row)) in others.iter().enumerate() {
            if let Some(before) = found.insert(key(row, |pair| pair.1), at) {
                let what = format!("it repeats row {before}; give one row for each");
                return Err(other.wrong(*number, what));
            }
        }
        let new: Vec<usize> =
            (0..other.heads.len()).filter(|at| !shared.iter().any(|pair| pair.1 == *at)).collect();
        let is_kept = |at: &usize| !new.iter().any(|&new| other.heads[new] == self.heads[*at]);
        let kept: Vec<usize> = (0..self.heads.len()).filter(is_kept).collect();
        let line = |row: &[String], other: Option<&[String]>| -> Vec<String> {
            let own = kept.iter().map(|&at| row[at].clone());
            own.chain(new.iter().map(|&at| other.map_or_else(String::new, |row| row[at].clone())))
                .collect()
        };
        let mut used = vec![false; others.len()];
        let mut lines = vec![line(&self.heads, Some(&other.heads))];
        for (_, row) in &mine {
            let at = found.get(&key(row, |pair| pair.0)).copied();
            let joined = at.and_then(|at| others.get(at)).map(|(_, row)| row.as_slice());
            at.and_then(|at| used.get_mut(at)).into_iter().for_each(|used| *used = true);
            lines.push(line(row, joined));
        }
        let joined = Self::new(&self.name, csv_of_lines(Terminator::Any(b'\n'), lines))?;
        Ok((joined, used.iter().filter(|used| !**used).count()))
    }

    /// All fields of the rows that are compared, as words, with the row's number.
    fn all_words(&self) -> Vec<(usize, Vec<String>)> {
        let row = |at: usize| {
            let row = self.rows.get(at)?;
            let field = |(place, head): (usize, &String)| {
                row.field(head, Some(place)).unwrap_or_default().into_owned()
            };
            Some((at, self.heads.iter().enumerate().map(field).collect()))
        };
        self.compared().into_iter().filter_map(row).collect()
    }
}

/// A number by its value, so that `4` and `4.0` are the same.
fn canonical(text: &str) -> String {
    text.trim().parse::<f64>().map_or_else(|_| text.to_owned(), |number| number.to_string())
}
