//! The profiler of CUTLASS, as a table.
//!
//! Of <https://github.com/NVIDIA/cutlass/blob/main/tools/profiler/src/performance_report.cpp>: columns of the caller's own may come
//! first, arguments of the operation stand between `Status` and `Bytes`; `Runtime` is in ms, `GB/s` counts in GiB/s, `GFLOPs`
//! in 10^9.

use fizeau_core::{Bytes, Flops};

use super::cell;
use super::gemm::{self, GIBIBYTE};
use super::reading::{NotThis, Reading};
use super::source::Source;
use super::table::{self, Header, Row};
use super::tells::Tells;
use crate::measurement::{
    ByteConvention, Dtype, GemmShape, Operation, OperationWork, SampleStatistic, TimedBy,
    Verification,
};

pub(super) fn read(source: &Source) -> Result<Reading<'_>, NotThis> {
    source.must_have("header with `Provider`, `Disposition`, `Runtime` and `GFLOPs`", |text| {
        header(text).is_some()
    })?;
    let mut reading = Reading::of_lines(source, "CUTLASS profiler");
    table::read_rows(&mut reading, header, |text| text.contains(','), add);
    Ok(reading)
}

fn header(text: &str) -> Option<Header> {
    let header = Header::new(table::cells(text, ','));
    let needed = ["provider", "disposition", "runtime", "gflops"];
    needed.iter().all(|name| header.has(name)).then_some(header)
}

fn add(reading: &mut Reading<'_>, place: usize, row: &Row<'_>) {
    let status = row.text("status").unwrap_or_default();
    if !status.is_empty() && status != "success" {
        return reading.skip(place, &format!("its status is `{status}`"));
    }
    let runtime = row.number("runtime");
    let tells = Tells::default().millis(SampleStatistic::Mean, runtime);
    let (bytes, flops) = (row.number("bytes"), row.number("flops"));
    let told = row.number("gb/s");
    let rate = told.filter(|_| bytes.is_none()).map(|rate| rate * GIBIBYTE);
    let tells = tells.bandwidth(ByteConvention::Stream, SampleStatistic::Mean, rate);
    let arithmetic = row.number("gflops").filter(|_| flops.is_none()).map(|rate| rate * 1e9);
    let tells = tells.arithmetic(SampleStatistic::Mean, arithmetic);
    let Some(seen) = reading.measured(place, "gpu0", operation(row), tells) else { return };
    seen.dtype = element(row, "a");
    seen.work = OperationWork { flops: flops.map(Flops::new), ..OperationWork::default() };
    seen.work.bytes.stream = bytes.map(Bytes::new);
    let provider = row.text("provider").filter(|provider| *provider != "CUTLASS");
    seen.method.instructions = provider.or_else(|| row.text("operation")).map(str::to_owned);
    seen.method.timed_by = Some(TimedBy::DeviceEvents);
    seen.verification = verification(row.text("disposition").unwrap_or_default());
    if row.text("b").is_some() && element(row, "b") != seen.dtype {
        seen.notes.push(format!("the second operand is {}", row.text("b").unwrap_or_default()));
    }
    if let Some(told) = told {
        gemm::note_gibibytes(seen, "GB/s", told);
    }
    let counted = flops.zip(runtime).map(|(flops, millis)| flops / millis / 1e6);
    gemm::note_difference(seen, "GFLOP/s", row.number("gflops"), counted);
}

/// A dense product, or by its own name whatever is none.
fn operation(row: &Row<'_>) -> Operation {
    let size = |name| row.count(name);
    let output = element(row, "d").or_else(|| element(row, "c"));
    let is_dense = row.text("operationkind") == Some("gemm");
    match (size("m"), size("n"), size("k"), output) {
        (Some(m), Some(n), Some(k), Some(output)) if is_dense => {
            let batch = size("batch_count").unwrap_or(1).max(1);
            gemm::operation(GemmShape { m, n, k, batch }, output)
        }
        (m, n, k, _) => {
            let kind = row.text("operationkind").unwrap_or("operation");
            let sizes = [m, n, k].into_iter().flatten().map(|size| size.to_string());
            let name = row.text("operation").unwrap_or_default();
            Operation::Other {
                name: format!("{kind} {} by {name}", sizes.collect::<Vec<_>>().join(" x ")),
            }
        }
    }
}

/// The type of an operand: of `f16:column` the first half.
fn element(row: &Row<'_>, operand: &str) -> Option<Dtype> {
    cell::dtype(row.text(operand)?.split(':').next()?)
}

fn verification(disposition: &str) -> Verification {
    match disposition {
        "failed" | "incorrect" => {
            Verification::Wrong { error: None, what: format!("the tool reports `{disposition}`") }
        }
        _ => {
            Verification::not_checked(format!("the tool reports `{disposition}`, without an error"))
        }
    }
}
