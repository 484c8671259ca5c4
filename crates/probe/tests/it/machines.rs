//! A machine as a device of the roofline.

use fizeau_core::{Bytes, Flops, Millis};
use fizeau_probe::{
    CacheState, Component, DeviceFacts, Dtype, MeasuredDevice, Measurement, MemoryKernel,
    Operation, OperationWork, ProbeComparison, ProbeDocument, ProbeHost, Provenance, StoreKind,
    Timing,
};
use fizeau_roofline::{Collective, Deployment, Device, KnownModel, MathType, System};
use proptest::prelude::*;

/// A machine whose memory and arithmetic take so many milliseconds.
pub(crate) fn machine(node: &str, memory: f64, arithmetic: f64) -> ProbeDocument {
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
    // The triad is the fastest; what a decode step does is to read.
    let reads = format!("; reads alone reached {:.1} G/s", 2_f64.powi(30) / 100e-3 / 1e9);
    assert!(measured.toml.contains(&reads), "{reads}: {}", measured.toml);
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
    // On two nodes it is another curve, whatever it takes.
    for mut row in rows.clone() {
        if let Operation::Collective { shape, .. } = &mut row.operation {
            shape.nodes = Some(2);
            row.timing.samples = vec![Millis::new(1e-3); 8];
            rows.push(row);
        }
    }
    let mut one = DeviceFacts::new("gpu0", "NVIDIA H100 80GB HBM3");
    one.memory = Some(Bytes::new(80e9));
    let all = DeviceFacts::new("gpu0-7", "8 x NVIDIA H100 80GB HBM3");
    let document = ProbeDocument::new(ProbeHost::named("a"), vec![one, all], rows);
    let measured = MeasuredDevice::of(&document, "gpu0").unwrap();
    let told = "# all-reduce among 8 was measured on 2 nodes too, which is not in here.";
    assert_eq!(measured.toml.matches(told).count(), 1, "{}", measured.toml);
    let device = measured.device;
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
