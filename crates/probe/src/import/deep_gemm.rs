//! The tests of `DeepGEMM`.
//!
//! Of <https://github.com/deepseek-ai/DeepGEMM/blob/main/tests/test_fp8_fp4.py>: ` > Perf (m=64, n=2112, k=7168, 1D2D, layout=NT, BF16,
//! acc=0): 12.3 us | 456 TFLOPS | 789 GB/s | 1.05x cuBLAS speedup`. Other versions say `Performance`, `launch 12 us | ` before
//! the time, or `throughput: ` before the rates. Of groups `m` is the sum of their rows, `expected_m_per_group` what each
//! has in the mean. The type of operands is not told. It follows from which test prints such lines: `Performance` is of the first version, which
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
    seen.dtype = operands(form, arguments);
    if seen.dtype.is_some() {
        seen.notes.push("the type of operands is that of the test which prints such lines".into());
    }
    seen.work = OperationWork { flops: flops.map(Flops::new), ..OperationWork::default() };
    seen.method.timed_by = Some(TimedBy::Profiler);
    if product.is_some() && output.is_none() {
        seen.notes
            .push("the tool does not report the type of the result; its default is bf16".into());
    }
    if product.is_some() && flops.is_none() {
        seen.notes.push("groups have different numbers of rows; the shape has their mean".into());
    }
    seen.notes.extend(
        launch.into_iter().chain(others).map(|part| format!("the tool also reports: {part}")),
    );
    let counted = flops.zip(time).map(|(flops, millis)| flops / millis / 1e9);
    gemm::note_difference(seen, "TFLOP/s", arithmetic.map(|rate| rate / 1e12), counted);
}

/// The type of operands by what the test says of itself, where only one has it.
fn operands(form: Form, arguments: &str) -> Option<Dtype> {
    let has = |word: &str| arguments.split(',').any(|part| part.trim().starts_with(word));
    match form {
        Form::First => Some(Dtype::Fp8E4m3),
        Form::Later if has("1D2D") => Some(Dtype::Fp8E4m3),
        Form::Later if has("layout=") && !has("1D1D") => Some(Dtype::Bf16),
        Form::Later => None,
    }
}

/// A product, and its operations where they follow from its shape.
#[derive(Debug, Clone, Copy)]
struct Product {
    shape: GemmShape,
    flops: Option<f64>,
}

fn product(pairs: &Pairs) -> Option<Product> {
    let (n, k) = (pairs.count("n")?, pairs.count("k")?);
    let batch = pairs.count("num_groups").unwrap_or(1).max(1);
    if let Some(m) = pairs.count("expected_m_per_group") {
        let shape = GemmShape { m, n, k, batch };
        return Some(Product { shape, flops: None });
    }
    let rows = pairs.count("m")?;
    let m = rows.checked_div(batch)?;
    let flops = 2.0 * rows as f64 * n as f64 * k as f64;
    let is_even = m > 0 && rows % batch == 0;
    Some(Product { shape: GemmShape { m, n, k, batch }, flops: Some(flops) }).filter(|_| is_even)
}
