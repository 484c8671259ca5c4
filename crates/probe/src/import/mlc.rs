//! Intel's Memory Latency Checker.
//!
//! Sections that begin with `Measuring ...`: latencies in ns among nodes of memory, bandwidths in 10^6 bytes per second by mix
//! of reads and writes and among nodes, latencies while others load memory. An example of the last:
//! <https://community.intel.com/t5/Software-Tuning-Performance/Intel-Memory-Latency-Checker-v3-5-test/m-p/1126268>.
//! Bandwidths count what memory controllers carry. `--max_bandwidth` and `--idle_latency` print a part of this by itself: the same rows
//! under another head, and a line with one latency behind the size of its buffer.

use fizeau_core::{Bytes, BytesPerSec};

use super::cell;
use super::reading::{NotThis, Reading};
use super::source::Source;
use super::table::OTHER_COLUMNS;
use super::tells::Tells;
use crate::measurement::{
    ByteConvention, MemoryKernel, Operation, SampleStatistic, StoreKind, TransferEngine,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    None,
    Latencies,
    Mixes,
    Bandwidths,
    Loaded,
    CacheToCache,
}

pub(super) fn read(source: &Source) -> Result<Reading<'_>, NotThis> {
    source.must_have(
        "line `Measuring idle latencies`, `Measuring Loaded Latencies` or the like",
        |text| section(text.trim()).is_some() || iteration(text).is_some(),
    )?;
    let mut reading = Reading::of_lines(source, "Intel MLC");
    let (mut current, mut nodes, mut how) = (Section::None, Vec::new(), String::new());
    let mut buffer = None;
    for line in source.lines() {
        let text = line.text.trim();
        if let Some(version) = text
            .strip_prefix("Intel(R) Memory Latency Checker")
            .and_then(|rest| rest.rsplit_once("- v"))
        {
            reading.version = Some(version.1.trim().to_owned());
        } else if let Some(found) = section(text) {
            (current, nodes, how) = (found, Vec::new(), access(text).to_owned());
        } else if let Some(size) = text.strip_prefix("Using buffer size of") {
            buffer = mebibytes(size);
        } else if text.contains("random access for latency") {
            how = access(text).to_owned();
        } else if let Some(nanos) = iteration(text) {
            let operation = Operation::Latency { working_set: buffer, path: None };
            if let Some(seen) = reading.measured(line.number, "cpu", operation, nanoseconds(nanos))
                && !how.is_empty()
            {
                seen.notes.push(how.clone());
            }
        } else if let Some(names) = text.strip_prefix("Numa node") {
            let names: Vec<String> = names.split_whitespace().map(str::to_owned).collect();
            nodes = if names.iter().all(|name| cell::count(name).is_some()) {
                names
            } else {
                Vec::new()
            };
        } else {
            let place = RowContext { number: line.number, how: &how };
            place.row(&mut reading, current, text, &nodes);
        }
    }
    Ok(reading)
}

fn section(text: &str) -> Option<Section> {
    let what = text.strip_prefix("Measuring ")?.to_ascii_lowercase();
    Some(match () {
        () if what.starts_with("idle latencies") => Section::Latencies,
        () if what.starts_with("peak injection") => Section::Mixes,
        () if what.starts_with("maximum memory") => Section::Mixes,
        () if what.starts_with("memory bandwidths") => Section::Bandwidths,
        () if what.starts_with("loaded latencies") => Section::Loaded,
        () if what.starts_with("cache-to-cache") => Section::CacheToCache,
        () => return None,
    })
}

/// In which order addresses are read, where the section says.
fn access(text: &str) -> &'static str {
    match (text.contains("sequential"), text.contains("random")) {
        (true, false) => "addresses one after the other",
        (false, true) => "addresses at random",
        _ if text.contains("Maximum Memory") => "the highest at any rate of injection",
        _ => "",
    }
}

/// `Each iteration took 15.2 base frequency clocks ( 8.0 ns)`
fn iteration(text: &str) -> Option<f64> {
    let (_, nanos) = text.trim().strip_prefix("Each iteration took")?.rsplit_once('(')?;
    cell::number(nanos.trim_end_matches(')').trim().strip_suffix("ns")?)
}

/// `0.244MiB`; none of a size for each thread.
fn mebibytes(text: &str) -> Option<Bytes> {
    let size = cell::number(text.trim().strip_suffix("MiB")?)?;
    Some(Bytes::new((size * 1_048_576.0).round()))
}

/// Where a row stands.
struct RowContext<'a> {
    number: usize,
    how: &'a str,
}

impl RowContext<'_> {
    fn row(&self, reading: &mut Reading<'_>, section: Section, text: &str, nodes: &[String]) {
        let words: Vec<&str> = text.split_whitespace().collect();
        match section {
            Section::None => {}
            Section::Latencies | Section::Bandwidths => {
                self.among_nodes(reading, section, &words, nodes)
            }
            Section::Mixes => self.mix(reading, text),
            Section::Loaded => self.loaded(reading, &words),
            Section::CacheToCache => {
                let latency = text
                    .rsplit_once("latency")
                    .and_then(|(path, value)| Some((path.trim(), cell::number(value)?)));
                if let Some((path, nanos)) = latency {
                    let operation =
                        Operation::Latency { working_set: None, path: Some(path.to_owned()) };
                    reading.measured(self.number, "cpu", operation, nanoseconds(nanos));
                }
            }
        }
    }

    /// A row of a matrix: the node whose cores read, then a figure for each node of memory.
    fn among_nodes(
        &self,
        reading: &mut Reading<'_>,
        section: Section,
        words: &[&str],
        nodes: &[String],
    ) {
        let Some((node, cells)) =
            words.split_first().filter(|(node, _)| cell::count(node).is_some())
        else {
            return;
        };
        if nodes.is_empty() || cells.len() != nodes.len() {
            return reading.skip(self.number, OTHER_COLUMNS);
        }
        for (memory, cell) in nodes.iter().zip(cells) {
            let Some(value) = cell::number(cell) else {
                reading.skip(self.number, "cells of its matrix are not numbers");
                continue;
            };
            let (cores, memory) =
                (format!("cores of node {node}"), format!("memory of node {memory}"));
            let (operation, tells) = match section {
                Section::Latencies => {
                    let path = Some(format!("{cores} to {memory}"));
                    (Operation::Latency { working_set: None, path }, nanoseconds(value))
                }
                _ => {
                    let engine = TransferEngine::NotReported;
                    (
                        Operation::Transfer { from: memory, to: cores, engine, both_ways: false },
                        megabytes(value),
                    )
                }
            };
            if let Some(seen) = reading.measured(self.number, "cpu", operation, tells)
                && !self.how.is_empty()
            {
                seen.notes.push(self.how.to_owned());
            }
        }
    }

    /// `3:1 Reads-Writes : 152508.1`
    fn mix(&self, reading: &mut Reading<'_>, text: &str) {
        let Some((name, value)) = text.rsplit_once(':') else { return };
        let Some(value) = cell::number(value) else { return };
        let name = name.trim();
        let memory = |kernel, stores| Operation::Memory { kernel, stores, working_set: None };
        let operation = match name {
            "ALL Reads" => memory(MemoryKernel::Read, None),
            "All NT writes" => memory(MemoryKernel::Write, Some(StoreKind::NonTemporal)),
            "Stream-triad like" => memory(MemoryKernel::Triad, None),
            _ => Operation::Other { name: format!("traffic of {name}") },
        };
        if let Some(seen) = reading.measured(self.number, "cpu", operation, megabytes(value))
            && !self.how.is_empty()
        {
            seen.notes.push(self.how.to_owned());
        }
    }

    /// `00050 123.71 131282.0`: a pause, ns, 10^6 bytes per second.
    fn loaded(&self, reading: &mut Reading<'_>, words: &[&str]) {
        let [pause, latency, bandwidth] = words else { return };
        let Some(pause) = cell::count(pause) else { return };
        let (Some(latency), Some(bandwidth)) = (cell::number(latency), cell::number(bandwidth))
        else {
            return reading.skip(self.number, "its latency or its bandwidth is not a number");
        };
        let operation =
            Operation::LoadedLatency { working_set: None, injectors: None, injector_pause: pause };
        if let Some(seen) = reading.measured(self.number, "cpu", operation, nanoseconds(latency)) {
            seen.circumstances.beside = Some(BytesPerSec::new(bandwidth * 1e6));
        }
    }
}

fn nanoseconds(value: f64) -> Tells {
    Tells::default().millis(SampleStatistic::NotReported, Some(value / 1e6))
}

fn megabytes(value: f64) -> Tells {
    Tells::default().bandwidth(
        ByteConvention::Hardware,
        SampleStatistic::NotReported,
        Some(value * 1e6),
    )
}
