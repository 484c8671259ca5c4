//! Files of other versions and of forks.

use fizeau_record::{ImportedLevel, ImportedRun};
use serde_json::{Value, json};

use super::{close, import, record};

fn read(name: &str, file: &Value) -> ImportedLevel {
    import(name, file.to_string().as_bytes()).unwrap().remove(0)
}

/// vLLM's older clients and forks of it have keys that no other file has (`request_goodput:` with the colon): figures are no settings, by
/// which levels would be runs of their own.
#[test]
fn a_figure_that_is_not_known_does_not_tear_a_sweep() {
    let level = |cap: u64, more: &dyn Fn(&mut Value)| {
        let mut file = record("vllm.json");
        file["max_concurrency"] = cap.into();
        file["tp"] = 8.into();
        file["gpu"] = "h100".into();
        more(&mut file);
        read("vllm.json", &file)
    };
    let figures = |cap: u64| {
        level(cap, &|file| {
            file["request_goodput:"] = (1.1 * cap as f64).into();
            file["benchmark_start_time_unix"] = (1_780_000_000 + cap).into();
            file["audio_throughput"] = (0.5 * cap as f64).into();
        })
    };
    let runs = ImportedRun::of_levels([1, 4, 8].map(figures).into());
    assert_eq!(runs.iter().map(|run| run.levels().len()).collect::<Vec<_>>(), [3]);
    assert_eq!(runs[0].settings(), ["gpu=h100", "tp=8"]);
    // What a sweep varied is one, whatever it is.
    let varied = |run: u64| {
        level(4, &|file| {
            file["run_number"] = 0.into();
            file["gpu_memory_utilization"] = (0.1 * run as f64).into();
        })
    };
    assert_eq!(ImportedRun::of_levels([8, 9].map(varied).into()).len(), 2);
}

#[test]
fn an_early_file_of_sglangs_gives_its_rate_from_its_totals() {
    let name = "sglang-detailed.jsonl";
    let mut file = record(name);
    let rate = file.as_object_mut().unwrap().remove("request_throughput").unwrap();
    let level = read(name, &file);
    assert!(close(level.figure("requests_per_s").unwrap(), rate.as_f64().unwrap()));
}

/// Keys as in `guidellm/benchmark/benchmark.py` of GuideLLM 0.3: totals beside the metrics, requests in one level.
#[test]
fn a_file_of_guidellm_0_3_is_read_as_one_of_today() {
    let today = record("guidellm.json");
    let mut file = today.clone();
    let benchmark = &mut file["benchmarks"][0];
    let totals = benchmark["metrics"].as_object_mut().unwrap().remove("request_totals").unwrap();
    benchmark["request_totals"] = totals;
    benchmark["config"].as_object_mut().unwrap().remove("backend");
    benchmark["worker"] = json!({"backend_type": "openai_http", "backend_model": "org/model-3"});
    for group in ["successful", "errored"] {
        for request in benchmark["requests"][group].as_array_mut().unwrap() {
            let timings = request["info"]["timings"].clone();
            let usage = |of: &str| request[of]["text_tokens"].clone();
            *request = json!({
                "prompt_tokens": usage("input_metrics"),
                "output_tokens": usage("output_metrics"),
                "output": request["output"],
                "error": request["info"]["error"],
                "scheduler_info": {"targeted_start_time": timings["targeted_start"]},
                "start_time": timings["request_start"],
                "end_time": timings["request_end"],
                "first_token_time": timings["first_token_iteration"],
                "last_token_time": timings["last_token_iteration"],
            });
        }
    }
    file.as_object_mut().unwrap().remove("config");
    let (old, new) = (read("guidellm.json", &file), read("guidellm.json", &today));
    assert_eq!((old.counts, old.load, old.tapes.len()), (new.counts, new.load, new.tapes.len()));
    assert_eq!(old.about.model.as_deref(), Some("org/model-3"));
    for (name, value) in &new.figures {
        assert!(close(old.figures[name], *value), "{name}");
    }
}

#[test]
fn totals_in_neither_place_are_missing() {
    let mut file = record("guidellm.json");
    file["benchmarks"][0]["metrics"].as_object_mut().unwrap().remove("request_totals");
    let error = import("x.json", file.to_string().as_bytes()).unwrap_err().to_string();
    assert!(error.contains("`metrics.request_totals` is missing"), "{error}");
}
