//! The benchmark of `FlashInfer`, as a table.
//!
//! Of <https://github.com/flashinfer-ai/flashinfer/blob/main/benchmarks/routines/flashinfer_benchmark_utils.py>: one table for all
//! routines, with the columns of all; those that a routine does not have are empty. Times are ms, rates 10^12.

use super::cell;
use super::gemm;
use super::reading::{NotThis, Reading};
use super::source::Source;
use super::table::{self, Header, Row};
use super::tells::Tells;
use crate::measurement::{
    AttentionPhase, AttentionShape, ByteConvention, Dtype, GemmShape, Operation, OperationWork,
    SampleStatistic, TimedBy,
};

/// Columns that say how, and not what.
const METHOD: [&str; 27] = [
    "routine",
    "median_time",
    "median_time(ms)",
    "std_time",
    "tflops",
    "tb_per_sec",
    "backend",
    "resolved_backend",
    "enable_pdl",
    "refcheck",
    "no_cuda_graph",
    "use_cupti",
    "allow_output_mismatch",
    "random_seed",
    "case_tag",
    "generate_repro_command",
    "repro_command",
    "avg_actual_seq_len",
    "random_actual_seq_len",
    "use_cuda_events",
    "verbose",
    "output_path",
    "num_iters",
    "dry_run_iters",
    "backends",
    "autotune",
    "autotune_cache",
];

pub(super) fn read(source: &Source) -> Result<Reading<'_>, NotThis> {
    source.must_have("header with `routine`, `median_time` and `tb_per_sec`", |text| {
        header(text).is_some()
    })?;
    let mut reading = Reading::of_lines(source, "FlashInfer benchmark");
    table::read_rows(&mut reading, header, |text| text.contains(','), add);
    Ok(reading)
}

fn header(text: &str) -> Option<Header> {
    let header = Header::new(table::cells(text, ','));
    let has_time = header.has("median_time") || header.has("median_time(ms)");
    (header.has("routine") && has_time && header.has("tb_per_sec")).then_some(header)
}

/// A row of a table, or what lines tell of a test by the names of its columns.
pub(super) fn add(reading: &mut Reading<'_>, place: usize, row: &Row<'_>) {
    let millis = row.number("median_time").or_else(|| row.number("median_time(ms)"));
    let tera = |name| row.number(name).map(|rate: f64| rate * 1e12);
    let (operation, dtype, work) = what(row);
    let tells = Tells::default()
        .millis(SampleStatistic::Median, millis)
        .arithmetic(SampleStatistic::Median, tera("tflops").filter(|_| work.flops.is_none()))
        .bandwidth(
            ByteConvention::Stream,
            SampleStatistic::Median,
            tera("tb_per_sec").filter(|_| work.bytes.stream.is_none()),
        );
    let Some(seen) = reading.measured(place, "gpu0", operation, tells) else { return };
    seen.dtype = dtype;
    seen.work = work;
    let backend = row.text("resolved_backend").or_else(|| row.text("backend"));
    seen.method.instructions = backend.map(str::to_owned);
    let is_profiled = row.text("use_cupti").is_some_and(cell::is_true);
    seen.method.timed_by = is_profiled.then_some(TimedBy::Profiler);
    // Of fewer digits than it has none is left.
    if let Some(deviation) = row.number("std_time").filter(|deviation| *deviation > 0.0) {
        seen.notes.push(format!("samples deviate by {deviation} ms"));
    }
    if has_random_lengths(row) {
        let mean = row.text("avg_actual_seq_len").unwrap_or("not told");
        seen.notes.push(format!("lengths are drawn at random, in the mean {mean}"));
    }
    let counted = seen.work.flops.zip(millis).map(|(flops, millis)| flops.get() / millis / 1e9);
    gemm::note_difference(seen, "TFLOP/s", row.number("tflops"), counted);
}

fn has_random_lengths(row: &Row<'_>) -> bool {
    row.text("random_actual_seq_len").is_some_and(cell::is_true)
}

/// What a row is of, on which type, and how much of it that is where its shape says so.
fn what(row: &Row<'_>) -> (Operation, Option<Dtype>, OperationWork) {
    let routine = row.text("routine").unwrap_or_default();
    if let Some(shape) = attention(row, routine) {
        let [query, cache] =
            ["q_dtype", "kv_dtype"].map(|name| row.text(name).and_then(cell::dtype));
        let mut work = OperationWork::default();
        if let Some(dtype) = cache.filter(|_| !has_random_lengths(row)) {
            work = shape.work(dtype);
            work.bytes.stream = work.bytes.stream.filter(|_| query == cache);
        }
        return (Operation::Attention { shape, role: None }, cache, work);
    }
    let operand = operand(row, routine);
    // What a routine does not name its result is, is what most give.
    let output = row.text("out_dtype").and_then(cell::dtype).or(Some(Dtype::Bf16));
    if let (Some(shape), Some(operand), Some(output)) = (product(row, routine), operand, output) {
        let mut work = shape.work(operand, output);
        // The tool counts scales by rules of its own.
        work.bytes = Default::default();
        return (gemm::operation(shape, output), Some(operand), work);
    }
    let arguments = row.cells().filter(|(name, cell)| !cell.is_empty() && !METHOD.contains(name));
    let mut arguments: Vec<_> = arguments.map(|(name, cell)| format!(", {name}={cell}")).collect();
    arguments.sort_unstable();
    let name = format!("{routine}{}", arguments.concat());
    (Operation::Other { name }, operand, OperationWork::default())
}

fn attention(row: &Row<'_>, routine: &str) -> Option<AttentionShape> {
    let is_latent = routine.contains("MLA");
    let phase = match routine {
        _ if routine.contains("Decode") || is_latent => AttentionPhase::Decode,
        _ if routine.contains("Prefill") => AttentionPhase::Prefill,
        _ => return None,
    };
    let (key_dim, value_dim) = match (row.count("head_dim_ckv"), row.count("head_dim_kpe")) {
        (Some(latent), Some(position)) if is_latent => (latent.checked_add(position)?, latent),
        _ => (row.count("head_dim_qk")?, row.count("head_dim_vo")?),
    };
    Some(AttentionShape {
        phase,
        batch: row.count("batch_size")?,
        query_heads: row.count("num_qo_heads")?,
        kv_heads: if is_latent { 1 } else { row.count("num_kv_heads")? },
        key_dim,
        value_dim,
        query_len: row.count("s_qo").or_else(|| (phase == AttentionPhase::Decode).then_some(1))?,
        kv_len: row.count("s_kv")?,
        causal: row.text("causal").is_some_and(cell::is_true),
        shared_kv: is_latent,
        page_tokens: row.count("page_size").filter(|tokens| *tokens > 0),
    })
}

fn product(row: &Row<'_>, routine: &str) -> Option<GemmShape> {
    let batch = match routine {
        _ if routine.starts_with("group_gemm") => row.count("group_size")?,
        _ if routine.starts_with("bmm") => row.count("batch_size")?,
        _ if routine.starts_with("gemm") || routine.starts_with("mm_") => 1,
        _ => return None,
    };
    Some(GemmShape { m: row.count("m")?, n: row.count("n")?, k: row.count("k")?, batch })
}

/// By the columns, and else by the routine's name.
fn operand(row: &Row<'_>, routine: &str) -> Option<Dtype> {
    let is_fp4 = routine.contains("fp4");
    let named = || row.text("input_dtype").and_then(cell::dtype);
    match routine {
        _ if routine.contains("mxfp8") => Some(Dtype::Mxfp8),
        _ if is_fp4 => row.text("use_nvfp4").map(|word| match cell::is_true(word) {
            true => Dtype::Nvfp4,
            false => Dtype::Mxfp4,
        }),
        _ if routine.contains("bf16") => named().or(Some(Dtype::Bf16)),
        // Of the two types of 8 bits its benchmark multiplies this one unless it is told.
        _ if routine.contains("fp8") => named().or(Some(Dtype::Fp8E4m3)),
        _ => named(),
    }
}
