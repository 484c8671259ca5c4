//! `BabelStream`, as text and as a table.
//!
//! Of <https://github.com/UoB-HPC/BabelStream/blob/main/src/main.cpp>: a table whose header begins with `function`, separated by
//! any character, in which the rate's unit is part of its column's name (`max_mbytes_per_sec`, `max_GiB_per_sec`); or text
//! with the columns `Function`, the unit, `Min (sec)`, `Max`, `Average`. Times are seconds, the first of all runs is left out.
//! The test of one triad alone tells one time for all runs. The table does not name the device.

use super::cell;
use super::reading::{NotThis, Reading};
use super::source::Source;
use super::streaming;
use super::table::{self, Header, OTHER_COLUMNS, Row};
use super::tells::Tells;
use crate::measurement::{ByteConvention, Dtype, SampleStatistic, Verification};

/// What text says before its table.
#[derive(Debug, Default)]
struct Facts {
    implementation: Option<String>,
    device: Option<&'static str>,
    dtype: Option<Dtype>,
    array: Option<f64>,
    runs: Option<u64>,
}

enum Table {
    Separated(Header, char),
    /// With the unit in bytes per second.
    Text(Header, f64),
}

pub(super) fn read(source: &Source) -> Result<Reading<'_>, NotThis> {
    source
        .must_have("header of `function`, times and a rate whose unit is in its name", |text| {
            table(text).is_some()
        })?;
    let mut reading = Reading::of_lines(source, "BabelStream");
    let mut facts = Facts::default();
    let mut current = None;
    let mut wrong = None;
    for line in source.lines() {
        let text = line.text.trim();
        if let Some(found) = table(text) {
            current = Some(found);
        } else if text.starts_with("Validation failed") {
            wrong = Some(text.to_owned());
        } else if text.starts_with("phase") {
            current = None;
        } else if fact(text, &mut facts, &mut reading) || text.is_empty() {
        } else if let Some(table) = &current {
            row(&mut reading, line.number, table, text, &facts);
        }
    }
    if let Some(what) = wrong {
        for seen in reading.measurements() {
            seen.verification = Verification::Wrong { error: None, what: what.clone() };
        }
    }
    Ok(reading)
}

fn table(text: &str) -> Option<Table> {
    let text = text.trim();
    if let Some(at) = text.find("function") {
        let mut around = text[at + "function".len()..].chars().chain(text[..at].chars().rev());
        let separator = around.next()?;
        let header = Header::new(table::cells(text, separator));
        let has_form = header.has("num_times") && rate_column(&header).is_some();
        return has_form.then_some(Table::Separated(header, separator));
    }
    let names = table::wide_cells(text);
    let unit = cell::bandwidth_unit(names.get(1)?)?;
    let header = Header::new(
        names.iter().enumerate().map(|(at, name)| if at == 1 { "rate" } else { *name }),
    );
    (header.has("function") && header.has("min (sec)")).then_some(Table::Text(header, unit))
}

/// The column of rates, and its unit in bytes per second.
fn rate_column(header: &Header) -> Option<(&str, f64)> {
    header.names().find_map(|name| Some((name, cell::bandwidth_unit(name)?)))
}

fn fact(text: &str, facts: &mut Facts, reading: &mut Reading<'_>) -> bool {
    if let Some(device) = text.strip_prefix("Using ").and_then(|rest| rest.split_once(" device ")) {
        facts.device = Some("gpu0");
        reading.device("gpu0", device.1.trim_start_matches(':'));
        return true;
    }
    let Some((key, value)) = text.split_once(':') else {
        if let Some(runs) =
            text.strip_prefix("Running ").and_then(|rest| rest.strip_suffix(" times"))
        {
            facts.runs = runs.split_whitespace().last().and_then(cell::count);
            return true;
        }
        return false;
    };
    let value = value.trim();
    match key {
        "Version" => reading.version = Some(value.to_owned()),
        "Implementation" => facts.implementation = Some(value.to_owned()),
        "Precision" => facts.dtype = cell::dtype(value),
        "Driver" => reading.setting(format!("driver {value}")),
        "Array size" => {
            let mut words = value.split_whitespace();
            let size = words.next().and_then(cell::number);
            let unit = words.next().and_then(|unit| cell::bandwidth_unit(&format!("{unit}/s")));
            facts.array = size.zip(unit).map(|(size, unit)| size * unit);
        }
        _ => return false,
    }
    true
}

fn row(reading: &mut Reading<'_>, place: usize, table: &Table, text: &str, facts: &Facts) {
    let (header, cells) = match table {
        Table::Separated(header, separator) => (header, table::cells(text, *separator)),
        Table::Text(header, _) => (header, text.split_whitespace().collect()),
    };
    let is_row = cells.first().is_some_and(|name| streaming::kernel(name).is_some())
        || cells.iter().any(|cell| streaming::kernel(cell).is_some());
    match header.row(cells) {
        Some(row) => add(reading, place, table, &row, facts),
        None if is_row => reading.skip(place, OTHER_COLUMNS),
        None => {}
    }
}

fn add(reading: &mut Reading<'_>, place: usize, table: &Table, row: &Row<'_>, facts: &Facts) {
    use SampleStatistic::{Best, Mean, Worst};
    let Some(kernel) = row.text("function").and_then(streaming::kernel) else { return };
    let dtype = row.count("sizeof").and_then(streaming::float_of).or(facts.dtype);
    let elements = row.count("n_elements");
    let runs = row.count("num_times").or(facts.runs);
    let array = elements.zip(dtype).map(|(count, dtype)| count as f64 * dtype.element_bytes());
    // The first of them warms up; of the triad alone all count.
    let counted =
        if row.text("runtime").is_some() { runs } else { runs.map(|runs| runs.saturating_sub(1)) };
    let each = |column| row.number(column).zip(runs).map(|(all, runs)| all / runs as f64);
    let either = |a: &str, b: &str| row.number(a).or_else(|| row.number(b));
    let mut tells = Tells::of(counted)
        .seconds(Best, either("min_runtime", "min (sec)"))
        .seconds(Worst, either("max_runtime", "max"))
        .seconds(Mean, either("avg_runtime", "average").or_else(|| each("runtime")));
    let mut work = elements.zip(dtype).map(|(count, dtype)| streaming::work(kernel, count, dtype));
    let mut note = None;
    if work.is_none() {
        let rate = match table {
            Table::Separated(..) => rate_of(row),
            Table::Text(_, unit) => row.number("rate").map(|rate| rate * unit),
        };
        tells = tells.bandwidth(ByteConvention::Stream, Best, rate);
        let rounded = facts.array.zip(dtype).filter(|_| rate.is_none());
        work = rounded.map(|(array, dtype)| {
            note = Some("its rate is no number: its bytes follow from the size of its arrays, which the tool rounds");
            streaming::work(kernel, (array / dtype.element_bytes()).round() as u64, dtype)
        });
    }
    let device = facts.device.unwrap_or("device");
    let operation = streaming::operation(kernel, array.or(facts.array));
    let Some(seen) = reading.measured(place, device, operation, tells) else { return };
    seen.dtype = dtype;
    seen.work = work.unwrap_or_default();
    seen.notes.extend(note.map(str::to_owned));
    seen.method.instructions.clone_from(&facts.implementation);
    if row.text("runtime").is_none() {
        seen.method.warm_up_operations = Some(1);
    }
}

/// Bytes per second, from the column whose name has the unit.
fn rate_of(row: &Row<'_>) -> Option<f64> {
    row.cells().find_map(|(name, cell)| Some(cell::bandwidth_unit(name)? * cell::number(cell)?))
}
