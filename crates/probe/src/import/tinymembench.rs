//! tinymembench.
//!
//! Of <https://github.com/ssvb/tinymembench/blob/master/main.c>: ` NAME : 12345.6 MB/s (0.3%)`, the best of several runs in 10^6
//! bytes, of which a copy counts each once; then `block size : time / time` in ns, what a random read takes more than one
//! from the first cache, with one read and with two at once.

use fizeau_core::Bytes;

use super::cell;
use super::reading::{NotThis, Reading};
use super::source::Source;
use super::tells::Tells;
use crate::measurement::{
    ArrayPages, ByteConvention, MemoryKernel, Operation, PageAdvice, SampleStatistic,
};

pub(super) fn read(source: &Source) -> Result<Reading<'_>, NotThis> {
    source.must_have("banner `tinymembench v...`, and no line `block size : ...`", |text| {
        text.starts_with("tinymembench v") || is_latency_header(text)
    })?;
    let mut reading = Reading::of_lines(source, "tinymembench");
    let mut latencies: Option<Option<PageAdvice>> = None;
    for line in source.lines() {
        let text = line.text.trim();
        if let Some(version) = text.strip_prefix("tinymembench v") {
            reading.version = version.split_whitespace().next().map(str::to_owned);
        } else if is_latency_header(text) {
            latencies = Some(match () {
                () if text.contains("MADV_NOHUGEPAGE") => Some(PageAdvice::Small),
                () if text.contains("MADV_HUGEPAGE") => Some(PageAdvice::Huge),
                () => None,
            });
        } else if let Some((name, value)) = text.rsplit_once(" : ") {
            match (value.contains("MB/s"), latencies) {
                (true, _) => rate(&mut reading, line.number, name.trim(), value),
                (false, Some(pages)) => latency(&mut reading, line.number, name, value, pages),
                (false, None) => {}
            }
        }
    }
    Ok(reading)
}

fn is_latency_header(text: &str) -> bool {
    text.trim_start().starts_with("block size :")
}

fn rate(reading: &mut Reading<'_>, place: usize, name: &str, value: &str) {
    let Some(rate) = value.split_whitespace().next().and_then(cell::number) else {
        return reading.skip(place, "its rate is not a number");
    };
    let memory = |kernel| Operation::Memory { kernel, stores: None, working_set: None };
    let (operation, convention) = match name {
        "standard memcpy" => (memory(MemoryKernel::Copy), ByteConvention::Copy),
        "standard memset" => (memory(MemoryKernel::Write), ByteConvention::Stream),
        // Variants of these by other instructions are told apart by their names alone.
        _ if name.contains("copy") => {
            (Operation::Other { name: name.to_owned() }, ByteConvention::Copy)
        }
        _ => (Operation::Other { name: name.to_owned() }, ByteConvention::Stream),
    };
    let tells = Tells::default().bandwidth(convention, SampleStatistic::Best, Some(rate * 1e6));
    let Some(seen) = reading.measured(place, "cpu", operation, tells) else { return };
    if let Some((_, spread)) = value.split_once('(') {
        seen.notes.push(format!("runs deviate by {} of the best", spread.trim_end_matches(')')));
    }
}

fn latency(
    reading: &mut Reading<'_>,
    place: usize,
    block: &str,
    value: &str,
    pages: Option<PageAdvice>,
) {
    let mut times = value.split('/').map(|time| cell::number(time.trim().trim_end_matches("ns")));
    let (Some(block), Some(Some(one))) = (cell::number(block), times.next()) else {
        return reading.skip(place, "its block size or its time is not a number");
    };
    if one <= 0.0 {
        return reading.skip(place, "it takes no longer than a read from the first cache");
    }
    let tells = Tells::default().millis(SampleStatistic::Best, Some(one / 1e6));
    let operation = Operation::latency(Bytes::new(block));
    let Some(seen) = reading.measured(place, "cpu", operation, tells) else { return };
    seen.method.pages =
        pages.map(|requested| ArrayPages { requested, huge: None, arrays: Bytes::new(block) });
    seen.notes.push("how much longer than a read from the first cache".into());
    if let Some(two) = times.next().flatten() {
        seen.notes.push(format!("two such reads at once take {two} ns"));
    }
}
