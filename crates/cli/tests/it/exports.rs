//! A stored run for other programs: tables, metrics, and where they are sent.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::mpsc::{Receiver, channel};

use crate::stand::{Ended, Scratch, run};

/// A sweep in virtual time, of two levels; its folder.
fn swept(scratch: &Scratch) -> String {
    let out = scratch.path("a run");
    let line = ["simulate", "--levels", "2,8", "--num-prompts", "120", "--out", &out];
    let ended = run(&line);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    out
}

fn report(folder: &str, flags: &[&str]) -> Ended {
    run(&[&["report", folder], flags].concat())
}

/// Fields of a table that has no commas in its fields.
fn cells(line: &str) -> Vec<&str> {
    line.split(',').collect()
}

/// The field of that column.
fn cell<'a>(head: &str, line: &'a str, name: &str) -> &'a str {
    let at = cells(head).iter().position(|column| *column == name).unwrap();
    cells(line)[at]
}

#[test]
fn a_row_a_level_and_a_row_a_request() {
    let scratch = Scratch::new("exports-csv");
    let folder = swept(&scratch);
    let levels = report(&folder, &["--csv"]);
    assert_eq!((levels.code, &*levels.err), (Some(0), ""), "{levels:?}");
    let mut lines = levels.out.lines();
    let head = lines.next().unwrap();
    let loads: Vec<&str> = lines.map(|line| cell(head, line, "load_value")).collect();
    assert_eq!(loads, ["2", "8"]);

    let file = scratch.path("below/requests.csv");
    let requests = report(&folder, &[&format!("--requests-csv={file}")]);
    assert_eq!((requests.code, &*requests.out, &*requests.err), (Some(0), "", ""), "{requests:?}");
    let text = fs::read_to_string(file).unwrap();
    let mut lines = text.lines();
    let head = lines.next().unwrap();
    let lines: Vec<&str> = lines.collect();
    let of = |level: &str| lines.iter().filter(|line| line.starts_with(level)).count();
    assert_eq!((of("concurrency-0002,"), of("concurrency-0008,")), (120, 120));
    assert!(lines.iter().all(|line| cells(line).len() == cells(head).len()));
    // The mean of the rows is that of the summary.
    let times = lines.iter().filter(|line| line.starts_with("concurrency-0008,"));
    let times: Vec<f64> = times.map(|line| cell(head, line, "ttft_ms").parse().unwrap()).collect();
    let summary = crate::stand::json(format!("{folder}/concurrency-0008/summary.json"));
    let mean = summary["metrics"]["ttft_ms"]["mean"].as_f64().unwrap();
    assert!((times.iter().sum::<f64>() / times.len() as f64 - mean).abs() < 1e-9 * mean);
}

/// What the page says to type: in its lines of code, and where it names a command with the run or the table that it takes.
#[test]
fn the_commands_of_the_page_run() {
    let scratch = Scratch::new("exports-page");
    let folder = swept(&scratch);
    let table = scratch.path("levels.csv");
    assert_eq!(report(&folder, &[&format!("--csv={table}")]).code, Some(0));
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/exports.md");
    let page = fs::read_to_string(page).unwrap();
    let pieces = page.split(['`', '\n']).map(|piece| piece.split(" | ").next().unwrap());
    let is_whole = |piece: &&str| piece.contains(" RUN ") || piece.contains("levels.csv");
    let has_all = |piece: &&str| cfg!(feature = "parquet") || !piece.contains("--parquet");
    let commands = pieces.filter_map(|piece| piece.strip_prefix("fizeau ")).filter(is_whole);
    let mut ran = 0;
    for command in commands.filter(|piece| !piece.contains("HOST")).filter(has_all) {
        let out = scratch.path(&format!("page-{ran}"));
        let given = |word: &str| match word {
            "RUN" => folder.clone(),
            "levels.csv" => table.clone(),
            "DIR" => out.clone(),
            word => word.replace("=requests.csv", &format!("={out}.csv")),
        };
        let words: Vec<String> = command.split_whitespace().map(given).collect();
        let ended = run(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(ended.code, Some(0), "{command}: {}", ended.err);
        ran += 1;
    }
    assert!(ran >= 5, "{ran}");
}

#[test]
fn a_level_that_may_not_be_compared_is_a_row_that_nobody_compares() {
    let scratch = Scratch::new("exports-left-out");
    let folder = swept(&scratch);
    // Whoever measured the larger level did not live to finish it.
    let tapes = format!("{folder}/concurrency-0008/tapes.jsonl");
    let text = fs::read(&tapes).unwrap();
    fs::write(&tapes, &text[..text.len() / 3]).unwrap();
    let csv = scratch.path("levels.csv");
    let ended = report(&folder, &[&format!("--csv={csv}")]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let table = fs::read_to_string(&csv).unwrap();
    assert_eq!(table.lines().count(), 3, "{table}");
    assert!(table.lines().last().unwrap().contains("partial: "), "{table}");
    let chosen = run(&["pareto", &csv, "--axes", "throughput-latency"]);
    assert_eq!((chosen.code, chosen.out.lines().count()), (Some(0), 2), "{chosen:?}");
    assert!(chosen.err.contains("1 row left out, as `left_out` says"), "{chosen:?}");
}

#[test]
fn one_level_of_a_sweep_and_a_run_of_one_are_tables_too() {
    let scratch = Scratch::new("exports-one");
    let folder = swept(&scratch);
    let one = report(&format!("{folder}/concurrency-0008"), &["--requests-csv"]);
    assert_eq!((one.code, one.out.lines().count()), (Some(0), 121), "{}", one.err);
    let out = scratch.path("alone");
    assert_eq!(run(&["simulate", "--num-prompts", "50", "--out", &out]).code, Some(0));
    let alone = report(&out, &["--csv"]);
    assert_eq!((alone.code, alone.out.lines().count()), (Some(0), 2), "{alone:?}");
}

#[test]
fn two_tables_do_not_share_a_screen() {
    let scratch = Scratch::new("exports-two");
    let folder = swept(&scratch);
    let ended = report(&folder, &["--csv", "--prometheus"]);
    assert_eq!((ended.code, &*ended.out), (Some(2), ""));
    let said =
        "--csv and --prometheus both go to standard output: name a file for one, --prometheus=FILE";
    assert!(ended.err.contains(said), "{}", ended.err);
}

#[test]
fn the_figures_for_prometheus_are_those_of_the_summary() {
    let scratch = Scratch::new("exports-prometheus");
    let folder = swept(&scratch);
    let ended = report(&folder, &["--prometheus"]);
    assert_eq!((ended.code, &*ended.err), (Some(0), ""), "{ended:?}");
    let summary = crate::stand::json(format!("{folder}/concurrency-0002/summary.json"));
    let tps = summary["throughput"]["output_tokens_per_s"].as_f64().unwrap();
    let begins = "fizeau_output_tokens_per_second{run=\"a run\",";
    let lines = ended.out.lines().filter(|line| line.starts_with(begins));
    let line = lines.into_iter().find(|line| line.contains("load=\"2\"")).unwrap();
    assert_eq!(line.rsplit_once(' ').unwrap().1.parse(), Ok(tps));
}

#[cfg(not(feature = "parquet"))]
#[test]
fn without_parquet_it_says_how_to_get_it() {
    let scratch = Scratch::new("exports-no-parquet");
    let folder = swept(&scratch);
    let ended = report(&folder, &["--parquet", &scratch.path("tables")]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("--features parquet"), "{}", ended.err);
}

#[cfg(feature = "parquet")]
#[test]
fn both_tables_are_written_as_parquet() {
    let scratch = Scratch::new("exports-parquet");
    let folder = swept(&scratch);
    let tables = scratch.path("tables");
    let ended = report(&folder, &["--parquet", &tables]);
    assert_eq!((ended.code, &*ended.out), (Some(0), ""), "{ended:?}");
    for name in ["levels.parquet", "requests.parquet"] {
        let bytes = fs::read(format!("{tables}/{name}")).unwrap();
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{name}");
    }
}

#[test]
fn an_address_that_is_none_is_refused_without_its_password() {
    let scratch = Scratch::new("exports-address");
    let folder = swept(&scratch);
    for address in ["gateway:9091", "ftp://me:secret@gateway", "otlp+me:secret@gateway"] {
        let ended = report(&folder, &["--push", address]);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains("--push") && !ended.err.contains("secret"), "{}", ended.err);
    }
}

/// A request as it came in.
#[derive(Debug)]
struct Received {
    line: String,
    headers: String,
    body: String,
}

/// A server that answers every request with `status`, and tells of each.
fn gateway(status: &'static str) -> (String, Receiver<Received>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (told, received) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let mut headers = String::new();
            while !headers.ends_with("\r\n\r\n") && headers != "\r\n" {
                reader.read_line(&mut headers).unwrap();
            }
            let headers = headers.to_ascii_lowercase();
            let length = headers.lines().find_map(|line| line.strip_prefix("content-length: "));
            let mut body = vec![0; length.unwrap().parse().unwrap()];
            reader.read_exact(&mut body).unwrap();
            let _ = told.send(Received { line, headers, body: String::from_utf8(body).unwrap() });
            let reply = format!(
                "HTTP/1.1 {status}\r\nContent-Length: 12\r\nConnection: close\r\n\r\nwhat it said"
            );
            stream.write_all(reply.as_bytes()).unwrap();
        }
    });
    (address, received)
}

#[test]
fn a_pushgateway_gets_what_prometheus_would() {
    let scratch = Scratch::new("exports-push");
    let folder = swept(&scratch);
    let (address, received) = gateway("200 OK");
    let url = format!("http://me:secret@{address}/");
    let ended = report(&folder, &["--push", &url]);
    assert_eq!((ended.code, &*ended.out), (Some(0), ""), "{ended:?}");
    let shown = format!("sent to http://{address}/metrics/job/fizeau/instance/a%20run\n");
    assert_eq!(ended.err, shown);
    let request = received.recv().unwrap();
    assert_eq!(request.line.trim(), "PUT /metrics/job/fizeau/instance/a%20run HTTP/1.1");
    assert!(request.headers.contains("content-type: text/plain; version=0.0.4\r\n"));
    assert!(request.headers.contains("authorization: basic "), "{}", request.headers);
    assert_eq!(request.body, report(&folder, &["--prometheus"]).out);
}

#[test]
fn an_otlp_endpoint_gets_json() {
    let scratch = Scratch::new("exports-otlp");
    let folder = swept(&scratch);
    let (address, received) = gateway("200 OK");
    let ended = report(&folder, &["--push", &format!("otlp+http://{address}")]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let request = received.recv().unwrap();
    assert_eq!(request.line.trim(), "POST /v1/metrics HTTP/1.1");
    assert!(request.headers.contains("content-type: application/json\r\n"));
    let body: serde_json::Value = serde_json::from_str(&request.body).unwrap();
    let metrics = body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap();
    assert!(metrics.iter().any(|metric| metric["name"] == "fizeau_ttft_seconds"));
}

#[test]
fn what_a_gateway_refuses_is_said_without_the_password() {
    let scratch = Scratch::new("exports-refused");
    let folder = swept(&scratch);
    for status in ["401 Unauthorized", "302 Found", "500 Internal Server Error"] {
        let (address, _received) = gateway(status);
        let ended = report(&folder, &["--push", &format!("http://me:secret@{address}")]);
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(
            ended.err.contains(&format!("--push http://{address}: it answered {status}")),
            "{}",
            ended.err
        );
        assert!(
            !ended.err.contains("secret") && ended.err.contains("what it said"),
            "{}",
            ended.err
        );
    }
    // Nobody listens there any more.
    let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let ended = report(&folder, &["--push", &format!("http://me:secret@{address}")]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(!ended.err.contains("secret"), "{}", ended.err);
}
