//! What cannot be simulated is refused by name, and leaves nothing behind.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::stand::{Scratch, run};

/// Runs a line that is wrong, and gives what was said of it.
fn refused(line: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let scratch = Scratch::new(&format!("simulate-bad-{number}"));
    let out = scratch.path("run");
    let mut words = vec!["simulate", "--out", &out];
    words.extend(line.split_whitespace());
    let ended = run(&words);
    assert_eq!(ended.code, Some(2), "{line}: {ended:?}");
    assert!(ended.out.is_empty(), "{line}: {}", ended.out);
    assert!(scratch.files().is_empty(), "{line}: {:?}", scratch.files());
    ended.err
}

#[test]
fn flags_that_contradict_each_other() {
    assert!(refused("--levels 1,2 --request-rate 3").contains("--request-rate"));
    assert!(refused("--levels 1,2 --max-concurrency 3").contains("--max-concurrency"));
    assert!(refused("--level-seconds 3").contains("--max-concurrency"));
    assert!(refused("--repeats 3").contains("--levels"));
    assert!(refused("--levels 0").contains("0 is not a concurrency"));
    assert!(refused("--hardware h100-sxm").contains("--model-config"));
    assert!(refused("--model-config llama-3.1-8b").contains("--hardware"));
    assert!(refused("--shard 0/2 --salt 3").contains("--shard"));
}

/// A sweep has levels of its own, and no file of vLLM's.
#[test]
fn a_sweep_takes_no_flag_of_one_level() {
    for flags in [
        "--request-rate 3",
        "--burstiness 2",
        "--arrival-rescale",
        "--ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 5",
        "--request-rate-series 10:30,20:60",
        "--burst on=100,off=5,on-s=2,off-s=8",
        "--diurnal mean=20,swing=0.5,period-s=600",
        "--trace-speedup 2",
        "--ignore-trace-times",
        "--probe-request-rate 1",
        "--max-concurrency 3",
        "--save-result",
        "--save-detailed",
        "--append-result",
        "--result-dir d",
        "--result-filename f",
        "--metadata a=b",
        "--label l",
        "--percentile-metrics ttft",
        "--metric-percentiles 50",
    ] {
        let (flag, _) = flags.split_once(' ').unwrap_or((flags, ""));
        let said = refused(&format!("--levels 1,2 {flags}"));
        assert!(said.contains(flag) && said.contains("--levels"), "{flags}: {said}");
    }
}

#[test]
fn what_a_simulation_has_not() {
    assert!(refused("--scheduling-policy priority").contains("no priorities"));
    assert!(refused("--slo nonsense").contains("--slo"));
}

#[test]
fn flags_that_would_do_nothing() {
    for (line, words) in [
        ("--transfer layers", "--disaggregate"),
        ("--drafter lookup", "--draft"),
        ("--acceptance 0.5", "--draft"),
        ("--prefix own", "--enable-prefix-caching"),
        ("--overlap two-batches", "one thing after the other"),
    ] {
        let said = refused(line);
        assert!(said.contains(words), "{line}: {said}");
    }
}

#[test]
fn numbers_that_make_no_engine_have_the_least_and_the_most_that_do() {
    for (line, words) in [
        ("--max-num-seqs 0", "at least 1"),
        ("--num-gpu-blocks 0", "at least 1"),
        ("--draft 0", "give at least 1"),
        ("--draft 100000", "from 1 to 1024"),
        (
            "--bandwidth-efficiency 1e-300",
            "--bandwidth-efficiency 1e-300: give a share from 0.001 to 1",
        ),
    ] {
        let said = refused(line);
        assert!(said.contains(words), "{line}: {said}");
    }
}

#[test]
fn a_model_that_does_not_fit() {
    let said = refused("--model-config llama-3.1-70b --hardware h100-sxm");
    assert!(said.contains("memory"), "{said}");
}

#[test]
fn a_request_that_is_longer_than_the_engine_takes() {
    let long = "--random-input-len 4000 --random-output-len 100";
    let said = refused(&format!("--num-gpu-blocks 100 {long}"));
    assert!(said.contains("4100") && said.contains("1600"), "{said}");
    assert!(
        said.contains("cache of 100 blocks") && said.contains("--num-gpu-blocks 257"),
        "{said}"
    );
    let said = refused(&format!("--max-model-len 2000 {long}"));
    assert!(said.contains("4100") && said.contains("2000"), "{said}");
    let said = refused(&format!("--levels 1,2 --max-model-len 2000 {long}"));
    assert!(said.contains("4100") && said.contains("2000"), "{said}");
}
