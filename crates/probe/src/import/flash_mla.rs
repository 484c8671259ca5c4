//! The tests of `FlashMLA`.
//!
//! Of <https://github.com/deepseek-ai/FlashMLA/tree/main/tests>: a line with the shape (`b=128, s_q=1, mean_sk=4096, h_q=16, h_kv=1,
//! d=576, dv=512, causal=True, varlen=False`, or `Running on TestParam(...)`), then one with a time and rates
//! (`0.123 ms, 660 TFLOPS, 3000 GB/s`, `Prefill: 123 us, 660.0 TFlops`). Others who test such kernels print the same, on one
//! line too. Of `test_fmha_sm100.py` the shape has other names (`mean_sq=4096, h=32, h_k=32`), and a line ends with `name: fwd`, or with
//! `name: bwd`, which is no attention that a server runs. `test_flash_mla_sparse_decoding.py` prints a figure a line, `Time (per): 412.3 us`
//! first and `GB/s: 932` last.

use super::cell::{self, Quantity};
use super::gemm;
use super::pairs::Pairs;
use super::reading::{NotThis, Reading};
use super::source::Source;
use super::tells::Tells;
use crate::measurement::{
    AttentionPhase, AttentionShape, ByteConvention, Dtype, Operation, OperationWork,
    SampleStatistic,
};

pub(super) fn read(source: &Source) -> Result<Reading<'_>, NotThis> {
    source.must_have("line with `s_q=` and `h_q=`", |text| is_shape(&Pairs::of(text)))?;
    source.must_have("line with a time and `TFLOPS`", |text| {
        figures(text).is_some() || is_time_alone(text)
    })?;
    let mut reading = Reading::of_lines(source, "FlashMLA");
    let (mut shape, mut apart) = (Pairs::default(), Vec::new());
    for line in source.lines() {
        let pairs = Pairs::of(&line.text);
        if is_shape(&pairs) {
            (shape, apart) = (pairs, Vec::new());
        }
        if is_time_alone(&line.text) || !apart.is_empty() {
            apart.extend(labelled(&line.text));
        }
        let is_last = matches!(apart.last(), Some(Quantity::BytesPerSec(_)));
        let together = is_last.then(|| std::mem::take(&mut apart));
        match figures(&line.text).or(together) {
            Some(_) if shape.is_empty() => {
                reading.skip(line.number, "there is no shape before it");
            }
            Some(figures) => match Kind::of(&shape, &line.text) {
                Some(kind) => add(&mut reading, line.number, kind, &shape, &figures),
                None => reading.skip(line.number, "it does not say `name: fwd` or `name: bwd`"),
            },
            None if has_units(&line.text) => {
                reading.skip(line.number, "its time or its rate is no number");
            }
            None => {}
        }
    }
    Ok(reading)
}

fn is_shape(pairs: &Pairs) -> bool {
    let has = |names: [&str; 2]| names.iter().any(|name| pairs.text(name).is_some());
    has(QUERIES) && has(QUERY_HEADS)
}

/// What tests call the number of queries of a sequence, and that of their heads.
const QUERIES: [&str; 2] = ["s_q", "mean_sq"];
const QUERY_HEADS: [&str; 2] = ["h_q", "h"];

/// Which attention it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Dense,
    Sparse,
    Backward,
}

impl Kind {
    /// None of a test that times both passes, where the line with the `figures` says neither.
    fn of(shape: &Pairs, figures: &str) -> Option<Self> {
        let is_sparse = shape.text("topk").is_some_and(|word| word != "None");
        let has_passes = shape.text("mean_sq").is_some();
        let is_named = |name: &str| figures.trim_end().ends_with(name);
        match is_sparse {
            true => Some(Self::Sparse),
            false if !has_passes || is_named("name: fwd") => Some(Self::Dense),
            false => is_named("name: bwd").then_some(Self::Backward),
        }
    }
}

/// The first line of those with a figure each.
fn is_time_alone(text: &str) -> bool {
    text.starts_with("Time (per):")
}

/// The figure of a line that has one alone, its unit behind it or before it: the whole time, arithmetic or bytes.
fn labelled(text: &str) -> Option<Quantity> {
    let (name, value) = text.trim().split_once(':')?;
    let number = || cell::number(value);
    match name {
        "Time (per)" => cell::quantities(value).into_iter().next(),
        "TFlops" => Some(Quantity::FlopsPerSec(number()? * 1e12)),
        "GB/s" => Some(Quantity::BytesPerSec(number()? * 1e9)),
        _ => None,
    }
}

/// A time, and arithmetic.
fn figures(text: &str) -> Option<Vec<Quantity>> {
    let found = cell::quantities(text);
    let has_time = found.iter().any(|quantity| matches!(quantity, Quantity::Millis(_)));
    let has_rate = found.iter().any(|quantity| matches!(quantity, Quantity::FlopsPerSec(_)));
    (has_time && has_rate).then_some(found)
}

/// Whether a line has the units of figures, whatever stands before them.
fn has_units(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let has = |unit: &str| text.split([' ', ',']).any(|word| word.ends_with(unit));
    (has("ms") || has("us")) && has("tflops")
}

fn add(reading: &mut Reading<'_>, place: usize, kind: Kind, pairs: &Pairs, figures: &[Quantity]) {
    let shape = shape(pairs).filter(|_| kind == Kind::Dense);
    let varies = ["varlen", "is_varlen"].iter().find_map(|key| pairs.text(key));
    let has_equal_lengths = !varies.is_some_and(cell::is_true);
    let dtype =
        ["torch_dtype", "dtype"].iter().find_map(|key| pairs.text(key)).and_then(cell::dtype);
    let mut work = OperationWork::default();
    if let Some(shape) = shape.filter(|_| has_equal_lengths) {
        work = shape.work(dtype.unwrap_or(Dtype::Bf16));
        work.bytes.stream = work.bytes.stream.filter(|_| dtype.is_some());
    }
    let operation = match shape {
        Some(shape) => Operation::Attention { shape, role: None },
        None => {
            let kind = match kind {
                Kind::Dense => "attention",
                Kind::Sparse => "sparse attention",
                Kind::Backward => "gradients of attention",
            };
            Operation::Other { name: format!("{kind}, {}", pairs.shown()) }
        }
    };
    let mut tells = Tells::default();
    for figure in figures {
        tells = match figure {
            Quantity::Millis(time) => tells.millis(SampleStatistic::Mean, Some(*time)),
            Quantity::FlopsPerSec(rate) if work.flops.is_none() => {
                tells.arithmetic(SampleStatistic::Mean, Some(*rate))
            }
            Quantity::BytesPerSec(rate) if work.bytes.stream.is_none() => {
                tells.bandwidth(ByteConvention::Stream, SampleStatistic::Mean, Some(*rate))
            }
            Quantity::FlopsPerSec(_) | Quantity::BytesPerSec(_) => tells,
        };
    }
    let Some(seen) = reading.measured(place, "gpu0", operation, tells) else { return };
    seen.dtype = dtype;
    seen.work = work;
    let reported = figures.iter().fold((None, None), |(time, rate), figure| match figure {
        Quantity::Millis(millis) => (Some(*millis), rate),
        Quantity::FlopsPerSec(flops) => (time, Some(flops / 1e12)),
        Quantity::BytesPerSec(_) => (time, rate),
    });
    let counted = work.flops.zip(reported.0).map(|(flops, millis)| flops.get() / millis / 1e9);
    gemm::note_difference(seen, "TFLOP/s", reported.1, counted);
    if !has_equal_lengths {
        seen.notes.push("lengths of sequences differ; the shape has their mean".into());
    }
}

fn shape(pairs: &Pairs) -> Option<AttentionShape> {
    let query_len = pairs.first_count(&QUERIES)?;
    let (key_dim, value_dim) =
        (pairs.first_count(&["d", "d_qk"])?, pairs.first_count(&["dv", "d_v"])?);
    let kv_heads = pairs.first_count(&["h_kv", "h_k"])?;
    Some(AttentionShape {
        // Two and more are queries of speculation; a prompt has many.
        phase: if query_len <= 16 { AttentionPhase::Decode } else { AttentionPhase::Prefill },
        batch: pairs.count("b")?,
        query_heads: pairs.first_count(&QUERY_HEADS)?,
        kv_heads,
        key_dim,
        value_dim,
        query_len,
        kv_len: pairs.first_count(&["mean_sk", "s_kv", "s_k"])?,
        causal: pairs.text("causal").or_else(|| pairs.text("is_causal")).is_some_and(cell::is_true),
        shared_kv: kv_heads == 1 && key_dim > value_dim,
        page_tokens: pairs.count("block_size"),
    })
}
