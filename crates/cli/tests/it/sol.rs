//! `fizeau sol`: a query, and a file of them.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::thread;

use serde_json::{Value, json};

use crate::stand::{Ended, Scratch, fizeau, run};

const MODELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/models");

fn config(model: &str) -> String {
    format!("{MODELS}/{model}/config.json")
}

/// What `fizeau sol --points -` makes of `lines`.
fn points(lines: &str, flags: &[&str]) -> Ended {
    let mut command = fizeau(&[&["sol", "--points", "-"], flags].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let lines = lines.to_owned();
    // Answers come while lines are still on their way. A child that refuses its flags reads none of them.
    let asking = thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let ended = child.wait_with_output().unwrap().into();
    let _ = asking.join().unwrap();
    ended
}

fn answers(ended: &Ended) -> Vec<Value> {
    ended.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The answer to one line that can be answered.
fn point(fields: &Value) -> Value {
    let ended = points(&fields.to_string(), &[]);
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{}", ended.out);
    let [answer] = &answers(&ended)[..] else { panic!("{}", ended.out) };
    answer.clone()
}

/// The only error of a line.
fn error(fields: &Value) -> String {
    let ended = points(&fields.to_string(), &[]);
    assert_eq!(ended.code, Some(2), "{}", ended.out);
    let [answer] = &answers(&ended)[..] else { panic!("{}", ended.out) };
    let message = answer["error"].as_str().unwrap().to_owned();
    assert!(ended.err.contains(&message), "{}", ended.err);
    message
}

fn llama() -> Value {
    json!({
        "model_config": config("llama-3.1-8b"), "hardware": "h100-sxm",
        "isl": 2048, "osl": 256, "concurrency": 32,
    })
}

/// The line with one field more, or another value for it.
fn llama_with(name: &str, value: impl Into<Value>) -> Value {
    let mut fields = llama();
    fields[name] = value.into();
    fields
}

/// Worked out by hand in the documentation of `System::bound_figures`: Llama-3.1-8B in bf16 on one H100 SXM.
#[test]
fn a_line_is_answered_with_the_figures_worked_out_by_hand() {
    let answer = point(&llama());
    let counts = json!({"total": 8_030_261_248_u64, "active": 8_030_261_248_u64, "streamed": 7_504_658_432_u64});
    assert_eq!(answer["params"], counts);
    assert_eq!(answer["weight_bytes"], 16_060_522_496_u64);
    assert_eq!(answer["kv_bytes_per_token"], 131_072);
    assert_eq!(answer["running_batch"], 32);
    let rounded = |way: &str, name: &str| format!("{:.1}", answer[way][name].as_f64().unwrap());
    assert_eq!(rounded("bound", "ttft_ms"), "30.0");
    assert_eq!(rounded("bound", "requests_per_s"), "17.4");
    // By hand 11.4, without the traffic of activations.
    assert_eq!(rounded("expected", "requests_per_s"), "11.3");
    assert_eq!(rounded("expected", "tpot_ms"), "11.0");
    let limits = json!({"prefill": "compute", "decode": "weights"});
    assert_eq!((&answer["limited_by"], &answer["warnings"]), (&limits, &json!([])));
}

#[test]
fn an_absent_field_and_a_null_are_the_default() {
    let bare = json!({"model_config": config("llama-3.1-8b"), "hardware": "h100-sxm"});
    let mut full = bare.clone();
    let defaults = [("tp", 1), ("pp", 1), ("ep", 1), ("dp", 1), ("replicas", 1), ("isl", 1024)];
    for (name, value) in
        defaults.into_iter().chain([("osl", 128), ("concurrency", 1), ("cached", 0)])
    {
        full[name] = value.into();
    }
    let mut nulls = full.clone();
    for (name, value) in nulls.as_object_mut().unwrap() {
        if name != "model_config" && name != "hardware" {
            *value = Value::Null;
        }
    }
    nulls["weights"] = Value::Null;
    nulls["kv"] = Value::Null;
    assert_eq!(point(&bare), point(&full));
    assert_eq!(point(&bare), point(&nulls));
    // As a program writes it that keeps every number as a floating-point one.
    let mut floats = full;
    floats["isl"] = json!(1024.0);
    assert_eq!(point(&bare), point(&floats));
}

#[test]
fn flags_are_the_defaults_of_lines() {
    let flags =
        ["--model-config", &config("llama-3.1-8b"), "--hardware", "h100-sxm", "--isl", "2048"];
    let ended = points(r#"{"osl": 256, "concurrency": 32}"#, &flags);
    assert_eq!(answers(&ended), [point(&llama())]);
}

#[test]
fn every_line_is_answered_in_its_place() {
    let mut lines = String::new();
    for concurrency in 1..=2000 {
        match concurrency % 10 {
            0 => writeln!(lines, "{{\"concurrency\": {concurrency}").unwrap(),
            5 => writeln!(lines, "\n{}", llama_with("concurrency", 0)).unwrap(),
            _ => writeln!(lines, "{}", llama_with("concurrency", concurrency)).unwrap(),
        }
    }
    let ended = points(&lines, &[]);
    let answers = answers(&ended);
    assert_eq!(answers.len(), 2000);
    let mut last = 0.0;
    for (answer, concurrency) in answers.iter().zip(1..) {
        if concurrency % 5 == 0 {
            assert!(answer["error"].is_string(), "{concurrency}: {answer}");
            continue;
        }
        let running = answer["running_batch"].as_f64().unwrap();
        let most = answer["max_batch"].as_f64().unwrap();
        assert_eq!(running, f64::from(concurrency).min(most));
        assert!(running >= last);
        last = running;
    }
    assert_eq!(ended.code, Some(2));
    let said = "400 of 2000 lines could not be answered, the first is line 6: concurrency is 0";
    assert!(ended.err.contains(said), "{}", ended.err);
}

#[test]
fn an_answer_comes_before_the_next_line_is_asked() {
    let mut command = fizeau(&["sol", "--points", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut ask, answer) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut answer = BufReader::new(answer).lines();
    for concurrency in [1, 2] {
        writeln!(ask, "{}", llama_with("concurrency", concurrency)).unwrap();
        let line: Value = serde_json::from_str(&answer.next().unwrap().unwrap()).unwrap();
        assert_eq!(line["running_batch"], concurrency);
    }
    drop(ask);
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_is_wrong_with_a_line_is_said_in_its_place() {
    let cases = [
        (json!({"hardware": "h100-sxm"}), "model_config is missing"),
        (json!({"model_config": config("llama-3.1-8b")}), "hardware is missing"),
        (llama_with("isl", 0), "isl is 0; it must be from 1"),
        (llama_with("isl", -3), "isl is -3; it must be a whole number"),
        (llama_with("osl", 12.5), "osl is 12.5; it must be a whole number"),
        (llama_with("concurrency", "many"), "concurrency must be a whole number"),
        (
            llama_with("cached", 2048),
            "cached is 2048; it must be less than the prompt's 2048 tokens",
        ),
        (llama_with("hardware", 5), "hardware must be a text"),
        (llama_with("hardware", "h100-smx"), "did you mean \"h100-sxm\"?"),
        (llama_with("kv", "fp3"), "fp3"),
        (llama_with("weights", "fp3"), "fp3"),
        (
            llama_with("tp", 3),
            "tensor parallelism of 3 does not divide the 32 attention heads; 2 or 4 would do",
        ),
        (llama_with("tp", 0), "tensor parallelism is 0"),
        (llama_with("tp", 5_000_000_000_u64), "tp is 5000000000"),
        (llama_with("model_config", "no/such/config.json"), "no/such/config.json"),
        (json!([1]), "not a JSON object"),
    ];
    for (line, wanted) in cases {
        let message = error(&line);
        assert!(message.contains(wanted), "{line}: {message}");
        assert!(!message.contains('\n'), "{message}");
    }
}

#[test]
fn a_field_that_is_not_known_is_named() {
    let answer = point(&llama_with("concurency", 32));
    assert_eq!(
        answer["warnings"],
        json!(["concurency is not a field that is known, and is ignored"])
    );
}

#[test]
fn what_is_wrong_on_the_command_line_is_one_line() {
    let path = config("llama-3.1-8b");
    let cases: [(&[&str], &str); 4] = [
        (&[], "model_config is missing"),
        (&["--model-config", &path], "hardware is missing"),
        (&["--model-config", &path, "--hardware", "h100-sxm", "--isl", "0"], "isl is 0"),
        (&["--points", "no/such/file"], "no/such/file"),
    ];
    for (flags, wanted) in cases {
        let ended = run(&[&["sol"], flags].concat());
        assert_eq!(ended.code, Some(2), "{flags:?}");
        assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
        assert!(ended.err.contains(wanted), "{}", ended.err);
    }
}

#[test]
fn a_file_is_read_as_well_as_standard_input() {
    let scratch = Scratch::new("sol-points");
    let path = scratch.path("points.jsonl");
    // Without a newline at its end.
    std::fs::write(&path, llama().to_string()).unwrap();
    let ended = run(&["sol", "--points", &path]);
    assert_eq!((ended.code, answers(&ended)), (Some(0), vec![point(&llama())]));
}

/// The command line for the same query as [`llama`].
fn llama_flags() -> Vec<String> {
    let words =
        ["sol", "--hardware", "h100-sxm", "--isl", "2048", "--osl", "256", "--concurrency", "32"];
    let words = words.into_iter().map(str::to_owned);
    words.chain(["--model-config".to_owned(), "llama-3.1-8b".to_owned()]).collect()
}

fn ran(flags: &[String], more: &[&str]) -> Ended {
    let words: Vec<&str> = flags.iter().map(String::as_str).chain(more.iter().copied()).collect();
    run(&words)
}

#[test]
fn json_says_what_a_line_says_and_more() {
    let ended = ran(&llama_flags(), &["--json"]);
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""));
    let document: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(document["schema"], "fizeau.sol/1");
    for (name, value) in point(&llama()).as_object().unwrap() {
        assert_eq!(document[name], *value, "{name}");
    }
    assert_eq!(document["load"], json!({"isl": 2048, "osl": 256, "cached": 0, "concurrency": 32}));
    // What is waited for adds up to the pass, and so do its terms.
    for pass in ["prefill", "decode"] {
        let pass = &document["passes"][pass];
        let number = |value: &Value| value.as_f64().unwrap();
        let total = number(&pass["expected_ms"]["total"]);
        let parts = pass["expected_ms"].as_object().unwrap().iter();
        let sum: f64 = parts.filter(|part| part.0 != "total").map(|part| number(part.1)).sum();
        assert!((sum / total - 1.0).abs() < 1e-9, "{pass}");
        let terms = pass["terms"].as_array().unwrap().iter();
        let sum: f64 = terms.map(|term| number(&term["expected_ms"])).sum();
        assert!((sum / total - 1.0).abs() < 1e-9, "{pass}");
    }
    let memory = document["memory"].as_object().unwrap();
    let of = |name: &str| memory[name].as_f64().unwrap();
    let parts = ["weight_bytes", "cache_bytes", "free_bytes", "reserved_bytes"];
    let sum: f64 = parts.map(of).iter().sum();
    assert!((sum / of("total_bytes") - 1.0).abs() < 1e-6);
}

#[test]
fn the_breakdown_fits_a_terminal_and_names_what_it_shows() {
    let ended = ran(&llama_flags(), &[]);
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""));
    for line in ended.out.lines() {
        assert!(line.chars().count() <= 80, "{line}");
        assert_eq!(line, line.trim_end());
    }
    let words = [
        "LlamaForCausalLM",
        "8.03 B parameters, 7.50 B read for a token",
        "NVIDIA H100 SXM",
        "2048 tokens in, 256 out; 32 at once",
        "bound  expected",
        "TTFT",
        "TPOT",
        "requests/s",
        "prefill by compute",
        "decode by weights",
        "+10 % memory bandwidth",
        "fp8 weights",
    ];
    for word in words {
        assert!(ended.out.contains(word), "{word}: {}", ended.out);
    }
}

#[test]
fn a_model_that_does_not_fit_is_told_by_how_much_and_what_would_do() {
    let mut flags = llama_flags();
    flags.extend(["--model-config".to_owned(), config("llama-3.1-70b")]);
    let ended = ran(&flags, &[]);
    assert_eq!((ended.code, ended.err.lines().count()), (Some(2), 1));
    for word in ["141.11 GB", "h100-sxm", "take 2 devices"] {
        assert!(ended.err.contains(word), "{word}: {}", ended.err);
    }
    assert_eq!(ran(&flags, &["--tp", "2"]).code, Some(0));
}

#[test]
fn a_batch_is_taken_as_it_is_said() {
    let shown = |flags: &[&str]| -> Value {
        let mut all =
            vec!["sol", "--hardware", "h100-sxm", "--isl", "2048", "--osl", "256", "--json"];
        let path = config("llama-3.1-8b");
        all.extend(["--model-config", &path]);
        all.extend(flags);
        serde_json::from_str(&run(&all).out).unwrap()
    };
    // What fits is the same either way.
    let (batch, concurrency) = (shown(&["--batch", "32"]), shown(&["--concurrency", "32"]));
    assert_eq!(batch["expected"], concurrency["expected"]);
    // What does not runs all the same, and is said not to fit.
    let (batch, concurrency) = (shown(&["--batch", "1000"]), shown(&["--concurrency", "1000"]));
    assert_eq!(batch["running_batch"], 1000);
    assert!(concurrency["running_batch"].as_f64() < Some(300.0));
    assert!(batch["warnings"][0].as_str().unwrap().contains("1000 sequences do not fit"));
    let tpot = |document: &Value, way: &str| document[way]["tpot_ms"].as_f64().unwrap();
    assert!(tpot(&batch, "expected") > tpot(&concurrency, "expected"));
    assert!(tpot(&batch, "bound") <= tpot(&batch, "expected"));
}

/// `BW / (W + c k)` with the published 3.35 TB/s, 15.01 GB of streamed weights and 131,072 bytes of cache a token.
#[test]
fn a_context_asks_for_one_step() {
    let path = config("llama-3.1-8b");
    let words = ["sol", "--hardware", "h100-sxm", "--model-config", &path, "--context", "8192"];
    let document: Value =
        serde_json::from_str(&run(&[&words[..], &["--json"]].concat()).out).unwrap();
    assert_eq!(document["load"], json!({"context": 8192, "batch": 1}));
    let rate = document["bound"]["output_tokens_per_s"].as_f64().unwrap();
    assert_eq!(format!("{rate:.1}"), "208.3");
    assert!(
        document["bound"].get("ttft_ms").is_none() && document["passes"].get("prefill").is_none()
    );
    let text = run(&words).out;
    assert!(text.contains("a step of 1 sequences at a context of 8192"), "{text}");
    assert!(!text.contains("TTFT"));
}

#[test]
fn a_curve_is_a_table_that_any_program_reads() {
    let csv = |over: &[&str]| -> Vec<Vec<String>> {
        let ended = ran(&llama_flags(), over);
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        let row = |line: &str| line.split(',').map(str::to_owned).collect();
        ended.out.lines().map(row).collect()
    };
    for (over, first) in [(&["--curve"][..], "batch"), (&["--curve", "context"], "context")] {
        let rows = csv(over);
        let [heads, points @ ..] = &rows[..] else { panic!("no lines") };
        assert_eq!(heads[0], first);
        assert!(points.len() > 40);
        let column = |name: &str| heads.iter().position(|head| head == name).unwrap();
        let mut last = 0.0;
        let (bound, expected) = match first {
            "batch" => (column("bound_tpot_ms"), column("expected_tpot_ms")),
            _ => (column("bound_step_ms"), column("expected_step_ms")),
        };
        for row in points {
            assert_eq!(row.len(), heads.len());
            let numbers: Vec<f64> = row.iter().map(|cell| cell.parse().unwrap()).collect();
            assert!(numbers.iter().all(|number| number.is_finite()));
            assert!(numbers[0] > last, "{row:?}");
            last = numbers[0];
            assert!(numbers[bound] <= numbers[expected], "{row:?}");
        }
    }
    // A point of the curve is the answer of its batch.
    let rows = csv(&["--curve"]);
    let row = rows.iter().find(|row| row[0] == "32").unwrap();
    let column = rows[0].iter().position(|head| head == "expected_tpot_ms").unwrap();
    let tpot: f64 = row[column].parse().unwrap();
    let answer = point(&llama())["expected"]["tpot_ms"].as_f64().unwrap();
    assert!((tpot / answer - 1.0).abs() < 1e-5);
}

/// Everything that can be asked besides.
const BESIDES: &str = "--draft 3 --acceptance 0.8,0.7,0.6 --drafter lookup --chunk 512 --price 2.5 --power-limit 400 \
                       --disaggregate 1:2 --transfer layers --goal tpot:9,ttft:200";

#[test]
fn what_is_asked_besides_has_a_table_and_an_object_of_its_own() {
    let besides: Vec<&str> = BESIDES.split_whitespace().collect();
    let text = ran(&llama_flags(), &besides);
    assert_eq!((text.code, text.err.as_str()), (Some(0), ""));
    assert!(text.out.lines().all(|line| line.chars().count() <= 80), "{}", text.out);
    for title in ["Drafts of 3 tokens", "Prompts in chunks", "US dollars", "Power of at most 400 W"]
    {
        assert!(text.out.contains(title), "{title}");
    }
    let json = ran(&llama_flags(), &[&besides[..], &["--json"]].concat());
    let document: Value = serde_json::from_str(&json.out).unwrap();
    // 1 + 0.8 + 0.8 x 0.7 + 0.8 x 0.7 x 0.6
    let tokens = document["speculation"]["tokens_per_cycle"].as_f64().unwrap();
    assert!((tokens - 2.696).abs() < 1e-9);
    for key in ["chunked_prefill", "disaggregation", "cost", "power", "goal"] {
        assert!(document[key].is_object(), "{key}");
    }
    let both = |matter: &str, name: &str| {
        let of = &document[matter][name];
        [of["bound"].as_f64().unwrap(), of["expected"].as_f64().unwrap()]
    };
    for matter in ["speculation", "chunked_prefill", "disaggregation", "power"] {
        let [bound, expected] = both(matter, "tpot_ms");
        assert!(bound <= expected, "{matter}");
    }
    // 2.5 dollars an hour buy 3600 s of that many tokens.
    let rate = document["expected"]["output_tokens_per_s"].as_f64().unwrap();
    let [_, cost] = both("cost", "per_million_output_alone");
    assert!((cost / (2.5 / 3600.0 / rate * 1e6) - 1.0).abs() < 1e-9);
    // Without them there is none.
    let plain: Value = serde_json::from_str(&ran(&llama_flags(), &["--json"]).out).unwrap();
    assert!(plain.get("speculation").is_none());
}

#[test]
fn what_is_wrong_with_a_mechanism_is_one_line() {
    let cases = [
        ("--draft 3 --acceptance 1.2", "--acceptance"),
        ("--draft 3 --drafter mtp", "no module that predicts further tokens"),
        ("--draft 3 --drafter no/such/config.json", "no/such/config.json"),
        ("--draft 5000", "--draft is 5000"),
        ("--chunk 8", "--chunk is 8; it must be above the tokens of the 32 sequences"),
        ("--disaggregate 2", "--disaggregate is 2; it must be two numbers"),
        ("--disaggregate 0:1", "--disaggregate is 0:1"),
        ("--price free", "--price is free"),
        ("--price -1", "--price"),
        ("--power-limit 50", "--power-limit: a limit of 50 W"),
        ("--power-limit much", "--power-limit is much"),
        ("--goal fast", "--goal fast: it must be ttft:MS"),
        ("--goal tpot:0", "--goal tpot:0"),
        ("--goal tpot:9 --max-devices 0", "--max-devices is 0"),
    ];
    for (flags, wanted) in cases {
        let flags: Vec<&str> = flags.split_whitespace().collect();
        let ended = ran(&llama_flags(), &flags);
        assert_eq!(
            (ended.code, ended.err.lines().count()),
            (Some(2), 1),
            "{flags:?}: {}",
            ended.err
        );
        assert!(ended.err.contains(wanted), "{flags:?}: {}", ended.err);
    }
}

#[test]
fn a_device_without_the_type_says_at_what_rate_it_computes() {
    let mut line = llama_with("hardware", "a100-sxm-80");
    line["weights"] = "fp8".into();
    let warnings = point(&line)["warnings"].to_string();
    assert!(warnings.contains("fp8") && warnings.contains("bf16"), "{warnings}");
}

/// The lines of `docs/sol.md` do what the page says.
#[test]
fn every_line_of_the_page_is_answered() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sol.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut lines = 0;
    for line in page.lines().filter_map(|line| line.strip_prefix("fizeau sol ")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ended = run(&[&["sol"], &words[..]].concat());
        assert_eq!(ended.code, Some(0), "{line}: {}", ended.err);
        lines += 1;
    }
    assert!(lines > 5);
    let echoed = page.lines().find_map(|line| line.strip_prefix("echo '")).unwrap();
    let (query, _) = echoed.split_once('\'').unwrap();
    assert_eq!(points(query, &[]).code, Some(0));
}

/// What the page says of a document's and an answer's fields is all that they have.
#[test]
fn every_field_has_a_line_on_the_page() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sol.md");
    let page = std::fs::read_to_string(page).unwrap();
    let besides: Vec<&str> = BESIDES.split_whitespace().chain(["--json"]).collect();
    let document: Value = serde_json::from_str(&ran(&llama_flags(), &besides).out).unwrap();
    for name in document.as_object().unwrap().keys() {
        let is_said = name == "schema" || name == "version" || page.contains(&format!("`{name}`"));
        assert!(is_said, "{name}");
    }
}
