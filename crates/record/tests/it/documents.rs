//! Documents of stored runs, read and written again.

use std::fs;
use std::path::{Path, PathBuf};

use std::num::NonZeroU64;

use fizeau_core::{Millis, PerSec};
use fizeau_metrics::LoadPacing;
use fizeau_record::{
    AbDocument, CalibrationEnd, ChangedField, ClientCalibration, DeploymentRecord, Json,
    LevelDocument, OnTimeStreams, RequestedLengths, RunDocument, RunSetup, SearchDocument,
    SummaryDocument, SweepDocument, VariantDocument, WhatIfDocument,
};
use fizeau_roofline::{Device, KnownModel, System};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The text of `path` as the type writes what it read.
fn again<T: DeserializeOwned + Serialize>(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let read: T =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::to_string_pretty(&read).unwrap() + "\n"
}

/// Documents with words that were replaced since are read as those of the present, which are written in the new words.
#[test]
fn the_words_of_earlier_schemas_are_read_as_the_present_ones() {
    fn same<T: DeserializeOwned + Serialize>(name: &str) {
        let path = format!("{}/../../fixtures/runs/{name}", env!("CARGO_MANIFEST_DIR"));
        let present = fs::read_to_string(path).unwrap();
        let words = [
            ("\"row\": \"speed_of_light\"", "\"row\": \"light\""),
            ("\"side\":", "\"standing\":"),
            ("\"requested\":", "\"asked\":"),
            ("\"requested_mean\":", "\"asked_mean\":"),
            ("\"kind\": \"plateau\"", "\"found\": \"plateau\""),
            ("\"tpot_alone_ms\":", "\"tpot_ms\":"),
            ("\"purpose\": \"search\"", "\"purpose\": \"evaluation\""),
            ("\"judgement\": \"met\"", "\"judgement\": \"held\""),
            ("\"answer\": {\n    \"load\"", "\"found\": {\n    \"load\""),
        ];
        let schemas =
            ["search", "summary", "sweep", "whatif"].map(|kind| format!("fizeau.{kind}/"));
        let earlier = words.iter().fold(present.clone(), |text, (new, old)| text.replace(new, old));
        let earlier = schemas
            .iter()
            .fold(earlier, |text, kind| text.replace(&format!("{kind}2"), &format!("{kind}1")));
        assert!(earlier.contains("/1\"") && earlier.contains("\"light\""), "{name}");
        let read: T = serde_json::from_str(&earlier).unwrap();
        assert_eq!(serde_json::to_string_pretty(&read).unwrap() + "\n", present, "{name}");
    }
    same::<SummaryDocument>("bench/summary.json");
    same::<SweepDocument>("simulated/sweep.json");
    same::<SearchDocument>("search/search.json");
    same::<WhatIfDocument>("what-if/whatif.json");
}

/// All files below `folder`.
fn below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { below(&path, files) } else { files.push(path) }
    }
}

#[test]
fn what_was_stored_is_written_again_to_the_same_bytes() {
    let runs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs");
    let mut files = Vec::new();
    below(Path::new(runs), &mut files);
    let mut seen = std::collections::BTreeMap::<&str, u32>::new();
    for path in &files {
        let (name, again) = match path.file_name().and_then(|name| name.to_str()) {
            Some("run.json") => ("run", again::<RunDocument>(path)),
            Some("level.json") => ("level", again::<LevelDocument>(path)),
            Some("ab.json") => ("ab", again::<AbDocument>(path)),
            Some("search.json") => ("search", again::<SearchDocument>(path)),
            Some("summary.json") => ("summary", again::<SummaryDocument>(path)),
            Some("sweep.json") => ("sweep", again::<SweepDocument>(path)),
            Some("whatif.json") => ("whatif", again::<WhatIfDocument>(path)),
            _ => continue,
        };
        if std::env::var_os("FIZEAU_BLESS").is_some() {
            fs::write(path, &again).unwrap();
        }
        assert_eq!(again, fs::read_to_string(path).unwrap(), "{}: FIZEAU_BLESS=1", path.display());
        *seen.entry(name).or_default() += 1;
    }
    assert!(
        ["run", "level", "ab", "search", "summary", "sweep", "whatif"]
            .iter()
            .all(|name| seen.contains_key(name)),
        "{seen:?}"
    );
}

#[test]
fn a_goal_is_the_same_however_it_was_typed() {
    let of = |goal: &str| {
        let mut document =
            RunDocument::new(RunSetup::default(), Json::default(), RequestedLengths::default());
        document.goodput = vec![goal.to_owned()];
        document.fields()
    };
    let differing = |other: &str| of("ttft:500.0").differing(&of(other), &["goodput"]).len();
    assert_eq!((differing("ttft:500"), differing("ttft:501")), (0, 1));
}

#[test]
fn only_null_and_what_has_no_parts_are_empty() {
    for (text, is_empty) in [
        ("null", true),
        ("[]", true),
        ("{}", true),
        ("[0]", false),
        ("{\"a\":1}", false),
        ("0", false),
    ] {
        assert_eq!(Json::parse(text).unwrap().is_empty(), is_empty, "{text}");
    }
}

fn run(plan: serde_json::Value) -> RunDocument {
    let plan: Json = serde_json::from_value(plan).unwrap();
    RunDocument::new(RunSetup::default(), plan, RequestedLengths::default())
}

/// What sets a run's pace, its prompts and its draws apart is in its plan, or nobody knows it.
#[test]
fn a_run_has_the_pace_the_salt_and_the_seed_of_its_plan() {
    let plan = serde_json::json!({"arrivals": "closed_loop", "salt": 7, "seed": 9, "requests": 5});
    let own = run(plan);
    assert_eq!((own.pace(), own.salt(), own.seed()), (LoadPacing::ClosedLoop, Some(7), Some(9)));
    assert_eq!(own.fields().get("plan.requests"), None, "that is each level's own");
    let at_once = run(serde_json::json!({"arrivals": "all_at_once"}));
    assert_eq!((at_once.pace(), at_once.salt()), (LoadPacing::AllAtOnce, None));
    let open = run(serde_json::json!({"arrivals": {"poisson": {"rate": 2.0}}, "salt": "7"}));
    assert_eq!((open.pace(), open.salt()), (LoadPacing::OpenLoop, None));
}

/// What is measured and how must be the same; when, by whom and by which program need not.
#[test]
fn a_sweep_is_resumed_by_a_run_that_asks_for_the_same() {
    let plan = serde_json::json!({"arrivals": "closed_loop", "seed": 9});
    let before = run(plan.clone());
    let differing = |change: &dyn Fn(&mut RunDocument)| {
        let mut now = run(plan.clone());
        change(&mut now);
        let fields = before.differing_when_resumed(&now);
        fields.into_iter().map(|field| field.field).collect::<Vec<_>>()
    };
    assert_eq!(differing(&|_| {}), [""; 0]);
    assert_eq!(differing(&|now| now.version = "another".to_owned()), [""; 0]);
    assert_eq!(differing(&|now| now.setup.command_line.push("--quiet".to_owned())), [""; 0]);
    assert_eq!(differing(&|now| now.slo = Some("p99 ttft<1s".to_owned())), ["slo"]);
    assert_eq!(
        differing(&|now| now.setup.endpoint.model = "m".to_owned()),
        ["setup.endpoint.model"]
    );
    // That a list was empty is said by what stands in it now.
    assert_eq!(differing(&|now| now.goodput = vec!["ttft:500".to_owned()]), ["goodput[0]"]);
    assert_eq!(
        differing(
            &|now| now.plan = Json::parse("{\"arrivals\":\"closed_loop\",\"seed\":8}").unwrap()
        ),
        ["plan.seed"]
    );
}

#[test]
fn a_field_that_differs_is_shown_as_a_person_would_write_it() {
    let values = |field: &str, baseline: &str, candidate: Option<&str>| {
        ChangedField {
            field: field.to_owned(),
            baseline: Some(baseline.to_owned()),
            candidate: candidate.map(str::to_owned),
        }
        .values()
    };
    assert_eq!(values("timeouts.connect_ms", "1500.0", Some("250.0")), ["1.5 s", "250 ms"]);
    assert_eq!(values("plan.rate", "1500.0", Some("2.5")), ["1500", "2.5"]);
    assert_eq!(values("levels[0].release_for_ms", "30000", None), ["30000", "none"]);
    assert_eq!(values("goodput", "[]", Some("null")), ["none", "none"]);
    assert_eq!(values("a", "\"words\"", Some("[1,2]")), ["words", "[1,2]"]);
    assert_eq!(values("a", "true", Some("not JSON")), ["true", "not JSON"]);
    // Their values are JSON in JSON, and text where they are none.
    let field = ChangedField {
        field: "a".to_owned(),
        baseline: Some("{\"b\":[1,\"two\"]}".to_owned()),
        candidate: None,
    };
    let json = serde_json::to_value(&field).unwrap();
    assert_eq!(
        json,
        serde_json::json!({"field": "a", "baseline": {"b": [1, "two"]}, "candidate": null})
    );
    assert_eq!(serde_json::from_value::<ChangedField>(json).unwrap(), field);
}

#[test]
fn a_client_s_own_ceiling_is_told_as_a_limit_or_as_the_end_of_the_search() {
    let mut ceiling = ClientCalibration {
        threads: 4,
        streams: 256,
        tokens_per_s: PerSec::new(123_456.7),
        requests_per_s: PerSec::new(987.6),
        on_time: OnTimeStreams {
            streams: 128,
            stream_tokens_per_s: PerSec::new(50.0),
            lateness_ms: Millis::new(10.0),
            reached: CalibrationEnd::Limit,
        },
    };
    let words = ceiling.words();
    let lines: Vec<&str> = words.lines().map(str::trim).collect();
    assert_eq!(lines[0], "this client's own ceiling on this machine, 4 threads:");
    assert_eq!(lines[1], "flat out, 256 streams    123457 tokens/s, 988 requests/s");
    assert_eq!(lines[2], "sent on time up to      128 streams of 50 tokens/s");
    assert_eq!(lines[3], "(lateness p99 at most 10 ms)");
    ceiling.on_time.reached = CalibrationEnd::EndOfSearch;
    assert!(ceiling.words().contains("sent on time up to      at least 128 streams"));
}

/// How many devices, how they are spread, and what is not as the config says.
#[test]
fn a_deployment_is_told_in_words() {
    let model = KnownModel::named("llama-3.1-8b").unwrap().model().unwrap();
    let device = Device::named("h100-sxm").unwrap();
    let words = |change: &dyn Fn(&mut DeploymentRecord)| {
        let mut record = DeploymentRecord::default();
        change(&mut record);
        let system: System = record.system(model.clone(), device.clone()).unwrap();
        record.words(&system)
    };
    assert_eq!(words(&|_| {}), "one device");
    assert_eq!(words(&|of| of.tp = 8), "8 devices, TP8");
    assert_eq!(words(&|of| of.replicas = 3), "3 devices, a replica on each");
    assert_eq!(words(&|of| (of.tp, of.replicas) = (2, 3)), "6 devices, 3 replicas of TP2");
    let all = words(&|of| {
        of.weights = Some("fp8".to_owned());
        of.kv = Some("fp8".to_owned());
        of.max_num_seqs = NonZeroU64::new(64);
        of.draft = 3;
    });
    let said = "one device; weights fp8; KV cache fp8; at most 64 sequences at once; drafts of 3";
    assert_eq!(all, said);
    // What is automatic is as the config has it.
    let stored = |kv: &str| {
        let mut record = DeploymentRecord::default();
        (record.weights, record.kv) = (Some("AUTO".to_owned()), Some(kv.to_owned()));
        record.deployed(model.clone()).unwrap().0
    };
    assert_eq!(stored("auto"), model);
    assert_ne!(stored("fp8"), model);
    let refused = |share: f64| {
        let mut record = DeploymentRecord::default();
        record.memory_share = share;
        record.system(model.clone(), device.clone()).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!((refused(1.0), refused(0.01)), (Ok(()), Ok(())));
    for share in [0.0, -0.1, 1.01, f64::NAN] {
        let why = format!("the memory share is {share}; it must be above 0 and at most 1");
        assert_eq!(refused(share), Err(why));
    }
}

#[test]
fn a_variant_is_named_by_what_sets_it_apart() {
    let path = format!("{}/../../fixtures/runs/what-if/whatif.json", env!("CARGO_MANIFEST_DIR"));
    let document: WhatIfDocument =
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let mut variant: VariantDocument = document.variants[0].clone();
    let setting = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    variant.settings = [("weights", "fp8"), ("tp", "2")].map(setting).into();
    assert_eq!(variant.name(), "tp 2, weights fp8");
    variant.settings.clear();
    assert_eq!(variant.name(), "");
}
