//! Several machines: side by side, as a fleet, and as a device of the roofline.

use fizeau_core::{Bytes, Flops, Millis};
use fizeau_probe::{
    CacheState, Component, DeviceFacts, Dtype, FleetTable, GemmShape, MeasuredDevice, Measurement,
    MemoryKernel, Operation, OperationWork, ProbeComparison, ProbeDocument, ProbeFolder, ProbeHost,
    Provenance, StoreKind, Timing, Verification,
};
use fizeau_roofline::{Collective, Deployment, Device, KnownModel, MathType, System};
use proptest::prelude::*;

/// A machine whose memory and arithmetic take so many milliseconds.
fn machine(node: &str, memory: f64, arithmetic: f64) -> ProbeDocument {
    let mut measured: Vec<Measurement> = Vec::new();
    for kernel in [MemoryKernel::Read, MemoryKernel::Triad, MemoryKernel::Copy] {
        let working_set = Some(Bytes::new(1e9));
        let operation = Operation::Memory { kernel, stores: None, working_set };
        let timing = Timing::of_samples(vec![Millis::new(memory); 8], 1);
        let mut seen = Measurement::new("cpu", operation, timing, Provenance::native());
        seen.dtype = Some(Dtype::F64);
        seen.work = kernel.work(1 << 27, Dtype::F64, StoreKind::NonTemporal);
        seen.method.cache = Some(CacheState::ColdBySize);
        measured.push(seen);
    }
    let timing = Timing::of_samples(vec![Millis::new(arithmetic); 8], 1);
    let mut seen = Measurement::new("cpu", Operation::Peak, timing, Provenance::native());
    seen.dtype = Some(Dtype::F32);
    seen.work = OperationWork { flops: Some(Flops::new(1e9)), ..OperationWork::default() };
    measured.push(seen);
    let mut device = DeviceFacts::new("cpu", "A \"processor\" (R)");
    device.memory = Some(Bytes::new(64.0 * 1024.0 * 1024.0 * 1024.0));
    ProbeDocument::new(ProbeHost::named(node), vec![device], measured)
}

proptest! {
    #[test]
    fn a_device_file_has_the_best_and_serves_the_roofline(memory in 1.0_f64..1e3, arithmetic in 0.001_f64..100.0) {
        let measured = MeasuredDevice::of(&machine("a", memory, arithmetic), "cpu").unwrap();
        let bandwidth = measured.device.memory_bandwidth().get();
        // Three arrays of 2^30 bytes by the triad.
        prop_assert!((bandwidth / (3.0 * 2_f64.powi(30) / (memory / 1e3)) - 1.0).abs() < 1e-6);
        let rate = measured.device.dense_rate(MathType::Bf16).unwrap().get();
        prop_assert!((rate / (1e9 / (arithmetic / 1e3)) - 1.0).abs() < 1e-6);
        prop_assert!(measured.device.cells().all(|cell| cell.source.starts_with("fizeau probe")));
        let model = KnownModel::named("qwen3-0.6b").unwrap().model().unwrap();
        prop_assert!(System::new(model, measured.device, Deployment::SINGLE).is_ok());
    }

    #[test]
    fn a_machine_beside_itself_is_the_same(memory in 1.0_f64..1e3, arithmetic in 0.001_f64..100.0) {
        let one = machine("a", memory, arithmetic);
        let compared = ProbeComparison::of(&one, &one);
        prop_assert_eq!(compared.rows.len(), one.rows.len());
        for row in compared.rows {
            let [low, high] = row.ratio_ci.unwrap();
            prop_assert!(low <= row.ratio && row.ratio <= high && row.slandered.is_none());
            prop_assert!((row.ratio - 1.0).abs() < 1e-12);
        }
    }
}

/// A processor that does not read what it overwrites moved less than the hardware's convention counts, and a limit must be one that was seen.
#[test]
fn ordinary_stores_give_a_limit_of_what_they_surely_moved() {
    let document = machine("a", 100.0, 1.0);
    let mut rows: Vec<Measurement> =
        document.rows.into_iter().map(|row| row.measured).take(4).collect();
    for (seen, stores) in rows.iter_mut().zip([StoreKind::Ordinary; 3]) {
        let Operation::Memory { kernel, stores: kind, .. } = &mut seen.operation else { continue };
        *kind = kernel.stores().then_some(stores);
        seen.work = kernel.work(1 << 27, Dtype::F64, stores);
    }
    let document = ProbeDocument::new(document.host, document.devices, rows);
    let triad = document.rows[1].figures;
    let [stream, hardware] = [triad.stream, triad.hardware].map(|rate| rate.unwrap().peak().get());
    let bandwidth = MeasuredDevice::of(&document, "cpu").unwrap().device.memory_bandwidth().get();
    assert!((bandwidth / stream - 1.0).abs() < 1e-9, "{bandwidth} {stream}");
    assert!(hardware > 1.3 * bandwidth, "{hardware}");
}

/// A machine that is held against a data sheet has shares of it, and its device file names it.
#[test]
fn a_device_file_names_its_data_sheet_and_how_its_figures_came() {
    let sheet = Device::named("rtx-4090").unwrap();
    let document = machine("a", 100.0, 1.0).specified_by(sheet);
    let share = document.rows[0].shares.percent_of_specification.unwrap();
    let rate = document.rows[0].figures.bandwidth().unwrap().peak().get();
    assert!((share / (100.0 * rate / sheet.memory_bandwidth().get()) - 1.0).abs() < 1e-9);
    let measured = MeasuredDevice::of(&document, "cpu").unwrap();
    assert_eq!(measured.device.data_sheet.as_deref(), Some("rtx-4090"));
    assert_eq!(measured.device.specification(), Some(sheet));
    let note = "the best of 8 samples of: triad, 953.67 MiB, f64; median ";
    assert!(measured.toml.contains(note), "{}", measured.toml);
    assert!(measured.toml.contains("nineteen times in twenty"), "{}", measured.toml);
    assert_eq!(ProbeDocument::from_json(&document.to_json()), Ok(document));
    // What no data sheet is of gets a device by the name that rows call it.
    let bare = ProbeDocument::new(
        ProbeHost::named("b"),
        Vec::new(),
        machine("b", 100.0, 1.0).rows.into_iter().map(|row| row.measured).collect(),
    );
    assert_eq!(bare.specified_by(sheet).devices[0].model, sheet.title);
}

/// A limit that was measured on a busy machine says so to whoever computes with it.
#[test]
fn a_device_file_says_that_others_had_a_part_of_the_machine() {
    let quiet = machine("a", 100.0, 1.0);
    let note = |document: &ProbeDocument| MeasuredDevice::of(document, "cpu").unwrap().device.note;
    assert_eq!(note(&quiet), None);
    let mut rows: Vec<Measurement> = quiet.rows.into_iter().map(|row| row.measured).collect();
    rows[1].circumstances.steal_share = Some(0.18);
    rows[2].circumstances.others_share = Some(0.12);
    let busy = ProbeDocument::new(quiet.host, quiet.devices, rows);
    let said = note(&busy).unwrap();
    assert!(
        said.starts_with("measured while others had up to 18 % of its processors' time"),
        "{said}"
    );
    let device = MeasuredDevice::of(&busy, "cpu").unwrap().device;
    let model = KnownModel::named("qwen3-0.6b").unwrap().model().unwrap();
    let system = System::new(model, device, Deployment::SINGLE).unwrap();
    assert!(system.notes().iter().any(|note| note.contains("may be too low")));
}

/// Arrays that caches hold are in the device file by size where they are read faster than memory, and a small model's bound uses them.
#[test]
fn reads_from_caches_get_into_the_device_file() {
    let mut rows: Vec<Measurement> =
        machine("a", 100.0, 1.0).rows.into_iter().map(|row| row.measured).collect();
    // The third is slower than a larger array and bounds nothing; the last is slower than memory, where caches end.
    for (power, micros) in [(15, 0.05), (20, 4.0), (22, 900.0), (25, 300.0), (26, 10_000.0)] {
        let working_set = Some(Bytes::new(2_f64.powi(power)));
        let operation = Operation::Memory { kernel: MemoryKernel::Read, stores: None, working_set };
        let timing = Timing::of_samples(vec![Millis::new(micros / 1e3); 8], 1);
        let mut seen = Measurement::new("cpu", operation, timing, Provenance::native());
        seen.dtype = Some(Dtype::F64);
        seen.work = MemoryKernel::Read.work(1 << (power - 3), Dtype::F64, StoreKind::Ordinary);
        rows.push(seen);
    }
    let mut facts = DeviceFacts::new("cpu", "A processor");
    facts.memory = Some(Bytes::new(64e9));
    let document = ProbeDocument::new(ProbeHost::named("a"), vec![facts], rows);
    let device = MeasuredDevice::of(&document, "cpu").unwrap().device;
    let sizes: Vec<f64> =
        device.cached_reads().iter().map(|read| read.working_set.get().log2()).collect();
    assert_eq!(sizes, [15.0, 20.0, 25.0, 26.0]);
    assert_eq!(device.read_bandwidth(Bytes::new(1e12)), device.memory_bandwidth());
    let toml = MeasuredDevice::of(&document, "cpu").unwrap().toml;
    let cells: Vec<&str> = toml.split("[[memory.cached]]").skip(1).collect();
    let is_sourced = |cell: &&str| {
        cell.contains("source = \"probe\"") && cell.contains("the best of 8 samples of: read, ")
    };
    assert!(cells.iter().all(is_sourced), "{toml}");
    let rate = device.read_bandwidth(Bytes::new(50e6)).get();
    assert!((rate / (2_f64.powi(25) / 300e-6) - 1.0).abs() < 1e-6, "{rate}");
}

/// Rows of a collective become lines over sizes in the device file, each in the roofline's own words: the quickest of all settings,
/// and those back to back before those of idle devices.
#[test]
fn collectives_get_into_the_device_file_and_the_roofline() {
    let collective = |op: &str, size: f64, micros: f64, regime: &str, in_place: bool| {
        let operation = serde_json::json!({
            "kind": "collective",
            "shape": {
                "op": op, "ranks": 8, "message_bytes": size, "regime": regime, "in_place": in_place
            }
        });
        let timing = Timing::of_samples(vec![Millis::new(micros / 1e3); 8], 1);
        let operation = serde_json::from_value(operation).unwrap();
        Measurement::new("gpu0-7", operation, timing, Provenance::native())
    };
    let mut rows: Vec<Measurement> =
        machine("a", 100.0, 1.0).rows.into_iter().map(|row| row.measured).collect();
    rows.iter_mut().for_each(|row| row.device = "gpu0".to_owned());
    for power in 15..35 {
        let size = 2_f64.powi(power);
        // Another algorithm from 2 MiB on.
        let micros = if power < 21 { 10.0 + size / 1e5 } else { 50.0 + size / 4e5 };
        rows.push(collective("all_reduce", size, micros, "chained", true));
        rows.push(collective("all_reduce", size, micros * 2.0, "chained", false));
        rows.push(collective("all_reduce", size, micros / 2.0, "fresh_entry", true));
        rows.push(collective("broadcast", size, micros, "chained", true));
    }
    let mut one = DeviceFacts::new("gpu0", "NVIDIA H100 80GB HBM3");
    one.memory = Some(Bytes::new(80e9));
    let all = DeviceFacts::new("gpu0-7", "8 x NVIDIA H100 80GB HBM3");
    let document = ProbeDocument::new(ProbeHost::named("a"), vec![one, all], rows);
    let device = MeasuredDevice::of(&document, "gpu0").unwrap().device;
    let [small, large] = device.collectives() else { panic!("{:?}", device.collectives()) };
    for (line, micros, rate, sizes) in
        [(small, 10.0, 1e11, [15, 20]), (large, 50.0, 4e11, [21, 34])]
    {
        assert_eq!((line.collective, line.ranks), (Collective::AllReduce, 8));
        assert_eq!(line.sizes.map(Bytes::get), sizes.map(|power| 2_f64.powi(power)));
        assert!((line.latency.get() / (micros * 1e-6) - 1.0).abs() < 1e-6, "{line:?}");
        assert!((line.bandwidth.unwrap().get() / rate - 1.0).abs() < 1e-6, "{line:?}");
        assert!(line.within < 1e-6 && line.source.starts_with("fizeau probe"), "{line:?}");
    }
    // Of the processor beside them nobody says that it takes part.
    let alone = machine("a", 100.0, 1.0);
    assert!(MeasuredDevice::of(&alone, "cpu").unwrap().device.collectives().is_empty());
    // What can be made of measurements is, and of no data sheet; collectives alone make their data sheet's device, whichever it is.
    assert_eq!(MeasuredDevice::of_sheet(&document), None);
    let rows = document.rows.iter().map(|row| row.measured.clone());
    let rows = rows.filter(|seen| seen.operation.component() == Component::Collective).collect();
    let joined = ProbeDocument::new(ProbeHost::named("a"), vec![document.devices[1].clone()], rows);
    assert_eq!(MeasuredDevice::of_sheet(&joined), None, "no data sheet is named");
    for sheet in Device::all() {
        let joined = joined.clone().specified_by(sheet);
        assert!(MeasuredDevice::lacking(&joined).is_some());
        let made = MeasuredDevice::of_sheet(&joined).unwrap();
        assert!(made.device.cells().eq(sheet.cells()), "{}", made.toml);
        assert_eq!((&made.device.name, made.device.specification()), (&sheet.name, None));
        let facts = joined.facts_of(&made.device).map(|facts| facts.name.as_str());
        assert_eq!(facts, Some("gpu0-7"));
        assert_eq!((made.device.link(), &made.device.prices), (sheet.link(), &sheet.prices));
        assert_eq!(made.device.collectives(), device.collectives(), "{}", made.toml);
    }
}

/// Attention of a decode step is limited by its traffic: its rate of arithmetic would be a device that computes a hundredth of what it can.
#[test]
fn a_decode_step_s_attention_is_no_rate_of_arithmetic() {
    let bf16_of = |phase: &str| {
        let operation = serde_json::json!({
            "kind": "attention",
            "shape": {
                "phase": phase, "batch": 1, "query_heads": 8, "kv_heads": 8, "key_dim": 128, "value_dim": 128,
                "query_len": 64, "kv_len": 4096, "causal": false, "shared_kv": false
            }
        });
        let timing = Timing::of_samples(vec![Millis::new(1.0); 8], 1);
        let operation = serde_json::from_value(operation).unwrap();
        let mut seen = Measurement::new("cpu", operation, timing, Provenance::native());
        seen.dtype = Some(Dtype::Bf16);
        seen.work = OperationWork { flops: Some(Flops::new(1e12)), ..OperationWork::default() };
        let mut document = machine("a", 100.0, 1.0);
        let rows = document.rows.drain(..).map(|row| row.measured).chain([seen]).collect();
        let document = ProbeDocument::new(ProbeHost::named("a"), document.devices, rows);
        MeasuredDevice::of(&document, "cpu")
            .unwrap()
            .device
            .dense_rate(MathType::Bf16)
            .unwrap()
            .get()
    };
    assert!((bf16_of("decode") / 1e12 - 1.0).abs() < 1e-9, "the peak of f32, which is 1e12");
    assert!((bf16_of("prefill") / 1e15 - 1.0).abs() < 1e-9);
}

/// What another tool measured says nothing of caches: its arrays show memory where no cache can be as large.
#[test]
fn arrays_show_memory_by_their_size_where_nobody_says_so() {
    let of = |bytes: f64, cache: Option<f64>| {
        let document = machine("a", 100.0, 1.0);
        let mut devices = document.devices;
        devices[0].last_cache = cache.map(Bytes::new);
        let rows = document.rows.into_iter().map(|row| {
            let mut seen = row.measured;
            seen.method.cache = None;
            if let Operation::Memory { working_set, .. } = &mut seen.operation {
                *working_set = Some(Bytes::new(bytes));
            }
            seen
        });
        let document = ProbeDocument::new(ProbeHost::named("a"), devices, rows.collect());
        MeasuredDevice::of(&document, "cpu").is_ok()
    };
    assert!(!of(1e9, None) && of(1.1e9, None));
    assert!(!of(1e9, Some(3e8)) && of(1e9, Some(2e8)));
}

#[test]
fn nothing_measured_makes_no_device() {
    let nothing = ProbeDocument::new(ProbeHost::named("a"), Vec::new(), Vec::new());
    let error = MeasuredDevice::of(&nothing, "cpu").unwrap_err().to_string();
    assert_eq!(
        error,
        "of cpu, neither its part nor how much it holds is known; a data sheet that is named has both"
    );
}

#[test]
fn a_row_far_below_its_kin_is_named_with_its_cause() {
    let a = machine("a", 100.0, 1.0);
    let mut measured: Vec<Measurement> =
        machine("b", 50.0, 1.0).rows.into_iter().map(|row| row.measured).collect();
    measured[1].timing = Timing::of_samples(vec![Millis::new(120.0); 8], 1);
    measured[1].circumstances.steal_share = Some(0.3);
    let b = ProbeDocument::new(ProbeHost::named("b"), Vec::new(), measured);
    let compared = ProbeComparison::of(&a, &b);
    let slandered: Vec<_> = compared
        .rows
        .iter()
        .filter_map(|row| Some((&row.subject, row.slandered.as_ref()?)))
        .collect();
    let [(subject, slander)] = slandered.as_slice() else { panic!("{slandered:?}") };
    assert!(subject.starts_with("triad") && slander.side == "b", "{subject}");
    assert!(slander.causes[0].contains("hypervisor gave 30 %"), "{:?}", slander.causes);
}

/// Generations have other caches and other numbers of threads: what each has on all of its threads and beyond its caches is compared.
#[test]
fn two_generations_are_compared_in_memory_and_arithmetic() {
    let generation = |threads: u32, array: f64, memory: f64, arithmetic: f64| {
        let whole = machine("a", memory, arithmetic);
        let mut rows: Vec<Measurement> =
            whole.rows.iter().map(|row| row.measured.clone()).collect();
        for seen in &mut rows {
            seen.method.threads = Some(threads);
            if let Operation::Memory { working_set, .. } = &mut seen.operation {
                *working_set = Some(Bytes::new(array));
            }
        }
        // A cache's, and one thread's: of neither a generation is told by.
        let mut cached = rows[1].clone();
        cached.method.cache = None;
        if let Operation::Memory { working_set, .. } = &mut cached.operation {
            *working_set = Some(Bytes::new(array / 1024.0));
        }
        let mut alone = rows[1].clone();
        alone.method.threads = Some(1);
        rows.extend([cached, alone]);
        ProbeDocument::new(whole.host, whole.devices, rows)
    };
    let mib = 2_f64.powi(20);
    let (old, new) =
        (generation(2, 384.0 * mib, 100.0, 1.0), generation(96, 1536.0 * mib, 25.0, 0.25));
    let compared = ProbeComparison::of(&old, &new);
    let found: Vec<(&str, f64)> =
        compared.rows.iter().map(|row| (row.subject.as_str(), row.ratio)).collect();
    let beside = ["read", "triad", "copy"]
        .map(|kernel| format!("{kernel}, f64: 384 MiB on 2 threads beside 1.5 GiB on 96 threads"));
    let peak = "peak arithmetic, f32: 2 threads beside 96 threads".to_owned();
    let expected: Vec<String> = beside.into_iter().chain([peak]).collect();
    assert_eq!(found.iter().map(|row| row.0).collect::<Vec<_>>(), expected);
    assert!(found.iter().all(|row| (row.1 - 4.0).abs() < 1e-9), "{found:?}");
    assert_eq!(
        compared.only_a,
        ["triad, 384 KiB, f64, 2 threads", "triad, 384 MiB, f64, 1 thread"]
    );
    assert_eq!(compared.only_b.len(), 2, "{:?}", compared.only_b);
    // What is of one size and as many threads is compared as it is.
    let same = ProbeComparison::of(&old, &old);
    assert!(same.rows.iter().all(|row| !row.subject.contains("beside")), "{same:?}");
    assert!(same.only_a.is_empty() && same.rows.len() == 6, "{same:?}");
}

/// A part of a machine that is slow as a whole has no row below its kin: it is named itself, once, with what most of its rows have.
#[test]
fn a_part_of_a_machine_that_is_slow_as_a_whole_is_named() {
    let of = |memory: f64, arithmetic: f64, gemm: f64| {
        let whole = machine("a", memory, arithmetic);
        let mut rows: Vec<Measurement> =
            whole.rows.iter().map(|row| row.measured.clone()).collect();
        for m in [64, 128, 256, 512] {
            let shape = GemmShape::new(m, 256, 256);
            let timing = Timing::of_samples(vec![Millis::new(gemm); 8], 1);
            let operation = Operation::Gemm { shape, output: Dtype::F32, role: None };
            let mut seen = Measurement::new("cpu", operation, timing, Provenance::native());
            seen.dtype = Some(Dtype::F32);
            seen.work = shape.work(Dtype::F32, Dtype::F32);
            rows.push(seen);
        }
        rows
    };
    let document =
        |rows: Vec<Measurement>| ProbeDocument::new(ProbeHost::named("a"), Vec::new(), rows);
    let usual = document(of(100.0, 1.0, 1.0));
    let mut slow = of(100.0, 1.0, 2.0);
    for (at, seen) in slow.iter_mut().enumerate().skip(4) {
        seen.circumstances.steal_share = Some(0.3 + at as f64 / 100.0);
    }
    let slow = document(slow);
    for (a, b, side, ratio) in [(&usual, &slow, "b", 0.5), (&slow, &usual, "a", 2.0)] {
        let compared = ProbeComparison::of(a, b);
        assert!(compared.rows.iter().all(|row| row.slandered.is_none()), "{compared:?}");
        let [found] = compared.slandered_components.as_slice() else { panic!("{compared:?}") };
        assert_eq!((found.component, found.side.as_str()), (Component::Gemm, side));
        assert!((found.ratio - ratio).abs() < 1e-9 && (found.usual_ratio - 1.0).abs() < 1e-9);
        let [cause] = found.causes.as_slice() else { panic!("{:?}", found.causes) };
        assert!(cause.contains("hypervisor gave 34 %"), "{cause}");
    }
    let alike = ProbeComparison::of(&usual, &document(of(50.0, 0.5, 0.5)));
    assert!(alike.slandered_components.is_empty(), "all of it is twice as fast");
    // Of fewer rows each is held against the other parts, and named by itself.
    let peak = ProbeComparison::of(&usual, &document(of(100.0, 2.0, 1.0)));
    let slandered = peak.rows.iter().filter(|row| row.slandered.is_some());
    let slandered: Vec<&str> = slandered.map(|row| row.subject.as_str()).collect();
    assert_eq!((slandered, peak.slandered_components.len()), (vec!["peak arithmetic, f32"], 0));
}

/// What both sides have explains nothing: of copies it is for the other copies of the same route to say.
#[test]
fn a_slow_copy_is_laid_on_what_the_fast_one_does_not_have() {
    let printed = |ce: f64, sm: f64, back: f64| {
        let table = |test: &str, value: f64, sign: &str| {
            format!(
                "Running {test}.\nmemcpy CPU(row) {sign} GPU(column) bandwidth (GB/s)\n    0  1  2  3\n 0 {value} 55 55 55\nSUM {test} 1\n"
            )
        };
        let tables = [
            table("host_to_device_memcpy_ce", ce, "->"),
            table("host_to_device_memcpy_sm", sm, "->"),
            table("device_to_host_memcpy_ce", back, "<-"),
        ];
        let text = format!("nvbandwidth Version: v0.8\n{}", tables.concat());
        let imported = fizeau_probe::import_measurements(text.as_bytes(), None).unwrap();
        let mut document = ProbeDocument::of_imports([imported], "node").unwrap();
        document.host.hypervisor = Some("a virtual machine".to_owned());
        document
    };
    let whole = printed(55.0, 55.0, 55.0);
    let causes = |b: &ProbeDocument| {
        let compared = ProbeComparison::of(&whole, b);
        let slandered = compared.rows.into_iter().filter_map(|row| row.slandered);
        slandered.flat_map(|slander| slander.causes).collect::<Vec<String>>()
    };
    let engine = causes(&printed(20.0, 55.0, 55.0));
    assert_eq!(
        engine,
        [
            "it is the copy engine: by a kernel that reads it is not slow",
            "it is this direction: the other one is not slow"
        ]
    );
    let all = causes(&printed(20.0, 20.0, 20.0));
    assert!(
        all.len() == 3 && all.iter().all(|cause| cause.contains("are as slow: it is")),
        "{all:?}"
    );
}

/// Speeds by unlike measures are never held against each other: a time beside a rate says nothing.
#[test]
fn rates_and_times_are_compared_with_their_like() {
    let whole = machine("a", 100.0, 1.0);
    let mut measured: Vec<Measurement> =
        whole.rows.iter().map(|row| row.measured.clone()).collect();
    measured[0].work = OperationWork::default();
    let timed = ProbeDocument::new(ProbeHost::named("b"), whole.devices.clone(), measured);
    let ratio = ProbeComparison::of(&whole, &timed).rows[0].ratio;
    assert!((ratio - 1.0).abs() < 1e-12, "by the time that both have: {ratio}");
    let table = FleetTable::of(&[whole.clone(), whole, timed]);
    let shares = table.rows.iter().flat_map(|row| &row.cells).map(|cell| cell.share_of_median);
    assert!(shares.into_iter().all(|share| (share - 1.0).abs() < 1e-12), "{table:?}");
}

#[test]
fn the_slow_member_of_a_fleet_stands_out() {
    let mut fleet: Vec<ProbeDocument> = (0..8)
        .map(|node| machine(&format!("node{node}"), 100.0 + f64::from(node) * 0.1, 1.0))
        .collect();
    fleet.push(machine("node8", 120.0, 1.0));
    let table = FleetTable::of(&fleet);
    assert_eq!(table.rows.len(), 4);
    let slowest = &table.members[0];
    assert_eq!((slowest.name.as_str(), slowest.slow.len()), ("node8 cpu", 3));
    let below: Vec<&str> = table.below(0.95).map(|member| member.name.as_str()).collect();
    assert_eq!(below, ["node8 cpu"]);
    let others = &table.members[1..];
    assert!(others.iter().all(|member| member.slow.is_empty()), "{others:?}");
}

/// However fast its other rows are, and also where none is left to compare.
#[test]
fn a_machine_with_wrong_results_or_nothing_in_common_is_named() {
    let mut fleet: Vec<ProbeDocument> =
        (0..5).map(|node| machine(&format!("node{node}"), 100.0, 1.0)).collect();
    assert!(FleetTable::of(&fleet).faults.is_empty());
    let spoilt = |document: &ProbeDocument, rows: usize| {
        let mut measured: Vec<_> = document.rows.iter().map(|row| row.measured.clone()).collect();
        for seen in measured.iter_mut().take(rows) {
            seen.verification =
                Verification::Wrong { error: None, what: "7 elements are wrong".into() };
        }
        ProbeDocument::new(document.host.clone(), document.devices.clone(), measured)
    };
    fleet[3] = spoilt(&fleet[3], 3);
    fleet[4] = spoilt(&fleet[4], 4);
    let (host, devices) = (ProbeHost::named("node5"), fleet[0].devices.clone());
    let mut other = fleet[0].rows[0].measured.clone();
    other.operation = Operation::Other { name: "something else".into() };
    fleet.push(ProbeDocument::new(host, devices, vec![other]));
    fleet.push(ProbeDocument::new(ProbeHost::named("node6"), Vec::new(), Vec::new()));
    let table = FleetTable::of(&fleet);
    assert_eq!(table.members.len(), 4);
    let faults: Vec<_> = table.faults.iter().map(|of| (&*of.member, of.bad_rows)).collect();
    assert_eq!(faults, [("node3 cpu", 3), ("node4 cpu", 4), ("node5", 0), ("node6", 0)]);
    let reason = &table.faults[0].reason;
    assert!(reason.starts_with("3 of its 4 rows cannot be right, first read, "), "{reason}");
    assert!(reason.ends_with(": the result is wrong: 7 elements are wrong"), "{reason}");
    assert!(table.faults[2].reason.contains("something else"), "{:?}", table.faults);
    let compared = ProbeComparison::of(&fleet[0], &fleet[3]);
    let sides: Vec<_> = compared.rows.iter().map(|row| row.faults.len()).collect();
    assert_eq!(sides, [1, 1, 1, 0]);
    assert_eq!(compared.rows[0].faults[0].side, "b");
}

/// The rows of `machine` on devices of those names.
fn on(node: &str, devices: &[&str]) -> ProbeDocument {
    let rows = devices.iter().flat_map(|device| {
        machine(node, 100.0, 1.0).rows.into_iter().map(|row| {
            let mut seen = row.measured;
            (*device).clone_into(&mut seen.device);
            seen
        })
    });
    ProbeDocument::new(ProbeHost::named(node), Vec::new(), rows.collect())
}

/// A device that vanished has fast rows as far as it came, and a machine may have fewer devices than the others: neither is passed.
#[test]
fn what_most_of_a_fleet_has_and_one_lacks_is_a_fault() {
    let gpus = ["gpu0", "gpu1", "gpu2", "gpu3"];
    let faults = |fleet: &[ProbeDocument]| -> Vec<(String, String)> {
        let faults = FleetTable::of(fleet).faults.into_iter();
        faults.map(|fault| (fault.member, fault.reason)).collect()
    };
    let without = |document: &ProbeDocument, lost: &dyn Fn(&Measurement) -> bool| {
        let rows = document.rows.iter().map(|row| row.measured.clone());
        let rows = rows.filter(|seen| !lost(seen)).collect();
        ProbeDocument::new(document.host.clone(), Vec::new(), rows)
    };
    let whole = ["a", "b", "c"].map(|node| on(node, &gpus));
    assert_eq!(faults(&whole), []);
    let lost = |seen: &Measurement| seen.device == "gpu3" && seen.operation == Operation::Peak;
    // Beside the other GPUs of its machine alone, too.
    for fleet in [whole[..1].to_vec(), whole.to_vec()] {
        let mut fleet = fleet;
        fleet[0] = without(&fleet[0], &lost);
        let reason = "peak arithmetic, f32 was not measured of it, as of most others";
        assert_eq!(faults(&fleet), [("a gpu3".to_owned(), reason.to_owned())]);
    }
    let mut fleet = whole.to_vec();
    fleet[1] = on("b", &gpus[..3]);
    let reason = "3 of its devices were measured, 4 of most machines, and it has no gpu3";
    assert_eq!(faults(&fleet), [("b".to_owned(), reason.to_owned())]);
    // Of two machines nobody can say which is the usual one.
    assert_eq!(faults(&fleet[..2]), []);
    // What is there and wrong is wrong, and not lacking.
    let mut rows: Vec<_> = whole[2].rows.iter().map(|row| row.measured.clone()).collect();
    rows[0].verification = Verification::Wrong { error: None, what: "1 element".into() };
    fleet = vec![whole[0].clone(), whole[1].clone()];
    fleet.push(ProbeDocument::new(whole[2].host.clone(), Vec::new(), rows));
    assert_eq!(faults(&fleet).len(), 1);
}

#[test]
fn machines_of_one_name_are_members_of_their_own() {
    let alike = [machine("node", 100.0, 1.0), machine("node", 50.0, 1.0), machine("b", 100.0, 1.0)];
    let names = |table: FleetTable| -> Vec<String> {
        let mut names: Vec<_> = table.members.into_iter().map(|member| member.name).collect();
        names.sort();
        names
    };
    assert_eq!(names(FleetTable::of(&alike)), ["b cpu", "node (1) cpu", "node (2) cpu"]);
    let named = ["x", "y", "z"].map(str::to_owned).into_iter().zip(&alike);
    assert_eq!(names(FleetTable::named(named)), ["x cpu", "y cpu", "z cpu"]);
    let files = ["x", "y", "z"].map(std::path::PathBuf::from).into_iter().zip(alike.clone());
    let files: Vec<_> = files.collect();
    assert_eq!(names(FleetTable::of_files(&files)), ["b cpu", "x cpu", "y cpu"]);
}

/// A processor and two GPUs of one machine: a run's `device.toml` is the GPU that its ranks wait for.
#[test]
fn a_folder_of_several_devices_has_the_slowest_gpu_as_its_device() {
    let of = |name: &str, memory: f64| {
        let document = machine("node", memory, 1.0);
        let mut rows: Vec<_> = document.rows.into_iter().map(|row| row.measured).collect();
        rows.iter_mut().for_each(|row| name.clone_into(&mut row.device));
        let mut facts = DeviceFacts::new(name, name);
        facts.memory = document.devices[0].memory;
        (facts, rows)
    };
    let (devices, rows): (Vec<_>, Vec<_>) =
        [of("cpu", 900.0), of("gpu0", 100.0), of("gpu1", 110.0)].into_iter().unzip();
    let sheet = Device::named("h100-sxm").unwrap();
    let document = ProbeDocument::new(ProbeHost::named("node"), devices, rows.concat());
    let document = document.specified_by(sheet);
    let sheets: Vec<_> = document.devices.iter().map(|facts| facts.data_sheet.as_deref()).collect();
    assert_eq!(sheets, [None, Some("h100-sxm"), Some("h100-sxm")], "a GPU's is no processor's");
    let scratch = std::env::temp_dir().join(format!("fizeau-probe-several-{}", std::process::id()));
    let begun = Some("2026-11-28T10:00:00Z");
    let folder = ProbeFolder::create(scratch.join("%n"), &document.host, &document.devices, begun);
    let (folder, path) = (folder.unwrap(), scratch.join("node"));
    let files = folder.finish(&document).unwrap();
    assert_eq!(files.len(), 5);
    let text = |name: &str| std::fs::read_to_string(path.join(name)).unwrap();
    assert_eq!(text("device.toml"), text("gpu1.toml"));
    let torn = path.join("torn.json");
    std::fs::write(&torn, &text("probe.json")[..300]).unwrap();
    let error = ProbeFolder::read(&torn).unwrap_err().to_string();
    assert!(error.contains("EOF"), "{error}");
    std::fs::remove_file(path.join("probe.json")).unwrap();
    assert_eq!(ProbeFolder::read(&path).unwrap().begun.as_deref(), begun);
    std::fs::remove_dir_all(&scratch).unwrap();
}

/// Of many kernels of one operation the fastest speaks, wherever it stands, and a member has one value in a fleet.
#[test]
fn variants_of_one_operation_are_one_row() {
    let rows = |machine: ProbeDocument| machine.rows.into_iter().map(|row| row.measured);
    let both = |node: &str, first: f64, second: f64| {
        let all = rows(machine(node, first, 1.0)).chain(rows(machine(node, second, 1.0)));
        ProbeDocument::new(ProbeHost::named(node), Vec::new(), all.collect())
    };
    let (a, b) = (both("a", 100.0, 50.0), both("b", 25.0, 400.0));
    let compared = ProbeComparison::of(&a, &b);
    assert_eq!(compared.rows.len(), 4);
    assert!((compared.rows[0].ratio - 2.0).abs() < 1e-12, "{compared:?}");
    assert!(compared.only_a.is_empty() && compared.only_b.is_empty(), "{compared:?}");
    let fleet = FleetTable::of(&[a, b]);
    assert!(fleet.rows.iter().all(|row| row.cells.len() == 2), "{fleet:?}");
}

/// A machine with several devices is compared device by device, and with a machine of another device all the same.
#[test]
fn devices_are_compared_with_those_of_their_name() {
    let on = |device: &str, memory: f64| {
        let rows = machine("a", memory, 1.0).rows.into_iter().map(|row| row.measured);
        let rows = rows.map(|mut seen| {
            seen.device = device.to_owned();
            seen
        });
        rows.collect::<Vec<_>>()
    };
    let of = |rows: Vec<Measurement>| ProbeDocument::new(ProbeHost::named("a"), Vec::new(), rows);
    let two = of([on("gpu0", 100.0), on("gpu1", 50.0)].concat());
    let swapped = of([on("gpu0", 50.0), on("gpu1", 100.0)].concat());
    let ratios = |compared: ProbeComparison| -> Vec<(String, f64)> {
        let memory = compared.rows.into_iter().filter(|row| row.subject.contains("read"));
        memory.map(|row| (row.subject, row.ratio)).collect()
    };
    let found = ratios(ProbeComparison::of(&two, &swapped));
    assert_eq!(found.len(), 2);
    assert!(found[0].0.starts_with("gpu0") && (found[0].1 - 2.0).abs() < 1e-12, "{found:?}");
    assert!(found[1].0.starts_with("gpu1") && (found[1].1 - 0.5).abs() < 1e-12, "{found:?}");
    let other = ratios(ProbeComparison::of(&of(on("cpu", 100.0)), &of(on("gpu0", 50.0))));
    assert!(other.len() == 1 && (other[0].1 - 2.0).abs() < 1e-12, "{other:?}");
}
