//! Records that are more than text: whole bodies, token ids, rows that are left out.

use serde_json::{Value, json};

use crate::stand::{Scratch, run};
use crate::workload::{FIXTURES, Ran, bench, quick};

const CHAT: &str = "--endpoint /v1/chat/completions --max-concurrency 2";

fn written(scratch: &Scratch, name: &str, text: &str) -> String {
    let path = scratch.path(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// The lines of a batch file, each body with `content` in its only message and `fields` behind it.
fn batch(content: &Value, fields: &str) -> String {
    let line = |number: u32| {
        format!(
            r#"{{"custom_id": "{number}", "body": {{"messages": [{{"role": "user", "content": {content}}}]{fields}}}}}"#
        ) + "\n"
    };
    (0..12).map(line).collect()
}

fn cache_reasons(ran: &Ran) -> bool {
    ran.summary["validity"]["reasons"].to_string().contains("cache")
}

#[test]
fn no_run_finds_another_runs_bodies_or_token_ids_in_the_cache() {
    let (server, scratch) = (quick(), Scratch::new("salted-records"));
    let long = "why is the sky blue and not green or red ".repeat(20);
    let bodies = written(&scratch, "b.jsonl", &batch(&json!(long), ""));
    let ids: Vec<u32> = (1000..1200).collect();
    let ids =
        written(&scratch, "i.jsonl", &format!("{{\"prompt_token_ids\": {ids:?}}}\n").repeat(12));
    let cases = [
        format!("--dataset-name openai-batch --dataset-path {bodies} {CHAT}"),
        format!("--dataset-name custom --dataset-path {ids} --max-concurrency 2"),
    ];
    for (number, line) in cases.iter().enumerate() {
        let line = format!("{line} --custom-output-len 4");
        for again in 0..2 {
            let ran = bench(&server, &scratch, &format!("{number}-{again}"), &line);
            assert_eq!(ran.cached(), 0, "{line}");
            assert_eq!(ran.summary["requested"]["cache"], "none", "{line}");
        }
        let line = format!("{line} --reuse-prompts");
        let ran = bench(&server, &scratch, &format!("{number}-reused"), &line);
        assert!(ran.cached() > 0 && ran.summary["requested"]["cache"] == "reuse", "{line}");
    }
}

#[test]
fn a_body_that_no_salt_goes_into_is_said_and_its_hits_are_held_against_the_run() {
    let (server, scratch) = (quick(), Scratch::new("bare-bodies"));
    let long = "why is the sky blue and not green or red ".repeat(20);
    let parts = json!([{"type": "text", "text": long}]);
    let path = written(&scratch, "parts.jsonl", &batch(&parts, ""));
    let line =
        format!("--dataset-name openai-batch --dataset-path {path} {CHAT} --custom-output-len 4");
    let ran = bench(&server, &scratch, "run", &line);
    assert!(ran.ended.err.contains("note: parts.jsonl: 12 bodies"), "{}", ran.ended.err);
    assert_eq!(ran.summary["requested"]["cache"], "none");
    assert_eq!(ran.cached() > 0, cache_reasons(&ran), "{}", ran.summary["validity"]);
}

#[test]
fn an_output_length_of_the_command_line_goes_over_that_of_bodies() {
    let (server, scratch) = (quick(), Scratch::new("body-output"));
    let path = written(&scratch, "b.jsonl", &batch(&json!("Hi"), r#", "max_tokens": 40"#));
    let set = format!("--dataset-name openai-batch --dataset-path {path} {CHAT} --ignore-eos");
    for (name, rest, tokens) in [("own", "", 40), ("given", " --custom-output-len 9", 9)] {
        let ran = bench(&server, &scratch, name, &format!("{set}{rest}"));
        for tape in &ran.tapes {
            assert_eq!(tape["requested"]["output_tokens"], tokens, "{tape}");
            assert_eq!(tape["usage"]["completion_tokens"], tokens, "{tape}");
        }
    }
}

#[test]
fn what_is_left_out_of_a_file_is_said_and_recorded() {
    let (server, scratch) = (quick(), Scratch::new("left-out"));
    let line = format!(
        "--dataset-name burstgpt --dataset-path {FIXTURES}/burstgpt.csv --request-rate inf --max-concurrency 8"
    );
    let ran = bench(&server, &scratch, "trace", &line);
    assert_eq!(ran.run["plan"]["skipped"], 2, "{}", ran.run["plan"]);
    assert!(ran.run["plan"]["late"].is_number());
    assert_eq!(ran.run["plan"]["pacing"], "closed_loop");
    assert!(ran.ended.err.contains("note: burstgpt.csv: 2 rows"), "{}", ran.ended.err);
    let path = format!("{FIXTURES}/datasets/sharegpt.json");
    let line = format!("--dataset-name sharegpt --dataset-path {path} {CHAT}");
    let ran = bench(&server, &scratch, "records", &line);
    let dropped = &ran.run["plan"]["dropped"];
    let note = format!("note: sharegpt.json: {dropped} of ");
    assert!(
        ran.ended.err.contains(&note)
            && ran.ended.err.contains("records are left out, as vLLM does: "),
        "{}",
        ran.ended.err
    );
    // Nobody counts the answers.
    let one_length = "requests have no output length of their own, so that uniform 64 to 192 tokens are requested";
    assert!(ran.ended.err.contains(one_length), "{}", ran.ended.err);
    let given = format!("{line} --sharegpt-output-len 4");
    let ran = bench(&server, &scratch, "given", &given);
    assert!(!ran.ended.err.contains(one_length), "{}", ran.ended.err);
}

#[test]
fn a_trace_that_shares_nothing_expects_no_hits() {
    let (server, scratch) = (quick(), Scratch::new("no-share"));
    let line = |id: u32| {
        format!(
            r#"{{"timestamp": {id}e0, "input_length": 600, "output_length": 3, "hash_ids": [{id}, 9{id}]}}"#
        ) + "\n"
    };
    let path = written(&scratch, "t.jsonl", &(0..4).map(line).collect::<String>());
    let line = format!("--dataset-name mooncake --dataset-path {path}");
    let ran = bench(&server, &scratch, "run", &line);
    assert_eq!(ran.summary["requested"]["cache"], "none");
    // All at once, where nothing holds them back.
    let ran = bench(&server, &scratch, "at-once", &format!("{line} --request-rate inf"));
    assert_eq!(ran.summary["requests"]["completed"], 4);
}

#[test]
fn records_that_cannot_be_sent_are_named_before_any_is() {
    let scratch = Scratch::new("unsendable");
    let good = batch(&json!("Hi"), "");
    let several = format!("{good}{}", batch(&json!("Hi"), r#", "n": 2"#));
    let several = written(&scratch, "several.jsonl", &several);
    let extra = "{\"prompt\": \"a\"}\n{\"prompt\": \"b\", \"extra\": {\"max_tokens\": 3}}\n";
    let extra = written(&scratch, "extra.jsonl", extra);
    let ids =
        written(&scratch, "ids.jsonl", "{\"prompt_token_ids\": [1, 2, 3, 4], \"max_tokens\": 7}\n");
    let talk = "{\"turns\": [{\"prompt\": \"a\", \"input_tokens\": 5, \"max_tokens\": 4}, {\"prompt\": \"b\", \
                \"input_tokens\": 3, \"max_tokens\": 4}]}\n";
    let talk = written(&scratch, "talk.jsonl", talk);
    let trace = r#"{"timestamp": 0, "input_length": 600, "output_length": 3, "hash_ids": [1, 2]}
{"timestamp": 1, "input_length": 6, "output_length": 300, "hash_ids": [3]}
"#;
    let trace = written(&scratch, "t.jsonl", trace);
    let cases: [(String, &[&str]); 6] = [
        (
            format!("openai-batch --dataset-path {several} {CHAT}"),
            &["several.jsonl, record 13", "`n`"],
        ),
        (format!("custom --dataset-path {extra}"), &["extra.jsonl, record 2", "max_tokens"]),
        (
            format!("custom --dataset-path {ids} --max-model-len 10 --reuse-prompts"),
            &["ids.jsonl, record 1", "11"],
        ),
        (
            format!("custom --dataset-path {talk} --max-model-len 15"),
            &["talk.jsonl, record 1", "16"],
        ),
        (
            format!("mooncake --dataset-path {trace} --max-model-len 602"),
            &["t.jsonl, line 1", "603"],
        ),
        (
            format!("mooncake --dataset-path {trace} --request-rate inf --trace-speedup 2"),
            &["--trace-speedup", "--request-rate inf"],
        ),
    ];
    for (line, words) in cases {
        let line = format!("bench --model m --base-url http://127.0.0.1:9 --dataset-name {line}");
        let ended = run(&line.split_whitespace().collect::<Vec<_>>());
        assert_eq!(ended.code, Some(2), "{line}: {ended:?}");
        for word in words {
            assert!(ended.err.contains(word), "{line}: no `{word}` in: {}", ended.err);
        }
    }
    // Prompts and replies of different requests are not added up.
    let line = format!(
        "bench --model m --base-url http://127.0.0.1:9 --dataset-name mooncake --dataset-path {trace} --max-model-len 603"
    );
    let ended = run(&line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(ended.code, Some(3), "{ended:?}");
}
