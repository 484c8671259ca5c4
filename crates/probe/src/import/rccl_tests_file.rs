//! What rccl-tests writes into a file of its own (`-x FILE -Z json` or `csv`).
//!
//! Of <https://github.com/ROCm/rccl-tests/blob/develop/src/common.cpp> (`Reporter::addResult`, `Reporter::writeFile`): a row a line, in JSON a
//! list of objects. Times in microseconds, rates in GB/s. With MPI a row has `nodes` behind the collective's name, for which the head of the
//! CSV has no column, and `ranks` counts processes: `ranksPerNode` those of one communicator, `gpusPerRank` the GPUs of each. `nodes` is the
//! ratio of the two, and 1 on several machines too.

use std::collections::BTreeMap;

use super::cell;
use super::json::Loose;
use super::nccl::{self, Half, Run};
use super::reading::{NotThis, Reading, gpus};
use super::source::Source;
use super::table::{self, OTHER_COLUMNS};
use super::tells::Tells;
use crate::measurement::CollectiveOp;

/// The cells of a row by the names of their columns in lower case.
type Cells = BTreeMap<String, String>;

pub(super) fn read(source: &Source) -> Result<Reading<'_>, NotThis> {
    source.must_have("rows with `numCycle` and `busBw`", |text| {
        text.contains("numCycle") && text.to_ascii_lowercase().contains("busbw")
    })?;
    let mut reading = Reading::of_lines(source, "rccl-tests");
    let mut head = None;
    for line in source.lines() {
        let text = line.text.trim();
        if text.starts_with("numCycle,") {
            head = Some(table::cells(text, ','));
        } else if text.starts_with('{') {
            match object(text) {
                Some(cells) => add(&mut reading, line.number, &cells),
                None => reading.skip(line.number, "it is no whole object"),
            }
        } else if let Some(head) = head.as_ref().filter(|_| !text.is_empty()) {
            match row(head, &table::cells(text, ',')) {
                Some(cells) => add(&mut reading, line.number, &cells),
                None => reading.skip(line.number, OTHER_COLUMNS),
            }
        }
    }
    Ok(reading)
}

fn object(text: &str) -> Option<Cells> {
    let cells: BTreeMap<String, Loose> = serde_json::from_str(text.trim_end_matches(',')).ok()?;
    let lower = |(name, value): (String, Loose)| Some((name.to_ascii_lowercase(), value.text()?));
    Some(cells.into_iter().filter_map(lower).collect())
}

fn row(head: &[&str], cells: &[&str]) -> Option<Cells> {
    let mut names = head.to_vec();
    if cells.len() == head.len() + 1 && names.contains(&"rankspernode") {
        names.insert(2, "nodes");
    }
    let pairs = || names.iter().zip(cells);
    let named = |(name, cell): (&&str, &&str)| (name.to_ascii_lowercase(), (*cell).to_owned());
    (names.len() == cells.len()).then(|| pairs().map(named).collect())
}

fn add(reading: &mut Reading<'_>, place: usize, cells: &Cells) {
    let first = |names: &[&str]| names.iter().find_map(|name| cells.get(*name)).map(String::as_str);
    let number = |name: &str| cell::number(first(&[name])?);
    let count = |name: &str| cell::count(first(&[name])?);
    let Some(size) = count("size") else {
        return reading.skip(place, "its `size` is not a number of bytes");
    };
    let together = count("rankspernode").zip(count("gpusperrank"));
    let ranks = together.map(|(processes, each)| processes.saturating_mul(each));
    let ranks = ranks.or_else(|| count("gpus")).and_then(cell::several);
    let run = Run {
        op: first(&["name", "collective"]).and_then(op),
        ranks,
        device: Some(gpus(ranks)),
        ..Run::default()
    };
    let half = Half {
        size,
        dtype: first(&["type"]).unwrap_or_default().to_owned(),
        in_place: count("inplace").map(|place| place != 0),
        time: number("time"),
        algorithm_bandwidth: number("algbw"),
        bus_bandwidth: number("busbw"),
        verification: nccl::verified(first(&["wrong", "#wrong"]).and_then(cell::number), None),
        ..Half::default()
    };
    nccl::measured(reading, place, &run, &half, Tells::default());
}

/// Which collective a name says: `AllReduce`, `AlltoAllv`.
fn op(name: &str) -> Option<CollectiveOp> {
    let name = name.to_ascii_lowercase();
    CollectiveOp::ALL.into_iter().find(|op| op.as_str().replace('_', "") == name)
}
