//! The page and the pictures of what a machine really does.

use fizeau_core::{Bytes, Millis};
use fizeau_probe::{
    DeviceFacts, Dtype, FleetTable, Measurement, MemoryKernel, Operation, ProbeComparison,
    ProbeDocument, ProbeHost, Provenance, StoreKind, Timing, import_measurements,
};
use fizeau_report::{Shown, Verbosity};
use fizeau_roofline::Device;

fn document(name: &str) -> ProbeDocument {
    let path = format!("{}/../../fixtures/probe/{name}", env!("CARGO_MANIFEST_DIR"));
    let imported = import_measurements(&std::fs::read(path).unwrap(), Some(name)).unwrap();
    ProbeDocument::of_imports([imported], "node").unwrap()
}

/// Reads by size and by threads, and loads by size, as a probe of a processor has them.
fn processor() -> ProbeDocument {
    let mut lines = Vec::new();
    for power in 13..28 {
        let (bytes, threads) = (1_u64 << power, [1, 2][power % 2]);
        let slow = if power > 20 { 4.0 } else { 1.0 };
        for threads in [threads, 1] {
            lines.push(format!(
                "RESULT\thost=a<b>&c\tfuncname=ScanRead64PtrUnrollLoop\tnthreads={threads}\tareasize={bytes}\ttestsize={bytes}\t\
                 repeats=10\ttestvol={}\ttime={}",
                10 * bytes,
                bytes as f64 * 1e-9 * slow
            ));
        }
        lines.push(format!(
            "RESULT\thost=a<b>&c\tfuncname=PermRead64SimpleLoop\tnthreads=1\tareasize={bytes}\ttestsize={bytes}\trepeats=1\t\
             testaccess=1000\ttime={}",
            1e-6 * slow
        ));
    }
    let text = lines.join("\n") + "\n";
    let imported = import_measurements(text.as_bytes(), Some("pmbw.txt")).unwrap();
    ProbeDocument::of_imports([imported], "node").unwrap()
}

#[test]
fn what_was_measured_is_told_in_a_few_words() {
    let words = Shown(&processor()).operations();
    assert!(words.ends_with(" more") && words.matches(", ").count() >= 3, "{words}");
    let nothing = ProbeDocument::new(ProbeHost::named("a"), Vec::new(), Vec::new());
    assert_eq!(Shown(&nothing).operations(), "nothing");
}

#[test]
fn each_question_that_rows_answer_has_a_chart_with_units() {
    let charts = |of: &ProbeDocument| Shown(of).charts();
    let found = charts(&processor());
    let names: Vec<&str> = found.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["memory-by-size", "memory-by-threads", "latency-by-size"]);
    assert!(found[0].1.contains("GB/s") && found[2].1.contains(", ns"));
    assert!(found[0].1.contains("L1 ") && found[2].1.contains("L1 "), "levels are named");
    for (_, svg) in &found {
        assert!(svg.contains("<title>") && svg.contains("<desc>") && !svg.contains("NaN"), "{svg}");
        assert!(svg.contains("a&lt;b&gt;&amp;c") && !svg.contains("a<b>"), "{svg}");
    }
    let found = charts(&document("nccl-tests.txt"));
    assert_eq!(found[0].0, "collectives");
    for axis in ["Algorithm bandwidth, GB/s", "Bus bandwidth, GB/s", "Time, us", "MiB"] {
        assert!(found[0].1.contains(axis), "{axis}");
    }
    let found = charts(&document("flashinfer.csv"));
    assert_eq!(found[0].0, "products");
    assert!(found[0].1.contains("4096 x 4096 x 4096") && found[0].1.contains("TFLOP/s"));
    let nothing = ProbeDocument::new(ProbeHost::named("a"), Vec::new(), Vec::new());
    assert!(charts(&nothing).is_empty());
}

/// Curves of kernels with ordinary stores have their levels drawn, each over its own, and the text says how large all last caches are.
#[test]
fn levels_of_triads_are_drawn_over_triads() {
    let streamed = |stores: StoreKind, power: u32| {
        let bytes = 2_f64.powf(f64::from(power));
        let (kernel, working_set) = (MemoryKernel::Triad, Some(Bytes::new(bytes)));
        let operation = Operation::Memory { kernel, stores: Some(stores), working_set };
        let slow = if power > 24 { 40.0 } else { 1.0 };
        let timing = Timing::of_samples(vec![Millis::new(bytes * slow / 1e9); 8], 1);
        let mut seen = Measurement::new("cpu", operation, timing, Provenance::native());
        seen.work = kernel.work((bytes / 24.0) as u64, Dtype::F64, stores);
        seen.method.threads = Some(8);
        seen
    };
    let rows = StoreKind::ALL
        .into_iter()
        .flat_map(|stores| [18, 19, 20, 28, 29].map(|power| streamed(stores, power)));
    let mut facts = DeviceFacts::new("cpu", "a processor");
    facts.caches = vec![Bytes::new(2_f64.powi(22))];
    facts.last_cache = Some(Bytes::new(2_f64.powi(25)));
    let document = ProbeDocument::new(ProbeHost::named("a"), vec![facts], rows.collect());
    let charts = Shown(&document).charts();
    let (_, svg) = charts.iter().find(|(name, _)| *name == "memory-by-size").unwrap();
    assert_eq!((svg.matches("L1 ").count(), svg.matches("DRAM ").count()), (1, 1), "{svg}");
    let text = Shown(&document).text(Verbosity::Brief);
    assert!(text.contains("By size, triad by 8: L1 "), "{text}");
    let caches = "reports them: 4 MiB; the last ones of all threads together\n    32 MiB";
    assert!(text.contains(caches), "{text}");
}

#[test]
fn what_the_vendor_prints_is_drawn_as_a_limit() {
    let sheet = Device::named("h100-sxm").unwrap();
    let drawn = |document: ProbeDocument| {
        let charts = Shown(&document.specified_by(sheet)).charts();
        charts.into_iter().map(|(_, svg)| svg).collect::<String>()
    };
    assert!(drawn(processor()).contains("data sheet: 3350 GB/s"));
    assert!(drawn(document("nccl-tests.txt")).contains("data sheet, link: 450 GB/s"));
    assert!(drawn(document("flashinfer.csv")).contains("data sheet, bf16: 990 TFLOP/s"));
}

/// Rows that differ can be told apart at 80 columns, each has a figure if it was told one, and large ones have few digits.
#[test]
fn each_row_of_the_text_says_what_it_is_and_how_fast() {
    let text = |name: &str| Shown(&document(name)).text(Verbosity::Full);
    let mlc = text("mlc.txt");
    let line = |of: &str| {
        mlc.lines().find(|line| line.starts_with(of)).unwrap_or_else(|| panic!("{of}: {mlc}"))
    };
    assert!(line("traffic of 3:1 Reads-Writes").contains("180"), "{mlc}");
    assert!(line("other").contains("GB/s"), "{mlc}");
    assert!(line("cores of node 0 to memory of node 1").contains("142"), "{mlc}");
    assert!(line("loaded latency, beside 1").contains("240"), "{mlc}");
    assert!(text("nvbandwidth.txt").contains("gpu0 to gpu1, kernel read, both ways "));
    let flashinfer = text("flashinfer.csv");
    assert!(flashinfer.contains("TFLOP/s") && flashinfer.contains(" 2749 "), "{flashinfer}");
    assert!(text("tinymembench.txt").contains("load latency, 64 MiB, small pages"));
    for name in ["mlc.txt", "nvbandwidth.txt", "flashinfer.csv", "tinymembench.txt"] {
        assert!(text(name).lines().all(|line| line.chars().count() <= 80), "{name}");
    }
}

#[test]
fn a_page_has_its_charts_and_every_row_and_loads_nothing() {
    for of in [processor(), document("nccl-tests.txt"), document("mlc.txt")] {
        let page = Shown(&of).page();
        assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
        assert!(!page.contains("could not be drawn") && !page.contains("<script"), "{page}");
        for loads in ["src=", "@import", "url(", "href=\"http"] {
            assert!(!page.contains(loads), "{loads}");
        }
        assert_eq!(page.matches("<th scope=\"row\"").count(), of.rows.len());
        assert_eq!(page.matches("<svg").count(), 2 * Shown(&of).charts().len());
    }
    assert!(!Shown(&processor()).page().contains("a<b>"));
}

/// What one machine alone has is named, of much the first; and so is a part that is slow as a whole.
#[test]
fn a_comparison_names_what_is_slow_and_what_one_side_alone_has() {
    let (all, few) = (processor(), document("stream.txt"));
    let text = Shown(&ProbeComparison::of(&few, &all)).text();
    assert!(text.contains("Measured of A alone: 4 operations: "), "{text}");
    assert!(text.contains("; 1 more") && text.contains("Measured of B alone: "), "{text}");
    let mut slow: serde_json::Value = serde_json::from_str(&all.to_json()).unwrap();
    for row in slow["rows"].as_array_mut().unwrap() {
        if row["measured"]["operation"]["kind"] == "latency" {
            for told in row["measured"]["timing"]["reported"].as_array_mut().unwrap() {
                let time = told["figure"]["time_ms"].as_f64().unwrap();
                told["figure"]["time_ms"] = (2.0 * time).into();
            }
        }
    }
    let slow = ProbeDocument::from_json(&slow.to_string()).unwrap();
    let text = Shown(&ProbeComparison::of(&all, &slow)).text();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "latency: B is far below its other parts, B / A is 0.50 in the median and 1.00 over all parts: nothing that was kept";
    assert!(words.contains(said), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn a_fleet_is_drawn_with_its_slow_member() {
    let slow = |node: usize| {
        let mut document = processor();
        document.host.node = format!("node{node}");
        let mut value: serde_json::Value = serde_json::from_str(&document.to_json()).unwrap();
        if node == 3 {
            for row in value["rows"].as_array_mut().unwrap() {
                for told in row["measured"]["timing"]["reported"].as_array_mut().unwrap() {
                    let time = told["figure"]["time_ms"].as_f64().unwrap();
                    told["figure"]["time_ms"] = (1.5 * time).into();
                }
            }
        }
        ProbeDocument::from_json(&value.to_string()).unwrap()
    };
    let fleet: Vec<ProbeDocument> = (0..6).map(slow).collect();
    let table = FleetTable::of(&fleet);
    let svg = Shown(&table).chart().unwrap();
    assert!(svg.contains("node3 cpu") && svg.contains("% of the fleet"), "{svg}");
    let page = Shown(&table).page();
    assert!(page.contains("6 machines, ") && page.matches("<svg").count() == 2, "{page}");
    assert_eq!(Shown(&FleetTable::of(&[])).chart(), None);
}
