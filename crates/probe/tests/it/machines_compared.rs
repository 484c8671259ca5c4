//! Several machines: side by side, and as a fleet.

use fizeau_core::{Bytes, Millis};
use fizeau_probe::{
    Component, DeviceFacts, Dtype, FleetTable, GemmShape, Measurement, Operation, OperationWork,
    ProbeComparison, ProbeDocument, ProbeFolder, ProbeHost, Provenance, Timing, Verification,
};
use fizeau_roofline::Device;

use crate::machines::machine;

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
        let reason = "peak arithmetic, f32 was measured of most others and not of this one";
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
