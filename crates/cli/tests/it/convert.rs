//! `fizeau convert`: files of other tools become runs, and runs become theirs.

use std::path::Path;

use serde_json::Value;

use crate::stand::{Ended, Scratch, json, run};

fn fixture(name: &str) -> String {
    format!("{}/../../fixtures/foreign/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn convert(words: &[&str]) -> Ended {
    run(&[&["convert"], words].concat())
}

/// Converts, and says where to.
fn converted(scratch: &Scratch, inputs: &[&str], name: &str) -> String {
    let out = scratch.path(name);
    let words = [inputs, &["--out", &out]].concat();
    let ended = convert(&words);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    out
}

fn document(ended: &Ended) -> Value {
    serde_json::from_str(&ended.out).unwrap()
}

/// A simulated run of these levels.
fn simulated(scratch: &Scratch, name: &str, levels: &str) -> String {
    let out = scratch.path(name);
    let line = format!("simulate --isl 64 --osl 8 --num-prompts 100 --out {out} --levels {levels}");
    let ended = run(&line.split_whitespace().collect::<Vec<_>>());
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
    out
}

#[test]
fn a_detailed_file_becomes_a_run_like_any_other() {
    let scratch = Scratch::new("convert-detailed");
    let out = converted(&scratch, &[&fixture("vllm-detailed.json")], "run");
    let mut files: Vec<String> = std::fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let wanted = [
        "e2el.hdr",
        "imported.json",
        "itl.hdr",
        "run.json",
        "summary.json",
        "tapes.jsonl",
        "ttft.hdr",
    ];
    assert_eq!(files, wanted);
    // Computed again it is the same, byte for byte.
    let report = run(&["report", &out, "--json"]);
    assert_eq!(report.code, Some(0), "{report:?}");
    assert_eq!(report.out, std::fs::read_to_string(format!("{out}/summary.json")).unwrap());
    let summary = document(&report);
    let file = json(fixture("vllm-detailed.json"));
    assert_eq!(summary["requests"]["completed"], file["completed"]);
    assert_eq!(summary["requests"]["failed"], file["failed"]);
    // Its client left no proof.
    assert_eq!(summary["validity"]["verdict"], "suspect");
    let reasons = summary["validity"]["reasons"].to_string();
    assert!(reasons.contains("vllm bench serve measured this run"), "{reasons}");
    // And as the tool itself has it, what its own file says.
    let own = run(&["report", &out, "--as", "vllm"]);
    let median = format!("{:.2}", file["median_ttft_ms"].as_f64().unwrap());
    assert!(own.out.contains(&median), "{median}: {}", own.out);
}

#[test]
fn two_imported_runs_are_compared_and_the_same_is_no_different() {
    let scratch = Scratch::new("convert-compare");
    // As many requests as a test of medians takes.
    let (own, file) = (scratch.path("own"), scratch.path("own.json"));
    let line =
        format!("simulate --isl 64 --osl 8 --num-prompts 600 --max-concurrency 4 --out {own}");
    assert!(run(&line.split_whitespace().collect::<Vec<_>>()).code.is_some());
    let ended = convert(&[&own, "--to", "vllm", "--out", &file]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let (a, b) = (converted(&scratch, &[&file], "a"), converted(&scratch, &[&file], "b"));
    let ended = run(&["compare", &a, &b, "--json"]);
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
    let document = document(&ended);
    let figures = document["comparisons"][0]["levels"][0]["comparison"]["figures"].as_array();
    let answers: Vec<&str> =
        figures.unwrap().iter().filter_map(|figure| figure["answer"].as_str()).collect();
    assert!(answers.contains(&"no detectable difference"), "{}", ended.out);
    assert!(!answers.contains(&"better") && !answers.contains(&"worse"), "{}", ended.out);
}

/// A folder with a sweep and another tool's table beside it: the sweep's own table has its runs once more, and that one has not.
#[test]
fn a_table_of_another_tool_beside_a_sweep_is_imported() {
    let scratch = Scratch::new("convert-tables");
    let results = scratch.path("results");
    let copy = |from: &str, to: &str| {
        let to = Path::new(&results).join(to);
        std::fs::create_dir_all(&to).unwrap();
        let files = std::fs::read_dir(fixture(from)).unwrap().map(|entry| entry.unwrap().path());
        for file in files.filter(|path| path.is_file()) {
            std::fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
        }
    };
    copy("vllm-sweep", "sweep");
    copy(
        "vllm-sweep/SERVE--tp=2-BENCH--max_concurrency=4",
        "sweep/SERVE--tp=2-BENCH--max_concurrency=4",
    );
    copy("aiperf-table", "aiperf");
    let out = converted(&scratch, &[&results], "both");
    let runs: Vec<_> = std::fs::read_dir(&out).unwrap().collect();
    let alone = converted(&scratch, &[&format!("{results}/sweep")], "alone");
    assert!(Path::new(&alone).join("run.json").is_file(), "one run, by itself");
    assert_eq!(runs.len(), 2, "{runs:?}");
}

#[test]
fn years_of_old_results_and_a_new_run_have_one_frontier() {
    let scratch = Scratch::new("convert-frontier");
    let old = converted(&scratch, &[&fixture("vllm-sweep")], "old");
    let lines = converted(&scratch, &[&fixture("sglang.jsonl")], "lines");
    let new = simulated(&scratch, "new", "1,4");
    let ended = run(&["pareto", &old, &new, &lines, "--json"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let answer = document(&ended);
    let by: Vec<&String> = answer["by"].as_object().unwrap().keys().collect();
    assert_eq!(by, ["lines", "new", "old"]);
    let points = answer["points"].as_array().unwrap();
    let of = |run: &str| points.iter().filter(|point| point["run"] == run).count();
    assert_eq!((of("old"), of("new"), of("lines")), (2, 2, 2), "{}", ended.out);
    let text = run(&["pareto", &old, &new]);
    assert!(text.out.lines().all(|line| line.chars().count() <= 80), "{}", text.out);
    // What they cost takes only a price: the sweep says on how many devices.
    let flags = ["--axes", "cost-latency", "--gpu-hour", "2", "--json"];
    let cost = document(&run(&[&["pareto", old.as_str()][..], &flags[..]].concat()));
    assert!(!cost["frontier"].as_array().unwrap().is_empty(), "{cost}");
}

#[test]
fn a_run_of_figures_alone_says_what_is_not_known() {
    let scratch = Scratch::new("convert-figures");
    let out = converted(&scratch, &[&fixture("vllm-sweep")], "old");
    assert!(Path::new(&out).join("concurrency-0004-2/imported.json").is_file());
    let text = run(&["report", &out]);
    assert_eq!(text.code, Some(0), "{text:?}");
    assert!(text.out.contains("Not known:") && text.out.contains("suspect:"), "{}", text.out);
    assert!(text.out.lines().all(|line| line.chars().count() <= 80), "{}", text.out);
    let report = document(&run(&["report", &out, "--json"]));
    assert_eq!(report["schema"], "fizeau.imported-run/1");
    assert_eq!(report["levels"].as_array().unwrap().len(), 4);
    let refused = run(&["report", &out, "--as", "aiperf"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("imported without tapes"), "{}", refused.err);
    // In its own form it goes out as it came in.
    let back = scratch.path("back");
    let ended = convert(&[&out, "--to", "vllm-sweep", "--out", &back]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let again = converted(&scratch, &[&back], "again");
    let again = document(&run(&["report", &again, "--json"]));
    let figures = |run: &Value| -> Vec<Value> {
        run["levels"].as_array().unwrap().iter().map(|level| level["figures"].clone()).collect()
    };
    assert_eq!(figures(&again), figures(&report));
}

#[test]
fn files_of_several_models_become_several_runs() {
    let scratch = Scratch::new("convert-several");
    let folder = scratch.path("results");
    std::fs::create_dir(&folder).unwrap();
    for (name, model) in [("a.json", "org/model-8b"), ("b.json", "org/model-70b")] {
        let text = std::fs::read_to_string(fixture("vllm.json")).unwrap();
        std::fs::write(format!("{folder}/{name}"), text.replace("org/model-8b", model)).unwrap();
    }
    std::fs::write(format!("{folder}/notes.json"), "{\"mine\": 1}").unwrap();
    let out = scratch.path("runs");
    let ended = convert(&[&folder, "--out", &out]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.err.contains("skipped") && ended.err.contains("notes.json"), "{ended:?}");
    assert_eq!(ended.out.lines().count(), 2, "{}", ended.out);
    for model in ["model-8b", "model-70b"] {
        assert!(Path::new(&out).join(model).join("imported.json").is_file(), "{model}");
    }
    // The folder above is taken whole.
    let answer = document(&run(&["pareto", &out, "--json"]));
    assert_eq!(answer["by"].as_object().unwrap().len(), 2);
}

#[test]
fn a_run_goes_out_in_every_form_and_comes_in_again() {
    let scratch = Scratch::new("convert-out");
    let own = simulated(&scratch, "own", "1,4");
    let formats = [
        "vllm",
        "vllm-rust",
        "vllm-sweep",
        "sglang",
        "aiperf",
        "guidellm",
        "genai-perf",
        "inference-perf",
    ];
    for format in formats {
        let files = scratch.path(format) + "/";
        let ended = convert(&[&own, "--to", format, "--out", &files]);
        assert_eq!(ended.code, Some(0), "{format} {ended:?}");
        let back = converted(&scratch, &[&files], &format!("{format}-back"));
        let report = run(&["report", &back, "--json"]);
        assert_eq!(report.code, Some(0), "{format} {report:?}");
        let (levels, sweep) = (document(&report), json(format!("{own}/sweep.json")));
        let rate = |level: &Value| level["throughput"]["requests_per_s"].as_f64().unwrap();
        for (level, own) in
            levels["levels"].as_array().unwrap().iter().zip(sweep["levels"].as_array().unwrap())
        {
            let found = level["figures"]["requests_per_s"].as_f64().unwrap_or_else(|| rate(level));
            assert!((found / rate(own) - 1.0).abs() < 1e-3, "{format}: {found} {}", rate(own));
        }
    }
}

/// What `--save-result` writes and what `convert` writes of the same run is said by one writer.
#[test]
fn the_arrivals_of_a_run_go_out_as_the_run_itself_wrote_them() {
    let scratch = Scratch::new("convert-arrivals");
    let trace = format!("{}/../../fixtures/workload/mooncake.jsonl", env!("CARGO_MANIFEST_DIR"));
    let trace = format!("--dataset-name mooncake --dataset-path {trace} --trace-speedup 100");
    let ramp = "--ramp-up-strategy linear --ramp-up-start-rps 10 --ramp-up-end-rps 100";
    let bursts = "--burst on=100,off=5,on-s=2,off-s=8";
    let cases = [
        ("", "concurrency", "throughput", false),
        ("--max-concurrency 4", "concurrency", "concurrent", false),
        ("--request-rate 20", "poisson", "poisson", false),
        ("--request-rate 20 --burstiness 0.3", "gamma", "poisson", true),
        ("--request-rate 20 --burstiness inf", "constant", "constant", false),
        (ramp, "fixed_schedule", "poisson", true),
        (bursts, "fixed_schedule", "poisson", true),
        ("--diurnal mean=20,swing=0.5,period-s=5", "fixed_schedule", "poisson", true),
        (trace.as_str(), "fixed_schedule", "poisson", true),
    ];
    for (index, (asked, aiperf, guidellm, is_told)) in cases.into_iter().enumerate() {
        let (out, saved) = (scratch.path(&format!("run-{index}")), scratch.path("saved.json"));
        let lengths = if asked.contains("dataset") { "" } else { "--isl 20 --osl 2" };
        let line = format!(
            "simulate {asked} {lengths} --num-prompts 20 --out {out} --save-result --result-filename {saved}"
        );
        let ended = run(&line.split_whitespace().collect::<Vec<_>>());
        assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
        let to_of = |run: &str, name: &str, format: &str| {
            let file = scratch.path(&format!("{name}-{index}/"));
            let ended = convert(&[run, "--to", format, "--out", &file]);
            assert_eq!(ended.code, Some(0), "{ended:?}");
            let file = ended.out.lines().next().unwrap().to_owned();
            (json(&file), ended.err.contains("has no word for"), file)
        };
        let to = |format: &str| to_of(&out, format, format);
        let (vllm, _, file) = to("vllm");
        let saved = json(&saved);
        if matches!(aiperf, "poisson" | "gamma" | "constant") {
            let back = converted(&scratch, &[&file], &format!("back-{index}"));
            let again = &to_of(&back, "again", "aiperf").0["input_config"]["phases"][0];
            assert_eq!(again["type"], aiperf, "{asked}");
        }
        for key in ["request_rate", "burstiness", "max_concurrency"] {
            assert_eq!(vllm[key], saved[key], "{asked}: {key}");
        }
        for key in ["ramp_up_strategy", "ramp_up_start_rps", "ramp_up_end_rps"] {
            assert_eq!(vllm.get(key), saved.get(key), "{asked}: {key}");
        }
        let phase = &to("aiperf").0["input_config"]["phases"][0];
        assert_eq!(phase["type"], aiperf, "{asked}");
        let (document, told, _) = to("guidellm");
        let strategy = &document["benchmarks"][0]["config"]["strategy"];
        assert_eq!((strategy["type_"].as_str(), told), (Some(guidellm), is_told), "{asked}");
    }
}

/// Each request at the instant of the wall clock at which it was sent.
#[test]
fn a_file_of_guidellm_goes_out_at_its_instants_and_in_its_order() {
    let scratch = Scratch::new("convert-clock");
    let run = converted(&scratch, &[&fixture("guidellm.json")], "run");
    let again = scratch.path("again.json");
    let ended = convert(&[&run, "--to", "guidellm", "--out", &again]);
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{ended:?}");
    let starts = |file: &str| -> Vec<f64> {
        let all = &json(file)["benchmarks"][0]["requests"]["successful"];
        let start = |one: &Value| one["info"]["timings"]["request_start"].as_f64().unwrap();
        all.as_array().unwrap().iter().map(start).collect()
    };
    let (came, went) = (starts(&fixture("guidellm.json")), starts(&again));
    assert_eq!(came.len(), went.len());
    assert!(came.iter().zip(&went).all(|(a, b)| (a - b).abs() < 1e-5), "{went:?}");
}

#[test]
fn a_single_file_goes_where_it_is_sent_and_nothing_is_written_over() {
    let scratch = Scratch::new("convert-one");
    let run = converted(&scratch, &[&fixture("vllm-detailed.json")], "run");
    let file = scratch.path("again.json");
    let ended = convert(&[&run, "--to", "vllm", "--out", &file]);
    assert_eq!((ended.code, ended.out.trim()), (Some(0), file.as_str()), "{ended:?}");
    let (before, after) = (json(fixture("vllm-detailed.json")), json(&file));
    for key in ["date", "p99_ttft_ms", "ttfts", "output_lens", "request_rate", "max_concurrency"] {
        assert_eq!(before[key].is_array(), after[key].is_array(), "{key}");
        if !before[key].is_array() {
            assert_eq!(before[key], after[key], "{key}");
        }
    }
    let again = convert(&[&run, "--to", "vllm", "--out", &file]);
    assert_eq!(again.code, Some(2));
    assert!(again.err.contains("already exists"), "{}", again.err);
    // Several files have no name of one.
    let sweep = simulated(&scratch, "sweep", "1,2");
    let file = scratch.path("sweep.json");
    let ended = convert(&[&sweep, "--to", "vllm", "--out", &file]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("there are 2 files to write"), "{}", ended.err);
    assert!(!Path::new(&file).exists());
}

#[test]
fn a_file_that_was_cut_off_is_named_and_stops_no_other() {
    let scratch = Scratch::new("convert-cut");
    let folder = scratch.path("results");
    std::fs::create_dir(&folder).unwrap();
    let good = std::fs::read_to_string(fixture("vllm.json")).unwrap();
    std::fs::write(format!("{folder}/a.json"), &good).unwrap();
    std::fs::write(format!("{folder}/b.json"), &good[..good.len() / 2]).unwrap();
    std::fs::write(format!("{folder}/._c.json"), "what macOS puts beside a file").unwrap();
    let mut lacking = json(fixture("vllm.json"));
    lacking.as_object_mut().unwrap().remove("duration");
    std::fs::write(format!("{folder}/d.json"), lacking.to_string()).unwrap();
    for (number, from) in [&[][..], &["--from", "vllm"][..]].into_iter().enumerate() {
        let out = scratch.path(&format!("out-{number}"));
        let ended = convert(&[&[folder.as_str(), "--out", &out], from].concat());
        assert_eq!(ended.code, Some(1), "{ended:?}");
        for said in
            ["b.json: no whole JSON (EOF while parsing", "d.json: the field `duration` is missing"]
        {
            assert!(ended.err.contains(said), "{}", ended.err);
        }
        assert_eq!(ended.err.matches("not imported: ").count(), 2, "{}", ended.err);
        assert!(Path::new(&format!("{out}/run.json")).exists());
    }
    // Where nothing is left, or a file was named itself, nothing is written.
    let out = scratch.path("out");
    std::fs::remove_file(format!("{folder}/a.json")).unwrap();
    for input in [folder.clone(), format!("{folder}/b.json")] {
        assert_eq!(convert(&[&input, "--out", &out]).code, Some(2));
        assert!(!Path::new(&out).exists());
    }
}

#[test]
fn what_a_file_says_names_no_other_place() {
    let scratch = Scratch::new("convert-names");
    let mut file = json(fixture("vllm-detailed.json"));
    file["backend"] = "../x\n\u{1b}[31mred".into();
    let odd = scratch.path("odd.json");
    std::fs::write(&odd, file.to_string()).unwrap();
    let run = converted(&scratch, &[&odd], "run");
    let out = scratch.path("out/");
    let ended = convert(&[&run, "--to", "vllm", "--out", &out]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let name = ended.out.trim_end().rsplit('/').next().unwrap();
    assert!(name.starts_with("x---31mred-infqps"), "{name:?}");
    assert!(Path::new(&out).join(name).is_file());
    assert_eq!(ended.out.trim_end().lines().count(), 1, "{:?}", ended.out);
}

#[test]
fn a_load_that_no_file_says_is_none_in_the_frontier() {
    let scratch = Scratch::new("convert-load");
    let folder = scratch.path("results");
    for name in ["a", "b"] {
        let place = format!("{folder}/{name}");
        std::fs::create_dir_all(&place).unwrap();
        let table = fixture("aiperf-table/profile_export_aiperf.csv");
        std::fs::copy(table, format!("{place}/profile_export_aiperf.csv")).unwrap();
    }
    let out = converted(&scratch, &[&folder], "run");
    for level in ["load-unknown-01", "load-unknown-02"] {
        assert!(Path::new(&out).join(level).join("imported.json").is_file(), "{level}");
    }
    let levels = json(format!("{out}/run.json"))["levels"].clone();
    assert_eq!(levels[0]["load"], Value::Null);
    let answer = run(&["pareto", &out, "--axes", "throughput-latency"]);
    assert!(answer.out.contains("load not known"), "{answer:?}");
    let report = run(&["report", &out]);
    assert!(report.out.contains("the load: not in the file"), "{}", report.out);
}

#[test]
fn the_devices_of_a_run_go_out_and_come_in() {
    let scratch = Scratch::new("convert-devices");
    let own = scratch.path("own");
    let line = format!(
        "simulate --tp 2 --random-input-len 64 --random-output-len 8 --levels 1,4 --out {own}"
    );
    let ended = run(&line.split_whitespace().collect::<Vec<_>>());
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
    let files = scratch.path("sweep/");
    assert_eq!(convert(&[&own, "--to", "vllm-sweep", "--out", &files]).code, Some(0));
    // Where `vllm bench sweep plot_pareto` looks for them.
    let record = json(format!("{files}BENCH--max_concurrency=4/run=0.json"));
    assert_eq!(record["tensor_parallel_size"], "2");
    let back = converted(&scratch, &[&files], "back");
    let report = document(&run(&["report", &back, "--json"]));
    assert_eq!(report["levels"][0]["about"]["devices"], 2, "{report}");
}

#[test]
fn bad_input_is_one_line_and_writes_nothing() {
    let scratch = Scratch::new("convert-bad");
    let (odd, lacking) = (scratch.path("odd.json"), scratch.path("lacking.json"));
    std::fs::write(&odd, "{\"mine\": 1}").unwrap();
    let mut file = json(fixture("vllm.json"));
    file.as_object_mut().unwrap().remove("duration");
    std::fs::write(&lacking, file.to_string()).unwrap();
    let none = scratch.path("none.json");
    let mut file = json(fixture("vllm.json"));
    file["completed"] = 0.into();
    std::fs::write(&none, file.to_string()).unwrap();
    let out = scratch.path("out");
    let good = fixture("vllm.json");
    let cases: [(&[&str], &str); 9] = [
        (
            &[&odd],
            "odd.json: its format is not known (JSON with the fields mine, ...); the formats are vllm",
        ),
        (
            &[&good, &lacking],
            "lacking.json: the field `duration` is missing, which a result of vllm bench serve has",
        ),
        (&[&none], "none.json: no request completed"),
        (&[&scratch.path("gone.json")], "gone.json: there is no such file"),
        (&[&good, "--from", "jmeter"], "--from: `jmeter` is not a format; the formats are "),
        (&[&good, "--from", "sglang"], "vllm.json: its format is vllm, not sglang; name that"),
        (&[&odd, "--from", "sglang"], "odd.json: the field `completed` is missing"),
        (&[&good, "--to", "jmeter"], "--to: `jmeter` is not a format; the formats are "),
        (&[&good, "--to", "vllm"], "vllm.json: Not a directory"),
    ];
    for (words, wanted) in cases {
        let ended = convert(&[words, &["--out", &out]].concat());
        assert_eq!(ended.code, Some(2), "{words:?} {ended:?}");
        assert!(ended.err.contains(wanted), "{words:?}: {}", ended.err);
        assert_eq!(ended.err.trim_end().lines().count(), 1, "{}", ended.err);
        assert!(!Path::new(&out).exists(), "{words:?}");
    }
    let own = simulated(&scratch, "own", "1");
    let ended = convert(&[&own, "--out", &out]);
    assert!(
        ended.err.contains("is already a run of Fizeau; `fizeau report` shows it; --to FORMAT"),
        "{}",
        ended.err
    );
}
