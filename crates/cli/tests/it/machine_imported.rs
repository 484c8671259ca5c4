//! `fizeau probe --import`: what other tools measured, shown, kept, and set beside others.

use std::fs::{read_dir, read_to_string, write};

use serde_json::Value;

use crate::stand::{Scratch, json, run};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/probe");

/// Each file of a tool, as one may give it, and its name.
fn files() -> Vec<(String, String)> {
    let paths = read_dir(FIXTURES).unwrap().map(|entry| entry.unwrap().path());
    let paths = paths.filter(|path| !path.ends_with("README.md") && !path.ends_with("rows.txt"));
    let mut files: Vec<(String, String)> = paths
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (path.to_str().unwrap().to_owned(), name)
        })
        .collect();
    files.sort();
    files
}

fn file_of(name: &str) -> String {
    format!("{FIXTURES}/{name}")
}

/// How many rows of each file are written down.
fn rows_of(file: &str) -> usize {
    let all = read_to_string(format!("{FIXTURES}/rows.txt")).unwrap();
    let name = file.rsplit('/').next().unwrap();
    let own = all.split("=== ").find(|part| part.starts_with(&format!("{name}:"))).unwrap();
    let is_row = |line: &&str| {
        ["    ", "note ", "device ", "node ", "setting "]
            .iter()
            .all(|other| !line.starts_with(other))
    };
    own.lines().skip(1).filter(is_row).count()
}

#[test]
fn what_each_tool_printed_is_shown_kept_and_compared() {
    let scratch = Scratch::new("imported");
    for (file, name) in files() {
        let out = scratch.path(&name);
        let shown = run(&["probe", "--import", &file, "--out", &out, "-v"]);
        assert_eq!(shown.code, Some(0), "{file}: {shown:?}");
        assert!(shown.out.contains("measured by "), "{file}: {}", shown.out);
        let wide = shown.out.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "{file}");
        let document = json(format!("{out}/probe.json"));
        assert_eq!(document["rows"].as_array().unwrap().len(), rows_of(&file), "{file}");
        assert_eq!(run(&["probe", "show", &out, "-v"]).out, shown.out, "{file}");
        // The file itself and the folder of it are the same thing.
        let printed = run(&["probe", "show", &file, "--json"]);
        let printed: Value = serde_json::from_str(&printed.out).unwrap();
        assert_eq!(printed, document, "{file}");
        let compared = run(&["probe", "compare", &file, &out, "--json"]);
        let compared: Value = serde_json::from_str(&compared.out).unwrap();
        let rows = compared["rows"].as_array().unwrap();
        assert!(!rows.is_empty(), "{file}");
        assert!(rows.iter().all(|row| row["ratio"] == 1.0), "{file}: {compared}");
    }
}

#[test]
fn several_files_of_a_machine_are_one_probe() {
    let all = [file_of("stream.txt"), file_of("mlc.txt"), file_of("pmbw.txt")];
    let [stream, mlc, pmbw] = &all;
    let ended = run(&["probe", "--import", stream, mlc, pmbw, "--json"]);
    let document: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(document["host"]["node"], "alpha", "{ended:?}");
    let rows: usize = all.iter().map(|file| rows_of(file)).sum();
    assert_eq!(document["rows"].as_array().unwrap().len(), rows);
    let fleet = run(&["probe", "fleet", stream, stream]);
    assert!(fleet.out.contains("1 machine, 4 operations"), "{fleet:?}");
    let wrong = run(&["probe", "--import", pmbw, &file_of("rccl-tests.txt")]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.err.contains("two machines, `alpha` and `delta`"), "{}", wrong.err);
}

/// Why nothing serves as a device is said of the device whose memory was measured, and with what would do.
#[test]
fn what_keeps_a_device_file_from_being_written_is_said() {
    let scratch = Scratch::new("no-device");
    let path = scratch.path("babel.txt");
    let sized = |size: &str| {
        let text = format!(
            "BabelStream\nRunning kernels 100 times\nPrecision: double\nArray size: {size}\nUsing CUDA device Invented\n\
             Function    MBytes/sec  Min (sec)   Max         Average\n\
             Copy        3030000.1   0.00018     0.00019     0.00018\n"
        );
        write(&path, text).unwrap();
    };
    let said = |out: &str, more: &[&str]| {
        let out = scratch.path(out);
        run(&[&["probe", "--import", &path, "--out", &out], more].concat()).err
    };
    sized("268.4 MB (=0.3 GB)");
    let unknown = said("a", &[]);
    assert!(unknown.contains("of gpu0, it is not known how much it holds"), "{unknown}");
    let nccl = file_of("nccl-tests.txt");
    let sheet = ["--import", &nccl, "--hardware", "h100-sxm"];
    let small = said("b", &sheet);
    let why = "of gpu0, its memory was measured with arrays of 511.";
    assert!(small.contains(why) && small.contains("give them 1 GiB together"), "{small}");
    sized("1073.7 MB (=1.1 GB)");
    let half = said("c", &sheet);
    assert!(half.contains("of gpu0, no arithmetic of 16 or 32 bits was measured"), "{half}");
    let out = scratch.path("d");
    let stream = run(&["probe", "--import", &file_of("stream.txt"), "--out", &out]);
    let why = "no device file is written: of cpu, neither its part nor how much it holds is known";
    assert!(stream.err.contains(why), "{}", stream.err);
}

/// What nccl-tests print and a data sheet are a device: all but the collectives is the sheet's, and nobody says that it was probed.
#[test]
fn collectives_alone_are_used_beside_the_data_sheet() {
    let scratch = Scratch::new("joined");
    let (path, out) = (scratch.path("nccl.txt"), scratch.path("out"));
    let mut text = "# nccl-tests version 2.18.9 nccl-headers=22706 nccl-library=22706\n\
                    # Collective test starting: all_reduce_perf\n\
                    # nThread 1 nGpus 2 minBytes 8 maxBytes 8 warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n\
                    #  Rank  0 Group  0 Pid  1 on a device  0 [0000:1b:00] GPU\n\
                    #  Rank  1 Group  0 Pid  2 on a device  1 [0000:1c:00] GPU\n\
                    # size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
        .to_owned();
    for power in 10..30 {
        let bytes = 1_u64 << power;
        let micros = 20.0 + bytes as f64 / 1e5;
        let rate = bytes as f64 / micros / 1e3;
        let half = format!("{micros:.2} {rate:.2} {rate:.2} 0");
        text += &format!("{bytes} {} float sum -1 {half} {half}\n", bytes / 4);
    }
    write(&path, text).unwrap();
    let ended = run(&["probe", "--import", &path, "--hardware", "h100-sxm", "--out", &out]);
    let note = "note: all of device.toml but its collectives is the data sheet of h100-sxm: of gpu0-1, the bandwidth of its memory was";
    assert!(ended.err.contains(note), "{ended:?}");
    let device = format!("{out}/device.toml");
    let asked = ["--model-config", "llama-3.1-8b", "--tp", "2", "--json"];
    let answer = |hardware: &str| -> Value {
        let sol = run(&[&["sol", "--hardware", hardware], &asked[..]].concat());
        serde_json::from_str(&sol.out).unwrap_or_else(|error| panic!("{error}: {sol:?}"))
    };
    let (sheet, joined) = (answer("h100-sxm"), answer(&device));
    assert_eq!(sheet["bound"], joined["bound"], "a bound has no collectives of software");
    assert!(sheet["bound"].is_object() && sheet["expected"] != joined["expected"], "{joined}");
    assert!(joined["data_sheet"].is_null(), "nothing of the silicon was measured: {joined}");
    let simulated = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs/simulated");
    let told = run(&["diagnose", simulated, "--probe", &out]);
    assert_eq!(told.code, Some(0), "{told:?}");
    assert!(!told.out.contains("measured silicon") && !told.out.contains("as probed"), "{told:?}");
}

/// What is fast and wrong passes no acceptance test.
#[test]
fn a_machine_whose_results_are_wrong_is_not_passed() {
    let scratch = Scratch::new("wrong");
    let text = read_to_string(file_of("nccl-tests.txt")).unwrap();
    let right = text.replace("       3\n", "       0\n").replace("1 FAILED", "0 OK");
    let (good, bad) = (scratch.path("good.txt"), scratch.path("bad.txt"));
    write(&good, &right).unwrap();
    write(&bad, right.replace("       0\n", "       7\n")).unwrap();
    let gate =
        |files: &[&str]| run(&[&["probe", "fleet"], files, &["--fail-below", "95%"]].concat());
    assert_eq!(gate(&[&good, &good]).code, Some(0));
    let failed = gate(&[&good, &good, &bad]);
    assert_eq!(failed.code, Some(1), "{failed:?}");
    assert!(failed.out.contains("\nNot passed: "), "{}", failed.out);
    assert!(failed.out.contains("elements are wrong"), "{}", failed.out);
    let compared = run(&["probe", "compare", &good, &bad]);
    assert!(compared.out.contains("! B"), "{}", compared.out);
    // Where no right row is left to compare that is the reason, and no fault of who asks.
    write(&bad, right.replace("       0", "       7")).unwrap();
    let alone = gate(&[&bad, &bad]);
    assert_eq!(alone.code, Some(1), "{alone:?}");
}

#[test]
fn what_is_no_result_is_refused_with_what_was_tried() {
    let scratch = Scratch::new("foreign");
    let path = scratch.path("letter.txt");
    write(&path, "Dear all,\nit was fast.\n").unwrap();
    for words in [
        ["probe", "--import", &path].as_slice(),
        &["probe", "show", &path],
        &["probe", "fleet", &path, &path],
    ] {
        let wrong = run(words);
        assert_eq!((wrong.code, wrong.out.as_str()), (Some(2), ""), "{wrong:?}");
        assert!(wrong.err.contains("letter.txt is no result of a known tool"), "{}", wrong.err);
        assert!(wrong.err.contains(", and 19 others"), "{}", wrong.err);
    }
    let missing = run(&["probe", "--import", "no-such-file"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.err.contains("no-such-file: "), "{}", missing.err);
    // A run's own document is no probe, and is not taken for a tool's.
    write(&path, r#"{"schema": "fizeau.sweep/2"}"#).unwrap();
    let wrong = run(&["probe", "--import", &path]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    let wrong = run(&["probe", "show", &path]);
    assert!(wrong.err.contains("its schema is `fizeau.sweep/2`"), "{}", wrong.err);
    let both = run(&["probe", "memory", "--import", &path]);
    assert_eq!(both.code, Some(2), "{both:?}");
}

#[test]
fn torn_files_foreign_prefixes_and_cells_that_are_no_numbers_keep_the_other_rows() {
    let scratch = Scratch::new("torn");
    let path = scratch.path("printed.txt");
    let text = read_to_string(file_of("nccl-tests.txt")).unwrap();
    let labelled: String = text.lines().map(|line| format!("[1,0]<stdout>:{line}\n")).collect();
    write(&path, labelled).unwrap();
    let rows = |path: &str| {
        let ended = run(&["probe", "--import", path, "--json"]);
        let document: Value = serde_json::from_str(&ended.out).unwrap();
        let keys = document["rows"].as_array().unwrap().iter();
        let keys: Vec<String> = keys.map(|row| row["key"].to_string()).collect();
        (keys, document["notes"].to_string())
    };
    let whole = rows(&path);
    assert_eq!(whole, rows(&file_of("nccl-tests.txt")));
    assert!(whole.1.contains("its times are not numbers"), "{}", whole.1);
    let end = text.rfind("1073741824").unwrap() + 30;
    write(&path, &text[..end]).unwrap();
    let (torn, notes) = rows(&path);
    assert!(torn.len() < whole.0.len() && torn[..] == whole.0[..torn.len()], "{torn:?}");
    assert!(notes.contains("line 16"), "{notes}");
}

/// Levels measured against such a device are held against both limits.
#[test]
fn a_level_is_held_against_measured_silicon_and_against_its_data_sheet() {
    let scratch = Scratch::new("two-limits");
    let (device, out) = (scratch.path("device.toml"), scratch.path("run"));
    let file = "name = \"h100-measured\"\ndata_sheet = \"h100-sxm\"\n[memory]\ncapacity = \"80 GiB\"\n\
                bandwidth = \"2.68 TB/s\"\n[rates]\nbf16 = \"791.2 TFLOP/s\"\n";
    write(&device, file).unwrap();
    let asked = [
        "simulate",
        "--model-config",
        "llama-3.1-8b",
        "--hardware",
        &device,
        "--isl",
        "64",
        "--osl",
        "64",
        "--levels",
        "1,4",
        "--num-prompts",
        "16",
        "--out",
        &out,
    ];
    let shown = run(&asked);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    let said = shown.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("of the limit by the data sheet of NVIDIA H100 SXM"), "{}", shown.out);
    for level in ["concurrency-0001", "concurrency-0004"] {
        let text = read_to_string(format!("{out}/{level}/summary.json")).unwrap();
        let level: Value = serde_json::from_str(&text).unwrap();
        let light = &level["speed_of_light"];
        let by_silicon = light["share"]["output_tokens_per_s"].as_f64().unwrap();
        // Few sequences wait for memory, of which this silicon gives 80 %.
        let ratio = light["data_sheet"]["share"].as_f64().unwrap() / by_silicon;
        assert!((0.79..0.83).contains(&ratio), "{light}");
    }
}

/// A device file that names its data sheet gives two limits: by measured silicon, and by what is printed, with the share of it.
#[test]
fn a_measured_device_stands_beside_its_data_sheet() {
    let scratch = Scratch::new("sheet");
    let path = scratch.path("device.toml");
    let file = |sheet: &str| {
        format!(
            "name = \"h100-measured\"\ndata_sheet = \"{sheet}\"\n[memory]\ncapacity = \"80 GiB\"\nbandwidth = \"3.015 TB/s\"\n\
             [rates]\nbf16 = \"800 TFLOP/s\"\n"
        )
    };
    write(&path, file("h100-sxm")).unwrap();
    let asked = ["sol", "--model-config", "llama-3.1-8b", "--hardware", &path];
    let shown = run(&asked);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert!(shown.out.contains("By the data sheet of NVIDIA H100 SXM"), "{}", shown.out);
    assert!(shown.out.contains("measured silicon allows, %"), "{}", shown.out);
    let printed = run(&[&asked[..], &["--json"]].concat());
    let printed: Value = serde_json::from_str(&printed.out).unwrap();
    let share = &printed["data_sheet"]["tpot_share"]["bound"];
    // A step of one sequence waits for memory: 3.015 of 3.35 TB/s.
    let share = share.as_f64().unwrap_or_else(|| panic!("{printed}"));
    assert!((share - 90.0).abs() < 0.5, "{share}");
    write(&path, file("h100-smx")).unwrap();
    let wrong = run(&asked);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.err.contains("data_sheet: ") && wrong.err.contains("h100-sxm"), "{}", wrong.err);
    let with = run(&["probe", "--import", &file_of("stream.txt"), "--hardware", "h100-sxm"]);
    assert!(with.out.contains("NVIDIA H100 SXM"), "{with:?}");
}

/// Without a probe the rows that would help are named with their shapes; what this program does not measure itself is to be imported,
/// and a file of rows is no device.
#[test]
fn a_diagnosis_says_what_to_measure_and_how() {
    let scratch = Scratch::new("to-measure");
    let diagnosed = |hardware: &str| {
        let out = scratch.path(hardware);
        let model = ["simulate", "--model-config", "llama-3.1-8b", "--hardware", hardware];
        let load = ["--levels", "1,8", "--isl", "64", "--osl", "16", "--num-prompts", "16"];
        let simulated = run(&[&model[..], &load, &["--out", &out]].concat());
        assert_eq!(simulated.code, Some(0), "{simulated:?}");
        let shown = run(&["diagnose", &out]);
        assert_eq!(shown.code, Some(0), "{shown:?}");
        (out, shown.out.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let (_, own) = diagnosed("h100-sxm");
    assert!(own.contains(" x 6144 x 4096") && own.contains("attention: decode, "), "{own}");
    assert!(
        own.contains("--device gpu --hardware h100-sxm") && own.contains("--isl 64 --osl 16"),
        "{own}"
    );
    let (run_of, other) = diagnosed("mi300x");
    assert!(
        other.contains("fizeau probe --import FILE... --hardware mi300x --out probed"),
        "{other}"
    );
    let stream = file_of("stream.txt");
    let rows = run(&["diagnose", &run_of, "--probe", &stream]);
    assert_eq!(rows.code, Some(2), "{rows:?}");
    assert!(
        rows.err.contains(&format!("fizeau probe --import {stream} --hardware mi300x")),
        "{rows:?}"
    );
    let device = scratch.path("device.toml");
    let another = "name = \"cpu-measured\"\n[memory]\ncapacity = \"64 GiB\"\nbandwidth = \"50 GB/s\"\n[rates]\nbf16 = \"1 TFLOP/s\"\n";
    write(&device, another).unwrap();
    let refused = run(&["diagnose", &run_of, "--probe", &device]);
    assert!(refused.err.contains("--import FILE... --hardware mi300x"), "{refused:?}");
}

/// A run on what a probe wrote is told its bound as probed, and not to measure what was measured.
#[test]
fn a_run_on_a_probe_s_own_device_is_not_told_of_a_data_sheet() {
    let scratch = Scratch::new("as-probed");
    let (device, out) = (scratch.path("device.toml"), scratch.path("run"));
    let text = "name = \"cpu-measured\"\n[sources]\nprobe = { name = \"fizeau probe 0.1.0 on vm\" }\n[memory]\n\
                capacity = { value = 64e9, source = \"probe\" }\nbandwidth = { value = 4e10, source = \"probe\" }\n\
                [rates]\nbf16 = { value = 2e11, source = \"probe\" }\n";
    write(&device, text).unwrap();
    let model = ["simulate", "--model-config", "qwen3-0.6b", "--hardware", &device];
    let load = ["--levels", "1", "--isl", "64", "--osl", "16", "--num-prompts", "4"];
    let simulated = run(&[&model[..], &load, &["--out", &out]].concat());
    assert_eq!(simulated.code, Some(0), "{simulated:?}");
    for probe in [&[][..], &["--probe", &device]] {
        let shown = run(&[&["diagnose", &out, "-v"][..], probe].concat());
        assert_eq!(shown.code, Some(0), "{shown:?}");
        assert!(shown.out.contains("hardware bound (as probed)"), "{}", shown.out);
        for wrong in ["data sheet", "measure these", "fizeau probe "] {
            assert!(!shown.out.contains(wrong), "{wrong}: {}", shown.out);
        }
    }
}

/// What the short output cuts is there with `-v`.
#[test]
fn notes_of_rows_and_all_that_was_tried_are_there_in_full() {
    let scratch = Scratch::new("in-full");
    let cutlass = file_of("cutlass.csv");
    let (brief, full) =
        (run(&["probe", "show", &cutlass]), run(&["probe", "show", &cutlass, "-v"]));
    assert!(!brief.out.contains("GiB/s") && full.out.contains("counts in GiB/s"), "{full:?}");
    let page = scratch.path("page.html");
    run(&["probe", "show", &cutlass, "--html", &page]);
    assert!(read_to_string(page).unwrap().contains("counts in GiB/s"));
    let path = scratch.path("letter.txt");
    write(&path, "Dear all,\nit was fast.\n").unwrap();
    for words in [["probe", "--import", &path, "-v"], ["probe", "show", &path, "-v"]] {
        let wrong = run(&words);
        assert_eq!(wrong.code, Some(2), "{wrong:?}");
        let forms = wrong.err.lines().filter(|line| line.starts_with("  ")).count();
        assert!(forms >= 20 && wrong.err.contains("tinymembench"), "{}", wrong.err);
    }
}

/// Devices are counted apart from their machines, and where nothing is left to compare that is said.
#[test]
fn a_fleet_counts_its_devices_and_says_why_none_is_left() {
    let scratch = Scratch::new("devices");
    let text = |node: &str| {
        format!(
            "nvbandwidth Version: v0.8\n{node}\nRunning host_to_device_memcpy_ce.\n\
             memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n    0  1\n 0 55 55\nSUM host_to_device_memcpy_ce 110\n"
        )
    };
    let paths = ["a.txt", "b.txt"].map(|name| {
        let path = scratch.path(name);
        write(&path, text(name)).unwrap();
        path
    });
    let fleet = run(&["probe", "fleet", &paths[0], &paths[1]]);
    assert!(fleet.out.contains("4 devices of 2 machines, 2 operations"), "{fleet:?}");
    let wrong = read_to_string(file_of("nccl-tests.txt")).unwrap().replace("       0", "       7");
    paths.iter().for_each(|path| write(path, &wrong).unwrap());
    let none = run(&["probe", "fleet", &paths[0], &paths[1]]);
    assert!(none.out.starts_with("Nothing is left to compare"), "{none:?}");
}
