//! inference-perf: what its own reader asks of our documents, and single requests in the forms of its versions.

use fizeau_core::LoadKind;
use fizeau_interop::{ExportLevel, ForeignFile, ForeignFormats};
use fizeau_metrics::GoodputGoals;
use fizeau_record::ImportedLevel;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::round_trip::{export, imported, level, requests, tapes};
use super::{close, fixture, record};

const STAGE: &str = "inference-perf/stage_0_lifecycle_metrics.json";
const REQUESTS: &str = "inference-perf/per_request_lifecycle_metrics.json";

/// The stage of the fixture with these requests beside it.
fn with(requests: &Value) -> ImportedLevel {
    let (stage, requests) = (fixture(STAGE), requests.to_string());
    let files =
        vec![ForeignFile::new(STAGE, &stage), ForeignFile::new(REQUESTS, requests.as_bytes())];
    ForeignFormats::import(files, None).unwrap().remove(0)
}

fn all_requests() -> Value {
    serde_json::from_slice(&fixture(REQUESTS)).unwrap()
}

proptest! {
    #![proptest_config(crate::cases(16))]

    /// `analysis/analyze.py` of 0.7.0 globs `stage_*_lifecycle_metrics.json` in one folder, and passes over those without
    /// `achieved_rate`; `reportgen/base.py` computes it.
    #[test]
    fn its_reader_finds_all_stages_in_one_folder_with_the_rate_that_it_charts(
        one in requests(), other in requests(),
    ) {
        let (one, other, goals) = (tapes(&one), tapes(&other), GoodputGoals::default());
        let levels = [level("concurrency-0004", &one, &goals), level("concurrency-0008", &other, &goals)];
        let files = export("inference-perf", &levels);
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        prop_assert_eq!(names, [
            "stage_0_lifecycle_metrics.json", "stage_1_lifecycle_metrics.json", "per_request_lifecycle_metrics.json",
        ]);
        for (file, tapes) in files.iter().zip([&one, &other]) {
            let document: Value = serde_json::from_slice(&file.bytes).unwrap();
            let load = &document["load_summary"];
            let sent = tapes.iter().filter_map(|tape| tape.marks.send_start);
            let took = sent.clone().max().unwrap().saturating_since(sent.min().unwrap()).as_secs_f64();
            let rate = if took > 0.0 { tapes.len() as f64 / took } else { 0.0 };
            prop_assert!(close(load["send_duration"].as_f64().unwrap(), took));
            prop_assert!(close(load["achieved_rate"].as_f64().unwrap(), rate));
            prop_assert_eq!(&load["concurrency"], 4);
            for metric in ["time_to_first_token", "normalized_time_per_output_token", "inter_token_latency"] {
                prop_assert!(document["successes"]["latency"][metric].is_object(), "{}", metric);
            }
        }
        // The requests of all stages are in one file, stage after stage.
        let back = imported(&files);
        prop_assert_eq!(back.len(), 2);
        for (level, tapes) in back.iter().zip([&one, &other]) {
            prop_assert_eq!(level.tapes.len(), tapes.len());
            prop_assert_eq!(level.level_load(), LoadKind::Concurrency.at(4.0));
        }
    }
}

#[test]
fn a_rate_that_was_asked_is_not_that_of_a_closed_loop() {
    let mut file = record(STAGE);
    file["load_summary"]["concurrency"] = 8.into();
    let level = super::import("stage_0_x.json", file.to_string().as_bytes()).unwrap().remove(0);
    assert_eq!(level.level_load(), LoadKind::Concurrency.at(8.0));
}

#[test]
fn requests_are_read_in_the_form_of_each_version() {
    let new = with(&all_requests());
    assert_eq!((new.tapes.len(), new.about.model.as_deref()), (12, Some("org/model-8b")));
    // Before 0.7.
    let mut old = all_requests();
    for request in old.as_array_mut().unwrap() {
        let info = &mut request["info"];
        let reply = info["response_metrics"].clone();
        *info = json!({
            "input_tokens": info["input_tokens"],
            "output_tokens": reply["output_tokens"],
            "output_token_times": reply["output_token_times"],
        });
    }
    let old = with(&old);
    assert_eq!((&old.tapes, &old.figures, old.counts), (&new.tapes, &new.figures, new.counts));
}

/// The tool gives each token of a chunk the instant of the chunk.
#[test]
fn tokens_of_one_instant_are_those_of_one_chunk() {
    let of = |output: u64| {
        let mut file = all_requests();
        let reply = &mut file[0]["info"]["response_metrics"];
        reply["output_tokens"] = output.into();
        reply["output_token_times"] = json!([1000.01, 1000.02, 1000.02, 1000.02, 1000.03]);
        let level = with(&file);
        let tape = level.tapes.iter().find(|tape| tape.request.0 == 0).unwrap();
        tape.arrivals.iter().map(|event| event.tokens).collect::<Vec<_>>()
    };
    assert_eq!(of(5), [1, 3, 1]);
    // Another tokenizer counted the whole.
    assert_eq!(of(6), [2, 2, 2]);
}

#[test]
fn requests_that_do_not_fit_the_stage_are_left_with_the_reason() {
    let why = |requests: &Value| -> String {
        let level = with(requests);
        assert!(level.tapes.is_empty());
        let known = level.not_known.iter().find(|known| known.what == "tapes");
        known.map(|known| known.why.clone()).unwrap_or_default()
    };
    let mut fewer = all_requests();
    fewer.as_array_mut().unwrap().pop();
    let found = why(&fewer);
    assert!(
        found.starts_with("the file has 11 single requests, but the documents of stages have 12"),
        "{found}"
    );
    let mut failed = all_requests();
    failed[0]["error"] = json!({"error_type": "Timeout", "error_msg": ""});
    let found = why(&failed);
    assert!(found.starts_with("10 of the single requests of stage 0 succeeded, and 11"), "{found}");
    let mut whole = all_requests();
    whole[0]["info"]["response_metrics"] = json!({"output_tokens": 7});
    let found = why(&whole);
    assert!(found.contains("1 replies were not streamed and have no times of tokens"), "{found}");
}

#[test]
fn figures_of_a_stage_go_out_again_where_its_requests_are_not_there() {
    let own = super::import("stage_3_lifecycle_metrics.json", &fixture(STAGE)).unwrap().remove(0);
    let goals = GoodputGoals::default();
    let level = ExportLevel { imported: Some(&own), ..level("", &[], &goals) };
    let files = export("inference-perf", &[level]);
    assert_eq!(files.len(), 1);
    let again: Value = serde_json::from_slice(&files[0].bytes).unwrap();
    assert_eq!(again, record(STAGE));
}
