//! What is usually measured of a processor. Pure: how many threads there are and how large memory's arrays are comes in.

use fizeau_core::Bytes;

use super::gemm::OpenBlas;
use super::peak;
use crate::measurement::{
    AttentionPhase, AttentionShape, Dtype, GemmShape, MemoryKernel, OPENBLAS, Operation,
    PageAdvice, StoreKind,
};
use crate::trial::ProbeTrial;

/// 1, 2, 4, ... and `all`.
fn thread_counts(all: u32) -> Vec<u32> {
    let powers = (0..32).map(|power| 1_u32 << power).take_while(|count| *count < all);
    powers.chain([all.max(1)]).collect()
}

/// From 8 KiB to `largest`, each twice the one before.
fn sizes(largest: f64) -> Vec<f64> {
    let powers = (13..48).map(|power| 2_f64.powi(power)).take_while(|bytes| *bytes < largest);
    powers.chain([largest]).collect()
}

fn stream(kernel: MemoryKernel, stores: StoreKind, bytes: f64, threads: u32) -> ProbeTrial {
    let stores = kernel.stores().then_some(stores);
    let working_set = Some(Bytes::new(bytes));
    ProbeTrial::new(Operation::Memory { kernel, stores, working_set }, Dtype::F64, threads)
}

const KERNELS: [MemoryKernel; 6] = [
    MemoryKernel::Read,
    MemoryKernel::Triad,
    MemoryKernel::Copy,
    MemoryKernel::Write,
    MemoryKernel::Scale,
    MemoryKernel::Add,
];

/// Arrays of more than as much take longer to fill than a usual probe has time for.
const LARGE: f64 = 1_073_741_824.0;

/// All arrays of `kernel`: each of `array` bytes, as STREAM asks, or where that is large as many together, which no cache holds either.
fn together(kernel: MemoryKernel, array: f64) -> f64 {
    (f64::from(kernel.array_count()) * array).min(array.max(LARGE))
}

/// Of which kernels there are curves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SizeCurves {
    /// By size read on one thread and on all, write and triad on all; by threads read, and triad past caches.
    Usual,
    /// Each with each kind of store: by size on one thread and on all, and by threads.
    Every,
}

impl SizeCurves {
    fn has(self, kernel: MemoryKernel, stores: StoreKind, is_of_all: bool) -> bool {
        let is_usual = match kernel {
            MemoryKernel::Read => true,
            MemoryKernel::Write | MemoryKernel::Triad => is_of_all,
            _ => false,
        };
        self == Self::Every || is_usual && stores == StoreKind::Ordinary
    }

    /// Whether there is one by threads.
    fn has_by_threads(self, kernel: MemoryKernel, stores: StoreKind) -> bool {
        let usual = [
            (MemoryKernel::Read, StoreKind::Ordinary),
            (MemoryKernel::Triad, StoreKind::NonTemporal),
        ];
        self == Self::Every || usual.contains(&(kernel, stores))
    }
}

/// The kernels, each with the kinds of stores that it has.
fn with_stores() -> impl Iterator<Item = (MemoryKernel, StoreKind)> {
    let both = KERNELS.into_iter().flat_map(|kernel| StoreKind::ALL.map(|stores| (kernel, stores)));
    both.filter(|(kernel, stores)| *stores == StoreKind::Ordinary || kernel.stores())
}

/// Every kernel with either kind of store on all threads and on one, in memory; those of `curves` by threads between; then by size, on
/// one thread and on all.
pub(super) fn memory(all: u32, array: f64, curves: SizeCurves) -> Vec<ProbeTrial> {
    let mut trials = Vec::new();
    let ends = if all > 1 { vec![all, 1] } else { vec![1] };
    for &threads in &ends {
        for (kernel, stores) in with_stores() {
            let bytes = together(kernel, array);
            trials.push(ProbeTrial { weight: 3.0, ..stream(kernel, stores, bytes, threads) });
        }
    }
    for threads in thread_counts(all).into_iter().filter(|count| *count > 1 && *count < all) {
        let some = with_stores().filter(|of| curves.has_by_threads(of.0, of.1));
        let of = |(kernel, stores)| stream(kernel, stores, together(kernel, array), threads);
        trials.extend(some.map(of));
    }
    for &threads in ends.iter().rev() {
        for (kernel, stores) in with_stores().filter(|of| curves.has(of.0, of.1, threads == all)) {
            trials.extend(by_size((kernel, stores), array, threads));
        }
    }
    trials
}

/// One kernel over arrays of all sizes that caches hold, and of some that they do not.
fn by_size(
    (kernel, stores): (MemoryKernel, StoreKind),
    array: f64,
    threads: u32,
) -> impl Iterator<Item = ProbeTrial> {
    let least = 4096.0 * f64::from(threads) * f64::from(kernel.array_count());
    let weight = match (kernel, threads) {
        (MemoryKernel::Read, 1) => 0.5,
        (MemoryKernel::Read, _) => 0.4,
        _ => 0.2,
    };
    // The largest first: where caches end is worth more than the smallest sizes, if the time is up.
    let sizes =
        sizes(array).into_iter().rev().filter(move |bytes| *bytes < array && *bytes >= least);
    sizes.map(move |bytes| ProbeTrial { weight, ..stream(kernel, stores, bytes, threads) })
}

/// Of the largest array, what smaller ones in small pages are at most.
const SMALLER: [f64; 2] = [4.0, 16.0];

/// By size in huge pages, in memory and at two smaller sizes without them, and in memory under load.
pub(super) fn latency(all: u32, array: f64) -> Vec<ProbeTrial> {
    let chase = |bytes: f64, pages: PageAdvice| {
        let operation = Operation::latency(Bytes::new(bytes));
        ProbeTrial { pages, weight: 0.5, ..ProbeTrial::new(operation, Dtype::Int64, 1) }
    };
    let largest = (2.0 * array).min(array.max(LARGE));
    let mut trials = vec![chase(largest, PageAdvice::Huge), chase(largest, PageAdvice::Small)];
    let smaller: Vec<f64> = sizes(array).into_iter().filter(|bytes| *bytes < largest).collect();
    trials.extend(smaller.iter().map(|bytes| chase(*bytes, PageAdvice::Huge)));
    // Beside a size in huge pages each: some way below memory, and where translations of small pages alone are too many for their caches.
    for part in SMALLER {
        let size = smaller.iter().rev().find(|bytes| **bytes <= largest / part);
        trials.extend(size.map(|bytes| chase(*bytes, PageAdvice::Small)));
    }
    for injector_pause in [0, 16, 64, 128, 256, 512, 1024, 4096] {
        let operation = Operation::LoadedLatency {
            working_set: Some(Bytes::new(largest)),
            injectors: Some(all - 1),
            injector_pause,
        };
        let trial = ProbeTrial { weight: 1.0, ..ProbeTrial::new(operation, Dtype::Int64, all) };
        trials.extend((all > 1).then_some(trial));
    }
    trials
}

/// Every loop on all threads and on one.
pub(super) fn compute(all: u32) -> Vec<ProbeTrial> {
    let counts = if all > 1 { vec![all, 1] } else { vec![1] };
    let of = |found: &peak::PeakLoop, threads: u32| {
        let instructions = Some(found.instructions.to_owned());
        ProbeTrial { instructions, ..ProbeTrial::new(Operation::Peak, found.dtype, threads) }
    };
    let loops = peak::loops();
    counts.into_iter().flat_map(|count| loops.iter().map(move |found| of(found, count))).collect()
}

/// Squares, and the rows of a decode step by the weights of a layer of some eight billion parameters; each by `library` too.
pub(super) fn gemm(all: u32, library: Option<&OpenBlas>) -> Vec<ProbeTrial> {
    let of = |shape: GemmShape, dtype: Dtype, threads: u32| {
        ProbeTrial::new(Operation::Gemm { shape, output: Dtype::F32, role: None }, dtype, threads)
    };
    let mut trials = Vec::new();
    for size in [2048, 1024, 512] {
        let shape = GemmShape::new(size, size, size);
        trials.push(ProbeTrial { weight: 3.0, ..of(shape, Dtype::F32, all) });
    }
    let square = GemmShape::new(1024, 1024, 1024);
    trials.push(of(square, Dtype::Bf16, all));
    if all > 1 {
        trials.push(of(square, Dtype::F32, 1));
    }
    for (rows, dtype) in [(1, Dtype::F32), (1, Dtype::Bf16), (8, Dtype::Bf16), (32, Dtype::Bf16)] {
        trials.push(of(GemmShape::new(rows, 4096, 14336), dtype, all));
    }
    match library {
        Some(library) => by_either(trials, library),
        None => trials,
    }
}

/// Each product by what is built in, and after it by the library of this machine if it has such a product.
fn by_either(trials: Vec<ProbeTrial>, library: &OpenBlas) -> Vec<ProbeTrial> {
    let both = |trial: ProbeTrial| {
        let is_known = trial.dtype == Dtype::F32 || library.has_bf16();
        let other = ProbeTrial { instructions: Some(OPENBLAS.to_owned()), ..trial.clone() };
        [Some(trial), is_known.then_some(other)].into_iter().flatten()
    };
    trials.into_iter().flat_map(both).collect()
}

/// Decoding against long caches, and a prompt, with four query heads to a head of keys.
pub(super) fn attention(all: u32) -> Vec<ProbeTrial> {
    let of = |phase, batch, query_len, kv_len| {
        let shape = AttentionShape {
            phase,
            batch,
            query_heads: 32,
            kv_heads: 8,
            key_dim: 128,
            value_dim: 128,
            query_len,
            kv_len,
            causal: true,
            shared_kv: false,
            page_tokens: None,
        };
        ProbeTrial::new(Operation::Attention { shape, role: None }, Dtype::Bf16, all)
    };
    vec![
        of(AttentionPhase::Decode, 8, 1, 8192),
        of(AttentionPhase::Decode, 1, 1, 8192),
        of(AttentionPhase::Prefill, 1, 256, 256),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_and_sizes_go_up_to_what_there_is() {
        assert_eq!(thread_counts(1), [1]);
        assert_eq!(thread_counts(6), [1, 2, 4, 6]);
        assert_eq!(sizes(20_000.0), [8192.0, 16384.0, 20_000.0]);
    }

    #[test]
    fn writes_and_triads_have_curves_by_size_and_a_thorough_probe_those_of_all() {
        let curves = |which| {
            let mut counts = std::collections::BTreeMap::new();
            for trial in memory(2, 1.3e8, which).into_iter().filter(|trial| trial.weight < 1.0) {
                let Operation::Memory { kernel, stores, .. } = trial.operation else { continue };
                *counts
                    .entry((kernel.as_str(), stores.map(StoreKind::as_str), trial.threads))
                    .or_insert(0) += 1;
            }
            counts
        };
        let usual = curves(SizeCurves::Usual);
        let names: Vec<&str> = usual.keys().map(|of| of.0).collect();
        assert_eq!(names, ["read", "read", "triad", "write"]);
        assert!(usual.values().all(|sizes| *sizes > 10), "{usual:?}");
        // Read, and five that store in two ways, each on one thread and on both.
        assert_eq!(curves(SizeCurves::Every).len(), 22);
    }

    #[test]
    fn a_thorough_probe_has_every_kernel_on_every_number_of_threads() {
        let by_threads = |which, kernel: MemoryKernel, stores: Option<StoreKind>| {
            let is_it = |trial: &ProbeTrial| match trial.operation {
                Operation::Memory { kernel: own, stores: kind, .. } => {
                    (own, kind) == (kernel, stores) && trial.weight >= 1.0
                }
                _ => false,
            };
            let own = memory(8, 1.3e8, which).into_iter().filter(is_it);
            let mut counts: Vec<u32> = own.map(|trial| trial.threads).collect();
            counts.sort_unstable();
            counts
        };
        for (kernel, kind) in with_stores() {
            let stores = kernel.stores().then_some(kind);
            assert_eq!(by_threads(SizeCurves::Every, kernel, stores), [1, 2, 4, 8], "{kernel}");
            let usual = by_threads(SizeCurves::Usual, kernel, stores);
            assert_eq!(
                usual.len(),
                if SizeCurves::Usual.has_by_threads(kernel, kind) { 4 } else { 2 }
            );
        }
    }

    #[test]
    fn small_pages_have_a_curve_at_sizes_of_huge_ones() {
        for array in [1.3e8, 1.5e9] {
            let trials = latency(2, array);
            let sizes = |pages| {
                let own = trials.iter().filter(|trial| trial.pages == pages);
                let sizes = own.filter_map(|trial| match trial.operation {
                    Operation::Latency { working_set, .. } => Some(working_set?.get()),
                    _ => None,
                });
                sizes.collect::<Vec<f64>>()
            };
            let (huge, small) = (sizes(PageAdvice::Huge), sizes(PageAdvice::Small));
            assert_eq!(small.len(), 3);
            assert!(small.iter().all(|bytes| huge.contains(bytes)), "{small:?} {huge:?}");
        }
    }

    #[test]
    fn one_processor_has_no_loaded_latency_and_nothing_twice() {
        let trials = [
            memory(1, 1e8, SizeCurves::Every),
            latency(1, 1e8),
            compute(1),
            gemm(1, None),
            attention(1),
        ]
        .concat();
        let large = [memory(1, 1.1e9, SizeCurves::Usual), latency(1, 1.1e9)].concat();
        let size = |trial: &ProbeTrial| match trial.operation {
            Operation::Memory { working_set, .. } | Operation::Latency { working_set, .. } => {
                working_set.map_or(0.0, Bytes::get)
            }
            _ => 0.0,
        };
        assert_eq!(
            large.iter().map(size).fold(0.0, f64::max),
            1.1e9,
            "no more than caches ask for"
        );
        assert!((1..large.len()).all(|at| !large[..at].contains(&large[at])));
        assert!(
            !trials.iter().any(|trial| matches!(trial.operation, Operation::LoadedLatency { .. }))
        );
        for (at, trial) in trials.iter().enumerate() {
            assert!(trial.threads == 1 && !trials[..at].contains(trial), "{trial:?}");
        }
    }
}
