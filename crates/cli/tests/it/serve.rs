//! `fizeau serve`, from its first line to its last.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use crate::interrupt::interrupt;
use crate::stand::{Ended, HOWEVER_BUSY, fizeau, run};

/// A server at work on a free port, and what it said at first.
struct Server {
    child: Child,
    said: Vec<String>,
    address: String,
}

impl Server {
    /// With the words of `line`.
    fn start(line: &str) -> Self {
        let words = ["serve", "--port", "0", "--until-stdin-ends"];
        let words: Vec<&str> = words.into_iter().chain(line.split_whitespace()).collect();
        let command = &mut fizeau(&words);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut said = Vec::new();
        for line in lines {
            said.push(line);
            if said.last().unwrap().starts_with("Ctrl-C ends it") {
                break;
            }
        }
        let served = said.iter().find(|line| line.starts_with("serving model ")).unwrap();
        let address = served.rsplit("://").next().unwrap().to_owned();
        Self { child, said, address }
    }

    /// What is simulated, in one line, however it was broken.
    fn simulated(&self) -> String {
        let lines = self.said[1..].iter().take_while(|line| line.starts_with(' '));
        lines.map(|line| line.trim()).collect::<Vec<_>>().join(" ")
    }

    fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

/// What is said to a line that is refused before anything listens.
fn refused(line: &str) -> String {
    let words = ["serve", "--port", "0"];
    let words: Vec<&str> = words.into_iter().chain(line.split_whitespace()).collect();
    let Ended { code, out, err } = run(&words);
    assert_eq!((code, out.as_str()), (Some(2), ""), "{line}: {err}");
    err
}

#[test]
fn a_limit_and_a_prefix_cache_are_there_where_asked_for() {
    let server = Server::start("--ttft-ms 0 --itl-ms 0 --max-model-len 64 --prefix-cache 9");
    let at = server.said.iter().position(|line| line.starts_with("serving model ")).unwrap();
    assert_eq!(server.said[at + 1], "prefix cache: blocks of 16 tokens, at most 9");
    two_of_a_kind(&server, 64);
    server.end();
}

#[test]
fn an_engine_keeps_prefixes_and_its_limit_too() {
    let server = Server::start("--prefix-cache --max-model-len 64 --time-scale 1000");
    assert!(server.simulated().contains(", prefix cache; "), "{:?}", server.said);
    assert!(server.said.contains(&"time runs 1000 times as fast as real time".to_owned()));
    two_of_a_kind(&server, 64);
    server.end();
}

/// The second of two equal prompts is cached, and one past the limit is refused.
fn two_of_a_kind(server: &Server, limit: u64) {
    let prompt = "word ".repeat(40);
    let replies = [2, 2, 30].map(|tokens| {
        complete(&server.address, &format!(r#"{{"prompt":"{prompt}","max_tokens":{tokens}}}"#))
    });
    assert!(replies[0].contains(r#""cached_tokens":0"#), "{}", replies[0]);
    assert!(replies[1].contains(r#""cached_tokens":32"#), "{}", replies[1]);
    let refusal = format!("maximum context length is {limit} tokens");
    assert!(replies[2].contains(&refusal), "{}", replies[2]);
}

#[test]
fn the_first_lines_say_what_is_simulated() {
    let server = Server::start(
        "--model-config llama-3.1-70b --hardware h100-sxm --tp 4 --replicas 2 --router round-robin --weights fp8 \
         --max-num-seqs 32 --draft 3 --drafter lookup --power-limit 70% --served-model-name mine",
    );
    assert_eq!(server.said[0], "simulated engine, no accelerator is used:");
    assert_eq!(
        server.simulated(),
        "llama-3.1-70b (fp8) on 8 NVIDIA H100 SXM 80 GB (TP4 x2), routed round-robin; 32 slots and 717792 tokens of KV \
         cache, 8192 tokens a step, drafts of 3 by look-up, 2.95 tokens a step expected; roofline at 85 % of bandwidth \
         and 70 % of compute, plus 150 us a step, 2 us a sequence, at most 490 W"
    );
    let serving = "serving model mine on http://127.0.0.1:";
    assert!(server.said.iter().any(|line| line.starts_with(serving)), "{:?}", server.said);
    server.end();
    let server =
        Server::start("--disaggregate 2:1 --transfer second --fault allow --natural-len 2");
    assert!(server.simulated().contains("(x3), 2 for prefill and 1 for decode; 1024 slots"));
    assert!(server.said.iter().any(|line| line.starts_with("faults: allow; ")));
    let reply = complete(&server.address, r#"{"prompt":"x y","max_tokens":3}"#);
    assert!(reply.contains(r#""completion_tokens":2"#), "{reply}");
    server.end();
}

#[test]
fn what_cannot_run_is_refused_with_what_would() {
    let large = "--model-config llama-3.1-70b --hardware h100-sxm";
    for (line, said) in [
        ("--block-size 0", "a block of 0 tokens holds nothing: give at least 1; 16 is usual"),
        ("--max-num-batched-tokens 8", "below one block of 16: give at least 16"),
        ("--max-num-seqs 9000", "give a budget of at least 9000"),
        ("--num-gpu-blocks 99999999", "do not fit beside the weights: at most 29043 do"),
        ("--num-gpu-blocks 10 --max-model-len 161", "a context of at most 160"),
        ("--cuda-graph-sizes 4,2", "list each size once, in rising order from 1"),
        (
            "--max-model-len 131073",
            "--max-model-len: a context of 131073 tokens is more than the 131072",
        ),
        (
            large,
            "it runs with TP2 (39136 tokens of cache), with weights in fp8 (13152) or on b200-sxm",
        ),
        ("--hardware h100-sxm", "--model-config: name the model that --hardware is for"),
        ("--model-config llama-3.1-8b", "--hardware: name the device that --model-config is for"),
        ("--tp 3", "tensor parallelism of 3 does not divide the 32 attention heads; 2 or 4 would"),
        ("--draft 0", "--draft 0: give at least 1"),
        ("--draft 2 --acceptance 1.5", "--acceptance: the acceptance of drafted token 1 is 1.5"),
        ("--draft 2 --drafter mtp", "--drafter mtp: the model has no module"),
        ("--disaggregate 2", "--disaggregate 2: give two numbers of instances, such as 2:1"),
        ("--disaggregate 1:1 --router round-robin", "cannot be used with"),
        ("--prefix-cache 9", "give their number with --num-gpu-blocks"),
        ("--bandwidth-efficiency 1.1", "--bandwidth-efficiency 1.1: give a share from 0.001 to 1"),
        ("--per-step 3", "--per-step 3: add a unit (ns, us, ms, s, m or h), such as 3us"),
        ("--power-limit 10", "--power-limit: the power limit is 10 W"),
        ("--power-limit much", "give a number of watts, a share such as 70%, or tdp"),
        ("--calibration nowhere.json", "--calibration nowhere.json: "),
        ("--time-scale 0", "--time-scale: the time scale is 0"),
        (
            "--natural-len mean:0",
            "--natural-len mean:0: it must be a number of tokens, or mean:TOKENS",
        ),
        ("--fault mischief", "--fault: no fault is called `mischief`"),
        ("--ttft-ms 1 --itl-ms 1 --draft 2", "cannot be used with"),
    ] {
        let error = refused(line);
        assert!(error.contains(said), "{line}: no `{said}` in: {error}");
    }
}

#[test]
fn every_fault_is_listed() {
    let Ended { code, out, .. } = run(&["serve", "--list-faults"]);
    assert_eq!(code, Some(0));
    assert!(out.contains("\nstall@TOKENS:TIME\n    ") && out.contains("--fault allow"), "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
}

#[test]
fn the_end_tells_how_well_the_schedule_was_kept() {
    let words = ["serve", "--port", "0", "--ttft-ms", "1", "--itl-ms", "0.5"];
    let mut child = fizeau(&words).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let served = lines.find(|line| line.starts_with("serving model (any name) on ")).unwrap();
    lines.find(|line| line.starts_with("Ctrl-C ends it")).unwrap();
    let address = served.rsplit("http://").next().unwrap();

    let reply = complete(address, r#"{"prompt":"x","max_tokens":5,"stream":true}"#);
    assert!(reply.contains("[DONE]"), "{reply}");

    interrupt(&child);
    let last = lines.last().unwrap();
    assert!(last.starts_with("lateness of the 5 tokens sent: p50 "), "{last}");
    assert!(child.wait().unwrap().success());
}

/// The reply to a completion, head and body.
fn complete(address: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    write!(
        stream,
        "POST /v1/completions HTTP/1.1\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply
}

#[test]
fn tls_is_spoken_with_a_certificate_of_its_own_or_with_files() {
    let scratch = crate::stand::Scratch::new("serve-tls");
    let file = scratch.path("made.pem");
    let line = format!("--ttft-ms 1 --itl-ms 1 --tls-self-signed {file}");
    let server = Server::start(&line);
    let served = server.said.iter().find(|line| line.starts_with("serving model ")).unwrap();
    let url = served.rsplit(' ').next().unwrap();
    assert!(url.starts_with("https://"), "{served}");
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("-----BEGIN CERTIFICATE-----"));
    let words = ["bench", "--base-url", url, "--insecure", "--model", "m", "--num-prompts", "3"];
    let ended =
        run(&[&words[..], &["--random-input-len", "4", "--random-output-len", "2"], &HOWEVER_BUSY]
            .concat());
    assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
    // Who trusts the server for requests trusts it for its page of metrics.
    for (name, trust) in [("any", &["--insecure"][..]), ("given", &["--ca-cert", &file])] {
        let out = scratch.path(name);
        let words =
            ["bench", "--base-url", url, "--model", "m", "--num-prompts", "3", "--out", &out];
        let lengths = ["--random-input-len", "4", "--random-output-len", "2"];
        let ended = run(&[&words[..], &lengths, trust, &HOWEVER_BUSY].concat());
        assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
        let summary = crate::stand::json(format!("{out}/summary.json"));
        assert_eq!(summary["telemetry"]["server"]["exporter"], "vllm", "{trust:?}: {}", ended.err);
    }
    server.end();
    let nothing = scratch.path("nothing.pem");
    let line = format!("--ssl-certfile {nothing} --ssl-keyfile {nothing}");
    assert!(refused(&line).contains("--ssl-certfile"), "{line}");
    let line = format!("--ssl-certfile {file} --ssl-keyfile {file}");
    assert!(refused(&line).contains("holds no private key"), "{line}");
}
