//! Each mistake in what is asked, and when: one line that names the flag or the place in the file, and nothing sent.

use std::fmt::Write as _;

use fizeau::core::{Nanos, Tokens};
use fizeau::sim::FixedTiming;
use fizeau::sim::http::ServerConfig;

use crate::stand::{Scratch, run, serve};

/// Nothing listens there: to send anything would be exit code 3.
const NOWHERE: &str = "http://127.0.0.1:9";

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/workload");

/// Runs `fizeau bench` at `url` and expects one line with `words`, and exit code 2.
fn refused_at(url: &str, line: &str, words: &[&str]) {
    let mut arguments = vec!["bench", "--model", "m", "--base-url", url];
    arguments.extend(line.split_whitespace());
    let ended = run(&arguments);
    assert_eq!(ended.code, Some(2), "{line}: {ended:?}");
    assert!(ended.err.starts_with("error: "), "{line}: {}", ended.err);
    assert_eq!(ended.err.lines().count(), 1, "{line}: {}", ended.err);
    for word in words {
        assert!(ended.err.contains(word), "{line}: no `{word}` in: {}", ended.err);
    }
}

fn refused(line: &str, words: &[&str]) {
    refused_at(NOWHERE, line, words);
}

#[test]
fn arrivals_that_cannot_be() {
    let cases: [(&str, &[&str]); 25] = [
        ("--request-rate 1e12", &["--request-rate", "1000000000000", "1e9"]),
        ("--arrival-rescale", &["--arrival-rescale", "--request-rate"]),
        ("--request-rate 3 --burst on=1,off=0,on-s=1,off-s=1", &["--request-rate and --burst"]),
        ("--diurnal mean=1,swing=0.5,period-s=9 --request-rate-series 1:1", &["--diurnal"]),
        ("--request-rate-series 10", &["--request-rate-series 10", "RATE:SECONDS"]),
        ("--request-rate-series 10:0", &["--request-rate-series", "0 s is not a length of time"]),
        ("--request-rate-series 10:5,0:5", &["--request-rate-series", "last"]),
        ("--request-rate-series NaN:5", &["--request-rate-series", "NaN"]),
        ("--burst on=1,off=0,on-s=1", &["--burst", "`off-s` is missing"]),
        ("--burst on=1,of=0,on-s=1,off-s=1", &["--burst", "`of` is none of on, off"]),
        ("--burst on=x,off=0,on-s=1,off-s=1", &["--burst", "on needs a number"]),
        ("--burst on=1,on=2,off=0,on-s=1,off-s=1", &["--burst", "`on` comes twice"]),
        ("--burst on=-1,off=0,on-s=1,off-s=1", &["--burst", "-1"]),
        ("--burst on=1,off=0,on-s=1,off-s=1 --burstiness 2", &["--burstiness", "Poisson"]),
        ("--diurnal mean=20,swing=1.5,period-s=60", &["--diurnal", "1.5"]),
        ("--diurnal mean=inf,swing=0.5,period-s=60", &["--diurnal", "inf"]),
        (
            "--ramp-up-strategy exponential --ramp-up-start-rps 0 --ramp-up-end-rps 5",
            &["--ramp-up-strategy", "0"],
        ),
        (
            "--ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 5 --ramp-up-seconds 0",
            &["--ramp-up-seconds 0", "give a time above 0"],
        ),
        (
            "--ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 5 --request-rate 3",
            &["--request-rate and --ramp-up-strategy"],
        ),
        ("--shard 2/2 --salt 1", &["--shard", "no shard 2 of 2"]),
        ("--shard 2/2", &["--shard", "no shard 2 of 2"]),
        ("--shard 0/2", &["--shard 0/2", "--salt"]),
        ("--shard half --reuse-prompts", &["--shard half", "I/N"]),
        ("--probe-request-rate 0", &["--probe-request-rate 0", "above 0"]),
        ("--probe-request-rate 5e4", &["--probe-request-rate 50000", "at most 1000"]),
    ];
    for (line, words) in cases {
        refused(line, words);
    }
}

#[test]
fn lengths_that_cannot_be() {
    let cases: [(&str, &[&str]); 17] = [
        ("--random-input-len many", &["--random-input-len", "many", "uniform:200-300"]),
        ("--random-output-len uniform:300-200", &["--random-output-len", "300", "200"]),
        ("--random-input-len lognormal:median=500", &["--random-input-len", "sigma=0.8"]),
        ("--random-range-ratio {\"input\":0.5}", &["--random-range-ratio", "\"output\""]),
        (
            "--random-range-ratio 0.5 --random-input-len uniform:1-2",
            &["--random-range-ratio", "--random-input-len uniform:1-2"],
        ),
        ("--random-range-ratio 1.5 --range-ratio-style sglang", &["--random-input-len", "1.5"]),
        ("--length-preset chatty", &["--length-preset", "chatty", "code-generation"]),
        ("--length-pairs 0/5=1", &["--length-pairs", "0"]),
        ("--random-range-ratio -1", &["--random-range-ratio", "-1"]),
        ("--length-pairs 250", &["--length-pairs", "INPUT/OUTPUT=WEIGHT"]),
        ("--max-model-len 1000", &["1728", "--max-model-len"]),
        (
            "--max-model-len 2000 --probe-request-rate 1 --probe-input-len 1999",
            &["--probe-input-len", "2007", "--max-model-len"],
        ),
        (
            "--max-model-len 1200 --turns 2 --endpoint /v1/chat/completions",
            &["--max-model-len", "1200"],
        ),
        ("--dataset-name vllm-random --random-input-len uniform:1-2", &["--random-input-len"]),
        ("--dataset-name vllm-random --range-ratio-style sglang", &["--range-ratio-style"]),
        ("--dataset-name vllm-random --vocab-size 99999999", &["--vocab-size", "16777216"]),
        ("--dataset-name vllm-random --length-preset chat", &["--length-preset", "vllm-random"]),
    ];
    for (line, words) in cases {
        refused(line, words);
    }
}

/// Whoever typed one name of a flag looks for that one on the line.
#[test]
fn a_flag_of_several_names_is_refused_by_the_one_that_was_typed() {
    for (line, says) in [
        ("bench --isl abc", "error: --isl"),
        ("bench --isl uniform:2-1 --concurrency 1", "error: --isl"),
        ("bench --concurrency 0 --isl 4", "error: --concurrency"),
        ("bench --rate 1e12 --isl 4", "error: --rate"),
        ("bench --goal ttft<500ms --isl 4", "error: --goal"),
        ("search --slo ttft<1s --model m --host a^b", "error: --host"),
        ("sweep --rate fast", "error: --rate"),
        ("sol --model-config llama-3.1-8b --hardware h100-sxm --slo speed:3", "error: --slo"),
        ("sol --model-config llama-3.1-8b --hardware h100-sxm --isl abc", "error: --isl"),
        ("bench --random-input-len abc", "error: --random-input-len"),
    ] {
        let mut arguments: Vec<&str> = line.split(' ').collect();
        if arguments[0] == "bench" {
            arguments.extend(["--model", "m", "--base-url", NOWHERE]);
        }
        let ended = run(&arguments);
        let said = ended.err.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
        let rest = said.strip_prefix(says).unwrap_or_default();
        let is_named = ended.code == Some(2) && rest.starts_with([' ', ':']);
        assert!(is_named, "{line}: {}", ended.err);
    }
}

/// Flags of which one would do nothing.
#[test]
fn flags_that_do_not_go_together() {
    for line in [
        "--random-input-len 5 --length-preset chat",
        "--random-output-len 5 --length-pairs 1/2=3",
        "--random-range-ratio 0.5 --length-preset chat",
        "--probe-input-len 5",
        "--probe-output-len 5",
    ] {
        let line: Vec<&str> = line.split_whitespace().collect();
        let ended = run(&[&["bench", "--model", "m", "--base-url", NOWHERE], &line[..]].concat());
        assert_eq!(ended.code, Some(2), "{line:?}: {ended:?}");
        assert!(ended.err.contains(line[0]), "{line:?}: {}", ended.err);
    }
}

/// Flags that a data set or a load has no use for.
#[test]
fn flags_without_an_effect_are_refused() {
    let scratch = Scratch::new("no-effect");
    let path = scratch.path("file.jsonl");
    std::fs::write(&path, "{\"prompt\": \"a\", \"max_tokens\": 3}\n").unwrap();
    let custom = format!("--dataset-name custom --dataset-path {path}");
    let shared = format!("--dataset-name sharegpt --dataset-path {path}");
    let trace = format!("--dataset-name mooncake --dataset-path {path}");
    let prefixes = "--dataset-name prefix_repetition".to_owned();
    for (line, flag) in [
        (&custom, "--random-input-len 500"),
        (&shared, "--random-input-len 500"),
        (&trace, "--random-input-len 5"),
        (&prefixes, "--random-input-len 5"),
        (&trace, "--random-output-len 5"),
        (&prefixes, "--random-output-len 5"),
        (&custom, "--random-range-ratio 0.3"),
        (&trace, "--random-range-ratio 0.3"),
        (&trace, "--random-prefix-len 3"),
        (&prefixes, "--random-prefix-len 3"),
        (&trace, "--burstiness 4"),
        (&custom, "--vocab-size 99"),
        (&"--max-concurrency 8".to_owned(), "--burstiness 3"),
        (&"--max-concurrency 8".to_owned(), "--vocab-size 99"),
    ] {
        let name = flag.split(' ').next().unwrap();
        refused(&format!("{line} {flag}"), &[name, "has no effect"]);
    }
}

/// vLLM's own lines have them beside another data set, or try an infinite rate among others.
#[test]
fn flags_that_vllm_ignores_get_a_note() {
    let noted = |line: &str, notes: &[&str]| {
        let line = format!("simulate --num-prompts 4 --isl 8 --osl 2 {line}");
        let ended = run(&line.split_whitespace().collect::<Vec<_>>());
        assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
        for note in notes {
            assert!(ended.err.contains(&format!("note: {note} has no effect")), "{}", ended.err);
        }
    };
    noted("--request-rate inf --burstiness 3", &["--burstiness"]);
    noted(
        "--sharegpt-output-len 4 --custom-output-len 5 --prefix-repetition-prefix-len 55",
        &["--sharegpt-output-len", "--custom-output-len", "--prefix-repetition-prefix-len"],
    );
}

/// Lengths that a data set has no use for are those of the requests that calibrate the client.
#[test]
fn lengths_to_calibrate_with_are_taken() {
    let scratch = Scratch::new("calibrated-lengths");
    let path = scratch.path("none.jsonl");
    let line =
        format!("--dataset-name custom --dataset-path {path} --random-input-len 5 --calibrate");
    refused(&line, &["none.jsonl"]);
}

#[test]
fn content_that_cannot_be() {
    let cases: [(&str, &[&str]); 22] = [
        ("--dataset-name sharegpt", &["--dataset-path", "sharegpt"]),
        ("--dataset-name custom --dataset-path no/such.jsonl", &["--dataset-path no/such.jsonl"]),
        ("--dataset-name azure --dataset-path no/such.csv", &["--dataset-path no/such.csv"]),
        ("--dataset-path x.json", &["--dataset-path x.json", "random"]),
        ("--multi-turn", &["--multi-turn", "random"]),
        ("--think-time 1", &["--think-time", "--turns"]),
        ("--prefix-groups 2 --prefix-len 0", &["--prefix-len 0"]),
        ("--lora-assignment round-robin", &["--lora-assignment round-robin", "--lora-modules"]),
        ("--dataset-name azure --dataset-path /dev/null", &["/dev/null", "a pipe"]),
        (
            "--dataset-name sonnet --sonnet-input-len 9 --sonnet-prefix-len 9",
            &["--sonnet-prefix-len 9", "--sonnet-input-len 9"],
        ),
        ("--no-repeat", &["--no-repeat", "random"]),
        ("--disable-shuffle", &["--disable-shuffle", "random"]),
        ("--trace-speedup 2", &["--trace-speedup", "random"]),
        ("--ignore-trace-times", &["--ignore-trace-times", "random"]),
        ("--turns 0", &["--turns 0", "2-6"]),
        ("--turns 6-2", &["--turns 6-2"]),
        ("--turns 2 --think-time long", &["--think-time long", "exp:2"]),
        ("--prefix-groups 0 --prefix-len 3", &["--prefix-groups 0"]),
        (
            "--prefix-groups 2 --prefix-len 3 --prefix-share 1.5",
            &["--prefix-groups", "share", "1.5"],
        ),
        ("--prefix-groups 2 --prefix-len 3 --random-prefix-len 9", &["--random-prefix-len"]),
        ("--lora-modules a=0", &["--lora-modules a=0", "above 0"]),
        (
            "--dataset-name prefix_repetition --prefix-repetition-num-prefixes 0",
            &["--prefix-repetition-num-prefixes 0"],
        ),
    ];
    for (line, words) in cases {
        refused(line, words);
    }
}

#[test]
fn a_wrong_line_of_a_file_is_told_by_its_number_and_its_field() {
    let scratch = Scratch::new("wrong-lines");
    let good = r#"{"timestamp": 5, "input_length": 6, "output_length": 7, "hash_ids": [1]}"#;
    let mut trace = String::new();
    for _ in 1..48_211 {
        writeln!(trace, "{good}").unwrap();
    }
    trace.push_str("{\"timestamp\": 5, \"input_length\": \"six\", \"output_length\": 7}\n");
    let written = |name: &str, text: &str| {
        std::fs::write(scratch.path(name), text).unwrap();
        scratch.path(name)
    };
    let path = written("trace.jsonl", &trace);
    let line = format!("--dataset-name mooncake --dataset-path {path}");
    refused(&line, &["--dataset-path", "trace.jsonl", "48211", "input_length"]);
    let path = written("custom.jsonl", "{\"prompt\": \"a\"}\n\n{\"prompt\": 3}\n");
    let line = format!("--dataset-name custom --dataset-path {path}");
    refused(&line, &["custom.jsonl", "line 3", "prompt"]);
    let path =
        written("long.jsonl", "{\"prompt\": \"a\", \"input_tokens\": 900, \"max_tokens\": 200}\n");
    let line = format!("--dataset-name custom --dataset-path {path} --max-model-len 1000");
    refused(&line, &["long.jsonl, record 1", "1100", "--max-model-len"]);
    let path = written("empty.jsonl", "");
    refused(&format!("--dataset-name custom --dataset-path {path}"), &["empty.jsonl"]);
    let path = written("ids.jsonl", "{\"prompt_token_ids\": [1, 2, 3]}\n");
    let line =
        format!("--dataset-name custom --endpoint /v1/chat/completions --dataset-path {path}");
    refused(&line, &["ids.jsonl, record 1", "token ids", "--endpoint"]);
}

#[test]
fn a_file_that_is_too_short_is_refused_where_repeats_are() {
    let set = format!("--dataset-name custom --dataset-path {FIXTURES}/datasets/prompts.jsonl");
    refused(&format!("{set} --num-prompts 40 --no-repeat"), &["--no-repeat", "6 records"]);
    let trace = format!("--dataset-name burstgpt --dataset-path {FIXTURES}/burstgpt.csv");
    refused(&format!("{trace} --num-prompts 400 --no-repeat"), &["burstgpt.csv", "400"]);
    refused(&format!("{trace} --request-rate 4"), &["--request-rate", "--trace-speedup"]);
    refused(&format!("{trace} --trace-speedup 0"), &["--trace-speedup 0"]);
    refused(&format!("{trace} --num-prompts 0"), &["--num-prompts"]);
    refused(&format!("{trace} --ignore-trace-times"), &["--max-concurrency"]);
    refused(&format!("{trace} --max-model-len 100"), &["--max-model-len"]);
}

/// The server says how much it takes, and is sent nothing that is longer.
#[test]
fn lengths_beyond_what_the_server_takes_are_refused_before_any_is_sent() {
    let engine = FixedTiming::new(Nanos::from_millis(1), Nanos::from_micros(20));
    let server = serve(ServerConfig::new(engine).with_max_model_len(Tokens::new(512)));
    let url = server.base_url();
    let line = "--random-input-len 500 --random-output-len 13";
    refused_at(&url, line, &["513", "512", "the server"]);
    let trace = format!("--dataset-name azure --dataset-path {FIXTURES}/azure-2023.csv");
    refused_at(&url, &trace, &["azure-2023.csv", "512", "the server"]);
    let sweep = ["sweep", "--base-url", &url, "--model", "m", "--isl", "500", "--osl", "13"];
    let scratch = Scratch::new("long-sweep");
    let out = scratch.path("run");
    let ended = run(&[&sweep[..], &["--out", &out]].concat());
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("the server"), "{ended:?}");
    assert!(server.shutdown().is_none(), "no token was asked for");
}
