//! hipblaslt-bench.
//!
//! Of <https://github.com/ROCm/hipBLASLt/blob/develop/docs/how-to/how-to-use-hipblaslt-offline-tuning.rst>: for each problem a header
//! line and a line of values, with commas; a rank may stand before the header. `us` is microseconds, `hipblaslt-Gflops` 10^9,
//! and `hipblaslt-GB/s` counts in GiB/s: of AMD's own samples bytes over time are 1.074 times what is printed. Matrices lie by columns, as in
//! BLAS: what it calls `m x n` is by rows `n x m`, tokens first.

use fizeau_core::Bytes;

use super::cell;
use super::gemm;
use super::reading::{NotThis, Reading};
use super::source::Source;
use super::table::{self, Header, Row};
use super::tells::Tells;
use crate::measurement::{
    CacheState, Dtype, GemmShape, Operation, OperationWork, SampleStatistic, TimedBy,
};

pub(super) fn read(source: &Source) -> Result<Reading<'_>, NotThis> {
    source.must_have("header with `transA`, `hipblaslt-Gflops` and `us`", |text| {
        header(text).is_some()
    })?;
    let mut reading = Reading::of_lines(source, "hipblaslt-bench");
    for line in source.lines() {
        if let Some(version) = line.text.strip_prefix("hipBLASLt version:") {
            reading.version = Some(version.trim().to_owned());
        } else if let Some((_, model)) =
            line.text.strip_prefix("Device ID").and_then(|rest| rest.split_once(':'))
        {
            reading.device("gpu0", model);
        }
    }
    let is_row = |text: &str| text.matches(',').count() > 8 && !text.starts_with("--");
    table::read_rows(&mut reading, header, is_row, add);
    Ok(reading)
}

fn header(text: &str) -> Option<Header> {
    let header = Header::new(table::cells(text.trim(), ','));
    let needed = ["transa", "hipblaslt-gflops", "us"];
    needed.iter().all(|name| header.has(name)).then_some(header)
}

fn add(reading: &mut Reading<'_>, place: usize, row: &Row<'_>) {
    let sizes = [row.count("m"), row.count("n"), row.count("k")];
    let [Some(m), Some(n), Some(k)] = sizes else {
        return reading.skip(place, "one of its sizes is not a number");
    };
    let batch = row.count("batch_count").unwrap_or(1).max(1);
    // By rows the result has its columns first.
    let shape = GemmShape { m: n, n: m, k, batch };
    let computes_in =
        row.text("compute_type").and_then(cell::dtype).filter(|dtype| *dtype == Dtype::Tf32);
    let operand = computes_in.or_else(|| row.text("a_type").and_then(cell::dtype));
    let output = row.text("d_type").and_then(cell::dtype);
    // Before ROCm 6.1 it has `d_type` alone.
    let is_told = row.text("a_type").is_some();
    let (operation, mut work) = match (operand, output) {
        (Some(operand), Some(output)) => {
            (gemm::operation(shape, output), shape.work(operand, output))
        }
        (None, Some(output)) if !is_told => {
            let flops = shape.work(output, output).flops;
            (gemm::operation(shape, output), OperationWork { flops, ..OperationWork::default() })
        }
        _ => (
            Operation::Other { name: format!("gemm {m} x {n} x {k} of a type that is not known") },
            Default::default(),
        ),
    };
    if let (Some(beta), Some(output), Some(bytes)) = (row.number("beta"), output, work.bytes.stream)
        && beta != 0.0
    {
        // Then what is there is read before it is written.
        let result = shape.batch as f64 * m as f64 * n as f64 * output.element_bytes();
        work.bytes.stream = Some(Bytes::new(bytes.get() + result));
    }
    let micros = row.number("us");
    let told = row.number("hipblaslt-gflops");
    let unknown = told.filter(|_| work.flops.is_none()).map(|rate| rate * 1e9);
    let tells = Tells::default()
        .micros(SampleStatistic::Mean, micros)
        .arithmetic(SampleStatistic::Mean, unknown);
    let Some(seen) = reading.measured(place, "gpu0", operation, tells) else { return };
    seen.dtype = operand;
    if !is_told {
        seen.notes.push("the tool does not report the type of operands".into());
    }
    seen.work = work;
    if m != n {
        seen.notes
            .push(format!("the tool's m x n of {m} x {n} is by columns, and {n} x {m} by rows"));
    }
    seen.method.timed_by = row.text("use_gpu_timer").map(|word| match cell::is_true(word) {
        true => TimedBy::DeviceEvents,
        false => TimedBy::Host,
    });
    seen.method.cache = match (row.number("rotating_buffer"), row.text("flush").map(cell::is_true))
    {
        (Some(size), _) if size > 0.0 => Some(CacheState::ColdByRotation),
        (_, Some(true)) => Some(CacheState::ColdByFlush),
        _ => None,
    };
    if let Some(megahertz) = row.number("lowest-median-freq").filter(|clock| *clock > 0.0) {
        seen.notes.push(format!("the clock was {megahertz} MHz in the median, of the slowest die"));
    }
    if let Some(told) = row.number("hipblaslt-gb/s") {
        gemm::note_gibibytes(seen, "hipblaslt-GB/s", told);
        let counted =
            seen.work.bytes.stream.zip(micros).map(|(bytes, micros)| bytes.get() / micros / 1e3);
        gemm::note_difference(seen, "GB/s", Some(told * gemm::GIBIBYTE / 1e9), counted);
    }
    let counted = seen.work.flops.zip(micros).map(|(flops, micros)| flops.get() / micros / 1e3);
    gemm::note_difference(seen, "GFLOP/s", told, counted);
}
