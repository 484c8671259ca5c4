//! What is asked, and when: each law, data set and trace reaches the endpoint and the record as it was asked for.

use fizeau::core::Nanos;
use fizeau::sim::FixedTiming;
use fizeau::sim::http::{ServerConfig, ServerHandle};
use serde_json::{Value, json};

use crate::stand::{Ended, HOWEVER_BUSY, Scratch, json as read, run, serve};

pub(crate) const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/workload");

/// A quick server with a prefix cache.
pub(crate) fn quick() -> ServerHandle {
    let engine = FixedTiming::new(Nanos::from_millis(1), Nanos::from_micros(20));
    serve(ServerConfig::new(engine.with_prefixes(None)))
}

/// A run, and what it left.
pub(crate) struct Ran {
    pub(crate) ended: Ended,
    pub(crate) run: Value,
    pub(crate) summary: Value,
    pub(crate) tapes: Vec<Value>,
}

/// Runs `fizeau bench` with the words of `line` at `server`, however busy the machine is.
pub(crate) fn bench(server: &ServerHandle, scratch: &Scratch, name: &str, line: &str) -> Ran {
    let (url, out) = (server.base_url(), scratch.path(name));
    let mut arguments = vec![
        "bench",
        "-v",
        "--model",
        "m",
        "--base-url",
        &url,
        "--out",
        &out,
        "--num-warmups",
        "1",
    ];
    arguments.extend(HOWEVER_BUSY);
    arguments.extend(line.split_whitespace());
    let ended = run(&arguments);
    assert_eq!(ended.code, Some(0), "{line}: {ended:?}");
    let tapes = std::fs::read_to_string(format!("{out}/tapes.jsonl")).unwrap();
    Ran {
        ended,
        run: read(format!("{out}/run.json")),
        summary: read(format!("{out}/summary.json")),
        tapes: tapes.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
    }
}

impl Ran {
    /// The gaps between intended instants, in order of requests.
    fn gaps(&self) -> Vec<u64> {
        let intended = |tape: &Value| tape["marks"]["intended_ns"].as_u64().unwrap();
        let mut at: Vec<u64> = self.tapes.iter().map(intended).collect();
        at.sort_unstable();
        at.windows(2).map(|two| two[1] - two[0]).collect()
    }

    pub(crate) fn cached(&self) -> u64 {
        self.summary["tokens"]["cached_input"].as_u64().unwrap()
    }
}

#[test]
fn each_law_of_arrivals_is_recorded_and_kept() {
    let (server, scratch) = (quick(), Scratch::new("laws"));
    let cases = [
        ("--request-rate 400", "gamma", json!(400.0), json!(1.0)),
        (
            "--request-rate 400 --burstiness 0.5 --arrival-rescale",
            "gamma",
            json!(400.0),
            json!(2.0),
        ),
        ("--request-rate 400 --burstiness inf", "constant", json!(400.0), json!(0.0)),
        (
            "--burst on=400,off=0,on-s=0.1,off-s=0.1",
            "on_off",
            json!(200.0),
            // 1 + 2 (10)(10)(400)^2 / (20^2 (400 * 10)): see Arrivals::asked.
            json!(21.0),
        ),
        ("--diurnal mean=300,swing=0.5,period-s=0.2", "diurnal", json!(300.0), Value::Null),
    ];
    for (number, (line, law, rate, cv_squared)) in cases.into_iter().enumerate() {
        let line = format!("{line} --random-input-len 20 --random-output-len 4 --num-prompts 40");
        let ran = bench(&server, &scratch, &format!("{number}"), &line);
        assert!(ran.run["plan"]["arrivals"][law].is_object(), "{line}: {}", ran.run["plan"]);
        let asked = &ran.run["setup"]["workload"]["requested"]["arrivals"];
        assert_eq!(asked["rate_per_s"], rate, "{line}");
        assert_eq!(asked["cv_squared"], cv_squared, "{line}");
        let intended = &ran.summary["arrivals"]["intended"];
        assert_eq!(intended["n"], 39, "{line}");
        assert!(ran.ended.out.contains("requested/planned/sent"), "{}", ran.ended.out);
    }
    let even = bench(
        &server,
        &scratch,
        "even",
        "--request-rate-series 1000:0.01,100:1 --burstiness inf --num-prompts 20 --random-output-len 4",
    );
    let gaps = even.gaps();
    assert!(gaps[..8].iter().all(|&gap| gap == 1_000_000), "{gaps:?}");
    assert!(gaps[11..].iter().all(|&gap| gap.abs_diff(10_000_000) <= 1), "{gaps:?}");
}

#[test]
fn a_salt_changes_the_prompts_and_nothing_else() {
    let (server, scratch) = (quick(), Scratch::new("salt"));
    let line =
        "--request-rate 400 --seed 7 --num-prompts 20 --random-input-len 64 --random-output-len 4";
    let first = bench(&server, &scratch, "first", line);
    let second = bench(&server, &scratch, "second", line);
    let salt = first.run["plan"]["salt"].as_u64().unwrap();
    assert_ne!(second.run["plan"]["salt"], salt);
    assert_eq!(first.gaps(), second.gaps());
    assert_eq!((first.cached(), second.cached()), (0, 0));
    let said = format!("--salt {salt}");
    assert!(first.ended.out.contains(&said), "{}", first.ended.out);
    let again = bench(&server, &scratch, "again", &format!("{line} {said}"));
    assert_eq!(again.gaps(), first.gaps());
    assert!(again.cached() > 0, "the same prompts as the first run's");
    let reasons = again.summary["validity"]["reasons"].to_string();
    assert!(reasons.contains("cache"), "nobody asked for hits: {reasons}");
    let reused = |name: &str| bench(&server, &scratch, name, &format!("{line} --reuse-prompts"));
    assert_eq!(reused("reused").cached(), 0);
    let reused = reused("reused-again");
    assert!(reused.cached() > 0);
    assert_eq!(reused.run["plan"]["salt"], 0);
    assert_eq!(reused.summary["requested"]["cache"], "reuse");
}

#[test]
fn each_format_of_records_is_sent_and_recorded() {
    let (server, scratch) = (quick(), Scratch::new("records"));
    let chat = "--endpoint /v1/chat/completions --max-concurrency 2";
    let cases = [
        ("sharegpt", "sharegpt.json", chat, 4),
        ("sharegpt", "sharegpt.json", "--endpoint /v1/chat/completions --multi-turn", 5),
        ("custom", "prompts.jsonl", "--max-concurrency 2", 7),
        ("openai-batch", "openai_batch.jsonl", chat, 3),
    ];
    for (number, (name, file, rest, least)) in cases.into_iter().enumerate() {
        let path = format!("{FIXTURES}/datasets/{file}");
        let line = format!("--dataset-name {name} --dataset-path {path} {rest}");
        let ran = bench(&server, &scratch, &format!("{number}"), &line);
        // Left to itself, a small data set is sent once.
        let completed = ran.summary["requests"]["completed"].as_u64().unwrap();
        assert!(completed >= least, "{line}: {completed}");
        assert_eq!(ran.run["setup"]["workload"]["dataset"], format!("{name} {file}"));
        assert_eq!(ran.run["plan"]["content"]["dataset"]["order"], "shuffled");
        assert_eq!(ran.run["plan"]["eos"], "stop");
        assert!(!ran.ended.out.contains("records are asked for"), "{}", ran.ended.out);
        let twice =
            format!("{line} --num-prompts {} --disable-shuffle --ignore-eos", 2 * completed);
        let ran = bench(&server, &scratch, &format!("{number}-twice"), &twice);
        assert!(ran.ended.out.contains("each is used up to 2 times"), "{}", ran.ended.out);
        assert_eq!(ran.run["plan"]["content"]["dataset"]["order"], "as_given");
        assert_eq!(ran.run["plan"]["eos"], "ignore");
    }
}

#[test]
fn an_output_length_of_the_command_line_goes_over_the_files() {
    let (server, scratch) = (quick(), Scratch::new("output-len"));
    let set = format!("--dataset-name custom --dataset-path {FIXTURES}/datasets/prompts.jsonl");
    let own = bench(&server, &scratch, "own", &format!("{set} --custom-output-len -1"));
    let given = bench(&server, &scratch, "given", &format!("{set} --custom-output-len 9"));
    let asked = |ran: &Ran| -> Vec<u64> {
        let of = |tape: &Value| tape["requested"]["output_tokens"].as_u64().unwrap();
        ran.tapes.iter().map(of).collect()
    };
    assert!(asked(&own).contains(&96) && asked(&own).contains(&16), "{:?}", asked(&own));
    assert!(asked(&given).iter().all(|&tokens| tokens == 9));
}

#[test]
fn a_trace_is_replayed_whole_and_recorded() {
    let (server, scratch) = (quick(), Scratch::new("traces"));
    let cases = [
        ("mooncake", "mooncake.jsonl", "--trace-speedup 20", 40),
        ("azure", "azure-2023.csv", "--trace-speedup 20", 40),
        ("burstgpt", "burstgpt.csv", "--trace-speedup 400", 38),
        ("burstgpt", "burstgpt-sessions.csv", "--ignore-trace-times --max-concurrency 4", 20),
    ];
    for (number, (name, file, rest, requests)) in cases.into_iter().enumerate() {
        let line = format!("--dataset-name {name} --dataset-path {FIXTURES}/{file} {rest}");
        let ran = bench(&server, &scratch, &format!("{number}"), &line);
        assert_eq!(ran.summary["requests"]["completed"], requests, "{line}: {:?}", ran.ended);
        let plan = &ran.run["plan"];
        assert_eq!((&plan["name"], &plan["records"]), (&json!(file), &json!(requests)), "{plan}");
        assert!(plan["checksum"].is_string() && plan["salt"].is_number(), "{plan}");
        let lengths = &ran.summary["lengths"]["prompt"]["difference"];
        assert_eq!(lengths["past_one_percent"], 0, "{line}");
    }
}

#[test]
fn later_turns_carry_the_replies() {
    let (server, scratch) = (quick(), Scratch::new("turns"));
    let line = "--endpoint /v1/chat/completions --turns 3 --think-time 0.001 --num-prompts 12 --max-concurrency 2 \
                --random-input-len 40 --random-output-len 20";
    let ran = bench(&server, &scratch, "turns", line);
    let seen = |tape: &Value| {
        (tape["turn"].as_u64().unwrap_or(0), tape["usage"]["prompt_tokens"].as_u64().unwrap())
    };
    let mut seen: Vec<(u64, u64)> = ran.tapes.iter().map(seen).collect();
    seen.sort_unstable();
    seen.dedup();
    // 40 words a turn, and the 20 tokens of each reply before it.
    assert_eq!(seen, [(0, 40), (1, 100), (2, 160)]);
    assert!(ran.tapes.iter().all(|tape| tape.get("text").is_none_or(Value::is_null)));
}

#[test]
fn probes_and_models_have_figures_of_their_own() {
    let (server, scratch) = (quick(), Scratch::new("beside"));
    let line = "--request-rate 200 --num-prompts 60 --random-input-len 20 --random-output-len 4 \
                --probe-request-rate 100 --lora-modules a b=3";
    let ran = bench(&server, &scratch, "beside", line);
    assert_eq!(ran.summary["requests"]["completed"], 60);
    assert!(ran.summary["probe"]["requests"]["completed"].as_u64().unwrap() > 0);
    let probe = &ran.run["probe"]["lengths"]["independent"];
    assert_eq!(probe, &json!({"input": {"fixed": 32}, "output": {"fixed": 8}}));
    let models = ran.summary["models"].as_array().unwrap();
    let names: Vec<&str> = models.iter().map(|model| model["model"].as_str().unwrap()).collect();
    assert_eq!(names, ["a", "b"]);
    assert!(models[1]["sent"].as_u64() > models[0]["sent"].as_u64());
}

#[test]
fn shards_together_are_the_run() {
    let (server, scratch) = (quick(), Scratch::new("shards"));
    let line =
        "--num-prompts 11 --random-input-len 20 --random-output-len 4 --salt 3 --request-rate 500";
    let of = |shard: &str, name: &str| -> Vec<u64> {
        let ran = bench(&server, &scratch, name, &format!("{line} --shard {shard}"));
        assert_eq!(ran.run["shard"], shard);
        let asked = &ran.summary["requested"]["arrivals"];
        assert!((asked["rate_per_s"].as_f64().unwrap() - 500.0 / 3.0).abs() < 1e-9, "{asked}");
        assert!((asked["cv_squared"].as_f64().unwrap() - 1.0 / 3.0).abs() < 1e-9, "{asked}");
        ran.tapes.iter().map(|tape| tape["request"].as_u64().unwrap()).collect()
    };
    let mut all = [of("0/3", "0"), of("1/3", "1"), of("2/3", "2")].concat();
    all.sort_unstable();
    assert_eq!(all, (0..11).collect::<Vec<u64>>());
}

#[test]
fn a_sweep_takes_a_data_set_and_a_preset() {
    let (server, scratch) = (quick(), Scratch::new("sweep-set"));
    let url = server.base_url();
    let set = format!("--dataset-name custom --dataset-path {FIXTURES}/datasets/prompts.jsonl");
    for (name, line) in [("set", &*set), ("preset", "--length-preset chat --lora-modules a b")] {
        let out = scratch.path(name);
        let mut arguments =
            vec!["sweep", "-v", "--base-url", &url, "--model", "m", "--levels", "2,4"];
        arguments.extend(["--num-prompts", "14", "--slo", "p99 e2el<60s", "--out", &out]);
        arguments.extend(HOWEVER_BUSY);
        arguments.extend(line.split_whitespace());
        let ended = run(&arguments);
        let sweep = read(format!("{out}/sweep.json"));
        for level in sweep["levels"].as_array().unwrap() {
            assert_eq!(level["requests"]["completed"], 14, "{ended:?}");
        }
        assert!(ended.out.contains("--salt"), "{ended:?}");
    }
    let trace = format!("--dataset-name azure --dataset-path {FIXTURES}/azure-2023.csv");
    let mut arguments = vec!["sweep"];
    arguments.extend(trace.split_whitespace());
    let ended = run(&arguments);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("--dataset-name azure"), "{ended:?}");
}

#[test]
fn lines_of_vllm_run_as_they_stand() {
    let (server, scratch) = (quick(), Scratch::new("vllm-lines"));
    let sonnet = "--dataset-name sonnet --dataset-path sonnet.txt --num-prompts 3 --sonnet-input-len 60 \
                  --sonnet-output-len 4 --sonnet-prefix-len 20 --skip-chat-template --request-id-prefix x- \
                  --lora-assignment random";
    let ran = bench(&server, &scratch, "sonnet", sonnet);
    assert!(ran.ended.err.contains("sonnet.txt is not needed"), "{:?}", ran.ended);
    assert_eq!(ran.run["plan"]["prefix"], json!({"common": {"tokens": 20}}));
    assert_eq!(ran.run["plan"]["lengths"]["independent"]["input"], json!({"fixed": 40}));
    let random = "--no-oversample --random-input-len 20 --random-output-len 2 --num-prompts 3";
    assert_eq!(bench(&server, &scratch, "random", random).tapes.len(), 3);
}

#[test]
fn probes_have_the_salt_of_the_run() {
    let (server, scratch) = (quick(), Scratch::new("probe-salt"));
    let line = "--num-prompts 2 --random-output-len 2 --probe-request-rate 100";
    for (name, flag, salt) in [("salt", "--salt 7", 7), ("reused", "--reuse-prompts", 0)] {
        let ran = bench(&server, &scratch, name, &format!("{line} {flag}"));
        let salts = (&ran.run["plan"]["salt"], &ran.run["probe"]["salt"]);
        assert_eq!(salts, (&json!(salt), &json!(salt)), "{}", ran.run);
    }
    let ran = bench(&server, &scratch, "own", line);
    assert_eq!(ran.run["plan"]["salt"], ran.run["probe"]["salt"]);
}
