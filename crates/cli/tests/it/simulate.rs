//! `fizeau simulate`: a bench or a sweep in virtual time.

mod bad;
mod caches;

use std::fs::read_to_string;
use std::process::Stdio;

use serde_json::Value;

use crate::interrupt::interrupt;
use crate::stand::{Ended, Scratch, fizeau, json, run};

/// Runs `fizeau simulate` with the words of `line`, into the folder `out`.
fn simulate(line: &str, out: &str) -> Ended {
    let mut words = vec!["simulate", "--out", out];
    words.extend(line.split_whitespace());
    run(&words)
}

/// Short requests at a moderate rate.
const LINE: &str =
    "--random-input-len 64 --random-output-len 16 --num-prompts 200 --request-rate 20";

#[test]
fn a_level_has_the_files_and_the_blocks_of_a_bench() {
    let scratch = Scratch::new("simulate");
    let (out, result) = (scratch.path("run"), scratch.path("result.json"));
    let line = format!(
        "--model-config llama-3.1-8b --hardware h100-sxm --tp 2 --dataset-name random {LINE} --save-result \
         --result-filename {result}"
    );
    let ended = simulate(&line, &out);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.err.is_empty(), "{}", ended.err);
    let (first, _) = ended.out.split_once('\n').unwrap();
    assert!(first.starts_with("Simulated in virtual time, not measured: "), "{first}");
    for words in
        ["Serving Benchmark Result", "Measured by:", "no client: simulated", "Verdict:", "TP2"]
    {
        assert!(ended.out.contains(words), "{words}: {}", ended.out);
    }
    assert!(!ended.out.contains("Client threads"), "{}", ended.out);

    let record = json(format!("{out}/run.json"));
    assert_eq!(record["time"], "virtual");
    assert_eq!(record["setup"]["engine"]["kind"], "simulated");
    assert!(record["client"].is_null() && record["epoch_unix_ns"].is_null());
    assert_eq!(record["speed_of_light"]["tp"], 2);
    let summary = json(format!("{out}/summary.json"));
    assert_eq!(summary["requests"]["completed"], 200);
    assert_eq!(summary["tokens"]["output"], 3_200);
    assert_eq!(summary["client"]["stamps"], "simulated");
    assert!(summary["client"]["threads"].is_null());
    assert_eq!(summary["client"]["threads_reason"], "simulated in virtual time: nobody measured");
    assert_eq!(summary["validity"]["verdict"], "valid");
    let share = summary["speed_of_light"]["share"]["output_tokens_per_s"].as_f64().unwrap();
    assert!(share > 0.0 && share < 1.0, "{share}");
    let tapes = read_to_string(format!("{out}/tapes.jsonl")).unwrap();
    assert_eq!(tapes.lines().count(), 200);
    for file in ["model-config.json", "ttft.hdr", "itl.hdr", "e2el.hdr"] {
        assert!(std::fs::metadata(format!("{out}/{file}")).is_ok(), "{file}");
    }
    assert_eq!(json(&result)["completed"], 200);
    assert_eq!(json(&result)["backend"], "simulated");
}

/// One token a step would be the bound of another engine.
#[test]
fn drafts_do_not_beat_the_speed_of_light() {
    let scratch = Scratch::new("simulate-drafts");
    let out = scratch.path("run");
    let line = "--draft 3 --acceptance 0.9 --random-input-len 64 --random-output-len 64 --num-prompts 50 --max-concurrency 1";
    let ended = simulate(line, &out);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(json(format!("{out}/run.json"))["speed_of_light"]["draft"], 3);
    let light = json(format!("{out}/summary.json"))["speed_of_light"].clone();
    let share = light["share"]["tpot"].as_f64().unwrap();
    assert!(share > 0.5 && share < 1.0, "{share}");
    assert!(light["expected"].is_null() && light["expected_reason"].is_string());
    let again = run(&["report", &out]);
    assert_eq!(again.code, Some(0), "{again:?}");
}

/// A list of a hundred billion sizes would fill the memory; no step has more tokens than the engine has slots.
#[test]
fn a_list_of_graphs_ends_where_batches_do() {
    let scratch = Scratch::new("simulate-graphs");
    for (line, most) in
        [("--slots 100", "104"), ("--slots 300", "304"), ("--slots 10 --draft 1", "24")]
    {
        let out = scratch.path(most);
        let line = format!(
            "-v --cuda-graph-sizes 100000000000 {line} --num-prompts 5 --random-output-len 4"
        );
        let ended = simulate(&line, &out);
        assert!(
            ended.out.contains(&format!("padded up to {most};"))
                || ended.out.contains(&format!("padded up to {most},")),
            "{}",
            ended.out
        );
    }
}

/// Of memory for blocks that the engine does not have nothing is expected, also where the run is read back.
#[test]
fn the_expectation_has_the_blocks_that_the_engine_has() {
    let scratch = Scratch::new("simulate-blocks");
    let expected = |blocks: &str, name: &str| {
        let out = scratch.path(name);
        let line = format!("--num-prompts 40 --max-concurrency 20 {blocks}");
        let ended = simulate(&line, &out);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let again = run(&["report", &out, "--json"]);
        assert_eq!(
            again.out,
            read_to_string(format!("{out}/summary.json")).unwrap(),
            "{}",
            again.err
        );
        let light = json(format!("{out}/summary.json"))["speed_of_light"].clone();
        light["expected"]["output_tokens_per_s"].as_f64().unwrap()
    };
    let (all, few) = (expected("", "all"), expected("--num-gpu-blocks 300", "few"));
    assert!(few < 0.5 * all, "{few} {all}");
}

/// Nothing but the time of day may tell two runs apart.
#[test]
fn the_same_line_gives_the_same_figures() {
    let scratch = Scratch::new("simulate-twice");
    let line = format!("{LINE} --enable-prefix-caching --random-prefix-len 40");
    let both = ["one", "two"].map(|name| {
        let out = scratch.path(name);
        assert_eq!(simulate(&line, &out).code, Some(0));
        ["summary.json", "tapes.jsonl", "ttft.hdr"]
            .map(|file| read_to_string(format!("{out}/{file}")).unwrap())
    });
    assert_eq!(both[0][0], both[1][0]);
    assert_eq!(both[0][1], both[1][1]);
    assert_eq!(both[0][2], both[1][2]);
}

#[test]
fn drafts_are_accepted_by_the_seed() {
    let scratch = Scratch::new("simulate-drafts-twice");
    let line = format!("{LINE} --draft 3 --acceptance 0.7");
    let tapes = |name: &str, line: &str| {
        let out = scratch.path(name);
        assert_eq!(simulate(line, &out).code, Some(0));
        read_to_string(format!("{out}/tapes.jsonl")).unwrap()
    };
    let one = tapes("one", &line);
    assert_eq!(one, tapes("two", &line));
    assert_ne!(one, tapes("three", &format!("{line} --engine-seed 9")));
}

#[test]
fn one_level_is_held_against_the_goal_that_was_asked_for() {
    let scratch = Scratch::new("simulate-goal");
    let met = simulate(&format!("{LINE} --slo ttft<900ms"), &scratch.path("met"));
    assert_eq!(met.code, Some(0), "{met:?}");
    let line = |out: &str| {
        out.lines().find(|line| line.starts_with("p99 TTFT < ")).unwrap_or_default().to_owned()
    };
    assert!(line(&met.out).contains(" met"), "{}", met.out);
    let missed = simulate(&format!("{LINE} --slo ttft<0.001ms"), &scratch.path("missed"));
    assert_eq!(missed.code, Some(1), "{missed:?}");
    assert!(line(&missed.out).contains(" missed by "), "{}", missed.out);
    let loose = simulate(&format!("{LINE} --slo ttft<0.001ms..900ms"), &scratch.path("loose"));
    assert_eq!(loose.code, Some(0), "{loose:?}");
    assert!(loose.out.contains("met at the loose end only"), "{}", loose.out);
    let lacking = simulate(&format!("{LINE} --slo goodput>0.9"), &scratch.path("lacking"));
    assert_eq!(lacking.code, Some(2), "{lacking:?}");
    assert!(
        lacking.err.contains("the share of good requests needs goals for single requests"),
        "{lacking:?}"
    );
    let silent = simulate(LINE, &scratch.path("silent"));
    assert!(line(&silent.out).is_empty(), "{}", silent.out);
}

#[test]
fn other_ways_to_run_it() {
    let scratch = Scratch::new("simulate-ways");
    let llama = "--model-config llama-3.1-8b --hardware h100-sxm";
    for (name, flags) in [
        ("apart", "--disaggregate 1:1"),
        ("power", "--power-limit 70%"),
        ("until", "--until ci=20%"),
    ] {
        let ended = simulate(&format!("{llama} {LINE} {flags}"), &scratch.path(name));
        assert_eq!(ended.code, Some(0), "{flags}: {ended:?}");
    }
}

#[test]
fn a_run_is_read_back_and_compared_as_any_other() {
    let scratch = Scratch::new("simulate-back");
    let (one, two) = (scratch.path("one"), scratch.path("two"));
    let line = "--model-config llama-3.1-8b --hardware h100-sxm";
    assert_eq!(simulate(&format!("{line} {LINE}"), &one).code, Some(0));
    assert_eq!(simulate(&format!("{line} --tp 2 {LINE}"), &two).code, Some(0));
    let again = run(&["report", &one, "--json"]);
    assert_eq!(again.out, read_to_string(format!("{one}/summary.json")).unwrap(), "{}", again.err);
    let words = run(&["report", &one]);
    assert!(words.out.contains("a simulated engine in virtual time"), "{}", words.out);
    let compared = run(&["compare", &one, &two]);
    assert_eq!(compared.code, Some(0), "{compared:?}");
    assert!(compared.out.contains("better"), "{}", compared.out);
    assert!(
        compared.out.contains("simulated in virtual time with the same seed"),
        "{}",
        compared.out
    );
    assert!(!compared.out.contains("state of a"), "{}", compared.out);
}

#[test]
fn a_warm_up_that_leaves_nothing_is_told() {
    let scratch = Scratch::new("simulate-warm-up");
    let ended = simulate(&format!("{LINE} --warmup 300s -v"), &scratch.path("run"));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let words = ended.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "a warm-up of 300s and a cool-down of auto leave nothing of this level";
    assert!(words.contains(said), "{words}");
}

/// Runs that differ in their seed are told apart no more easily than measured ones; of one seed the settings alone make the difference.
#[test]
fn runs_of_other_seeds_are_compared_as_any_two_runs() {
    let scratch = Scratch::new("simulate-seeds");
    let runs = ["1", "2", "3", "4"].map(|seed| {
        let out = scratch.path(seed);
        assert_eq!(simulate(&format!("{LINE} --seed {seed}"), &out).code, Some(0));
        out
    });
    let compared = |a: &str, b: &str| {
        let ended = run(&["compare", a, b]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended.out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let [one, two, three, four] = &runs;
    let words = compared(one, two);
    assert!(words.contains("how much runs with other seeds differ"), "{words}");
    assert!(!words.contains("settings alone"), "{words}");
    let words = compared(&format!("{one},{two}"), &format!("{three},{four}"));
    assert!(words.contains("how much the runs of each side differ"), "{words}");
    assert!(words.contains("simulated in virtual time, not measured"), "{words}");
    let words = compared(one, one);
    assert!(words.contains("differences follow from the settings alone"), "{words}");
}

#[test]
fn an_engine_that_drafts_sends_several_tokens_at_once() {
    let scratch = Scratch::new("simulate-drafts-tokens");
    let out = scratch.path("run");
    let ended = simulate(&format!("{LINE} --draft 3 --acceptance 0.9"), &out);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let summary = json(format!("{out}/summary.json"));
    assert_eq!(summary["tokens"]["output"], 3_200);
    assert!(summary["tokens"]["tokens_per_event"].as_f64().unwrap() > 2.0);
    let again = run(&["report", &out, "--json"]);
    assert_eq!(again.out, read_to_string(format!("{out}/summary.json")).unwrap(), "{}", again.err);
}

#[test]
fn a_full_cache_is_told() {
    let scratch = Scratch::new("simulate-full");
    let line = "--random-input-len 32 --random-output-len 64 --num-prompts 60 --num-gpu-blocks 20 --max-concurrency 8";
    let ended = simulate(line, &scratch.path("run"));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.err.contains("times a request was evicted"), "{}", ended.err);
    let ended = simulate(&format!("{line} --reserve"), &scratch.path("reserved"));
    assert!(ended.err.is_empty(), "{}", ended.err);
}

#[test]
fn a_full_queue_refuses_with_429() {
    let scratch = Scratch::new("simulate-queue");
    let out = scratch.path("run");
    let line = "--random-input-len 32 --random-output-len 64 --num-prompts 60 --max-num-seqs 1 --max-waiting 2";
    // All at once: most of them are refused, which is no good run.
    assert_eq!(simulate(line, &out).code, Some(1));
    let tapes = read_to_string(format!("{out}/tapes.jsonl")).unwrap();
    assert!(tapes.contains("429") && tapes.contains("are waiting already"), "{tapes}");
}

#[test]
fn levels_make_a_sweep() {
    let scratch = Scratch::new("simulate-sweep");
    let out = scratch.path("run");
    let line = "--levels 4,1,16 --isl 32 --osl 12 --goodput ttft:500";
    let ended = simulate(line, &out);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("Simulated in virtual time, not measured"), "{}", ended.out);
    assert!(!ended.out.contains("Client:"), "{}", ended.out);
    let sweep = json(format!("{out}/sweep.json"));
    let levels = sweep["levels"].as_array().unwrap();
    assert_eq!(levels.len(), 3);
    for (level, concurrency) in levels.iter().zip([1, 4, 16]) {
        assert_eq!(level["load"]["concurrency"], concurrency);
        assert_eq!(level["status"], "finished");
        let enough_for_a_p99 = level["requests"]["completed"].as_u64().unwrap() >= 100;
        assert!(enough_for_a_p99, "{}", level["requests"]);
    }
    let page = read_to_string(format!("{out}/report.html")).unwrap();
    assert!(page.contains("Simulated in virtual time, not measured."));
    assert!(!page.contains("Was the client the bottleneck?"));
    let again = run(&["report", &out, "--json"]);
    let mut again: Value = serde_json::from_str(&again.out).unwrap();
    // The config that was kept is read, and not the one that was named.
    again["setup"]["model_config"] = sweep["setup"]["model_config"].clone();
    assert_eq!(again, sweep);
}

#[test]
fn ctrl_c_keeps_the_finished_part() {
    let scratch = Scratch::new("simulate-interrupt");
    let out = scratch.path("run");
    let line = "simulate --num-prompts 1000000000 --request-rate 10 --random-output-len 2 --out";
    let mut words: Vec<&str> = line.split_whitespace().collect();
    words.push(&out);
    let child = fizeau(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let tapes = format!("{out}/tapes.jsonl");
    while std::fs::metadata(&tapes).map_or(0, |file| file.len()) == 0 {
        std::thread::yield_now();
    }
    interrupt(&child);
    let ended = Ended::from(child.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(130), "{ended:?}");
    let summary = json(format!("{out}/summary.json"));
    assert_eq!(summary["status"], "partial");
    assert!(summary["requests"]["completed"].as_u64().unwrap() > 0);
}
