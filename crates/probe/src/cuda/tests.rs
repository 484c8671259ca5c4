//! All of a GPU's measurements on a device that is none, with its own clock.

mod collectives;
mod products;

use fizeau_core::{Bytes, Clock, Nanos, Stamp};

use super::fake::{self, Fake};
use super::{CudaBackend, CudaError};
use crate::document::ProbeDocument;
use crate::drive::{KeepGoing, run_trials};
use crate::host::ProbeHost;
use crate::measurement::{
    AttentionPhase, AttentionShape, CacheState, Component, Dtype, Measurement, MemoryKernel,
    NormShape, Operation, RecurrenceRule, RecurrenceShape, TimedBy, Verification,
};
use crate::trial::{ProbeBackend, ProbeTrial};

const TIME: Nanos = Nanos::from_millis(3);

fn backend(fake: Fake) -> CudaBackend {
    CudaBackend::over(Box::new(fake))
}

fn stream(kernel: MemoryKernel, bytes: f64) -> ProbeTrial {
    let working_set = Some(Bytes::new(bytes));
    ProbeTrial::new(Operation::Memory { kernel, stores: None, working_set }, Dtype::F32, 1)
}

/// The document of one measurement: figures and verdict as anybody sees them.
fn document(backend: &CudaBackend, measured: Measurement) -> ProbeDocument {
    ProbeDocument::new(ProbeHost::named("test"), backend.devices(), vec![measured])
}

fn decode(batch: u64, kv_len: u64) -> AttentionShape {
    AttentionShape {
        phase: AttentionPhase::Decode,
        batch,
        query_heads: 4,
        kv_heads: 1,
        key_dim: 128,
        value_dim: 128,
        query_len: 1,
        kv_len,
        causal: true,
        shared_kv: false,
        page_tokens: Some(16),
    }
}

#[test]
fn memory_is_measured_at_its_fastest_setting_and_checked() {
    use MemoryKernel::{Copy, Read, Triad, Write};
    let mut gpu = backend(Fake::new());
    for kernel in [Read, Triad, Copy, Write] {
        let arrays = f64::from(kernel.array_count());
        let seen =
            gpu.measure(&stream(kernel, arrays * 262_144.0), Nanos::from_millis(100)).unwrap();
        assert!(
            matches!(seen.verification, Verification::Right { .. }),
            "{kernel}: {:?}",
            seen.verification
        );
        let method = &seen.method;
        let best = (method.load_width_bytes, method.unroll, method.blocks_per_multiprocessor);
        assert_eq!(best, (Some(16), Some(8), Some(4)), "{kernel}");
        assert_eq!(
            (method.timed_by, method.cache),
            (Some(TimedBy::DeviceEvents), Some(CacheState::ColdBySize))
        );
        let around = seen.circumstances;
        let clock = around.clock_before.unwrap().get();
        // A launch's start is within the time that the clock is told from.
        assert!(
            (clock / (fake::CLOCK * 1e9) - 1.0).abs() < 0.01
                && around.clock_after == around.clock_before
        );
        assert_eq!(seen.work.bytes.stream, seen.work.bytes.hardware);
        let document = document(&gpu, seen);
        let rate = document.rows[0].figures.stream.unwrap().typical.get() / 1e9;
        assert!(rate > 0.5 * fake::MEMORY_RATE && rate < fake::MEMORY_RATE, "{kernel}: {rate}");
    }
}

/// The norm of rows, and a step's states: half of the bytes in, half out. A prompt's states wait for arithmetic and are none.
#[test]
fn copies_stand_for_what_hardly_computes() {
    let mut gpu = backend(Fake::new());
    let rows = NormShape::new(512, 512);
    let step = RecurrenceShape {
        rule: RecurrenceRule::DeltaRule,
        sequences: 4,
        tokens: 1,
        key_heads: 2,
        value_heads: 2,
        key_dim: 128,
        value_dim: 128,
    };
    let states = |shape| Operation::Recurrence { shape, role: None };
    for (operation, dtype, work) in [
        (Operation::Norm { shape: rows, role: None }, Dtype::Bf16, rows.work(Dtype::Bf16)),
        (states(step), Dtype::F32, step.work(Dtype::F32)),
    ] {
        let seen = gpu.measure(&ProbeTrial::new(operation.clone(), dtype, 1), TIME).unwrap();
        assert!(matches!(seen.verification, Verification::Right { .. }), "{seen:?}");
        assert_eq!((&seen.operation, seen.dtype), (&operation, Some(dtype)));
        assert_eq!(seen.method.instructions.as_deref(), Some("copy"));
        let [moved, asked] = [seen.work, work].map(|of| of.bytes.stream.unwrap().get());
        assert!((moved / asked - 1.0).abs() < 1e-2, "{moved} of {asked}");
    }
    let prompt = states(RecurrenceShape { tokens: 2, ..step });
    let refused = gpu.measure(&ProbeTrial::new(prompt, Dtype::F32, 1), TIME).unwrap_err();
    assert!(refused.to_string().contains("what a prompt does with states"), "{refused}");
}

#[test]
fn a_small_array_shows_the_cache_and_launches_are_outside() {
    let mut gpu = backend(Fake::new());
    let rates = [32_768.0, 262_144.0].map(|bytes| {
        let seen = gpu.measure(&stream(MemoryKernel::Read, bytes), TIME).unwrap();
        let document = document(&gpu, seen);
        document.rows[0].figures.stream.unwrap().typical.get() / 1e9
    });
    assert!(rates[0] > 0.7 * fake::CACHE_RATE, "{rates:?}");
    assert!(rates[1] < fake::MEMORY_RATE, "{rates:?}");
}

/// Of arrays beyond the cache that of memory: no sample may go over lines that an earlier one brought in.
#[test]
fn latency_is_that_of_one_load() {
    for (bytes, load, cache) in [
        (65_536.0, fake::HOP_IN_CACHE, CacheState::Warm),
        (262_144.0, fake::HOP, CacheState::ColdBySize),
    ] {
        let mut gpu = backend(Fake::new());
        let trial = ProbeTrial::new(Operation::latency(Bytes::new(bytes)), Dtype::Int64, 1);
        let seen = gpu.measure(&trial, TIME).unwrap();
        assert!(matches!(seen.verification, Verification::Right { .. }), "{:?}", seen.verification);
        assert_eq!(seen.method.cache, Some(cache));
        let document = document(&gpu, seen);
        let nanos = document.rows[0].figures.time.unwrap().typical.get() * 1e6;
        assert!((nanos / load as f64 - 1.0).abs() < 0.02, "{nanos} of {load}");
    }
}

#[test]
fn each_way_of_a_launch_has_its_cost() {
    let mut gpu = backend(Fake::new());
    let nanos: Vec<f64> = gpu
        .trials(Component::Launch)
        .iter()
        .map(|trial| {
            let seen = gpu.measure(trial, TIME).unwrap();
            document(&gpu, seen).rows[0].figures.time.unwrap().typical.get() * 1e6
        })
        .collect();
    let expected =
        [fake::LAUNCH as f64, fake::LAUNCH_IN_GRAPH as f64, fake::LAUNCH as f64 + 5_000.0];
    assert!(
        nanos.iter().zip(expected).all(|(nanos, expected)| (nanos - expected).abs() < 1.0),
        "{nanos:?}"
    );
}

#[test]
fn attention_is_split_as_is_fastest_and_checked() {
    let mut gpu = backend(Fake::new());
    let trial =
        ProbeTrial::new(Operation::Attention { shape: decode(2, 256), role: None }, Dtype::Bf16, 1);
    let seen = gpu.measure(&trial, TIME).unwrap();
    assert!(matches!(seen.verification, Verification::Right { .. }), "{:?}", seen.verification);
    assert!(seen.notes.iter().any(|note| note.contains("in 8 parts")), "{:?}", seen.notes);
}

#[test]
fn what_is_not_written_says_what_is() {
    let mut gpu = backend(Fake::new());
    let mut reason = |shape: AttentionShape, dtype| {
        let trial = ProbeTrial::new(Operation::Attention { shape, role: None }, dtype, 1);
        gpu.measure(&trial, TIME).unwrap_err().to_string()
    };
    assert!(reason(decode(1, 250), Dtype::Bf16).contains("whole pages of 16"));
    assert!(reason(decode(1, 256), Dtype::F32).contains("bf16"));
    assert!(
        reason(AttentionShape { kv_heads: 3, ..decode(1, 256) }, Dtype::Bf16)
            .contains("4 query heads on 3")
    );
    let trial = ProbeTrial::new(Operation::Peak, Dtype::F32, 1);
    assert_eq!(
        gpu.measure(&trial, TIME).unwrap_err().to_string(),
        "products of f32 are not written for GPUs"
    );
}

#[test]
fn too_little_memory_is_one_line_with_both_sizes() {
    let mut gpu = backend(Fake::new());
    let error = gpu.measure(&stream(MemoryKernel::Copy, 1e9), TIME).unwrap_err().to_string();
    assert!(error.contains("953.67 MiB") && error.contains("8 MiB are free"), "{error}");
}

/// Every row that was measured before stands, every later one says why it is not there, and memory was given back.
#[test]
fn a_device_that_vanishes_leaves_the_rows_before_it() {
    let mut fake = Fake::new();
    fake.lost_after = Some(30_000);
    let mut gpu = backend(fake);
    let trials = gpu.trials(Component::Launch);
    let trials = [trials.clone(), trials.clone(), trials].concat();
    let (mut kept, mut reasons) = (Vec::new(), Vec::new());
    struct Still;
    impl Clock for Still {
        fn now(&self) -> Stamp {
            Stamp::from_nanos(0)
        }
    }
    let outcome =
        run_trials(&mut gpu, &trials, (&Still, Nanos::from_millis(20)), &mut kept, |event| {
            if let crate::ProbeEvent::NotAvailable { reason, .. } = event {
                reasons.push(reason.to_string());
            }
            KeepGoing::Yes
        })
        .unwrap();
    assert!(outcome.measured > 0 && outcome.unavailable > 1, "{outcome:?}");
    assert_eq!((kept.len(), reasons.len()), (outcome.measured, outcome.unavailable));
    assert_eq!(reasons[0], "cuLaunchKernel failed: CUDA_ERROR_LAUNCH_FAILED (719)");
    assert!(
        reasons[1..]
            .iter()
            .all(|reason| reason.starts_with("the device failed earlier: cuLaunchKernel"))
    );
}

#[test]
fn arrays_are_given_back_whatever_happens() {
    for lost_after in [None, Some(0), Some(5), Some(40)] {
        let mut fake = Fake::new();
        fake.lost_after = lost_after;
        let trial = stream(MemoryKernel::Triad, 3.0 * 65_536.0);
        let mut on = super::measure::Measuring {
            driver: &mut fake,
            device: "gpu0",
            time: TIME,
            trial: &trial,
        };
        let measured = on.memory(MemoryKernel::Triad, Bytes::new(3.0 * 65_536.0));
        assert_eq!((measured.is_ok(), fake.allocated()), (lost_after.is_none(), 0));
    }
}

#[test]
fn a_wrong_result_is_seen() {
    for kernel in [MemoryKernel::Read, MemoryKernel::Triad] {
        let mut fake = Fake::new();
        fake.spoils = true;
        let mut gpu = backend(fake);
        let seen = gpu.measure(&stream(kernel, 3.0 * 65_536.0), TIME).unwrap();
        assert!(matches!(seen.verification, Verification::Wrong { .. }), "{kernel}");
        assert_eq!(document(&gpu, seen).rows[0].verdict, crate::Verdict::Invalid);
    }
}

/// On a machine without a driver this is what a program has to show; with one, there is a device or a reason.
#[test]
fn absence_is_one_clear_line() {
    match CudaBackend::all() {
        Ok(devices) => assert!(!devices.is_empty()),
        Err(error) => {
            let line = error.to_string();
            assert!(!line.contains('\n') && line.len() < 400, "{line}");
            if let CudaError::NoDriver { .. } = error {
                assert!(line.starts_with("no CUDA driver was found"), "{line}");
            }
        }
    }
}

/// One that is broken takes none of the others with it.
#[test]
fn devices_that_can_be_opened_are() {
    let broken = |index| {
        let reason = "cuDevicePrimaryCtxRetain failed: CUDA_ERROR_ECC_UNCORRECTABLE (214)";
        Err(CudaError::NotOpened { index, reason: reason.to_owned() })
    };
    assert_eq!(super::opened([broken(0), Ok(1), broken(2), Ok(3)]), Ok(vec![1, 3]));
    let none = super::opened::<u32>([broken(0), broken(1)]).unwrap_err().to_string();
    assert_eq!(
        none,
        "gpu0 cannot be opened: cuDevicePrimaryCtxRetain failed: CUDA_ERROR_ECC_UNCORRECTABLE (214)"
    );
}

#[test]
fn a_failed_call_that_ends_all_others_is_known() {
    let failed = |code| CudaError::Failed { call: "cuMemAlloc_v2", code, name: String::new() };
    assert!(!failed(2).is_lasting() && !failed(1).is_lasting());
    assert!(failed(700).is_lasting() && failed(719).is_lasting() && failed(999).is_lasting());
}
