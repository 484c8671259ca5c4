//! Folders of runs, each level a row.

use fizeau::core::Nanos;
use serde_json::json;

use super::document;
use crate::stand::{Ended, Scratch, fixed, fizeau, run};

/// A simulated sweep, or with lists of values several.
fn simulated(scratch: &Scratch, name: &str, flags: &str) -> String {
    let out = scratch.path(name);
    let line = format!("simulate --isl 64 --osl 8 --num-prompts 100 --out {out} {flags}");
    let ended = run(&line.split_whitespace().collect::<Vec<_>>());
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
    out
}

fn pareto(inputs: &[&str], flags: &str) -> Ended {
    let mut words = vec!["pareto"];
    words.extend(inputs);
    words.extend(flags.split_whitespace());
    run(&words)
}

#[test]
fn a_sweeps_levels_have_the_frontier_that_the_sweep_says() {
    let scratch = Scratch::new("pareto-sweep");
    let sweep = simulated(&scratch, "plain", "--levels 1,4,16");
    let ended = pareto(&[&sweep], "");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.starts_with("3 levels of 1 run: requests_per_s (more is better)"));
    assert!(ended.out.lines().all(|line| line.chars().count() <= 80), "{}", ended.out);
    let answer = document(&pareto(&[&sweep], "--json"));
    let own = crate::stand::json(format!("{sweep}/sweep.json"));
    let own = own["frontier"].as_array().unwrap().iter();
    let own: Vec<&serde_json::Value> = own.map(|point| &point["level"]).collect();
    assert_eq!(answer["frontier"], json!(own));
    assert_eq!(answer["points"][0]["load"], "concurrency 1");
    assert_eq!(answer["by"], json!({"plain": answer["frontier"]}));

    // The table by itself goes through the same door.
    let table = pareto(&[&sweep], "--table");
    let path = scratch.path("table.csv");
    std::fs::write(&path, &table.out).unwrap();
    let flags = "--maximize requests_per_s --minimize p99_e2el_ms --json";
    assert_eq!(document(&pareto(&[&path], flags))["frontier"], answer["frontier"]);
    let csv = pareto(&[&sweep], "--csv");
    let rows: Vec<&str> = table.out.lines().collect();
    for line in csv.out.lines().skip(1) {
        let (row, _) = line.rsplit_once(',').unwrap();
        assert!(rows.contains(&row), "{row}");
    }
}

#[test]
fn a_what_if_is_taken_whole_and_each_configuration_by_its_name() {
    let scratch = Scratch::new("pareto-whatif");
    let whatif = simulated(&scratch, "tps", "--tp 1,2 --levels 1,8");
    let other = simulated(&scratch, "other", "--levels 2");
    let named = format!("lone={other}");
    let flags = "--axes interactivity --json";
    let answer = document(&pareto(&[&whatif, &named], flags));
    let names: Vec<&String> = answer["by"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["lone", "tp 1", "tp 2"]);
    // What one user gets is the better with more devices, and what a device gives the worse.
    let first = &answer["points"][0];
    assert_eq!((&first["run"], &first["load"]), (&json!("tp 1"), &json!("concurrency 1")));
    let own = |name: &str| answer["by"][name].as_array().unwrap().len();
    assert_eq!((own("tp 1"), own("tp 2"), own("lone")), (2, 2, 1));

    let text = pareto(&[&whatif, &named], "--axes cost-latency --gpu-hour 2.5");
    assert!(text.out.contains("A tp 1") && text.out.contains("C lone"), "{}", text.out);
    assert_eq!(text.err, "");
    // The price is that of an hour: 2.5 dollars for two devices over the tokens of that hour.
    let table = pareto(&[&whatif], "--table --gpu-hour 2.5");
    let mut lines = table.out.lines();
    let heads: Vec<&str> = lines.next().unwrap().split(',').collect();
    let last: Vec<&str> = lines.last().unwrap().split(',').collect();
    // The deployment has a comma and is in quotes, so columns are counted from the end.
    let cell = |name: &str| {
        let from_end = heads.len() - heads.iter().position(|head| *head == name).unwrap();
        last[last.len() - from_end].parse::<f64>().unwrap()
    };
    assert_eq!(cell("usd_per_device_hour"), 2.5);
    let expected = 5.0 / 3600.0 / cell("output_tps") * 1e6;
    assert!((cell("cost_per_million_output") / expected - 1.0).abs() < 1e-12);
    assert!((cell("output_tps_per_device") * 2.0 / cell("output_tps") - 1.0).abs() < 1e-12);
    assert!(cell("expected_energy_j_per_token") > 0.0);
}

#[test]
fn quality_and_devices_are_given_by_name() {
    let scratch = Scratch::new("pareto-quality");
    let whatif = simulated(&scratch, "formats", "--weights bf16,fp8 --levels 4");
    let flags = ["--axes", "quality-cost", "--json", "--quality", "weights fp8=0.71"];
    let half = run(&[&["pareto", &whatif], &flags[..]].concat());
    assert_eq!(document(&half)["frontier"], json!([1]), "{half:?}");
    assert!(
        half.err.contains("left out: weights bf16 at concurrency 4 (no quality)"),
        "{}",
        half.err
    );
    let both = [&["pareto", &whatif], &flags[..], &["--quality", "weights bf16=0.74"]].concat();
    assert_eq!(document(&run(&both))["frontier"], json!([0, 1]));
    for (flags, said) in [
        ("--quality fp7=0.7", "NAME is one of weights bf16, weights fp8"),
        ("--quality 0.7", "give NAME=VALUE"),
        ("--gpu-hour x", "--gpu-hour x"),
        ("--gpu-hour -2", "--gpu-hour"),
    ] {
        let refused = pareto(&[&whatif], flags);
        assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{flags}: {refused:?}");
        assert!(refused.err.contains(said), "{flags}: {}", refused.err);
    }
}

#[test]
fn of_fewer_than_100_requests_the_greatest_stands_in_as_on_the_sweeps_own_frontier() {
    let scratch = Scratch::new("pareto-few");
    let few = scratch.path("few");
    let line = format!("simulate --isl 8 --osl 4 --num-prompts 20 --levels 1,2 --out {few}");
    assert!(run(&line.split_whitespace().collect::<Vec<_>>()).code.is_some());
    let answer = document(&pareto(&[&few], "--json"));
    let own = crate::stand::json(format!("{few}/sweep.json"));
    let own: Vec<&serde_json::Value> =
        own["frontier"].as_array().unwrap().iter().map(|point| &point["level"]).collect();
    assert_eq!(answer["frontier"], json!(own));
    let columns = answer["points"][0]["greatest_for_p99"].as_array().unwrap();
    assert!(columns.contains(&json!("p99_e2el_ms")), "{columns:?}");
    let text = pareto(&[&few], "").out;
    assert!(text.contains("* fewer than 100 values"), "{text}");
    let rows = text.lines().filter(|line| line.contains(" concurrency ")).collect::<Vec<_>>();
    assert!(!rows.is_empty() && rows.iter().all(|row| row.ends_with('*')), "{text}");
    let greatest = pareto(&[&few], "--maximize requests_per_s --minimize max_e2el_ms --json");
    assert_eq!(document(&greatest)["frontier"], answer["frontier"]);
}

#[test]
fn a_load_that_was_measured_more_than_once_is_one_row() {
    let scratch = Scratch::new("pareto-repeats");
    let sweep = simulated(&scratch, "thrice", "--levels 1,8 --repeats 3 --random-range-ratio 0.5");
    let answer = document(&pareto(&[&sweep], "--json --layers"));
    assert_eq!(
        answer["layers"].as_array().unwrap().iter().flat_map(|of| of.as_array().unwrap()).count(),
        2
    );
    let own = crate::stand::json(format!("{sweep}/sweep.json"));
    let own: Vec<&serde_json::Value> =
        own["frontier"].as_array().unwrap().iter().map(|point| &point["level"]).collect();
    assert_eq!(answer["frontier"], json!(own));
    let text = pareto(&[&sweep], "--layers").out;
    assert!(text.lines().any(|line| line.contains("load") && line.contains("layer")), "{text}");
}

#[test]
fn what_is_missing_is_named_before_anything_is_read() {
    let scratch = Scratch::new("pareto-missing");
    let sweep = simulated(&scratch, "there", "--levels 1");
    let nowhere = pareto(&["nowhere"], "");
    assert_eq!(nowhere.code, Some(2), "{nowhere:?}");
    assert!(nowhere.err.contains("nowhere: there is no such folder or file"), "{}", nowhere.err);
    let quality = pareto(&[&sweep], "--axes quality-cost");
    assert_eq!(quality.code, Some(2), "{quality:?}");
    assert!(quality.err.contains("--quality: no run knows"), "{}", quality.err);
    assert_eq!(quality.err.trim_end().lines().count(), 1, "{}", quality.err);
    let column = pareto(&[&sweep], "--minimize p99_ttft");
    assert!(
        column.err.contains("`p99_ttft_ms`") && !column.err.contains("`verdict`"),
        "{}",
        column.err
    );
}

#[test]
fn folders_and_tables_do_not_mix() {
    let scratch = Scratch::new("pareto-mixed");
    let table = scratch.path("t.csv");
    std::fs::write(&table, "x\n1\n").unwrap();
    let folder = scratch.path("empty");
    std::fs::create_dir(&folder).unwrap();
    let mixed = pareto(&[&folder, &table], "");
    assert_eq!(mixed.code, Some(2));
    assert!(mixed.err.contains("t.csv is not a folder"), "{}", mixed.err);
    let nothing = pareto(&[&folder], "");
    assert_eq!(nothing.code, Some(2), "{nothing:?}");
}

#[test]
fn several_systems_are_swept_in_turn_and_have_one_frontier() {
    let scratch = Scratch::new("pareto-systems");
    let [fast, slow] = [1, 3].map(|ms| fixed(Nanos::from_millis(2), Nanos::from_millis(ms)));
    let out = scratch.path("both");
    let line = format!(
        "sweep --model m --system fast={} --system slow={} --levels 1,4 --num-prompts 100 --isl 4 --osl 3 --out {out}",
        fast.base_url(),
        slow.base_url()
    );
    // A URL of the environment is nobody's wish for this line, and one that is typed is, even the same.
    let elsewhere = "http://127.0.0.1:1";
    let words: Vec<&str> = line.split_whitespace().collect();
    let asked = |words: &[&str]| -> Ended {
        fizeau(words).env("FIZEAU_BASE_URL", elsewhere).output().unwrap().into()
    };
    let refused = asked(&[&words[..], &["--base-url", elsewhere]].concat());
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.err.contains("--system: it names the endpoints"), "{refused:?}");
    let ended = asked(&words);
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
    for name in ["fast", "slow"] {
        assert!(std::path::Path::new(&out).join(name).join("sweep.json").exists(), "{ended:?}");
    }
    assert!(ended.out.contains("levels of 2 runs: requests_per_s"), "{}", ended.out);
    let again = pareto(&[&out], "--json");
    let answer = document(&again);
    assert_eq!(answer["by"].as_object().unwrap().len(), 2, "{again:?}");
}
