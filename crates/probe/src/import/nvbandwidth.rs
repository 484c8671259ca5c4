//! What the text and the document of nvbandwidth have in common.
//!
//! What each test copies and counts: <https://github.com/NVIDIA/nvbandwidth/blob/main/README.md>. Of a copy each byte counts
//! once. Tests of copy engines in both directions tell one of the two streams; those of kernels among devices tell, in a
//! matrix of its own, both together.

use super::reading::Reading;
use super::tells::Tells;
use crate::measurement::{ByteConvention, Operation, SampleStatistic, TransferEngine};

/// One matrix of a test.
#[derive(Debug)]
pub(super) struct Matrix<'a> {
    /// The test's name: `host_to_device_memcpy_ce`.
    pub(super) test: &'a str,
    /// What it says of its rows, columns and unit: `memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)`.
    pub(super) description: &'a str,
    /// Labels of columns: numbers of devices.
    pub(super) columns: Vec<String>,
    /// Each with its label.
    pub(super) rows: Vec<(String, Vec<Option<f64>>)>,
}

/// What stands on either side of a copy.
struct Sides {
    from: String,
    to: String,
}

pub(super) fn add(reading: &mut Reading<'_>, place: usize, matrix: &Matrix<'_>) {
    let is_latency = matrix.description.trim_end().ends_with("(ns)");
    if !is_latency && !matrix.description.contains("(GB/s)") {
        return reading.skip(place, "the unit of its matrix is neither GB/s nor ns");
    }
    for (row, cells) in &matrix.rows {
        for (column, cell) in matrix.columns.iter().zip(cells) {
            let Some(value) = cell.filter(|value| *value > 0.0) else {
                reading.skip(place, "cells of its matrix are not numbers above zero");
                continue;
            };
            let sides = sides(matrix, row, column);
            if is_latency {
                let path = Some(format!("{} to {}", sides.to, sides.from));
                let operation = Operation::Latency { working_set: None, path };
                let tells =
                    Tells::default().millis(SampleStatistic::NotReported, Some(value / 1e6));
                reading.measured(place, &device(&sides), operation, tells);
                continue;
            }
            let tells = Tells::default().bandwidth(
                ByteConvention::Copy,
                SampleStatistic::NotReported,
                Some(value * 1e9),
            );
            let both_ways = matrix.test.contains("bidirectional");
            let note = note(matrix.test, both_ways);
            let device = device(&sides);
            let engine = engine(matrix.test);
            let operation =
                Operation::Transfer { from: sides.from, to: sides.to, engine, both_ways };
            if let Some(seen) = reading.measured(place, &device, operation, tells) {
                seen.notes.extend(note);
            }
        }
    }
}

/// By the arrow of the description, the row on its left and the column on its right; where it goes both ways, and where all
/// devices are at it at once, by the test's name.
fn sides(matrix: &Matrix<'_>, row: &str, column: &str) -> Sides {
    let (test, description) = (matrix.test, matrix.description);
    if test == "device_local_copy" {
        let device = format!("gpu{column}");
        return Sides { from: device.clone(), to: device };
    }
    let left = match description.contains("GPU(row)") {
        true => format!("gpu{row}"),
        false if description.contains("CPU(row)") && row == "0" => "host".to_owned(),
        false if description.contains("CPU(row)") => format!("host, node {row}"),
        false => "all gpus".to_owned(),
    };
    let right = format!("gpu{column}");
    let is_all_and_host = test.contains("all_to_host") || test.contains("host_to_all");
    let right = if is_all_and_host { format!("{right}, all at once") } else { right };
    let from_right = match description.contains("<->") {
        true => test.starts_with("device_to_host") || test.starts_with("all_to_host"),
        false => description.contains("<-") || test.starts_with("one_to_all"),
    };
    if from_right { Sides { from: right, to: left } } else { Sides { from: left, to: right } }
}

/// On which device a measurement is listed: a GPU rather than the host.
fn device(sides: &Sides) -> String {
    let names = [&sides.from, &sides.to].map(|side| side.split(',').next().unwrap_or_default());
    let gpu = names.into_iter().find(|name| name.starts_with("gpu"));
    gpu.unwrap_or("gpus").to_owned()
}

fn engine(test: &str) -> TransferEngine {
    if test.contains("_ce") || test == "device_local_copy" {
        TransferEngine::CopyEngine
    } else if test.contains("write")
        || test.starts_with("device_to_host")
        || test.starts_with("all_to_host")
    {
        TransferEngine::KernelWrite
    } else if test.contains("_sm") {
        // The kernel runs on a GPU, so what comes from the host it reads.
        TransferEngine::KernelRead
    } else {
        TransferEngine::NotReported
    }
}

fn note(test: &str, both_ways: bool) -> Option<String> {
    if test == "device_local_copy" {
        return Some("the tool counts each byte once, where memory reads it and writes it: the rate here is twice the tool's; a copy engine is no measure of memory".into());
    }
    both_ways.then(|| match test.starts_with("device_to_device") {
        true => "both directions together".into(),
        false => "one of the two directions, while both are under way".into(),
    })
}
