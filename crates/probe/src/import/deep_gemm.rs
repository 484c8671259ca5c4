//! The tests of `DeepGEMM`.
//!
//! Of <https://github.com/deepseek-ai/DeepGEMM/blob/main/tests/test_fp8_fp4.py>: ` > Perf (m=64, n=2112, k=7168, 1D2D, layout=NT, BF16,
//! acc=0): 12.3 us | 456 TFLOPS | 789 GB/s | 1.05x cuBLAS speedup`. Other versions say `Performance`, `launch 12 us | ` before
//! the time, or `throughput: ` before the rates. Of groups `m` is the sum of their rows, `expected_m_per_group` what each
//! has in the mean; where the sum is over groups (`k_alignment=`, `align=`, `avg_k=`) each has all of `m` and `n`, and `k` is the sum of
//! theirs. A `batch` (`test_bf16.py`) has all of `m` in each. The type of operands is told before groups of `k` alone (`FP8`, `FP4`,
//! whose scales are of `gran_k` elements). Else it follows from which test prints such lines: `Performance` is of the first version, which
//! has fp8 alone, and so has `1D2D`, the scales of a Hopper; `1D1D` is of fp8 and of fp4; a layout without either is of `test_bf16.py`.

use fizeau_core::Flops;

use super::cell::{self, Quantity};
use super::gemm;
use super::pairs::Pairs;
use super::reading::{NotThis, Reading};
use super::source::Source;
use super::tells::Tells;
use crate::measurement::{
    ByteConvention, Dtype, GemmShape, Operation, OperationWork, SampleStatistic, TimedBy,
};

pub(super) fn read(source: &Source) -> Result<Reading<'_>, NotThis> {
    source.must_have("line ` > Perf (m=..., n=..., k=...): ...`", |text| parts(text).is_some())?;
    let mut reading = Reading::of_lines(source, "DeepGEMM");
    for line in source.lines() {
        if let Some((arguments, figures)) = parts(&line.text) {
            let is_first = line.text.trim_start().starts_with("> Performance");
            let form = if is_first { Form::First } else { Form::Later };
            add(&mut reading, (line.number, form), arguments, figures);
        }
    }
    Ok(reading)
}

/// Which version a line is of.
#[derive(Debug, Clone, Copy)]
enum Form {
    First,
    Later,
}

/// What stands in parentheses, and what after them.
fn parts(text: &str) -> Option<(&str, &str)> {
    let rest = text.trim_start().strip_prefix("> Perf")?;
    let (arguments, figures) = rest.split_once('(')?.1.split_once("):")?;
    arguments.contains("n=").then_some((arguments, figures))
}

fn add(reading: &mut Reading<'_>, (place, form): (usize, Form), arguments: &str, figures: &str) {
    let pairs = Pairs::of(arguments);
    let (mut tells, mut launch, mut others) = (Tells::default(), None, Vec::new());
    let (mut time, mut arithmetic, mut bandwidth) = (None, None, None);
    for part in figures.split('|') {
        let found = cell::quantities(part);
        if part.trim_start().starts_with("launch") {
            launch = Some(part.trim());
        } else if found.is_empty() && !part.trim().is_empty() {
            others.push(part.trim());
        }
        for quantity in found.into_iter().filter(|_| launch != Some(part.trim())) {
            // Of several the first: a maximum may follow in parentheses.
            match quantity {
                Quantity::Millis(millis) => time = time.or(Some(millis)),
                Quantity::FlopsPerSec(rate) => arithmetic = arithmetic.or(Some(rate)),
                Quantity::BytesPerSec(rate) => bandwidth = bandwidth.or(Some(rate)),
            }
        }
    }
    let product = product(&pairs);
    let flops = product.and_then(|product| product.flops);
    tells = tells
        .millis(SampleStatistic::Mean, time)
        .arithmetic(SampleStatistic::Mean, arithmetic.filter(|_| flops.is_none()))
        .bandwidth(ByteConvention::Stream, SampleStatistic::Mean, bandwidth);
    let output = arguments.split(',').find_map(|word| cell::dtype(word.trim()));
    let operation = match product {
        Some(product) => gemm::operation(product.shape, output.unwrap_or(Dtype::Bf16)),
        None => Operation::Other { name: format!("gemm, {}", pairs.shown()) },
    };
    let Some(seen) = reading.measured(place, "gpu0", operation, tells) else { return };
    let named = named_operands(&pairs, arguments);
    seen.dtype = named.or_else(|| operands(form, arguments));
    if seen.dtype.is_some() && named.is_none() {
        seen.notes.push("the type of operands is that of the test which prints such lines".into());
    }
    seen.work = OperationWork { flops: flops.map(Flops::new), ..OperationWork::default() };
    seen.method.timed_by = Some(TimedBy::Profiler);
    if product.is_some() && output.is_none() {
        seen.notes
            .push("the tool does not report the type of the result; its default is bf16".into());
    }
    match product.map(|product| product.groups) {
        Some(Groups::OfRows) => seen
            .notes
            .push("groups have different numbers of rows; the shape has their mean".into()),
        Some(Groups::OfSums) => seen
            .notes
            .push("groups may sum over different numbers; the shape has their mean".into()),
        Some(Groups::Alike) | None => {}
    }
    seen.notes.extend(
        launch.into_iter().chain(others).map(|part| format!("the tool also reports: {part}")),
    );
    let counted = flops.zip(time).map(|(flops, millis)| flops / millis / 1e9);
    gemm::note_difference(seen, "TFLOP/s", arithmetic.map(|rate| rate / 1e12), counted);
}

/// The type of operands that stands in front, as of groups of `k`. Of what has 4 bits the scales say which type it is: those of 32
/// elements are powers of two (`pack_ue8m0_to_int`).
fn named_operands(pairs: &Pairs, arguments: &str) -> Option<Dtype> {
    match arguments.split(',').next()?.trim() {
        "FP8" => Some(Dtype::Fp8E4m3),
        "FP4" if pairs.count("gran_k") == Some(32) => Some(Dtype::Mxfp4),
        _ => None,
    }
}

/// The type of operands by what the test says of itself, where only one has it.
fn operands(form: Form, arguments: &str) -> Option<Dtype> {
    let has = |word: &str| arguments.split(',').any(|part| part.trim().starts_with(word));
    match form {
        Form::First => Some(Dtype::Fp8E4m3),
        Form::Later if has("1D2D") => Some(Dtype::Fp8E4m3),
        // Of batches operands and result are of one type, and whether FP32 is computed with as TF32 is not told.
        Form::Later if has("batch=") && has("FP32") => None,
        Form::Later if has("layout=") && !has("1D1D") => Some(Dtype::Bf16),
        Form::Later => None,
    }
}

/// A product, and its operations where they follow from its shape.
#[derive(Debug, Clone, Copy)]
struct Product {
    shape: GemmShape,
    flops: Option<f64>,
    groups: Groups,
}

/// In what the products of one operation may differ.
#[derive(Debug, Clone, Copy)]
enum Groups {
    Alike,
    OfRows,
    OfSums,
}

fn product(pairs: &Pairs) -> Option<Product> {
    let (n, k) = (pairs.count("n")?, pairs.count("k")?);
    let batch = pairs.first_count(&["num_groups", "batch"]).unwrap_or(1).max(1);
    if let Some(m) = pairs.count("expected_m_per_group") {
        let shape = GemmShape { m, n, k, batch };
        return Some(Product { shape, flops: None, groups: Groups::OfRows });
    }
    let rows = pairs.count("m")?;
    let of_one = 2.0 * rows as f64 * n as f64 * k as f64;
    let sums_apart = ["k_alignment", "align", "avg_k"].iter().any(|key| pairs.text(key).is_some());
    let (shape, flops, groups) = if sums_apart {
        (GemmShape { m: rows, n, k: k / batch, batch }, of_one, Groups::OfSums)
    } else if pairs.text("batch").is_some() {
        (GemmShape { m: rows, n, k, batch }, of_one * batch as f64, Groups::Alike)
    } else {
        let shape = GemmShape { m: rows / batch, n, k, batch };
        (shape, of_one, Groups::Alike)
    };
    let is_even = sums_apart || shape.m == rows || rows % batch == 0;
    let is_one = is_even && shape.m > 0 && shape.k > 0;
    is_one.then_some(Product { shape, flops: Some(flops), groups })
}
