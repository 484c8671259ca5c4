//! Files of other tools: each fixture with its rows, and what holds whatever befalls a file.

use std::fs;
use std::path::{Path, PathBuf};

use fizeau_probe::{
    Dtype, Figure, ImportedMeasurements, Measurement, MeasurementImportError, ProbeDocument,
    ProbeFigures, ProbeHost, Provenance, Verification, import_measurements,
};
use proptest::prelude::*;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/probe")
}

/// Each fixture by its name, in order.
pub(crate) fn fixtures() -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.collect();
    files.retain(|path| !path.ends_with("README.md") && !path.ends_with("rows.txt"));
    files.sort();
    let named = |path: PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, fs::read(path).unwrap())
    };
    files.into_iter().map(named).collect()
}

fn fixture(name: &str) -> String {
    fs::read_to_string(folder().join(name)).unwrap()
}

fn read(text: &str) -> ImportedMeasurements {
    import_measurements(text.as_bytes(), None).unwrap()
}

/// Measurements without the place in the file that a note may name.
fn rows(text: &str) -> Vec<Measurement> {
    read(text).measurements
}

/// All that a file tells, as text: what a person would look through.
fn shown(name: &str, imported: &ImportedMeasurements) -> String {
    let version = imported.version.as_deref().unwrap_or("no version");
    let mut lines = vec![format!("=== {name}: {}, {version}", imported.tool)];
    lines.extend(imported.node.iter().map(|node| format!("node {node}")));
    lines.extend(
        imported.devices.iter().map(|device| format!("device {}: {}", device.name, device.model)),
    );
    lines.extend(imported.settings.iter().map(|setting| format!("setting {setting}")));
    lines.extend(imported.notes.iter().map(|note| format!("note {note}")));
    for seen in &imported.measurements {
        lines.push(seen.key());
        lines.push(format!("    {}", figures(seen)));
        match &seen.verification {
            Verification::NotChecked { reason } => lines.push(format!("    unchecked: {reason}")),
            checked => lines.push(format!("    {checked:?}")),
        }
        lines.extend(seen.notes.iter().map(|note| format!("    note {note}")));
    }
    lines.join("\n") + "\n"
}

fn figures(seen: &Measurement) -> String {
    fn told<T: Copy>(
        name: &str,
        figure: Option<Figure<T>>,
        value: impl Fn(T) -> f64,
    ) -> Option<String> {
        let figure = figure?;
        Some(format!("{name} {:.6} ({})", value(figure.typical), figure.statistic))
    }
    let figures = ProbeFigures::of(seen);
    let giga = |rate: fizeau_core::BytesPerSec| rate.get() / 1e9;
    let parts = [
        told("us", figures.time, |time| time.get() * 1e3),
        told("stream GB/s", figures.stream, giga),
        told("copy GB/s", figures.copy, giga),
        told("hardware GB/s", figures.hardware, giga),
        told("bus GB/s", figures.bus, giga),
        told("TFLOP/s", figures.arithmetic, |rate| rate.get() / 1e12),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[test]
fn each_fixture_has_the_rows_that_are_written_down() {
    let all: String = fixtures()
        .iter()
        .map(|(name, content)| shown(name, &import_measurements(content, Some(name)).unwrap()))
        .collect();
    if std::env::var_os("FIZEAU_BLESS").is_some() {
        fs::write(folder().join("rows.txt"), &all).unwrap();
    }
    let expected = fixture("rows.txt");
    for (found, expected) in all.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(all.lines().count(), expected.lines().count());
}

#[test]
fn measurements_say_where_they_come_from_and_make_a_document() {
    for (name, content) in fixtures() {
        let imported = import_measurements(&content, Some(&name)).unwrap();
        for seen in &imported.measurements {
            let Provenance::Imported { tool, version, file } = &seen.provenance else { panic!() };
            assert_eq!((tool, version), (&imported.tool, &imported.version));
            assert_eq!(file.as_deref(), Some(name.as_str()));
        }
        let host = ProbeHost::named(imported.node.unwrap_or_default());
        let document = ProbeDocument::new(host, imported.devices, imported.measurements);
        assert_eq!(ProbeDocument::from_json(&document.to_json()), Ok(document), "{name}");
    }
}

#[test]
fn files_of_one_machine_make_one_document_and_of_two_none() {
    let imported = |name: &str| import_measurements(fixture(name).as_bytes(), Some(name)).unwrap();
    let document = ProbeDocument::of_imports(
        ["stream.txt", "pmbw.txt", "mlc.txt"].map(imported),
        "what no file says",
    );
    let document = document.unwrap();
    assert_eq!(document.host.node, "alpha", "as pmbw says");
    assert_eq!(document.rows.len(), 4 + 2 + 14);
    assert!(document.notes[0].starts_with("pmbw: left out in line 4"), "{:?}", document.notes);
    assert_eq!(ProbeDocument::from_json(&document.to_json()), Ok(document));
    let unnamed = ProbeDocument::of_imports([imported("stream.txt")], "here").unwrap();
    assert_eq!(unnamed.host.node, "here");
    let nodes = ["pmbw.txt", "rccl-tests.txt"].map(imported);
    let said = ProbeDocument::of_imports(nodes, "").unwrap_err().to_string();
    assert!(said.contains("two machines, `alpha` and `delta`"), "{said}");
    let devices = ["nvbandwidth.txt", "mixbench.txt"].map(imported);
    let said = ProbeDocument::of_imports(devices, "").unwrap_err().to_string();
    assert!(said.contains("disagree about gpu0"), "{said}");
}

#[test]
fn nothing_else_of_an_environment_is_kept() {
    for name in ["nccl-tests.json", "operatorx.json"] {
        let text = fixture(name);
        assert!(text.contains("never"));
        let imported = format!("{:?}", read(&text));
        assert!(imported.contains("NCCL_") && !imported.contains("never"), "{imported}");
    }
}

#[test]
fn what_is_no_result_of_a_tool_is_answered_with_all_that_was_tried() {
    for text in ["", "hello", "{}", "[1]", "a,b\n1,2\n", "{\"rows\": [], \"run\": {}}"] {
        let error = import_measurements(text.as_bytes(), Some("x.txt")).unwrap_err();
        let MeasurementImportError::NoKnownTool { tried, .. } = &error else { panic!("{error}") };
        assert!(tried.len() >= 20 && tried.iter().all(|tried| !tried.why.is_empty()));
        let said = error.to_string();
        assert!(said.starts_with("x.txt ") && said.ends_with(", and 19 others"), "{said}");
        assert!(said.len() < 400, "{said}");
    }
    let close = "Kernel  Best Rate MB/s  Avg time     Min time     Max time\nFunction\n";
    let said = import_measurements(close.as_bytes(), Some("x.txt")).unwrap_err().to_string();
    assert!(
        said.contains("Nearest of what was tried: STREAM (no header with `Function`"),
        "{said}"
    );
    let heads = "Function    Best Rate MB/s  Avg time     Min time     Max time\nCopy: 1.0 2";
    let said = import_measurements(heads.as_bytes(), None).unwrap_err().to_string();
    assert!(said.contains("no whole row: line 2 has no end"), "{said}");
}

/// A file of which the end is missing keeps what was whole: each of its rows is one of the whole file, and no figure differs.
#[test]
fn a_torn_file_has_rows_of_the_whole_one() {
    for (name, content) in fixtures() {
        let text = String::from_utf8(content).unwrap();
        let whole = rows(&text);
        // What ranks print apart is one row, of the slowest that is there.
        let is_joined = name.starts_with("deep-ep");
        for end in (0..text.len()).step_by(7) {
            let Ok(torn) = import_measurements(&text.as_bytes()[..end], None) else { continue };
            assert!(torn.measurements.len() <= whole.len());
            let is_kept = |seen: &&Measurement| {
                whole.iter().any(|other| {
                    other.key() == seen.key()
                        && other.work == seen.work
                        && other.timing.samples == seen.timing.samples
                        && seen
                            .timing
                            .reported
                            .iter()
                            .all(|told| other.timing.reported.contains(told))
                })
            };
            let stray = torn.measurements.iter().find(|seen| !is_joined && !is_kept(seen));
            assert_eq!(stray, None, "{name} of {end} bytes");
        }
    }
}

/// Only one of the tests has a layout without the form of scales.
#[test]
fn a_product_that_tells_no_type_has_that_of_its_test() {
    let dtypes = |arguments: &str| {
        let line = |word: &str| {
            let text =
                format!(" > {word} (m=64, n=4096, k=7168{arguments}): 20.0 us | 188 TFLOPS\n");
            rows(&text)[0].dtype
        };
        ["Perf", "Performance"].map(line)
    };
    let fp8 = Some(Dtype::Fp8E4m3);
    assert_eq!(dtypes(", 1D2D, layout=NT, BF16, acc=0"), [fp8; 2]);
    assert_eq!(dtypes(", 1D1D, layout=NT, BF16, acc=0"), [None, fp8]);
    assert_eq!(dtypes(", layout=NT, BF16, acc=0"), [Some(Dtype::Bf16), fp8]);
    assert_eq!(dtypes(""), [None, fp8]);
}

/// By columns `gate_up` of 32 tokens is 28,672 x 32, and a model asks for 32 x 28,672.
#[test]
fn products_by_columns_have_tokens_first() {
    let text = fixture("hipblaslt-bench.txt").replacen("4096,4096,4096,1", "28672,32,4096,1", 1);
    let seen = &rows(&text)[0];
    assert_eq!(seen.operation.to_string(), "gemm 32 x 28672 x 4096 to bf16");
    let note = "the tool's m x n of 28672 x 32 is by columns, and 32 x 28672 by rows";
    assert!(seen.notes.iter().any(|told| told == note), "{:?}", seen.notes);
    let moved = 2.0 * f64::from(32 * 4096 + 4096 * 28_672 + 32 * 28_672);
    assert!((seen.work.bytes.stream.unwrap().get() / moved - 1.0).abs() < 1e-12);
}

#[test]
fn a_torn_file_says_where_it_breaks() {
    let text = fixture("babelstream.csv");
    let end = text.find("0.00082").unwrap() + 4;
    let torn = read(&text[..end]);
    assert_eq!((torn.measurements.len(), torn.notes.len()), (1, 1));
    assert!(torn.notes[0].starts_with("line 5 has no end"), "{:?}", torn.notes);

    let text = fixture("operatorx.json");
    let end = text.find("\"allreduce\"").unwrap();
    let torn = read(&text[..end]);
    assert_eq!(torn.measurements.len(), 2);
    assert!(torn.notes[0].contains("`rows` ends with what was whole"), "{:?}", torn.notes);
}

/// A document that is cut anywhere behind what tells whose it is is of that tool: with whole rows, or else with none and where it is torn.
#[test]
fn a_torn_document_says_whose_it_is() {
    for (name, tool, sign) in [
        ("nccl-tests.json", "nccl-tests", "10:00:00\","),
        ("nvbandwidth.json", "nvbandwidth", "{\"nvbandwidth\": {"),
        ("operatorx.json", "OperatorX", "\"schema_version\": \"1\","),
        ("collectivex.json", "CollectiveX", "\"record_type\": \"case-attempt\","),
    ] {
        let text = fixture(name);
        let end = text.trim_end().len();
        for cut in text.find(sign).unwrap() + sign.len()..end {
            match import_measurements(&text.as_bytes()[..cut], Some(name)) {
                Ok(torn) => {
                    assert_eq!(torn.tool, tool, "{name} of {cut} bytes");
                    assert!(
                        torn.notes.iter().any(|note| note.contains("torn in line ")),
                        "{:?}",
                        torn.notes
                    );
                }
                Err(error) => {
                    let said = error.to_string();
                    let is_whose = said.starts_with(&format!("{name} has the form of {tool}, but"));
                    assert!(is_whose && said.contains("torn in line "), "{cut} bytes: {said}");
                }
            }
        }
        let early = import_measurements(&text.as_bytes()[..5], Some(name)).unwrap_err().to_string();
        assert!(early.contains("JSON that is torn in line 1, column 5"), "{early}");
    }
}

/// Of a table whose head line was lost, what its figures can only come from is inferred, and it is said.
#[test]
fn a_collective_that_is_not_named_is_inferred_or_said_to_be_unknown() {
    let table = |ranks: usize, redop: &str, bus: &str, footer: &str| {
        let rank =
            |rank| format!("#  Rank {rank} Group 0 Pid 1 on a device {rank} [0x18] Invented\n");
        let ranks: String = (0..ranks).map(rank).collect();
        read(&format!(
            "{ranks}# size count type redop root time algbw busbw #wrong\n\
             1073741824 268435456 float {redop} -1 5000.0 214.75 {bus} 0\n{footer}"
        ))
    };
    let key = |found: &ImportedMeasurements| found.measurements[0].operation.to_string();
    for ranks in [0, 4] {
        let found = table(ranks, "sum", "322.12", "");
        assert!(key(&found).starts_with("all_reduce, 4 ranks, 1 GiB"), "{found:?}");
        assert!(found.notes[0].contains("that it is all_reduce is inferred"), "{:?}", found.notes);
    }
    assert!(key(&table(4, "sum", "161.06", "")).starts_with("reduce_scatter, 4 ranks"));
    // Nothing is reduced, and of two ranks a reduction to all and to one have the same factor.
    for unclear in [table(4, "none", "161.06", ""), table(2, "sum", "214.75", "")] {
        assert_eq!(key(&unclear), "unnamed collective, 1 GiB");
        assert!(unclear.notes[0].contains("# Collective test starting: "), "{:?}", unclear.notes);
        let told = &unclear.measurements[0].timing.reported;
        let is_bus = |told: &fizeau_probe::ReportedFigure| {
            matches!(told.figure, fizeau_probe::ReportedValue::BusBandwidth(_))
        };
        assert!(told.iter().any(is_bus), "{told:?}");
    }
    let failed = table(4, "sum", "322.12", "# Out of bounds values : 1 FAILED\n");
    let verification = &failed.measurements[0].verification;
    assert!(matches!(verification, Verification::Wrong { .. }), "{verification:?}");
}

#[test]
fn launchers_shells_and_systems_change_nothing() {
    for (name, content) in fixtures() {
        let text = String::from_utf8(content).unwrap();
        let whole = rows(&text);
        for prefix in [
            "[1,0]<stdout>:",
            "[prterun-a-1@1,12]<stdout>:",
            "[0] ",
            "[3]:",
            "0: ",
            " 0: ",
            "node-1.x: ",
            "[rank0]: ",
            "node1: 0: ",
            "2026-11-29T10:00:00.123456789Z ",
            "2026-11-29T10:00:00+01:00 node1: [1,0]<stdout>:",
            "\u{1b}[32m",
        ] {
            let lines = text.lines().map(|line| format!("{prefix}{line}\n"));
            let found = import_measurements(lines.collect::<String>().as_bytes(), None);
            let found = found.map(|found| found.measurements);
            assert!(found.as_ref() == Ok(&whole), "{name} with {prefix:?}");
        }
        assert_eq!(rows(&text.replace('\n', "\r\n")), whole, "{name}");
        let marked = format!("\u{feff}{text}");
        let wide = marked.encode_utf16().flat_map(u16::to_le_bytes);
        let wide = import_measurements(&wide.collect::<Vec<_>>(), None).unwrap();
        assert_eq!(wide.measurements, whole, "{name} in UTF-16");
    }
}

/// `text` with its columns in another order, in lines of as many `cells` as a table has.
fn shuffled(text: &str, separator: char, seed: u64) -> String {
    let cells = |line: &str| -> Vec<String> {
        match separator {
            ' ' => {
                line.trim_start_matches(['#', ' ']).split_whitespace().map(str::to_owned).collect()
            }
            _ => line.split(separator).map(|cell| cell.trim().to_owned()).collect(),
        }
    };
    let line = |line: &str| {
        let mut cells: Vec<(usize, String)> = cells(line).into_iter().enumerate().collect();
        if cells.len() < 5
            || line.starts_with("# n")
            || line.starts_with("#  ") && line.contains("Rank")
        {
            return format!("{line}\n");
        }
        // The same order of any two lines with as many cells.
        cells.sort_by_key(|(at, _)| (*at as u64 + 1).wrapping_mul(seed | 1) % 1009);
        let cells: Vec<String> = cells.into_iter().map(|(_, cell)| cell).collect();
        let sign = if line.starts_with('#') { "# " } else { "" };
        format!("{sign}{}\n", cells.join(&separator.to_string()))
    };
    text.lines().map(line).collect()
}

const NCCL: &str = "# Collective test starting: all_reduce_perf\n\
    # nThread 1 nGpus 2 minBytes 8 maxBytes 8 warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n\
    #  Rank  0 Group  0 Pid  1 on a device  0 [0000:1b:00] GPU\n\
    #  Rank  1 Group  0 Pid  2 on a device  1 [0000:1c:00] GPU\n\
    # size count type redop root time algbw busbw #wrong i_min time algbw busbw #wrong i_min\n\
    1048576 262144 float sum -1 50.00 20.97 20.97 0 45.0 52.00 20.16 20.16 3 46.0\n";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn columns_are_found_by_their_names(seed in 1_u64..1000) {
        for name in ["cutlass.csv", "flashinfer.csv", "hipblaslt-bench.txt", "babelstream.csv"] {
            let text = fixture(name).replace("[0]:", "").replace("--a 1, --b 2", "");
            prop_assert_eq!(rows(&shuffled(&text, ',', seed)), rows(&text), "{}", name);
        }
    }

    /// Two halves of a row have the same names: which is which is told by their order alone.
    #[test]
    fn halves_of_a_row_may_stand_between_one_another(seed in 1_u64..1000) {
        let found = rows(&shuffled(NCCL, ' ', seed));
        let mut times: Vec<f64> = found.iter().map(|seen| ProbeFigures::of(seen).time.unwrap().typical.get()).collect();
        times.sort_by(f64::total_cmp);
        prop_assert_eq!(times, vec![0.05, 0.052]);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = import_measurements(&bytes, None);
    }

    /// Bytes put in, taken out, lines broken, numbers grown out of bounds: whatever is read makes a document.
    #[test]
    fn no_damage_makes_it_panic(
        which in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        taken in 0_usize..40,
        put in prop::sample::select(vec!["\n", "\"", "{", "]", ",", "-1", "99999999999999999999", "1e308", "nan", "\t", "=", "/", "[0]", "0", "é"]),
        bytes in prop::collection::vec(any::<u8>(), 0..6),
    ) {
        let all = fixtures();
        let (_, mut content) = all[which.index(all.len())].clone();
        let start = at.index(content.len());
        let end = (start + taken).min(content.len());
        content.splice(start..end, put.bytes().chain(bytes));
        if let Ok(imported) = import_measurements(&content, None) {
            let document = ProbeDocument::new(ProbeHost::named("a"), imported.devices, imported.measurements);
            let _ = document.to_json();
        }
    }
}
