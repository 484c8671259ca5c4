//! Endpoints that fail, and the classes of their failures.

use std::io::Write;
use std::net::TcpListener;

use fizeau_core::{
    Connection, EosRule, Failure, FailureClass, Nanos, Outcome, Prompt, Release, Stamp, Tape,
    Transport,
};
use fizeau_transport::{Secret, Timeouts};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::bodies::request;
use crate::http::{ask, good, target, transport};
use crate::server::{LAST, STREAM, Server, Step, chunk, plain, send};
use crate::streams::text;

pub(crate) const NO_LIMITS: Timeouts =
    Timeouts { connect: None, first_token: None, idle: None, total: None };

/// One request to a server that follows `script` on its connection. It ends alike whether sockets are heard by the worker's own `epoll`
/// or by the runtime.
pub(crate) async fn ask_once(script: Vec<Step>, timeouts: Timeouts) -> Tape {
    let server = Server::run(vec![script.clone(), script]);
    let both = || transport(target(&server.url()).timeouts(timeouts));
    let (tape, by_runtime) = (ask(&both()).await, ask(&both().heard_by_runtime()).await);
    assert_eq!(ending(&tape), ending(&by_runtime), "{tape:?} {by_runtime:?}");
    tape
}

/// How it ended, and after how many arrivals, which is chance where the time was up.
fn ending(tape: &Tape) -> (Option<FailureClass>, Option<usize>) {
    use FailureClass::{TimeoutConnect, TimeoutFirstToken, TimeoutIdle, TimeoutTotal};
    let arrivals = Some(tape.arrivals.len());
    match &tape.outcome {
        Outcome::Complete(_) => (None, arrivals),
        Outcome::Failed(failure) => match failure.class {
            TimeoutConnect | TimeoutFirstToken | TimeoutIdle | TimeoutTotal => {
                (Some(failure.class), None)
            }
            class => (Some(class), arrivals),
        },
    }
}

#[track_caller]
pub(crate) fn check_failure(tape: &Tape, class: FailureClass, status: Option<u16>, words: &str) {
    let failure = failure(tape);
    assert_eq!((failure.class, failure.status), (class, status), "{failure}");
    assert!(failure.detail.contains(words), "{failure}");
    assert!(tape.marks.end.is_some());
}

fn failure(tape: &Tape) -> &Failure {
    match &tape.outcome {
        Outcome::Failed(failure) => failure,
        Outcome::Complete(_) => panic!("succeeded: {tape:?}"),
    }
}

#[tokio::test]
async fn a_refused_connection_is_named() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let transport = transport(target(&format!("http://{address}")));
    let words = format!("could not connect to {address}: connection refused");
    let tape = ask(&transport).await;
    check_failure(&tape, FailureClass::Connect, None, &words);
    assert_eq!((tape.marks.send_start, tape.marks.connect), (None, None));
    assert_eq!(transport.preconnect(2).await.unwrap_err().to_string(), words);
}

#[tokio::test]
async fn a_status_other_than_200_keeps_the_servers_words() {
    let headers = "Content-Type: application/json\r\n";
    let refused =
        plain("401 Unauthorized", headers, r#"{"error":{"message":"bad sk-hush, c0de,\n go"}}"#);
    let busy =
        plain("429 Too Many Requests", "Retry-After: 7\r\n", r#"{"detail":[{"msg":"busy"}]}"#);
    let broken = plain("500 Internal Server Error", "", "oh\nno");
    let silent = plain("404 Not Found", "", "");
    // The cut of a long line must not leave half a secret.
    let long = plain("403 Forbidden", "", &format!("{}sk-hush", "é".repeat(177)));
    let server = Server::run(vec![[refused, busy, broken, silent, long].concat()]);
    let target = target(&server.url()).api_key(Secret::new("sk-hush")).unwrap();
    let target = target.path("/v1/completions?code=c0de").unwrap();
    let transport = transport(target);

    let tape = ask(&transport).await;
    check_failure(&tape, FailureClass::Status, Some(401), "401 Unauthorized: bad ***, ***, go");
    let tape = ask(&transport).await;
    check_failure(&tape, FailureClass::Status, Some(429), "429 Too Many Requests: busy");
    assert_eq!(failure(&tape).retry_after, Some(Nanos::from_secs(7)));
    check_failure(&ask(&transport).await, FailureClass::Status, Some(500), "oh no");
    let tape = ask(&transport).await;
    check_failure(&tape, FailureClass::Status, Some(404), "404 Not Found");
    assert_eq!(tape.connection, Connection::Reused, "a refusal leaves the connection whole");
    let detail = &failure(&ask(&transport).await).detail.clone();
    assert!(!detail.contains("sk") && detail.chars().count() <= 200, "{detail}");
}

#[tokio::test]
async fn a_200_that_is_no_stream() {
    let json = "Content-Type: application/json\r\n";
    let answer = r#"{"choices":[{"text":"Ga bu","finish_reason":"length"}],"usage":{"completion_tokens":2}}"#;
    let cases = [
        (plain("200 OK", json, answer), FailureClass::Malformed, "ignored `stream`"),
        (plain("200 OK", json, r#"{"error":"no"}"#), FailureClass::InStreamError, "no"),
        (plain("200 OK", json, r#"{"detail":"dead"}"#), FailureClass::InStreamError, "dead"),
        (
            plain("200 OK", json, r#"{"code":20012,"message":"no model","data":null}"#),
            FailureClass::InStreamError,
            "no model",
        ),
        (
            plain("200 OK", json, r#"[{"error":{"code":429,"message":"busy"}}]"#),
            FailureClass::InStreamError,
            "busy",
        ),
        (
            plain("200 OK", json, r#"[{"candidates":[]},{"candidates":[]},{"candidates":[]}]"#),
            FailureClass::Malformed,
            "`[{\"candidates\":[]}",
        ),
        (plain("200 OK", json, &good()), FailureClass::Malformed, "`data: {"),
        (
            plain("200 OK", "Content-Type: text/html\r\n", "<p>"),
            FailureClass::Malformed,
            "text/html",
        ),
        (plain("200 OK", "Content-Encoding: gzip\r\n", "xx"), FailureClass::Malformed, "gzip"),
    ];
    for (script, class, words) in cases {
        check_failure(&ask_once(script, NO_LIMITS).await, class, Some(200), words);
    }
}

/// Codings are told apart without regard to case (RFC 9110, section 8.4.1), and proxies write `none` so that nothing compresses.
#[tokio::test]
async fn what_is_not_compressed_is_read() {
    for coding in ["", "none", "None", "Identity"] {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: {coding}\r\n\r\n"
        );
        let script = vec![Step::Request, send(&head), send(good())];
        let tape = ask_once(script, NO_LIMITS).await;
        assert!(tape.is_success(), "{coding}: {tape:?}");
    }
}

#[tokio::test]
async fn bodies_that_break_off() {
    let whole = [STREAM.as_bytes(), &chunk(good())].concat();
    let cut = &whole[..whole.len() - 10];
    let tape = ask_once(vec![Step::Request, send(cut)], NO_LIMITS).await;
    check_failure(&tape, FailureClass::Truncated, Some(200), "the connection broke");
    assert_eq!(tape.arrivals.len(), 2);

    let tape = ask_once(vec![Step::Request, send("HTTP/1.1 200 OK\r\nContent-")], NO_LIMITS).await;
    check_failure(&tape, FailureClass::Truncated, None, "head");
    let tape = ask_once(vec![Step::Request, send("SSH-2.0-x\r\n\r\n")], NO_LIMITS).await;
    check_failure(&tape, FailureClass::Malformed, None, "head");

    // The end marker is the protocol's own end, whatever becomes of the connection.
    let tape = ask_once(vec![Step::Request, Step::Send(whole.clone())], NO_LIMITS).await;
    assert!(tape.is_success(), "{tape:?}");
    let tape = ask_once(vec![Step::Request, Step::Send(whole), Step::Hold], NO_LIMITS).await;
    assert!(tape.is_success(), "{tape:?}");
    assert_eq!(
        (tape.marks.end, tape.left_open),
        (tape.last_output(), true),
        "over as all was said"
    );
}

#[tokio::test]
async fn chunks_that_make_no_sense() {
    let wrong = [STREAM.as_bytes(), &chunk(text("Ga", "", "")), b"what?\r\n"].concat();
    let tape = ask_once(vec![Step::Request, Step::Send(wrong)], NO_LIMITS).await;
    check_failure(&tape, FailureClass::Malformed, Some(200), "`w` in the line of a chunk's size");
    assert_eq!(tape.arrivals.len(), 1, "what came is kept");
}

/// The server answers before it has read the request, and never reads it: more than the sockets hold.
#[tokio::test]
async fn a_request_refused_half_way() {
    let refused = "HTTP/1.1 413 Payload Too Large\r\nContent-Length: 4\r\n\r\nlong";
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (done, hold) = std::sync::mpsc::channel::<()>();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(refused.as_bytes()).unwrap();
        let _ = hold.recv();
    });
    let transport = transport(target(&format!("http://{address}")));
    let long = request(Prompt::Text("x".repeat(32 << 20)), EosRule::Ignore);
    let tape = transport.send(&long, Release::at(Stamp::EPOCH)).await.unwrap();
    check_failure(&tape, FailureClass::Status, Some(413), "413 Payload Too Large: long");
    assert!(format!("{transport:?}").contains("0 idle"), "half a request is still to be sent");
    drop(done);
    server.join().unwrap();
}

/// The server begins its reply before it has read the request, and ends it only after.
#[tokio::test]
async fn a_request_answered_early_is_sent_to_its_end() {
    let long = 32 << 20;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(STREAM.as_bytes()).await.unwrap();
        // The sockets are full meanwhile, and the client has turns enough to take the head.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        let read = tokio::io::copy(&mut (&mut stream).take(long), &mut tokio::io::sink()).await;
        stream.write_all(&chunk(good())).await.unwrap();
        stream.write_all(LAST.as_bytes()).await.unwrap();
        read.unwrap()
    });
    let limits = Timeouts { total: Some(Nanos::from_secs(60)), ..NO_LIMITS };
    let transport = transport(target(&format!("http://{address}")).timeouts(limits));
    let prompt = "x".repeat(usize::try_from(long).unwrap());
    let asked = request(Prompt::Text(prompt), EosRule::Ignore);
    let tape = transport.send(&asked, Release::at(Stamp::EPOCH)).await.unwrap();
    assert!(tape.is_success(), "{:?}", tape.outcome);
    assert_eq!(server.await.unwrap(), long);
}

const LIMIT: Option<Nanos> = Some(Nanos::from_millis(20));

/// As [`check_failure`] without the status: whether the head came in time depends on the machine.
#[track_caller]
fn check_timeout(tape: &Tape, class: FailureClass, words: &str) {
    check_failure(tape, class, failure(tape).status, words);
}

#[tokio::test]
async fn a_first_token_that_does_not_come() {
    let limits = Timeouts { first_token: LIMIT, ..NO_LIMITS };
    let ping = send(chunk(": ping\n\n"));
    for script in
        [vec![Step::Request, Step::Hold], vec![Step::Request, send(STREAM), ping, Step::Hold]]
    {
        let tape = ask_once(script, limits).await;
        let words = "no first token within 20 ms";
        check_timeout(&tape, FailureClass::TimeoutFirstToken, words);
    }
}

#[tokio::test]
async fn a_second_token_that_does_not_come() {
    let first = send(chunk(text("Ga", "", "")));
    let ping = send(chunk(": ping\n\n"));
    let script = vec![Step::Request, send(STREAM), first, ping, Step::Hold];
    let limits = Timeouts { idle: LIMIT, ..NO_LIMITS };
    let tape = ask_once(script.clone(), limits).await;
    check_timeout(&tape, FailureClass::TimeoutIdle, "no further token");
    assert_eq!(tape.arrivals.len(), 1, "what came is kept");

    let limits = Timeouts { total: LIMIT, ..NO_LIMITS };
    let tape = ask_once(script, limits).await;
    check_timeout(&tape, FailureClass::TimeoutTotal, "not over within");
}

#[tokio::test]
async fn a_connection_that_takes_too_long() {
    let limits = Timeouts { connect: Some(Nanos::ZERO), ..NO_LIMITS };
    let tape = ask_once(vec![Step::Hold], limits).await;
    check_failure(&tape, FailureClass::TimeoutConnect, None, "no connection");
    assert_eq!(tape.marks.connect, None);
}
