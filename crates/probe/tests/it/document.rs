//! Documents: written, read, judged.

use fizeau_core::{Bytes, BytesPerSec, Millis, PerSec};
use fizeau_probe::{
    CacheState, CollectiveOp, CollectiveShape, DataPattern, DeviceFacts, Dtype, GemmShape,
    Measurement, MemoryKernel, Operation, Peak, ProbeDocument, ProbeHost, ProbeRule, Provenance,
    SpecifiedPeak, StoreKind, Timing, Verdict, Verification,
};
use proptest::prelude::*;

fn read_of(bytes: f64, millis: &[f64]) -> Measurement {
    let operation = Operation::Memory {
        kernel: MemoryKernel::Read,
        stores: None,
        working_set: Some(Bytes::new(bytes)),
    };
    let samples = millis.iter().copied().map(Millis::new).collect();
    let mut seen =
        Measurement::new("cpu", operation, Timing::of_samples(samples, 1), Provenance::native());
    seen.dtype = Some(Dtype::F64);
    seen.work = MemoryKernel::Read.work((bytes / 8.0) as u64, Dtype::F64, StoreKind::Ordinary);
    seen
}

fn cpu(bandwidth: f64) -> DeviceFacts {
    let mut device = DeviceFacts::new("cpu", "a processor");
    device.last_cache = Some(Bytes::new(32e6));
    device.specification = vec![SpecifiedPeak {
        peak: Peak::Bandwidth(BytesPerSec::new(bandwidth)),
        dtype: None,
        source: "a sheet".to_owned(),
    }];
    device
}

fn judged(seen: Measurement) -> (Verdict, Vec<ProbeRule>) {
    let document = ProbeDocument::new(ProbeHost::named("a"), vec![cpu(20e9)], vec![seen]);
    let row = &document.rows[0];
    (row.verdict, row.objections.iter().map(|objection| objection.rule).collect())
}

#[test]
fn a_calm_row_is_valid_and_each_fault_is_named() {
    let calm = read_of(1e9, &[100.0; 12]);
    assert_eq!(judged(calm.clone()), (Verdict::Valid, vec![]));

    let mut wrong = calm.clone();
    wrong.verification = Verification::within(1.0, 1e-6);
    assert_eq!(judged(wrong), (Verdict::Invalid, vec![ProbeRule::WrongResult]));

    let fast = read_of(1e9, &[10.0; 12]);
    assert_eq!(judged(fast), (Verdict::Invalid, vec![ProbeRule::AboveSpecification]));

    let mut throttled = calm.clone();
    throttled.circumstances.clock_before = Some(PerSec::new(3.5e9));
    throttled.circumstances.clock_after = Some(PerSec::new(3.0e9));
    assert_eq!(judged(throttled), (Verdict::Suspect, vec![ProbeRule::ClocksMoved]));

    let uneven = read_of(1e9, &[100.0, 120.0, 100.0, 120.0, 100.0, 120.0]);
    assert_eq!(judged(uneven), (Verdict::Suspect, vec![ProbeRule::Spread]));

    let mut stolen = calm.clone();
    stolen.circumstances.steal_share = Some(0.1);
    stolen.method.data = Some(DataPattern::Zeros);
    assert_eq!(judged(stolen), (Verdict::Suspect, vec![ProbeRule::Steal, ProbeRule::Zeros]));

    let nothing = read_of(1e9, &[f64::NAN, 0.0]);
    assert_eq!(judged(nothing), (Verdict::Invalid, vec![ProbeRule::NothingMeasured]));
}

#[test]
fn what_fits_into_a_cache_is_not_held_against_memory() {
    let mut cached = read_of(1e6, &[0.01; 8]);
    cached.method.cache = Some(CacheState::Warm);
    let of = |seen| ProbeDocument::new(ProbeHost::named("a"), vec![cpu(20e9)], vec![seen]);
    let document = of(cached.clone());
    assert_eq!(document.rows[0].shares.percent_of_specification, None);
    assert_eq!(document.verdict, Some(Verdict::Valid));
    // What does not say that it means a cache, as another tool's rows, is taken for memory.
    cached.method.cache = None;
    let objections = &of(cached).rows[0].objections;
    assert_eq!(objections[0].rule, ProbeRule::SmallArray);
}

#[test]
fn shares_are_of_the_best_of_a_kind() {
    let gemm = |m: u64, millis: f64| {
        let shape = GemmShape::new(m, 1024, 1024);
        let operation = Operation::Gemm { shape, output: Dtype::F32, role: None };
        let timing = Timing::of_samples(vec![Millis::new(millis)], 1);
        let mut seen = Measurement::new("cpu", operation, timing, Provenance::native());
        seen.dtype = Some(Dtype::F32);
        seen.work = shape.work(Dtype::F32, Dtype::F32);
        seen
    };
    let measured = vec![gemm(1024, 10.0), gemm(512, 10.0), read_of(1e9, &[100.0])];
    let document = ProbeDocument::new(ProbeHost::named("a"), Vec::new(), measured);
    let shares = document.rows.iter().map(|row| row.shares.percent_of_best_seen);
    assert_eq!(shares.collect::<Vec<_>>(), [Some(100.0), Some(50.0), Some(100.0)]);
}

#[test]
fn collectives_come_with_their_latency_and_bandwidth() {
    let all_reduce = |power: i32| {
        let message = Bytes::new(2_f64.powi(power));
        let shape = CollectiveShape::new(CollectiveOp::AllReduce, 8, message);
        let time = Millis::new(1e3 * (2e-5 + message.get() / 3e11));
        let operation = Operation::Collective { shape, role: None };
        let timing = Timing::of_samples(vec![time; 6], 1);
        let mut seen = Measurement::new("gpu0-7", operation, timing, Provenance::native());
        seen.work.bytes.copy = Some(message);
        seen
    };
    let measured = (15..34).map(all_reduce).collect();
    let document = ProbeDocument::new(ProbeHost::named("a"), Vec::new(), measured);
    let [fit] = document.collectives.as_slice() else { panic!("{:?}", document.collectives) };
    assert!((fit.alpha.get() / 2e-5 - 1.0).abs() < 1e-6);
    assert!((fit.beta.unwrap().get() / 3e11 - 1.0).abs() < 1e-6);
}

#[test]
fn what_is_no_document_is_refused_with_a_reason() {
    for (text, part) in [
        ("", "not the results of a probe"),
        ("{}", "its schema is `missing`"),
        (r#"{"schema":"fizeau.sweep/1"}"#, "`fizeau.sweep/1`; it must be `fizeau.probe/2`"),
        (r#"{"schema":"fizeau.probe/1"}"#, "missing field"),
    ] {
        let error = ProbeDocument::from_json(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

proptest! {
    #[test]
    fn a_document_is_the_same_when_read_again(
        millis in prop::collection::vec(0.001_f64..1e4, 0..30), bytes in 1e3_f64..1e10,
    ) {
        let document = ProbeDocument::new(ProbeHost::named("a"), vec![cpu(20e9)], vec![read_of(bytes, &millis)]);
        prop_assert_eq!(ProbeDocument::from_json(&document.to_json()).unwrap(), document);
    }
}

/// A switch that adds up gives an all-reduce more bus bandwidth than a link has; what no switch can is impossible all the same.
#[test]
fn an_all_reduce_may_be_above_its_link_as_far_as_a_switch_can_add_up() {
    let sheet = fizeau_roofline::Device::named("h100-sxm").unwrap();
    // 450 GB/s a link. Of eight ranks a switch can show 14/9 of that.
    for (op, bus, is_possible) in
        [("all_reduce", 480.0, true), ("all_reduce", 720.0, false), ("all_gather", 480.0, false)]
    {
        let shape = serde_json::json!({ "op": op, "ranks": 8, "message_bytes": 1e9 });
        let operation = serde_json::json!({ "kind": "collective", "shape": shape });
        let factor = if op == "all_reduce" { 14.0 / 8.0 } else { 7.0 / 8.0 };
        let millis = 1e9 * factor / (bus * 1e9) * 1e3;
        let timing = Timing::of_samples(vec![Millis::new(millis); 8], 1);
        let operation = serde_json::from_value(operation).unwrap();
        let mut seen = Measurement::new("gpu0-7", operation, timing, Provenance::native());
        seen.work.bytes.copy = Some(Bytes::new(1e9));
        let document = ProbeDocument::new(ProbeHost::named("a"), Vec::new(), vec![seen]);
        let row = &document.specified_by(sheet).rows[0];
        let share = row.shares.percent_of_specification.unwrap();
        assert!((share / (100.0 * bus / 450.0) - 1.0).abs() < 1e-9, "{share}");
        let is_above =
            |found: &fizeau_probe::Objection| found.rule == ProbeRule::AboveSpecification;
        let objections = &row.objections;
        assert_eq!(!objections.iter().any(is_above), is_possible, "{op} {bus}: {objections:?}");
    }
}
