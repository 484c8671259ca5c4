//! Products of matrices, with a library that is none.

use super::*;
use crate::measurement::{DataPattern, GemmShape, LaunchCost};

fn product(shape: GemmShape, dtype: Dtype) -> ProbeTrial {
    let output = crate::cuda::trials::result_of(dtype);
    ProbeTrial::new(Operation::Gemm { shape, output, role: None }, dtype, 1)
}

fn fake(change: impl FnOnce(&mut Fake)) -> Fake {
    let mut fake = Fake::new();
    change(&mut fake);
    fake
}

#[test]
fn each_type_is_multiplied_at_its_rate_and_checked() {
    let mut gpu = backend(Fake::new().with_capability((10, 0)));
    let types = [(Dtype::Bf16, 16), (Dtype::F16, 16), (Dtype::Fp8E4m3, 8), (Dtype::Nvfp4, 4)];
    for (dtype, bits) in types {
        for shape in
            [GemmShape::new(48, 64, 96), GemmShape { batch: 3, ..GemmShape::new(5, 32, 64) }]
        {
            let seen = gpu.measure(&product(shape, dtype), TIME).unwrap();
            let verification = &seen.verification;
            assert!(
                matches!(verification, Verification::Right { .. }),
                "{dtype}: {verification:?}"
            );
            let method = &seen.method;
            assert_eq!(method.cache, Some(CacheState::ColdByRotation));
            assert_eq!(method.data, Some(DataPattern::Uniform));
            assert_eq!(method.launch, Some(LaunchCost::Outside));
            assert!(seen.notes[0].contains("cublasLt 12.9.1"), "{:?}", seen.notes);
            let document = document(&gpu, seen);
            let rate = document.rows[0].figures.arithmetic.unwrap().typical.get() / 1e9;
            assert!((rate / fake::product_rate(bits) - 1.0).abs() < 0.2, "{dtype}: {rate}");
        }
    }
}

#[test]
fn the_peak_is_the_fastest_of_large_products() {
    let mut gpu = backend(Fake::new());
    let trials = gpu.trials(Component::Compute);
    let seen = gpu.measure(&trials[0], TIME).unwrap();
    assert_eq!((&seen.operation, seen.dtype), (&Operation::Peak, Some(Dtype::Bf16)));
    assert!(seen.work.flops.is_some() && seen.work.bytes.stream.is_none());
    assert!(seen.notes.iter().any(|note| note.contains("fastest of 3")), "{:?}", seen.notes);
}

#[test]
fn types_that_are_not_there_are_one_line_each() {
    let mut gpu = backend(Fake::new());
    let trials = gpu.trials(Component::Gemm);
    let of = |dtype| trials.iter().filter(|trial| trial.dtype == dtype).count();
    assert_eq!([Dtype::Bf16, Dtype::Fp8E4m3, Dtype::Nvfp4].map(of), [5, 5, 1]);
    let mut reason = |dtype| {
        gpu.measure(&product(GemmShape::new(16, 16, 32), dtype), TIME).unwrap_err().to_string()
    };
    assert_eq!(
        reason(Dtype::Nvfp4),
        "nvfp4 operands need tensor cores of compute capability 10.0 or later, and NVIDIA Fake has 9.0"
    );
    assert_eq!(reason(Dtype::F64), "products of f64 are not written for GPUs");
}

/// Each way in which a library is of no use is a line of its own, and other rows stand.
#[test]
fn a_library_that_cannot_leaves_the_other_rows() {
    let no_library = fake(|fake| fake.library = None);
    let too_old = fake(|fake| fake.library = Some((12, 4, 0))).with_capability((10, 0));
    let no_algorithm = fake(|fake| fake.has_algorithm = false);
    let cases = [
        (
            no_library,
            Dtype::Bf16,
            "cublasLt was not found: no such file (looked for libcublasLt.so.12)",
        ),
        (
            too_old,
            Dtype::Nvfp4,
            "nvfp4 operands need cublasLt 12.8 or later, and 12.4 is installed",
        ),
        (
            no_algorithm,
            Dtype::F16,
            "cublasLt has no algorithm on this device for 1 x 16 x 16 x 32 of f16 to f16",
        ),
    ];
    for (fake, dtype, line) in cases {
        let mut gpu = backend(fake);
        let shape = GemmShape::new(16, 16, 32);
        let reason = gpu.measure(&product(shape, dtype), TIME).unwrap_err().to_string();
        assert!(reason.starts_with(line) && !reason.contains('\n'), "{reason}");
        let launch = gpu.trials(Component::Launch).remove(0);
        assert!(gpu.measure(&launch, TIME).is_ok());
    }
}

#[test]
fn a_wrong_product_is_invalid() {
    let mut gpu = backend(fake(|fake| fake.spoils_products = true));
    let seen = gpu.measure(&product(GemmShape::new(32, 32, 64), Dtype::Bf16), TIME).unwrap();
    assert!(matches!(seen.verification, Verification::Wrong { .. }));
    assert_eq!(document(&gpu, seen).rows[0].verdict, crate::Verdict::Invalid);
}

#[test]
fn room_is_given_back_whatever_happens() {
    for lost_after in [None, Some(0), Some(2), Some(4)] {
        let mut fake = fake(|fake| fake.lost_after = lost_after);
        let shape = GemmShape::new(16, 16, 32);
        let trial = product(shape, Dtype::Bf16);
        let mut on = crate::cuda::measure::Measuring {
            driver: &mut fake,
            device: "gpu0",
            time: TIME,
            trial: &trial,
        };
        let measured = on.gemm(shape, Dtype::Bf16);
        assert_eq!((measured.is_ok(), fake.allocated()), (lost_after.is_none(), 0));
    }
}

/// Its libraries are not on this machine: what is said is one line. Where they are, it has a version.
#[test]
fn the_real_library_is_absent_or_has_a_version() {
    match crate::cuda::cublas::CublasLt::open(12) {
        Ok(library) => assert!(library.version.0 >= 11),
        Err(error) => {
            let line = error.to_string();
            assert!(!line.contains('\n') && line.len() < 400, "{line}");
        }
    }
}
