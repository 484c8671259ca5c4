//! STREAM.
//!
//! Of <https://www.cs.virginia.edu/stream/FTP/Code/stream.c>: columns `Function`, `Best Rate MB/s` (`Rate (MB/s)` in old
//! versions), `Avg time`, `Min time`, `Max time`, in 10^6 bytes and seconds; the first of all runs is left out.

use super::cell;
use super::reading::{NotThis, Reading};
use super::source::Source;
use super::streaming;
use super::table::{self, Header, OTHER_COLUMNS};
use super::tells::Tells;
use crate::measurement::{ByteConvention, Measurement, SampleStatistic, Verification};

#[derive(Debug, Default)]
struct Facts {
    element: Option<u64>,
    elements: Option<u64>,
    runs: Option<u64>,
    threads: Option<u32>,
}

pub(super) fn read(source: &Source) -> Result<Reading<'_>, NotThis> {
    source.must_have("header with `Function`, a rate in `MB/s` and `Min time`", |text| {
        header(text).is_some()
    })?;
    let mut reading = Reading::of_lines(source, "STREAM");
    let (mut facts, mut table) = (Facts::default(), None);
    for line in source.lines() {
        let text = line.text.trim();
        if let Some(found) = header(text) {
            table = Some(found);
        } else if let Some(header) = table.as_ref().filter(|_| is_row(text)) {
            match header.row(text.split_whitespace().collect()) {
                Some(row) => add(&mut reading, line.number, &row, &facts),
                None => reading.skip(line.number, OTHER_COLUMNS),
            }
        } else if let Some(verification) = verification(text) {
            for seen in reading.measurements() {
                seen.verification = verification.clone();
            }
        } else {
            fact(text, &mut facts, &mut reading);
        }
    }
    Ok(reading)
}

fn header(text: &str) -> Option<Header> {
    let names = table::wide_cells(text);
    let is_rate = |name: &&str| name.contains("MB/s");
    let has_form =
        names.contains(&"Function") && names.iter().any(is_rate) && names.contains(&"Min time");
    has_form.then(|| {
        Header::new(names.into_iter().map(|name| if is_rate(&name) { "rate" } else { name }))
    })
}

/// Whether a line has the name of a kernel with a colon, in whichever column.
fn is_row(text: &str) -> bool {
    text.split_whitespace().any(|word| word.ends_with(':') && streaming::kernel(word).is_some())
}

fn fact(text: &str, facts: &mut Facts, reading: &mut Reading<'_>) {
    let after = |key| cell::number_after(text, key).and_then(cell::whole);
    if let Some(revision) =
        text.split_once("$Revision:").and_then(|(_, rest)| rest.split_whitespace().next())
    {
        reading.version = Some(revision.to_owned());
    }
    facts.element = facts.element.or_else(|| after("This system uses "));
    facts.elements = facts.elements.or_else(|| after("Array size ="));
    facts.runs = facts.runs.or_else(|| after("Each kernel will be executed "));
    let threads = after("Number of Threads counted =").and_then(cell::several);
    facts.threads = facts.threads.or(threads);
}

/// What the tool says of its results, after the table.
fn verification(text: &str) -> Option<Verification> {
    if text.starts_with("Failed Validation") {
        return Some(Verification::Wrong { error: None, what: text.to_owned() });
    }
    let limit = text.strip_prefix("Solution Validates: avg error less than ")?;
    let limit = cell::number(limit.split_whitespace().next()?)?;
    Some(Verification::within(limit, limit))
}

fn add(reading: &mut Reading<'_>, place: usize, row: &table::Row<'_>, facts: &Facts) {
    use SampleStatistic::{Best, Mean, Worst};
    let Some(kernel) = row.text("function").and_then(streaming::kernel) else { return };
    let dtype = facts.element.and_then(streaming::float_of);
    let array = facts.elements.zip(facts.element).map(|(count, bytes)| count as f64 * bytes as f64);
    let work =
        facts.elements.zip(dtype).map(|(count, dtype)| streaming::work(kernel, count, dtype));
    let mut tells = Tells::of(facts.runs.map(|runs| runs.saturating_sub(1)))
        .seconds(Best, row.number("min time"))
        .seconds(Mean, row.number("avg time"))
        .seconds(Worst, row.number("max time"));
    if work.is_none() {
        let rate = row.number("rate").map(|rate| rate * 1e6);
        tells = tells.bandwidth(ByteConvention::Stream, Best, rate);
    }
    let operation = streaming::operation(kernel, array);
    let Some(seen) = reading.measured(place, "cpu", operation, tells) else { return };
    let Measurement { method, .. } = &mut *seen;
    method.threads = facts.threads;
    method.warm_up_operations = Some(1);
    seen.dtype = dtype;
    seen.work = work.unwrap_or_default();
}
