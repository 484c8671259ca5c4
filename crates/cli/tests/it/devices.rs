//! Devices: the list, each one's figures, and one of the user's own.

use std::fs;

use fizeau::core::Nanos;
use fizeau::roofline::Device;
use serde_json::Value;

use crate::stand::{Ended, Scratch, fixed, json, run};

fn printed(arguments: &[&str]) -> String {
    let ended = run(arguments);
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{arguments:?}");
    ended.out
}

fn refused(arguments: &[&str]) -> String {
    let ended = run(arguments);
    assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{ended:?}");
    assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
    ended.err
}

#[track_caller]
fn fits(text: &str) {
    let long = text.lines().find(|line| line.chars().count() > 80);
    assert_eq!(long, None);
    assert_eq!(text.lines().find(|line| line.ends_with(' ')), None);
}

#[test]
fn the_list_has_every_device_in_a_line_of_a_terminals_width() {
    let list = printed(&["devices"]);
    fits(&list);
    for device in Device::all() {
        let lines = list.lines().filter(|line| line.split(' ').next() == Some(&device.name));
        assert_eq!(lines.count(), 1, "{}", device.name);
    }
    let hopper = list.lines().find(|line| line.starts_with("h100-sxm ")).unwrap();
    let cells: Vec<&str> = hopper.split_whitespace().collect();
    let expected = ["h100-sxm", "80", "3350", "990", "1979", "-", "450", "700", "1.99-6.16"];
    assert_eq!(cells, expected);
}

#[test]
fn one_device_has_each_figure_with_its_source() {
    for name in ["h100-sxm", "B300", "rtx-5090", "gaudi3", "tpu-v6e", "h200-nvl", "dgx-spark"] {
        let text = printed(&["devices", name]);
        fits(&text);
        let device = Device::named(name).unwrap();
        assert!(text.starts_with(&device.title));
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for cell in device.cells() {
            assert!(flat.contains(&format!("{} {}", cell.field, cell.value)), "{name}");
            let source = format!("{}, {}", cell.source, cell.date.as_deref().unwrap());
            assert!(flat.contains(&source), "{name}: {source}");
        }
        assert!(!text.contains("in doubt"), "{text}");
    }
}

#[test]
fn json_has_base_units() {
    let parsed = |text: String| -> Value { serde_json::from_str(&text).unwrap() };
    let all = parsed(printed(&["devices", "--json"]));
    assert_eq!(all["schema"], "fizeau.devices/1");
    assert_eq!(all["devices"].as_array().unwrap().len(), Device::all().len());
    let one = parsed(printed(&["devices", "mi300x", "--json"]));
    let device = &one["devices"][0];
    assert_eq!(device["memory_bytes"], 192.0 * f64::from(1 << 30));
    assert_eq!(device["dense_flop_per_s"]["bf16"], 1307.4e12);
    assert_eq!(device["dense_flop_per_s"]["fp4"], Value::Null);
    let link =
        serde_json::json!({"topology": "mesh", "bytes_per_s": 448e9, "hop_s": 1e-6, "devices": 8});
    assert_eq!(device["link"], link);
    assert_eq!(device["prices"][1]["high_usd_per_h"], 6.0);
    assert_eq!(device["figures"][0]["field"], "memory.capacity");
    assert!(device["network"].get("devices").is_none(), "as many as there are");
}

#[test]
fn a_pattern_makes_a_device_of_ones_own() {
    let scratch = Scratch::new("devices");
    let pattern = printed(&["devices", "l40s", "--toml"]);
    let path = scratch.path("mine.toml");
    fs::write(&path, &pattern).unwrap();
    assert_eq!(printed(&["devices", &path]), printed(&["devices", "l40s"]));
    assert_eq!(printed(&["devices", "--toml", &path]), pattern);

    // The figure with sparsity in the place of the dense one.
    fs::write(&path, pattern.replace("value = \"733 TFLOP/s\"", "value = \"1466 TFLOP/s\""))
        .unwrap();
    let text = printed(&["devices", &path]);
    fits(&text);
    assert!(text.contains("in doubt:\n- rates.fp8 is 4.00 times rates.bf16"), "{text}");

    fs::write(&path, pattern.replace("864 GB/s", "864 GBps")).unwrap();
    let error = refused(&["devices", &path]);
    assert!(
        error.contains("mine.toml: line ") && error.contains("`memory.bandwidth.value`"),
        "{error}"
    );
    assert!(printed(&["devices", "h100"]).contains("\n  h100-sxm; also h100, "));
    assert!(refused(&["devices", "h100-smx"]).contains("did you mean \"h100-sxm\""));
    assert!(refused(&["devices", &scratch.path("none.toml")]).contains("none.toml"));
    assert!(refused(&["devices", "mine", "--toml"]).contains("mine"));
}

#[test]
fn a_card_of_two_devices_is_said_to_be_one() {
    let card = "a card counts as 2";
    for text in [printed(&["devices"]), printed(&["devices", "mi250x"])] {
        fits(&text);
        assert!(text.contains(card), "{text}");
    }
    let one = printed(&["devices", "mi250x", "--json"]);
    let one: Value = serde_json::from_str(&one).unwrap();
    assert!(one["devices"][0]["note"].as_str().unwrap().contains(card));
    assert_eq!(one["devices"][0]["link"]["pair_bytes_per_s"], 200e9);
    let asked = ["sol", "--model-config", "llama-3.1-8b", "--hardware", "mi250x"];
    assert!(printed(&asked).contains(card));
}

/// The files that `docs/devices.md` shows are devices, and nothing is wrong with them.
#[test]
fn the_pages_files_work() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/devices.md");
    let page = fs::read_to_string(page).unwrap();
    let files: Vec<&str> =
        page.split("```toml\n").skip(1).map(|rest| rest.split_once("```").unwrap().0).collect();
    assert_eq!(files.len(), 2);
    for file in files {
        let device = Device::from_toml(file).unwrap();
        assert_eq!(device.doubts(), [""; 0], "{file}");
    }
}

const MINE: &str = r#"
name = "mine"
[memory]
capacity = "80 GB"
bandwidth = "3.35 TB/s"
[rates]
bf16 = "989.5 TFLOP/s"
"#;

fn bench(url: &str, hardware: &str, out: &str, more: &[&str]) -> Ended {
    let config = concat!(env!("CARGO_MANIFEST_DIR"), "/../roofline/data/models/llama-3.1-8b.json");
    let line = "bench --model m --random-input-len 25 --random-output-len 8 --num-prompts 20 --max-concurrency 2 \
                --threshold lateness-invalid=100s,cpu-invalid=1";
    let mut words: Vec<&str> = line.split_whitespace().collect();
    words.extend(["--base-url", url, "--out", out, "--model-config", config]);
    words.extend(["--hardware", hardware]);
    words.extend(more);
    run(&words)
}

#[test]
fn a_run_on_a_device_of_ones_own_keeps_the_file_and_can_be_computed_again() {
    let (scratch, server) =
        (Scratch::new("own-device"), fixed(Nanos::from_millis(7), Nanos::from_millis(9)));
    let url = format!("http://{}", server.addr());
    let (path, out) = (scratch.path("card.toml"), scratch.path("run"));
    fs::write(&path, MINE).unwrap();
    let ended = bench(&url, &path, &out, &[]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.err.contains("card.toml: memory.capacity is 80 GB in decimal"), "{ended:?}");
    assert_eq!(fs::read_to_string(format!("{out}/device.toml")).unwrap(), MINE);
    assert_eq!(json(format!("{out}/run.json"))["setup"]["hardware"], "mine");
    let summary = fs::read_to_string(format!("{out}/summary.json")).unwrap();
    assert!(json(format!("{out}/summary.json"))["speed_of_light"]["share"].is_object());

    let asked = run(&["report", &out, "--hardware", &path, "--json"]);
    assert_eq!(asked.err.matches("is 80 GB in decimal").count(), 1, "{}", asked.err);

    fs::remove_file(&path).unwrap();
    let again = run(&["report", &out, "--json"]);
    assert_eq!((again.code, again.out.trim_end()), (Some(0), summary.trim_end()), "{}", again.err);

    fs::write(&path, MINE.replace("bf16", "bf61")).unwrap();
    let error = bench(&url, &path, &scratch.path("never"), &[]).err;
    assert!(error.contains("--hardware") && error.contains("`rates.bf61` is not known"), "{error}");
}

#[test]
fn shards_on_a_device_of_ones_own_are_merged_with_its_file() {
    let (scratch, server) =
        (Scratch::new("own-shards"), fixed(Nanos::from_millis(7), Nanos::from_millis(9)));
    let url = format!("http://{}", server.addr());
    let path = scratch.path("card.toml");
    fs::write(&path, MINE).unwrap();
    let out = scratch.path("merged");
    let mut merge = vec!["merge".to_owned(), "--out".to_owned(), out.clone()];
    for shard in ["0/2", "1/2"] {
        let folder = scratch.path(&shard.replace('/', "-of-"));
        let ended = bench(&url, &path, &folder, &["--shard", shard, "--salt", "7"]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        merge.push(folder);
    }
    let ended = run(&merge.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
    assert_eq!(fs::read_to_string(format!("{out}/device.toml")).unwrap(), MINE);
}
