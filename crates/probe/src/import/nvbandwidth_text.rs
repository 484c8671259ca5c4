//! nvbandwidth, as it prints.
//!
//! Of a test: `Running NAME.`, a description that ends with the unit, a line with the numbers of devices, a line for each row,
//! `SUM NAME ...`. Tests in both directions print several matrices, of which the name after `SUM` tells which is which.

use super::cell;
use super::nvbandwidth::{self, Matrix};
use super::reading::{NotThis, Reading};
use super::source::Source;

pub(super) fn read(source: &Source) -> Result<Reading<'_>, NotThis> {
    let is_sum = |text: &str| text.starts_with("SUM ") && text.contains('_');
    let is_running = |text: &str| {
        text.starts_with("Running ") && text.contains('_') && text.trim_end().ends_with('.')
    };
    source.must_have("line `Running ..._memcpy_...` or `SUM ...`", |text| {
        is_sum(text) || is_running(text)
    })?;
    let mut reading = Reading::of_lines(source, "nvbandwidth");
    let mut test = Test::default();
    for line in source.lines() {
        let text = line.text.trim();
        if let Some(version) = text.strip_prefix("nvbandwidth Version:") {
            reading.version = Some(version.trim().trim_start_matches('v').to_owned());
        } else if let Some((name, model)) = device(text) {
            reading.device(&name, model);
        } else if DRIVERS.iter().any(|key| text.starts_with(key)) {
            reading.setting(text.to_owned());
        } else if let Some((name, _)) =
            text.strip_prefix("SUM ").and_then(|rest| rest.split_once(' '))
        {
            test.end(&mut reading, line.number, name);
        } else if text.ends_with("(GB/s)") || text.ends_with("(ns)") {
            test = Test { description: text, place: line.number, ..Test::default() };
        } else if text.starts_with("ERROR") {
            reading.note(format!("the tool reports: {text}"));
        } else if !test.description.is_empty() {
            test.row(text);
        }
    }
    if test.columns.is_some() {
        let place = test.place;
        reading.note(format!(
            "the matrix from line {place} on has no `SUM` line after it: it is torn, and left out"
        ));
    }
    Ok(reading)
}

/// What lines begin with that say by which drivers it was measured.
const DRIVERS: [&str; 4] = [
    "CUDA Driver Version:",
    "CUDA Driver Version (API):",
    "CUDA Runtime Version:",
    "Driver Version:",
];

/// A test, as far as its lines were read.
#[derive(Default)]
struct Test<'a> {
    /// The line that says what it is, and its number.
    description: &'a str,
    place: usize,
    columns: Option<Vec<String>>,
    rows: Vec<(String, Vec<Option<f64>>)>,
}

impl Test<'_> {
    /// Takes a line of numbers: the first has the columns.
    fn row(&mut self, text: &str) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let are_numbers = !words.is_empty()
            && words.iter().all(|word| cell::count(word).is_some() && !word.contains('.'));
        match &self.columns {
            None if are_numbers => {
                self.columns = Some(words.into_iter().map(str::to_owned).collect());
            }
            Some(names) if words.len() > names.len() => {
                let (label, cells) = words.split_at(words.len() - names.len());
                let label = label.last().copied().unwrap_or_default().to_owned();
                self.rows.push((label, cells.iter().map(|word| cell::number(word)).collect()));
            }
            _ => {}
        }
    }

    /// Adds the matrix of that name, which ends in line `end`. Of tests in both directions the parts are also in the total.
    fn end(&mut self, reading: &mut Reading<'_>, end: usize, name: &str) {
        let is_part =
            ["_read1", "_read2", "_write1", "_write2"].iter().any(|part| name.ends_with(part));
        let rows = std::mem::take(&mut self.rows);
        let Some(columns) = self.columns.take() else {
            let why =
                "a sum tells no copy; import the whole output, with the matrices before the sums";
            return reading.skip(end, why);
        };
        if is_part {
            return;
        }
        let description = self.description;
        let (test, is_total) = name.strip_suffix("_total").map_or((name, false), |of| (of, true));
        let matrix = Matrix { test, description, is_total, columns, rows };
        nvbandwidth::add(reading, self.place, &matrix);
    }
}

/// `Device 0: NVIDIA H200 (00000000:04:00)`
fn device(text: &str) -> Option<(String, &str)> {
    let (number, model) = text.strip_prefix("Device ")?.split_once(':')?;
    let number = cell::count(number)?;
    Some((format!("gpu{number}"), model.rsplit_once('(').map_or(model, |(model, _)| model)))
}
