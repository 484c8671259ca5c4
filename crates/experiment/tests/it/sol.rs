//! Queries of the speed of light, and measured levels for a fit.

use std::collections::HashMap;
use std::num::NonZeroU64;
use std::path::Path;

use fizeau_core::{Seconds, Tokens};
use fizeau_experiment::{FitSources, SampleError, SolSystems, SystemQuery, UnfittedServing};
use fizeau_record::InvalidLevels;
use fizeau_roofline::{CalibrationSample, MeasuredTable, UniformLoad};
use serde_json::{Value, json};

#[test]
fn the_levels_of_a_stored_run_are_samples_on_its_own_system() {
    let run = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs/simulated");
    let samples =
        SystemQuery::default().samples_of_run(Path::new(run), InvalidLevels::LeftOut).unwrap();
    // Two levels; and the steps that their tapes tell.
    let is_pass = |sample: &&Result<CalibrationSample, SampleError>| {
        sample.as_ref().is_ok_and(CalibrationSample::is_pass)
    };
    let passes = samples.iter().filter(is_pass).count();
    assert_eq!(samples.len() - passes, 2);
    assert!(passes > 0 && samples.iter().any(|sample| sample.is_ok() && !is_pass(&sample)));
    let error = SystemQuery::default()
        .samples_of_run(Path::new("nothing"), InvalidLevels::LeftOut)
        .unwrap_err();
    assert!(error.to_string().starts_with("nothing/sweep.json: "), "{error}");
}

#[test]
fn a_model_that_is_not_known_is_named_with_its_line() {
    let text = "model,hardware,isl,osl,concurrency,tpot_ms\n\
                llama-3.1-8b,h100-sxm,1024,128,8,9.5\n\
                mine,h100-sxm,1024,128,8,9.5\n\
                llama-3.1-8b,mine,1024,128,8,9.5\n";
    let table = MeasuredTable::read(text).unwrap();
    let mut sources = FitSources::new(HashMap::new());
    let found: Vec<_> = sources.samples(&table.levels);
    assert!(found[0].is_ok(), "{found:?}");
    assert!(matches!(&found[1], Err(SampleError::Model { line: 3, model, .. }) if model == "mine"));
    assert!(matches!(&found[2], Err(SampleError::Device { line: 4, .. })), "{found:?}");
}

/// A record of `passes` steps of the same batch, some with a prompt, as an engine publishes them.
fn records(passes: u64) -> String {
    let line = |counter: u64| {
        let prompts = counter % 2;
        let work = format!(
            r#"{{"num_decode_requests":8,"sum_decode_kv_tokens":4096,"num_prefill_requests":{prompts},"sum_prefill_tokens":{}}}"#,
            512 * prompts
        );
        format!(
            r#"{{"counter_id":{counter},"timing_scope":"execute_model_cuda","wall_time":0.0125,"scheduled_requests":{work}}}"#
        )
    };
    let idle = r#"{"wall_time":0.0,"scheduled_requests":{}}"#.to_owned();
    (0..passes).map(line).chain([idle]).collect::<Vec<String>>().join("\n")
}

#[test]
fn forward_passes_of_a_file_are_samples_of_the_system_that_is_said() {
    let file = std::env::temp_dir().join(format!("fizeau-passes-{}.jsonl", std::process::id()));
    let query = SystemQuery::new("llama-3.1-8b", "h100-sxm");
    for (passes, kept) in [(1, 1), (40, 40), (4_000, 1_000)] {
        std::fs::write(&file, records(passes)).unwrap();
        let samples = query.samples_of_passes(&file).unwrap();
        assert_eq!(samples.len(), kept);
        let samples = samples.into_iter().map(Result::unwrap);
        assert!(
            samples.into_iter().all(|sample| sample.is_pass() && sample.model() == "llama-3.1-8b")
        );
    }
    for (text, said) in [
        ("", "none of its forward passes processed a token"),
        ("{\"wall_time\":1.0,\"scheduled_requests\":{}}\n[\n", "line 2 is not a forward pass"),
    ] {
        std::fs::write(&file, text).unwrap();
        let error = query.samples_of_passes(&file).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    std::fs::remove_file(&file).unwrap();
    let nowhere = query.samples_of_passes(&file).unwrap_err().to_string();
    assert!(nowhere.contains("fizeau-passes"), "{nowhere}");
}

/// What nothing can take is no measurement of a pass: one such line would make errors of a million per cent.
#[test]
fn forward_passes_that_are_faster_than_the_bound_are_left_out_by_name() {
    let file = std::env::temp_dir().join(format!("fizeau-fast-{}.jsonl", std::process::id()));
    let fast = records(3).replacen("0.0125", "0.0000125", 1);
    std::fs::write(&file, fast).unwrap();
    let samples = SystemQuery::new("llama-3.1-8b", "h100-sxm").samples_of_passes(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let left_out: Vec<_> = samples.iter().filter_map(|sample| sample.as_ref().err()).collect();
    let [error] = left_out[..] else { panic!("{samples:?}") };
    assert!(error.is_by_rule());
    assert_eq!(error.reason(), "faster than the bound");
    let said = error.to_string();
    assert!(
        said.starts_with("line 1: 0.01") && said.contains("faster than the bound of 4."),
        "{said}"
    );
    assert_eq!(samples.len(), 3);
}

/// The same of the levels of a run, whatever is done with those that are not valid.
#[test]
fn levels_of_a_run_that_are_faster_than_the_bound_are_left_out() {
    let run = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs/simulated");
    let mut query = SystemQuery::default();
    query.hardware = Some("l4".into());
    let samples = query.samples_of_run(Path::new(run), InvalidLevels::Included).unwrap();
    assert!(!samples.is_empty());
    for sample in samples {
        let error = sample.unwrap_err();
        assert!(matches!(error, SampleError::BeatsBound { .. }), "{error}");
    }
}

/// What a fit takes of the simulated run, without its tapes, had its record and its levels been as the two make them.
fn samples_of(
    name: &str,
    of_run: impl Fn(&mut Value),
    of_level: impl Fn(&mut Value),
) -> Vec<Result<CalibrationSample, SampleError>> {
    let run = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs/simulated"));
    let folder = std::env::temp_dir().join(format!("fizeau-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::copy(run.join("model-config.json"), folder.join("model-config.json")).unwrap();
    let rewrite = |file: &str, change: &dyn Fn(&mut Value)| {
        let mut document = serde_json::from_slice(&std::fs::read(run.join(file)).unwrap()).unwrap();
        change(&mut document);
        std::fs::write(folder.join(file), document.to_string()).unwrap();
    };
    rewrite("run.json", &of_run);
    rewrite("sweep.json", &|sweep| {
        sweep["levels"].as_array_mut().unwrap().iter_mut().for_each(&of_level);
    });
    let samples = SystemQuery::default().samples_of_run(&folder, InvalidLevels::LeftOut).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    samples
}

/// Of 64 tokens 48 were cached, so that 16 were computed.
#[test]
fn cached_prompt_tokens_of_a_stored_run_are_not_computed() {
    let cached = |level: &mut Value| {
        level["requested"]["cache"] = json!("reuse");
        level["tokens"]["cached_share"] = json!(0.75);
    };
    let found = samples_of("cached", |_| {}, cached).remove(0).unwrap();
    let mut systems = SolSystems::default();
    let mut query = SystemQuery::new("llama-3.1-8b", "h100-sxm");
    query.deployment.max_num_seqs = NonZeroU64::new(1024);
    let system = &systems.get(&query).unwrap().system;
    let load = UniformLoad::new(Tokens::new(64), Tokens::new(8), NonZeroU64::MIN);
    let account = |sample: &CalibrationSample| {
        let debug = format!("{sample:?}");
        let (_, account) = debug.split_once("account: ").unwrap();
        account.split_once(", tpot: ").unwrap().0.to_owned()
    };
    let of = |load: &UniformLoad| {
        let sample = CalibrationSample::new(system, load, "any", Seconds::new(0.01)).unwrap();
        account(&sample)
    };
    assert_ne!(of(&load), of(&load.with_cached(Tokens::new(48))));
    assert_eq!(account(&found), of(&load.with_cached(Tokens::new(48))));
}

/// Neither are drafts plain decoding, nor is a prefill elsewhere, nor are prompts all computed that were meant to be cached.
#[test]
fn levels_that_were_served_otherwise_are_left_out_by_rule() {
    let level =
        |cache: &'static str| move |level: &mut Value| level["requested"]["cache"] = json!(cache);
    let run = |field: &'static str, value: Value| {
        move |run: &mut Value| run["speed_of_light"][field] = value.clone()
    };
    let drafts = samples_of("drafts", run("draft", json!(3)), |_| {});
    let apart = samples_of("apart", run("disaggregated", json!(true)), |_| {});
    let unknown = samples_of("unknown", |_| {}, level("share"));
    for (samples, why) in [
        (drafts, UnfittedServing::Drafts),
        (apart, UnfittedServing::Apart),
        (unknown, UnfittedServing::UnknownCache),
    ] {
        assert_eq!(samples.len(), 2);
        for sample in samples {
            let error = sample.unwrap_err();
            assert!(matches!(error, SampleError::Serving { serving, .. } if serving == why));
            assert!(error.is_by_rule(), "{error}");
        }
    }
}
