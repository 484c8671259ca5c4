//! `fizeau sol`: what a person reads, the document, and curves.

use serde_json::{Value, json};

use super::{config, llama, llama_with, point, points};
use crate::stand::{Ended, Scratch, run};

const MEASURED: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/measurements/serving.csv");

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
    let ended = ran(&llama_flags(), &["-v"]);
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
        "by weights (weights",
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
    assert!(text.contains("a step of 1 sequence at a context of 8192"), "{text}");
    assert!(!text.contains("TTFT"));
}

/// What a tenth more of a resource buys is between nothing and a tenth, and as much as the elasticity says, whatever is asked
/// and whether it fits or not.
#[test]
fn a_tenth_more_of_a_resource_buys_a_tenth_at_most() {
    let views = [
        "--isl 2048 --osl 256 --concurrency 32",
        "--context 8192 --batch 16",
        "--isl 2048 --osl 256 --batch 500",
        "--context 8192 --batch 500",
        "--context 8192 --concurrency 500",
    ];
    for view in views {
        let query = format!("sol --model-config llama-3.1-8b --hardware h100-sxm {view} --json");
        let ended = run(&query.split_whitespace().collect::<Vec<_>>());
        let document: Value = serde_json::from_str(&ended.out).unwrap();
        for by in ["bound", "expected"] {
            let elasticity = &document["sensitivities"][by]["tpot"];
            for (change, resource) in
                [("bandwidth_10_percent", "bandwidth"), ("arithmetic_10_percent", "arithmetic")]
            {
                let gains = document["gains"].as_array().unwrap();
                let gain = gains.iter().find(|gain| gain["change"] == change).unwrap();
                let gain = gain[by]["tokens_per_s_per_user"].as_f64().unwrap();
                assert!((-1e-9..0.1 + 1e-9).contains(&gain), "{view}, {by}, {change}: {gain}");
                let slope = elasticity[resource].as_f64().unwrap();
                assert!((gain + 0.1 * slope).abs() < 0.01, "{view}, {by}: {gain} for {slope}");
            }
        }
    }
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
    for title in ["Drafts of 3 tokens", "Prompts in chunks", "USD, at ", "Power of at most 400 W"] {
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

/// The golden figures of Llama-3.1-8B on an H100: 11.6 requests/s in turns, 17.4 overlapped.
#[test]
fn each_schedule_is_answered() {
    let document: Value = serde_json::from_str(&ran(&llama_flags(), &["--json"]).out).unwrap();
    let schedules = &document["schedules"];
    let rate =
        |schedule: &str, by: &str| schedules[schedule][by]["requests_per_s"].as_f64().unwrap();
    let rounded = |schedule: &str| format!("{:.1}", rate(schedule, "bound"));
    assert_eq!([rounded("serial"), rounded("overlapped")], ["11.6", "17.4"]);
    assert_eq!(schedules["mixed"]["expected"], document["expected"]);
    assert_eq!(schedules["overlapped"]["bound"], document["bound"]);
    for schedule in ["mixed", "serial", "overlapped"] {
        assert!(rate(schedule, "expected") <= rate(schedule, "bound"), "{schedule}");
    }
    let text = ran(&llama_flags(), &["-v"]).out;
    assert!(
        text.contains("alternating: TPOT") && text.contains("overlapped: requests/s"),
        "{text}"
    );
}

/// The largest batch within a time is the system's, whatever the load has at once; and what nothing meets is missed.
#[test]
fn a_goal_asks_for_the_largest_batch_and_may_be_missed() {
    let asked = |more: &str| {
        let flags = "sol --model-config llama-3.1-8b --hardware h100-sxm --goal";
        run(&flags.split(' ').chain(more.split(' ')).collect::<Vec<_>>())
    };
    let batches = |concurrency: &str| {
        let ended = asked(&format!("tpot:30 --json --concurrency {concurrency}"));
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        let document: Value = serde_json::from_str(&ended.out).unwrap();
        document["goal"]["largest_batch"].clone()
    };
    assert!(batches("1")["expected"].as_f64().unwrap() > 100.0);
    assert_eq!(batches("1"), batches("1000"));
    let missed = asked("tpot:0.001 --max-devices 2");
    assert_eq!(missed.code, Some(1), "{}", missed.err);
    assert!(missed.out.contains("0.0010"), "{}", missed.out);
}

/// Requests of one token have no time between tokens.
#[test]
fn one_token_has_no_tpot() {
    let flags = "sol --model-config llama-3.1-8b --hardware h100-sxm --isl 1024 --osl 1 --concurrency 256 --engine vllm";
    let ended = run(&flags.split(' ').collect::<Vec<_>>());
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let tpot: Vec<&str> = ended.out.lines().filter(|line| line.starts_with("TPOT")).collect();
    let all_none = |lines: &[&str]| lines.iter().all(|line| !line.contains('.'));
    assert!(!tpot.is_empty() && all_none(&tpot) && tpot[0].contains("none"), "{}", ended.out);
    let json = format!("{flags} --json {BESIDES}");
    let ended = run(&json.split_whitespace().collect::<Vec<_>>());
    let document: Value = serde_json::from_str(&ended.out).unwrap();
    for by in ["bound", "expected", "calibrated"] {
        assert!(document[by].is_object() && document[by]["tpot_ms"].is_null(), "{document}");
    }
    for matter in ["speculation", "chunked_prefill", "disaggregation", "power"] {
        let tpot = &document[matter]["tpot_ms"];
        assert!(tpot["bound"].is_null() && tpot["expected"].is_null(), "{matter}: {tpot}");
    }
    assert!(document["sensitivities"]["expected"]["tpot"].is_null());
    assert!(document["limited_by"]["decode"].is_null(), "{document}");
    assert!(document["gains"][0]["expected"]["tokens_per_s_per_user"].is_null());
}

/// Where the model does not fit as it is spread, the devices that a goal takes are still to be had.
#[test]
fn a_goal_is_answered_of_a_model_that_does_not_fit() {
    let large = "sol --model-config llama-3.1-70b --hardware h100-sxm --isl 2048 --osl 256 --concurrency 64";
    let asked = |more: &str| {
        let words: Vec<&str> = large.split_whitespace().chain(more.split_whitespace()).collect();
        run(&words)
    };
    let refused = asked("");
    assert_eq!(refused.code, Some(2));
    let named = "error: --model-config llama-3.1-70b: the weights take 141.11 GB, ";
    assert!(refused.err.starts_with(named), "{}", refused.err);
    let text = asked("--goal concurrency:64");
    assert_eq!(text.code, Some(0), "{}", text.err);
    assert!(text.out.lines().all(|line| line.chars().count() <= 80), "{}", text.out);
    for words in ["fewest devices", "Warning     the weights take 141"] {
        assert!(text.out.contains(words), "{words}: {}", text.out);
    }
    let json: Value = serde_json::from_str(&asked("--goal concurrency:64 --json").out).unwrap();
    assert_eq!(json["goal"]["fewest_devices"]["expected"], 3.0);
    assert!(json["warnings"][0].as_str().unwrap().contains("more than the"), "{json}");
}

#[test]
fn what_a_limit_of_power_slows_is_limited_by_power() {
    let ended = ran(&llama_flags(), &["--power-limit", "300", "--json"]);
    let document: Value = serde_json::from_str(&ended.out).unwrap();
    assert!(document["power"]["prefill_stretch"]["expected"].as_f64().unwrap() > 1.0);
    assert_eq!(document["limited_by"], json!({"prefill": "power", "decode": "power"}));
    let ended = ran(&llama_flags(), &["--power-limit", "300"]);
    assert!(ended.out.contains("prefill by power (compute"), "{}", ended.out);
    let ample = ran(&llama_flags(), &["--power-limit", "5000", "--json"]);
    let document: Value = serde_json::from_str(&ample.out).unwrap();
    assert_eq!(document["limited_by"], json!({"prefill": "compute", "decode": "weights"}));
}

#[test]
fn a_module_of_the_model_itself_is_said_to_be_that() {
    let query =
        "sol --model-config deepseek-v3 --hardware h200-sxm --tp 8 --concurrency 16 --draft 2";
    let words: Vec<&str> = query.split_whitespace().collect();
    let own = run(&words).out;
    assert!(own.contains("drafted: by the model's own module"), "{own}");
    let other = run(&[&words[..], &["--drafter", &config("llama-3.1-8b")]].concat()).out;
    assert!(other.contains("drafted: by a model\n"), "{other}");
}

#[test]
fn what_is_wrong_with_a_mechanism_is_one_line() {
    let cases = [
        ("--draft 3 --acceptance 1.2", "--acceptance"),
        ("--draft 3 --drafter mtp", "no module that predicts further tokens"),
        ("--draft 3 --drafter no/such/config.json", "no/such/config.json"),
        ("--draft 5000", "--draft 5000: give a number from 0 to 1024"),
        (
            "--chunk 8",
            "--chunk 8: give more tokens than there are sequences that decode, which are 32",
        ),
        ("--disaggregate 2", "--disaggregate 2: give two numbers"),
        ("--disaggregate 0:1", "--disaggregate 0:1: give"),
        ("--price free", "--price free: give US dollars"),
        ("--price -1", "--price -1"),
        ("--power-limit 50", "--power-limit: the power limit is 50 W"),
        ("--power-limit much", "--power-limit much: give"),
        ("--goal fast", "--goal fast: give a goal such as ttft<300ms, with its unit, or ttft:300"),
        ("--goal tpot:0", "--goal tpot:0: tpot is 0; it must be from"),
        ("--goal rps:1e30", "--goal rps:1e30: rps is 1e30; it must be from"),
        ("--goal context:0.5", "context is 0.5; it must be from 1"),
        ("--disaggregate 100000:100000", "give at most 4096 instances"),
        ("--goal tpot:9 --max-devices 0", "--max-devices 0: give"),
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
    let scratch = Scratch::new("sol-page");
    let calibration = scratch.path("calibration.json");
    let mut lines = 0;
    for line in page.lines().filter_map(|line| line.strip_prefix("fizeau sol ")) {
        let words = line.split_whitespace().map(|word| match word {
            "calibration.json" => calibration.as_str(),
            "fixtures/measurements/serving.csv" => MEASURED,
            word => word,
        });
        let words: Vec<&str> = words.collect();
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
