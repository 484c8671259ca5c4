//! What the text and the document of nvbandwidth have in common.
//!
//! What each test copies and counts: <https://github.com/NVIDIA/nvbandwidth/blob/main/README.md>. Of a copy each byte counts
//! once. Tests of copy engines in both directions tell one of the two streams; those among devices tell, in a
//! matrix of its own, both together, before version 0.3 by kernels alone.
//!
//! Which way bytes go follows from the name of a test, since the arrows above matrices differ from version to version, and say among
//! devices who asks whom. Of `testcases_ce.cpp` and `testcases_sm.cpp` (at commit 040fd281): a read copies from the device of the column
//! to that of the row, a write from the row's to the column's, `value(row, column) = doMemcpy(peerBuffer, srcBuffer)` and
//! `doMemcpy(srcBuffer, peerBuffer)` of source and target; a latency is that of the row's loads from the column's memory.

use super::reading::Reading;
use super::tells::Tells;
use crate::measurement::{
    ByteConvention, Measurement, MemoryKernel, ONE_WAY, Operation, SampleStatistic, TransferEngine,
};

/// One matrix of a test.
#[derive(Debug)]
pub(super) struct Matrix<'a> {
    /// The test's name: `host_to_device_memcpy_ce`.
    pub(super) test: &'a str,
    /// What it says of its rows, columns and unit: `memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)`.
    pub(super) description: &'a str,
    /// Whether it is the sum of matrices before it: of both directions.
    pub(super) is_total: bool,
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
                // No device copies to itself over a link.
                if !(row == column && is_among_devices(matrix.test)) {
                    reading.skip(place, "cells of its matrix are not numbers above zero");
                }
                continue;
            };
            match local(matrix.test) {
                _ if is_latency => latency(reading, place, &sides(matrix, row, column), value),
                Some(what) => within(reading, place, what, column, value),
                None => copy(reading, place, matrix, &sides(matrix, row, column), value),
            }
        }
    }
}

fn is_among_devices(test: &str) -> bool {
    test.contains("device_to_device")
}

/// What a test of one device's own memory does: `copy`, `read_sm`.
fn local(test: &str) -> Option<&str> {
    test.strip_prefix("device_local_")
}

fn latency(reading: &mut Reading<'_>, place: usize, sides: &Sides, nanos: f64) {
    let path = Some(format!("{} to {}", sides.to, sides.from));
    let operation = Operation::Latency { working_set: None, path };
    let tells = Tells::default().millis(SampleStatistic::NotReported, Some(nanos / 1e6));
    reading.measured(place, &device([&sides.to, &sides.from]), operation, tells);
}

/// A kernel on a device's own memory, or its copy engine.
fn within(reading: &mut Reading<'_>, place: usize, what: &str, column: &str, value: f64) {
    let device = format!("gpu{column}");
    let rate = |convention, times: f64| {
        Tells::default().bandwidth(
            convention,
            SampleStatistic::NotReported,
            Some(times * value * 1e9),
        )
    };
    let of_memory = |kernel| Operation::Memory { kernel, stores: None, working_set: None };
    let (operation, tells, note) = if what == "copy" {
        let (from, to) = (device.clone(), device.clone());
        let engine = TransferEngine::CopyEngine;
        let operation = Operation::Transfer { from, to, engine, both_ways: false };
        let note = format!("{COUNTED_ONCE}; a copy engine is no measure of memory");
        (operation, rate(ByteConvention::Copy, 1.0), Some(note))
    } else if what.starts_with("copy") {
        let note = Some(COUNTED_ONCE.to_owned());
        (of_memory(MemoryKernel::Copy), rate(ByteConvention::Stream, 2.0), note)
    } else if what.starts_with("write") {
        (of_memory(MemoryKernel::Write), rate(ByteConvention::Stream, 1.0), None)
    } else if what.starts_with("read") {
        (of_memory(MemoryKernel::Read), rate(ByteConvention::Stream, 1.0), None)
    } else {
        return reading.skip(place, "what it does with a device's own memory is not known");
    };
    if let Some(seen) = reading.measured(place, &device, operation, tells) {
        say_how(seen, what);
        seen.notes.extend(note);
    }
}

const COUNTED_ONCE: &str = "the tool counts each byte once, where memory reads it and writes it: the rate here is twice the tool's";

fn copy(reading: &mut Reading<'_>, place: usize, matrix: &Matrix<'_>, sides: &Sides, value: f64) {
    let tells = Tells::default().bandwidth(
        ByteConvention::Copy,
        SampleStatistic::NotReported,
        Some(value * 1e9),
    );
    let test = matrix.test;
    let both_ways = test.contains("bidirectional");
    let is_sum = matrix.is_total || (is_among_devices(test) && !test.ends_with("_ce"));
    let note = both_ways.then(|| match is_sum {
        true => "both directions together".to_owned(),
        false => "one of the two directions, while both are under way".to_owned(),
    });
    let device = device([&sides.from, &sides.to]);
    let is_one_of_two = both_ways && !is_sum && is_among_devices(test);
    let (from, mut to) = (sides.from.clone(), sides.to.clone());
    if is_one_of_two {
        to.push_str(ONE_WAY);
    }
    let operation = Operation::Transfer { from, to, engine: engine(test), both_ways };
    if let Some(seen) = reading.measured(place, &device, operation, tells) {
        say_how(seen, test);
        seen.notes.extend(note);
    }
}

/// By what a kernel copies, where that is the tensor memory accelerator: of two ways of one operation the faster speaks.
fn say_how(seen: &mut Measurement, test: &str) {
    if test.ends_with("_tma") {
        seen.method.instructions = Some("tma".into());
    }
}

/// By the test's name; of one that says nothing by the arrow of the description, the row on its left and the column on its right.
fn sides(matrix: &Matrix<'_>, row: &str, column: &str) -> Sides {
    let (test, description) = (matrix.test, matrix.description);
    let left = match description.contains("GPU(row)") {
        true => format!("gpu{row}"),
        false if description.contains("CPU(row)") && row == "0" => "host".to_owned(),
        false if description.contains("CPU(row)") => format!("host, node {row}"),
        false => "all gpus".to_owned(),
    };
    let right = format!("gpu{column}");
    let is_all_and_host = test.contains("all_to_host") || test.contains("host_to_all");
    let right = if is_all_and_host { format!("{right}, all at once") } else { right };
    let is_of_all = test.contains("all_to_one") || test.contains("one_to_all");
    let left = if is_of_all { "all gpus".to_owned() } else { left };
    let reads = is_among_devices(test) && (test.contains("read") || test.contains("latency"));
    let begins = |names: &[&str]| names.iter().any(|name| test.contains(name));
    let is_from_right = if begins(&["device_to_host", "all_to_host", "one_to_all"]) {
        true
    } else if begins(&["host_to_device", "host_to_all", "all_to_one"]) {
        false
    } else if is_among_devices(test) {
        // Both directions together are those of the pair.
        reads && !matrix.is_total
    } else {
        description.contains("<-") && !description.contains("<->")
    };
    if is_from_right { Sides { from: right, to: left } } else { Sides { from: left, to: right } }
}

/// On which device a measurement is listed: the first of `sides` that is a GPU.
fn device(sides: [&String; 2]) -> String {
    let names = sides.map(|side| side.split(',').next().unwrap_or_default());
    let gpu = names.into_iter().find(|name| name.starts_with("gpu"));
    gpu.unwrap_or("gpus").to_owned()
}

fn engine(test: &str) -> TransferEngine {
    let (reads, writes) = (test.contains("read"), test.contains("write"));
    if test.contains("_ce") {
        return match (reads, writes) {
            (true, false) => TransferEngine::CopyEngineRead,
            (false, true) => TransferEngine::CopyEngineWrite,
            _ => TransferEngine::CopyEngine,
        };
    }
    let gives = writes || test.contains("device_to_host") || test.contains("all_to_host");
    if gives {
        TransferEngine::KernelWrite
    } else if test.contains("_sm") || test.contains("_tma") {
        // The kernel runs on a GPU, so what comes from the host it reads.
        TransferEngine::KernelRead
    } else {
        TransferEngine::NotReported
    }
}
