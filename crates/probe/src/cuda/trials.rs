//! What is usually measured of a GPU. Pure.

use fizeau_core::Bytes;

use super::driver::Properties;
use super::product::Format;
use super::ptx::{HEAD_DIM, PAGE_TOKENS};
use crate::measurement::{
    AttentionPhase, AttentionShape, CollectiveOp, CollectiveShape, Dtype, GemmShape, MemoryKernel,
    Operation, PageAdvice,
};
use crate::trial::ProbeTrial;

/// An array in memory: this much, but no less than four times the cache, and no more than an eighth of the memory.
const ARRAY: u64 = 1 << 30;
/// The way of a launch that the host does not wait for.
pub(super) const BY_STREAM: &str = "stream";
/// Many launches as one graph.
pub(super) const BY_GRAPH: &str = "graph";
/// A launch that the host waits for.
pub(super) const WAITED_FOR: &str = "stream, waited for";

fn of(operation: Operation, dtype: Dtype, weight: f64) -> ProbeTrial {
    ProbeTrial { pages: PageAdvice::Default, weight, ..ProbeTrial::new(operation, dtype, 1) }
}

/// Bytes of an array where memory is meant.
pub(super) fn array_bytes(device: &Properties) -> u64 {
    let array = ARRAY.max(4 * device.l2_bytes).min(device.memory_bytes / 8);
    array.max(4096) & !4095
}

/// From `smallest` up to four times the cache, two sizes to each doubling.
fn sizes(smallest: u64, cache: u64) -> Vec<u64> {
    let powers = (0..40).map(|power| smallest << power);
    powers.flat_map(|size| [size, size + size / 2]).take_while(|size| *size <= 4 * cache).collect()
}

fn stream(kernel: MemoryKernel, bytes: u64, weight: f64) -> ProbeTrial {
    let working_set = Some(Bytes::new(bytes as f64));
    of(Operation::Memory { kernel, stores: None, working_set }, Dtype::F32, weight)
}

/// Each kernel in memory, then read by size.
pub(super) fn memory(device: &Properties) -> Vec<ProbeTrial> {
    use MemoryKernel::{Copy, Read, Triad, Write};
    let array = array_bytes(device);
    let whole = [Read, Triad, Copy, Write]
        .map(|kernel| stream(kernel, array * u64::from(kernel.array_count()), 3.0));
    let by_size = sizes(1 << 20, device.l2_bytes).into_iter().filter(|bytes| *bytes < array);
    whole.into_iter().chain(by_size.map(|bytes| stream(Read, bytes, 0.5))).collect()
}

/// In memory, then by size.
pub(super) fn latency(device: &Properties) -> Vec<ProbeTrial> {
    let chase = |bytes: u64| of(Operation::latency(Bytes::new(bytes as f64)), Dtype::Int64, 0.5);
    let by_size = sizes(1 << 14, device.l2_bytes);
    let largest = by_size.last().copied();
    let smaller = by_size.iter().take(by_size.len().saturating_sub(1)).copied();
    largest.into_iter().chain(smaller).map(chase).collect()
}

/// What starting a kernel costs.
pub(super) fn launch() -> Vec<ProbeTrial> {
    let by = |way: &str| of(Operation::Launch { way: way.to_owned() }, Dtype::Int32, 0.5);
    [BY_STREAM, BY_GRAPH, WAITED_FOR].map(by).into()
}

/// The largest power of two up to 8192 of which a square product takes no more than a small part of the memory.
fn edge(device: &Properties) -> u64 {
    let fits = |edge: &u64| 6 * edge * edge <= device.memory_bytes / 64;
    (4..=13).rev().map(|power| 1 << power).find(fits).unwrap_or(16)
}

/// What is multiplied on `device`: each shape of the types that it has, and of the others one, which says why not.
fn products(device: &Properties, shapes: &[GemmShape]) -> Vec<(GemmShape, Dtype)> {
    let of = |dtype| {
        let has = Format::of(dtype).is_some_and(|format| device.capability >= format.capability);
        let count = if has { shapes.len() } else { 1 };
        shapes[..count].iter().map(move |shape| (*shape, dtype))
    };
    [Dtype::Bf16, Dtype::Fp8E4m3, Dtype::F16, Dtype::Nvfp4].into_iter().flat_map(of).collect()
}

/// The type of a result of operands of `dtype`.
pub(super) const fn result_of(dtype: Dtype) -> Dtype {
    if matches!(dtype, Dtype::F16) { Dtype::F16 } else { Dtype::Bf16 }
}

/// Squares, and few tokens by a square of weights.
pub(super) fn gemm(device: &Properties) -> Vec<ProbeTrial> {
    let edge = edge(device);
    let square = |edge| GemmShape::new(edge, edge, edge);
    let few = |tokens: u64| GemmShape::new(tokens.min(edge), edge, edge);
    let shapes = [square(edge), few(64), square(edge / 2), few(8), square(edge / 4)];
    let trial = |(shape, dtype)| {
        of(Operation::Gemm { shape, output: result_of(dtype), role: None }, dtype, 1.0)
    };
    products(device, &shapes).into_iter().map(trial).collect()
}

/// Large products, of which the fastest is what the tensor cores give.
pub(super) fn peak_shapes(device: &Properties) -> [GemmShape; 3] {
    let edge = edge(device);
    [
        GemmShape::new(edge, edge, edge),
        GemmShape::new(edge, edge, edge / 2),
        GemmShape::new(edge / 2, edge, edge),
    ]
}

/// The peak of each type.
pub(super) fn peak(device: &Properties) -> Vec<ProbeTrial> {
    let one = products(device, &peak_shapes(device)[..1]);
    one.into_iter().map(|(_, dtype)| of(Operation::Peak, dtype, 2.0)).collect()
}

/// One that says why there are no others, on a device that has nobody to talk to.
pub(super) fn collective() -> ProbeTrial {
    let shape = CollectiveShape::new(CollectiveOp::AllReduce, 2, Bytes::new(32_768.0));
    of(Operation::Collective { shape, role: None }, Dtype::Bf16, 0.25)
}

/// Decoding over a cache in pages, from many sequences to one.
pub(super) fn attention(device: &Properties) -> Vec<ProbeTrial> {
    let decode = |batch: u64, kv_heads: u64, kv_len: u64| AttentionShape {
        phase: AttentionPhase::Decode,
        batch,
        query_heads: 32,
        kv_heads,
        key_dim: HEAD_DIM.into(),
        value_dim: HEAD_DIM.into(),
        query_len: 1,
        kv_len,
        causal: true,
        shared_kv: false,
        page_tokens: Some(PAGE_TOKENS.into()),
    };
    let shapes = [decode(32, 8, 8192), decode(8, 32, 4096), decode(1, 8, 65_536)];
    let fits = |shape: &AttentionShape| {
        shape
            .work(Dtype::Bf16)
            .bytes
            .stream
            .is_some_and(|bytes| bytes.get() < device.memory_bytes as f64 / 4.0)
    };
    let trial = |shape| of(Operation::Attention { shape, role: None }, Dtype::Bf16, 1.0);
    shapes.into_iter().filter(fits).map(trial).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An H200 as its driver describes it.
    fn device() -> Properties {
        Properties { memory_bytes: 150_754_820_096, l2_bytes: 62_914_560, ..Properties::default() }
    }

    #[test]
    fn memory_is_far_beyond_the_cache_and_sizes_are_within_and_beyond() {
        let trials = memory(&device());
        let sizes: Vec<f64> = trials
            .iter()
            .map(|trial| match trial.operation {
                Operation::Memory { working_set, .. } => working_set.unwrap().get(),
                _ => 0.0,
            })
            .collect();
        assert_eq!(sizes[..4], [1.0, 3.0, 2.0, 1.0].map(|arrays| arrays * f64::from(1 << 30)));
        let cache = device().l2_bytes as f64;
        assert!(sizes[4..].iter().any(|size| *size < cache / 2.0));
        assert!(sizes[4..].iter().any(|size| *size > 2.0 * cache));
        assert!(sizes.iter().all(|size| size % 4096.0 == 0.0));
    }

    #[test]
    fn nothing_is_measured_twice() {
        let trials = [
            memory(&device()),
            latency(&device()),
            launch(),
            attention(&device()),
            gemm(&device()),
            peak(&device()),
        ]
        .concat();
        for (at, trial) in trials.iter().enumerate() {
            assert!(!trials[..at].contains(trial), "{trial:?}");
        }
    }
}
