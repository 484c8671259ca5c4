//! One flag has one meaning in every command, by each of its names.

use fizeau::core::Nanos;

use crate::stand::{Ended, HOWEVER_BUSY, Scratch, fixed, json, run};

fn simulate(line: &str) -> Ended {
    let words: Vec<&str> = ["simulate"].into_iter().chain(line.split_whitespace()).collect();
    let ended = run(&words);
    assert_eq!(ended.code, Some(0), "{line}: {ended:?}");
    ended
}

#[test]
fn each_name_of_a_flag_gives_the_same_run() {
    for (one, other) in [
        (
            "--isl 64 --osl 8 --concurrency 4",
            "--random-input-len 64 --output-len 8 --max-concurrency 4",
        ),
        ("--rate 20", "--request-rate 20"),
        ("--rate 20 --duration 2", "--request-rate 20 --level-seconds 2"),
    ] {
        let [one, other] =
            [one, other].map(|flags| simulate(&format!("--num-prompts 50 {flags}")).out);
        assert_eq!(one, other);
    }
}

#[test]
fn lengths_are_the_same_unasked_in_every_command_and_those_of_vllm_in_its_own_data_set() {
    let scratch = Scratch::new("usual-lengths");
    let asked = |name: &str, line: &str| {
        let out = scratch.path(name);
        simulate(&format!("{line} --num-prompts 5 --out {out}"));
        let workload = json(format!("{out}/run.json"))["setup"]["workload"].clone();
        ["input_tokens", "output_tokens"].map(|key| workload[key].as_str().unwrap().to_owned())
    };
    let level = asked("level", "");
    assert!(level[0].starts_with("uniform 512 to 1536"), "{level:?}");
    assert!(level[1].starts_with("uniform 64 to 192"), "{level:?}");
    assert_eq!(level, asked("sweep", "--levels 1"));
    assert_eq!(level, asked("ranged", "--random-range-ratio 0.5"));
    assert_eq!(asked("given", "--isl 1024 --osl 128"), asked("vllm", "--dataset-name vllm-random"));
}

#[test]
fn nothing_is_sent_after_the_time_of_a_level() {
    let scratch = Scratch::new("level-seconds");
    for (name, load, least, most) in
        [("rate", "--rate 50", 60, 150), ("slots", "--concurrency 4", 5, 50)]
    {
        let out = scratch.path(name);
        simulate(&format!("{load} --level-seconds 2 --out {out}"));
        let summary = json(format!("{out}/summary.json"));
        let sent = summary["requests"]["sent"].as_u64().unwrap();
        assert!((least..=most).contains(&sent), "{name}: {sent}");
        assert_eq!(json(format!("{out}/run.json"))["levels"][0]["release_for_ms"], 2000.0);
    }
}

#[test]
fn goals_that_are_missed_are_exit_code_1_and_those_that_hold_say_by_how_much() {
    let [a, b] = [20, 1].map(|ms| fixed(Nanos::from_millis(ms), Nanos::from_micros(100)));
    let [slow, fast] = [a.base_url(), b.base_url()];
    let small = "--model m --isl 4 --osl 4 --num-prompts 20 --num-warmups 1 --concurrency 1";
    let measured = |line: &str, slo: &str| {
        let words = line.split_whitespace().chain(small.split_whitespace());
        let words: Vec<&str> = words.chain(["--slo", slo]).chain(HOWEVER_BUSY).collect();
        run(&words)
    };
    let met = measured(&format!("bench --base-url {slow}"), "p50 ttft<10s");
    assert_eq!(met.code, Some(0), "{met:?}");
    assert!(
        met.out.contains("p50 TTFT < 10000 ms:") && met.out.contains("met, measured"),
        "{}",
        met.out
    );
    let missed = measured(&format!("bench --base-url {slow}"), "p50 ttft<10ms");
    assert_eq!(missed.code, Some(1), "{missed:?}");
    assert!(missed.out.contains("missed by "), "{}", missed.out);
    let scratch = Scratch::new("goals");
    let out = scratch.path("ab");
    let ab = format!("ab --rounds 5 --settle 0s --a {fast} --b {slow} --out {out}");
    let ended = measured(&ab, "p50 ttft<10ms");
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.out.contains("B misses the goals: p50 TTFT < 10 ms: missed"), "{}", ended.out);
    let b = &json(format!("{out}/ab.json"))["b_goals"][0];
    assert_eq!((&b["goal"], &b["met"]), (&"p50 ttft<10ms".into(), &false.into()), "{b}");
}

#[test]
fn a_flag_of_another_command_is_answered_with_the_one_to_type() {
    for (line, said) in [
        ("bench --target http://x", "--base-url"),
        ("bench --request-count 5", "--num-prompts"),
        ("report --out x", "--html"),
        ("whatif --tp 2", "simulate"),
        ("sweep --profile chat", "--prefer"),
        ("sol --gpu h100", "--hardware"),
        ("ab --a x --b y --port 1", "--a URL"),
    ] {
        let ended = run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(ended.code, Some(2), "{ended:?}");
        let tip = ended.err.lines().find(|line| line.contains("tip: ")).unwrap_or_default();
        assert!(tip.contains(said) && !ended.err.contains("similar"), "{line}: {}", ended.err);
    }
}

#[test]
fn a_number_that_is_none_is_named_with_its_unit_and_its_range() {
    for (command, flag, value, says) in [
        ("bench", "num-prompts", "abc", "give a whole number of at least 1"),
        ("bench", "num-prompts", "-1", "give a whole number of at least 1"),
        ("sweep", "levels", "1..8", "give whole numbers, separated by commas, such as 1,2,4,8"),
        ("serve", "per-step", "5", "add a unit (ns, us, ms, s, m or h), such as 5us"),
        ("bench", "level-seconds", "1x", "give a time, such as 30, 30s or 500ms"),
        ("sol", "memory-share", "90", "give a share above 0 and at most 1, such as 0.9 or 90%"),
        ("bench", "request-rate", "x", "give requests per second above 0, or inf for all at once"),
        ("bench", "max-num-seqs", "0", "give a whole number of at least 1"),
        ("bench", "port", "99999", "give a whole number from 0 to 65535"),
        ("bench", "random-prefix-len", "1k", "give a whole number of tokens"),
        ("serve", "max-model-len", "1", "give a whole number of tokens from 2"),
        (
            "sol",
            "tp",
            "1,2",
            "give a whole number; `fizeau simulate` takes several and compares them",
        ),
        (
            "bench",
            "max-concurrency",
            "1,8,64",
            "give a whole number of at least 1; `fizeau sweep` takes several",
        ),
        (
            "bench",
            "request-rate",
            "1,2",
            "give requests per second above 0, or inf for all at once; `fizeau sweep` takes several",
        ),
        ("bench", "seed", "kind=static,value=7", "give a whole number"),
        ("simulate", "max-num-seqs", "0", "give a whole number of at least 1"),
    ] {
        let ended = run(&[command, &format!("--{flag}={value}")]);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert_eq!(ended.err.trim_end(), format!("error: --{flag} {value}: {says}"));
    }
}

#[test]
fn the_overview_fits_a_terminal_of_eighty_columns() {
    let text = run(&["--help"]).out;
    let list = text.lines().filter(|line| line.starts_with("  ") || line.contains(';'));
    list.for_each(|line| assert!(line.chars().count() <= 80, "{line}"));
}
