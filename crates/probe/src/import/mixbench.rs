//! mixbench.
//!
//! Of <https://github.com/ekondis/mixbench/blob/master/README.md>: a table in which the same columns (operations for each byte,
//! ms, 10^9 operations and 10^9 bytes per second) come once for each type of elements; the line above says which.

use super::cell;
use super::reading::{NotThis, Reading};
use super::source::Source;
use super::table::{self, OTHER_COLUMNS};
use super::tells::Tells;
use crate::measurement::{ByteConvention, Dtype, Operation, SampleStatistic};

/// The columns of one type of elements, by their places.
#[derive(Debug, Default)]
struct Group {
    dtype: Option<Dtype>,
    intensity: Option<usize>,
    time: Option<usize>,
    arithmetic: Option<usize>,
    bandwidth: Option<usize>,
}

pub(super) fn read(source: &Source) -> Result<Reading<'_>, NotThis> {
    source.must_have("header with `Compute iters`, `Flops/byte` and `GB/sec`", |text| {
        is_header(text)
    })?;
    let mut reading = Reading::of_lines(source, "mixbench");
    let (mut labels, mut groups, mut width) = (Vec::new(), Vec::new(), 0);
    let mut device = "gpu0";
    for line in source.lines() {
        let text = line.text.trim();
        let cells = table::cells(text, ',');
        if is_header(text) {
            (groups, width) = (grouped(&cells, &labels), cells.len());
        } else if text.starts_with("Experiment ID") {
            labels = cells.into_iter().map(str::to_owned).collect();
        } else if let Some((variant, version)) =
            text.strip_prefix("mixbench").and_then(|rest| rest.split_once('('))
        {
            reading.version = version.split(')').next().map(str::to_owned);
            device = if variant.contains("cpu") { "cpu" } else { "gpu0" };
        } else if let Some(model) = text.strip_prefix("Device:") {
            reading.device(device, model);
        } else if cells.len() > 1 && cell::number(cells[0]).is_some() && width > 0 {
            if cells.len() != width {
                reading.skip(line.number, OTHER_COLUMNS);
                continue;
            }
            for group in &groups {
                add(&mut reading, line.number, device, group, &cells);
            }
        }
    }
    Ok(reading)
}

fn is_header(text: &str) -> bool {
    text.contains("Compute iters") && text.contains("Flops/byte") && text.contains("GB/sec")
}

/// The columns of `names` by type: that of the last label at or before the column.
fn grouped(names: &[&str], labels: &[String]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (at, name) in names.iter().enumerate().skip(1) {
        let label = labels.iter().take(at + 1).skip(1).rfind(|label| !label.is_empty());
        let dtype = label.and_then(|label| dtype(label));
        let is_new = groups.last().is_none_or(|group| {
            group.dtype != dtype || (label.is_none() && name.ends_with("/byte"))
        });
        if is_new {
            groups.push(Group { dtype, ..Group::default() });
        }
        let Some(group) = groups.last_mut() else { continue };
        match name.to_ascii_lowercase().as_str() {
            "flops/byte" | "iops/byte" => group.intensity = Some(at),
            "ex.time" => group.time = Some(at),
            "gflops" | "giops" => group.arithmetic = Some(at),
            "gb/sec" => group.bandwidth = Some(at),
            _ => {}
        }
    }
    groups
}

fn dtype(label: &str) -> Option<Dtype> {
    let label = label.to_ascii_lowercase();
    let known = [
        ("single", Dtype::F32),
        ("double", Dtype::F64),
        ("half", Dtype::F16),
        ("integer", Dtype::Int32),
    ];
    known.into_iter().find(|(word, _)| label.starts_with(word)).map(|(_, dtype)| dtype)
}

fn add(reading: &mut Reading<'_>, place: usize, device: &str, group: &Group, cells: &[&str]) {
    let number = |at: Option<usize>| cell::number(cells.get(at?)?);
    let giga = |at| number(at).map(|rate| rate * 1e9);
    let Some(flops_per_byte) = number(group.intensity) else {
        return reading.skip(place, "its operations for each byte are not number");
    };
    let tells = Tells::default()
        .millis(SampleStatistic::NotReported, number(group.time))
        .arithmetic(SampleStatistic::NotReported, giga(group.arithmetic))
        .bandwidth(ByteConvention::Stream, SampleStatistic::NotReported, giga(group.bandwidth));
    let operation = Operation::Intensity { flops_per_byte };
    if let Some(seen) = reading.measured(place, device, operation, tells) {
        seen.dtype = group.dtype;
    }
}
