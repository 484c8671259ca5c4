//! `fizeau watch`, over pages of servers that behave as told.

mod screen;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::thread;

use serde_json::Value;

use crate::schemas::keeps_to;
use crate::stand::{Ended, fizeau, reply, run, scripted_gets, simulated};

/// What is watched, but for its page.
const WATCH: [&str; 9] = [
    "watch",
    "--model-config",
    "llama-3.1-8b",
    "--hardware",
    "h100-sxm",
    "--interval",
    "20ms",
    "--window",
    "60ms",
];

fn watch(pages: &[&str], more: &[&str]) -> Ended {
    run(&[&WATCH[..], &["--server-metrics"], pages, more].concat())
}

/// The page of a server that serves two requests and has moved on by a token a page: far slower than any bound.
fn page(number: u64) -> String {
    let (tokens, prompts) = (1_000 + number, 5_000 + 2 * number);
    let body = format!(
        "vllm:num_requests_running{{engine=\"0\"}} 2\nvllm:num_requests_waiting{{engine=\"0\"}} 0\n\
         vllm:kv_cache_usage_perc{{engine=\"0\"}} 0.01\n\
         vllm:cache_config_info{{engine=\"0\",num_gpu_blocks=\"20000\",block_size=\"16\"}} 1\n\
         vllm:generation_tokens_total{{engine=\"0\"}} {tokens}\nvllm:prompt_tokens_total{{engine=\"0\"}} {prompts}\n"
    );
    reply("200 OK", "text/plain; version=0.0.4", &body)
}

/// A server whose pages are all alike.
fn always(answer: String) -> String {
    scripted_gets(move |_| Some(answer.clone())) + "/metrics"
}

#[test]
fn one_window_is_a_document() {
    let url = scripted_gets(|number| Some(page(number))) + "/metrics";
    let ended = watch(&[&url], &["--once", "--json", "--gpu-hour", "2"]);
    assert_eq!((ended.code, &*ended.err), (Some(0), ""), "{ended:?}");
    let told: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(
        (&told["schema"], &told["hardware"]),
        (&"fizeau.watch/2".into(), &"h100-sxm".into())
    );
    let fleet = &told["fleet"];
    assert_eq!((&fleet["running"], &fleet["limited_by"]), (&2.0.into(), &"batch_too_small".into()));
    assert_eq!(fleet["context"]["source"], "kv_cache");
    let share = fleet["share"].as_f64().unwrap();
    assert!(share > 0.0 && share < 1.0, "{told}");
    for name in ["decode", "same_latency", "usd_per_million_output_tokens"] {
        assert!(!fleet[name].is_null(), "{name}: {told}");
    }
    assert_eq!(told["replicas"][0]["address"], url.as_str());
    keeps_to("watch", &told, "watch --once --json");

    let ended = watch(&[&url], &["--once"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    // Nobody gave a price, and there is one.
    for said in
        ["of the speed of light", "limited by: batch too small", "at the same TPOT", "assumed: $"]
    {
        assert!(ended.out.contains(said), "{}", ended.out);
    }
    assert!(ended.out.lines().all(|line| line.chars().count() <= 80), "{}", ended.out);
}

#[test]
fn each_page_that_is_none_has_its_line() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = format!("http://{}/metrics", closed.local_addr().unwrap());
    drop(closed);
    let plain = |body: &str| always(reply("200 OK", "text/plain", body));
    let cases = [
        (
            always(reply("404 Not Found", "text/plain", "")),
            "SGLang only where it was started with --enable-metrics",
        ),
        (always(reply("401 Unauthorized", "text/plain", "")), "--server-metrics-header NAME=VALUE"),
        (plain("<html><body>hello</body></html>"), "this is HTML; give"),
        (plain(""), "the page is empty"),
        (nobody, "no page yet"),
        (plain("node_load1 3\n"), "has no known series for running requests"),
        (
            plain("vllm:num_requests_running 3\nvllm:tokens_made_total 3\n"),
            "the page of vLLM has no known series for generated tokens",
        ),
    ];
    for (url, said) in &cases {
        let ended = watch(&[url], &["--once"]);
        assert_eq!((ended.code, &*ended.out), (Some(3), ""), "{said}: {ended:?}");
        let is_one_line = ended.err.starts_with("error: ") && ended.err.lines().count() == 1;
        assert!(is_one_line && ended.err.contains(said), "{said}: {ended:?}");
        assert!(ended.err.contains(url), "{said}: {ended:?}");
    }
    // Without an end, too, and of several pages each.
    let ended = watch(&[&cases[0].0, &cases[2].0], &[]);
    assert_eq!((ended.code, ended.err.lines().count()), (Some(3), 3), "{ended:?}");
}

#[test]
fn a_fleet_is_told_without_whoever_does_not() {
    let cut = |number| page(number).replace("Content-Length", "X-Length").trim_end().to_owned();
    let url = scripted_gets(move |number| Some(cut(number))) + "/metrics";
    let gone = always(reply("500 Oops", "text/plain", ""));
    let ended = watch(&[&url, &gone], &["--once", "--json"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let told: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(told["fleet"]["devices"], 1);
    assert!(told["replicas"][1]["assessment"].is_null(), "{told}");
    let kinds = told["findings"].as_array().unwrap().iter().map(|finding| &finding["kind"]);
    let kinds: Vec<&str> = kinds.map(|kind| kind.as_str().unwrap()).collect();
    assert!(kinds.contains(&"silent") && kinds.contains(&"cut_short"), "{told}");
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let page = ["--server-metrics", "http://127.0.0.1:9/metrics"];
    let system = ["--model-config", "llama-3.1-8b", "--hardware", "h100-sxm"];
    let cases: [(&[&str], &str); 7] = [
        (&["--hardware", "h100-sxm"], "--model-config is missing"),
        (&["--interval", "0"], "--interval is 0"),
        (&["--window", "10ms"], "--window is 10"),
        (&["--forward-pass", "127.0.0.1:9", "--pp", "2"], "--forward-pass does not work with --pp"),
        (&["--server-metrics", "127.0.0.1:9"], "a page has an address such as http://"),
        (&["--server-metrics-header", "sk-12345"], "--server-metrics-header: give NAME=VALUE"),
        (&["--model-config", "llama-3.1-70b"], "--model-config llama-3.1-70b: the weights take"),
    ];
    for (flags, said) in cases {
        let given = if said.contains("is missing") { &[][..] } else { &system[..] };
        let ended = run(&[&["watch"], &page[..], given, flags].concat());
        assert_eq!((ended.code, &*ended.out), (Some(2), ""), "{flags:?}: {ended:?}");
        assert!(
            ended.err.contains(said) && !ended.err.contains("sk-12345"),
            "{flags:?}: {ended:?}"
        );
    }
}

#[test]
fn a_line_each_interval_and_a_page_of_its_own() {
    let url = scripted_gets(|number| Some(page(number))) + "/metrics";
    let listening = ["--server-metrics", &*url, "--listen", "127.0.0.1:0"];
    let words = [&WATCH[..], &listening[..]].concat();
    let command = &mut fizeau(&words);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let at = said.next().unwrap().unwrap();
    let address = at.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = lines.find(|line| line.as_ref().unwrap().contains("share")).unwrap().unwrap();
    assert!(line.contains("1/1 replicas") && line.contains("limited by batch too small"), "{line}");
    let got = get(&address, "/metrics");
    assert!(got.starts_with("HTTP/1.1 200 OK\r\n"), "{got}");
    for series in
        ["fizeau_watch_speed_of_light_ratio{replica=\"\"} ", "limit=\"batch_too_small\"} 1"]
    {
        assert!(got.contains(series), "{got}");
    }
    assert!(get(&address, "/").starts_with("HTTP/1.1 404 "));
    // Whoever has seen enough ends it.
    drop(lines);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// The simulated engine is slower than the bound, in real time and however busy the machine is.
#[test]
fn a_simulated_engine_is_below_its_bound() {
    let server = simulated();
    let url = server.base_url();
    let address = url.trim_start_matches("http://").to_owned();
    let ask = move |address: String| {
        let body = r#"{"model":"m","prompt":"a b c d","max_tokens":80,"ignore_eos":true}"#;
        let length = body.len();
        let mut stream = TcpStream::connect(address).unwrap();
        let head = format!("POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {length}");
        let request = format!("{head}\r\nConnection: close\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
    };
    let asked: Vec<_> = (0..8)
        .map(|_| {
            thread::spawn({
                let address = address.clone();
                move || ask(address)
            })
        })
        .collect();
    let ended = watch(&[&format!("{url}/metrics")], &["--once", "--json", "--window", "200ms"]);
    asked.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let told: Value = serde_json::from_str(&ended.out).unwrap();
    let share = told["fleet"]["share"].as_f64();
    assert!(share.is_none_or(|share| share > 0.0 && share <= 1.05), "{told}");
}
