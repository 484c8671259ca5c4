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

    // Of an ordinary store only what is stored surely moved: 15 of 20 GB/s, and 30 with what may have been read before.
    let store = |millis| {
        let mut stored = read_of(1e9, &[millis; 12]);
        stored.operation = Operation::Memory {
            kernel: MemoryKernel::Write,
            stores: Some(StoreKind::Ordinary),
            working_set: Some(Bytes::new(1e9)),
        };
        stored.work = MemoryKernel::Write.work(125_000_000, Dtype::F64, StoreKind::Ordinary);
        judged(stored)
    };
    assert_eq!(store(66.0), (Verdict::Valid, vec![]));
    assert_eq!(store(10.0), (Verdict::Invalid, vec![ProbeRule::AboveSpecification]));

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
    // STREAM asks it of each array, and of all together only where they are larger than any cache.
    let triad = |bytes: f64| {
        let mut seen = read_of(bytes, &[1e3; 8]);
        let working_set = Some(Bytes::new(bytes));
        let kernel = MemoryKernel::Triad;
        seen.operation = Operation::Memory { kernel, stores: None, working_set };
        of(seen).rows[0].objections.iter().map(|of| of.rule).collect::<Vec<_>>()
    };
    let cache = cpu(20e9).last_cache.unwrap().get();
    assert_eq!(triad(11.9 * cache), [ProbeRule::SmallArray]);
    assert_eq!(triad(12.1 * cache), []);
}

/// A server with twelve last caches of 32 MiB: one thread has one of them, all together have all.
fn of_twelve_caches(rows: Vec<Measurement>) -> ProbeDocument {
    let mut facts = DeviceFacts::new("cpu", "a server's processor");
    facts.caches = [15, 20, 25].map(|power| Bytes::new(2_f64.powi(power))).to_vec();
    facts.last_cache = Some(Bytes::new(12.0 * 2_f64.powi(25)));
    ProbeDocument::new(ProbeHost::named("a"), vec![facts], rows)
}

/// A kernel over `mebibytes` of arrays by so many threads, at so many bytes per nanosecond.
fn streamed(kernel: MemoryKernel, stores: StoreKind, threads: u32, at: (f64, f64)) -> Measurement {
    let (bytes, rate) = (at.0 * 1024.0 * 1024.0, at.1);
    let mut seen = read_of(bytes, &[bytes / rate / 1e6; 8]);
    let stores_of = kernel.stores().then_some(stores);
    let working_set = Some(Bytes::new(bytes));
    seen.operation = Operation::Memory { kernel, stores: stores_of, working_set };
    let elements = bytes / 8.0 / f64::from(kernel.array_count());
    seen.work = kernel.work(elements as u64, Dtype::F64, stores);
    seen.method.threads = Some(threads);
    seen
}

#[test]
fn what_all_last_caches_hold_is_no_memory_and_beyond_one_is_for_one_thread() {
    let of = |threads, at| streamed(MemoryKernel::Read, StoreKind::Ordinary, threads, at);
    let by_24 = [
        (1.0, 4e3),
        (2.0, 4e3),
        (8.0, 2e3),
        (16.0, 2e3),
        (64.0, 1e3),
        (128.0, 1e3),
        (256.0, 1e3),
        (1024.0, 300.0),
        (2048.0, 300.0),
    ];
    let by_1 = [(4.0, 100.0), (8.0, 100.0), (64.0, 20.0), (128.0, 20.0), (256.0, 20.0)];
    let rows = by_24.map(|at| of(24, at)).into_iter().chain(by_1.map(|at| of(1, at)));
    let document = of_twelve_caches(rows.collect());
    let levels = |curve: &str| {
        let own = document.plateaus.iter().filter(|plateau| plateau.curve == curve);
        let mebi = |bytes: Bytes| bytes.get() / 1024.0 / 1024.0;
        own.map(|of| (&*of.level, mebi(of.from), mebi(of.to))).collect::<Vec<_>>()
    };
    let expected =
        [("L1", 1.0, 2.0), ("L2", 8.0, 16.0), ("L3", 64.0, 256.0), ("DRAM", 1024.0, 2048.0)];
    assert_eq!(levels("read by 24"), expected);
    assert_eq!(levels("read by 1"), [("L3", 4.0, 8.0), ("DRAM", 64.0, 256.0)]);
    // Arrays of four times one of them are too small, whoever says that they are of memory.
    let mut small = of(24, (128.0, 1e3));
    small.method.cache = Some(CacheState::ColdBySize);
    let objections = of_twelve_caches(vec![small]).rows[0].objections.clone();
    assert_eq!(objections[0].rule, ProbeRule::SmallArray);
}

#[test]
fn kernels_with_ordinary_stores_have_levels_and_one_size_has_none() {
    let sizes = [(1.0, 900.0), (2.0, 900.0), (1024.0, 100.0), (2048.0, 100.0)];
    let kinds = [
        (MemoryKernel::Triad, StoreKind::Ordinary),
        (MemoryKernel::Triad, StoreKind::NonTemporal),
        (MemoryKernel::Write, StoreKind::Ordinary),
    ];
    let of = |(kernel, stores)| sizes.map(|at| streamed(kernel, stores, 8, at));
    let mut rows = kinds.map(of).concat();
    rows.push(streamed(MemoryKernel::Copy, StoreKind::Ordinary, 8, (2048.0, 100.0)));
    let document = of_twelve_caches(rows);
    let levels = document.plateaus.iter().map(|of| (&*of.curve, &*of.level));
    let expected = [
        ("triad by 8", "L1"),
        ("triad by 8", "DRAM"),
        ("write by 8", "L1"),
        ("write by 8", "DRAM"),
    ];
    assert_eq!(levels.collect::<Vec<_>>(), expected);
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
