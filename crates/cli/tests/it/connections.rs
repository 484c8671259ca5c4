//! How endpoints are reached: several, through proxies, behind TLS.

use std::process::Command;

use fizeau::core::Nanos;

use crate::stand::{Ended, Scratch, fixed, fizeau, json, reply, run, scripted};

const USAGE: Option<i32> = Some(2);
const ENDPOINT: Option<i32> = Some(3);

/// A short run into the folder `out`.
fn bench<'a>(out: &'a str, extra: &[&'a str]) -> Vec<&'a str> {
    let mut words = vec!["bench", "--model", "m", "--num-prompts", "8", "--num-warmups", "0"];
    words.extend(["--random-input-len", "8", "--random-output-len", "4", "--max-concurrency", "4"]);
    words.extend(["--threads", "1", "--out", out]);
    words.extend(extra);
    words
}

fn end(command: &mut Command) -> Ended {
    command.output().unwrap().into()
}

#[test]
fn requests_are_shared_among_several_base_urls() {
    let scratch = Scratch::new("several");
    let servers = [fixed(Nanos::ZERO, Nanos::ZERO), fixed(Nanos::ZERO, Nanos::ZERO)];
    let [first, second] = [servers[0].base_url(), servers[1].base_url()];
    let both = format!("{first},{second}");
    for (name, urls) in [("commas", vec![&*both]), ("flags", vec![&*first, &second])] {
        let out = scratch.path(name);
        let urls: Vec<&str> = urls.into_iter().flat_map(|url| ["--base-url", url]).collect();
        let ended = run(&bench(&out, &urls));
        assert!(ended.out.contains("Report: "), "{ended:?}");
        let tapes = std::fs::read_to_string(format!("{out}/tapes.jsonl")).unwrap();
        let at_second = tapes.lines().filter(|tape| tape.contains("\"endpoint\":1")).count();
        assert_eq!((tapes.lines().count(), at_second), (8, 4));
        let connections = &json(format!("{out}/run.json"))["setup"]["endpoint"]["connections"];
        assert_eq!(connections["also_at"][0], *second);
        assert_eq!(connections["balance"], "round_robin");
        assert_eq!(connections["http_version"], "1.1");
    }
}

#[test]
fn each_endpoint_is_tried_before_anything_counts() {
    let scratch = Scratch::new("second-gone");
    let server = fixed(Nanos::ZERO, Nanos::ZERO);
    let urls = format!("{},http://127.0.0.1:9", server.base_url());
    let ended = run(&bench(&scratch.path("run"), &["--base-url", &urls]));
    assert_eq!(ended.code, ENDPOINT, "{ended:?}");
    assert!(ended.err.contains("http://127.0.0.1:9/v1/completions: "), "{}", ended.err);
}

#[test]
fn a_proxy_from_the_environment_is_used_and_said_and_recorded() {
    let scratch = Scratch::new("proxy");
    // Asked in absolute form, it answers for any host.
    let proxy = fixed(Nanos::ZERO, Nanos::ZERO);
    let address = proxy.base_url().replace("http://", "");
    let out = scratch.path("run");
    let arguments = bench(&out, &["--base-url", "http://llm.test:8000"]);
    let url = format!("http://me:s3cret@{address}");
    let ended = end(fizeau(&arguments).env("http_proxy", &url));
    assert!(ended.out.contains("Report: "), "{ended:?}");
    let shown = format!("http://***@{address}");
    assert!(
        ended.err.contains(&format!("note: requests go through the proxy {shown}")),
        "{ended:?}"
    );
    let recorded = std::fs::read_to_string(format!("{out}/run.json")).unwrap();
    assert!(recorded.contains(&shown) && !recorded.contains("s3cret"), "{recorded}");

    let ended = end(fizeau(&arguments).env("all_proxy", "socks5://me:s3cret@h:1"));
    assert_eq!(ended.code, USAGE, "{ended:?}");
    assert!(ended.err.starts_with("error: the proxy of all_proxy"), "{}", ended.err);
    assert!(!ended.err.contains("s3cret"), "{}", ended.err);

    // It plays no part where the server is on loopback.
    let (out, url) = (scratch.path("straight"), proxy.base_url());
    let straight = bench(&out, &["--base-url", &url]);
    let ended = end(fizeau(&straight).env("all_proxy", "socks5://me:s3cret@h:1"));
    assert!(ended.out.contains("Report: "), "{ended:?}");
}

#[test]
fn what_fails_in_tls_says_what_to_do_and_insecure_is_said_loudly() {
    let scratch = Scratch::new("tls");
    let plain = scripted(|_| Some(reply("400 Bad Request", "text/plain", "")));
    let url = plain.replace("http://", "https://");
    let out = scratch.path("run");
    let ended = run(&bench(&out, &["--base-url", &url, "--insecure", "--connect-timeout", "5"]));
    assert_eq!(ended.code, ENDPOINT, "{ended:?}");
    assert!(ended.err.contains("warning: --insecure: no certificate is checked"), "{}", ended.err);
    let auto = run(&bench(&out, &["--base-url", &url, "--insecure", "--backend", "auto"]));
    let warning = auto.err.find("warning: --insecure");
    assert!(warning < auto.err.find("error: ") && warning.is_some(), "{}", auto.err);
    let words = ["no TLS with ", "is it an http:// endpoint?", "--ca-cert FILE"];
    assert!(words.iter().all(|word| ended.err.contains(word)), "{}", ended.err);
}

#[test]
fn certificates_and_flags_that_make_no_sense_are_refused() {
    let scratch = Scratch::new("flags");
    let empty = scratch.path("empty.pem");
    std::fs::write(&empty, "").unwrap();
    let missing = scratch.path("missing.pem");
    let cases: [(&[&str], &str); 6] = [
        (&["--ca-cert", &empty], "holds no certificate"),
        (&["--ca-cert", &missing], "missing.pem"),
        (&["--server-metrics", "foo"], "--server-metrics foo: a page has an address such as http"),
        (&["--ca-cert", &empty, "--insecure"], "--insecure"),
        (&["--http-version", "3"], "[possible values: 1.1, 2]"),
        (&["--http2-streams", "0"], "--http2-streams"),
    ];
    for (extra, words) in cases {
        let extra: Vec<&str> =
            ["--base-url", "https://127.0.0.1:9"].iter().chain(extra).copied().collect();
        let ended = run(&bench(&scratch.path("run"), &extra));
        assert_eq!(ended.code, USAGE, "{extra:?}: {ended:?}");
        assert!(ended.err.contains(words), "{extra:?}: {}", ended.err);
    }
}

#[test]
fn a_connection_for_each_request_and_stamps_of_this_process_go_on_record() {
    let scratch = Scratch::new("each");
    let server = fixed(Nanos::ZERO, Nanos::ZERO);
    let (out, url) = (scratch.path("run"), server.base_url());
    let ended =
        run(&bench(&out, &["--base-url", &url, "--new-connection-per-request", "--user-stamps"]));
    assert!(ended.out.contains("Report: "), "{ended:?}");
    let tapes = std::fs::read_to_string(format!("{out}/tapes.jsonl")).unwrap();
    for tape in tapes.lines() {
        assert!(tape.contains("\"connection\":\"fresh\""), "{tape}");
        assert!(tape.contains("\"stamps\":\"user\""), "{tape}");
        assert!(tape.contains("\"tcp_ns\":"), "{tape}");
    }
    let connections = &json(format!("{out}/run.json"))["setup"]["endpoint"]["connections"];
    assert_eq!(
        (&connections["lifetime"], &connections["stamps"]),
        (&"one request".into(), &"user".into())
    );
}
