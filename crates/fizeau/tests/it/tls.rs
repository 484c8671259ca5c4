//! The simulated server behind TLS, as the transport meets it.

use fizeau::core::{FailureClass, Nanos, Outcome, Tape};
use fizeau::sim::FixedTiming;
use fizeau::sim::http::{Server, ServerConfig, ServerHandle, Tls};
use fizeau::transport::{Backend, HttpVersion, Target, Trust};

use crate::faults::stand::{PATIENT, TOKENS, TTFT, ask, ask_about, target};

fn tls() -> Tls {
    Tls::self_signed(&["localhost", "127.0.0.1"]).unwrap()
}

/// A server under `tls` at which requests may choose their faults.
fn serve(tls: &Tls) -> ServerHandle {
    let engine = FixedTiming::new(TTFT, Nanos::ZERO);
    let config =
        ServerConfig::new(engine).with_faults("allow".parse().unwrap()).with_tls(tls.clone());
    Server::bind(([127, 0, 0, 1], 0).into(), config).unwrap().spawn().unwrap()
}

fn trusting(server: &ServerHandle, tls: &Tls) -> Target {
    let trust = Trust::Pem(tls.certificate().into());
    target(server, Backend::Vllm, PATIENT).trust(&trust).unwrap()
}

async fn under(fault: &str) -> Tape {
    let tls = tls();
    let server = serve(&tls);
    ask(trusting(&server, &tls).header("x-fizeau-fault", fault).unwrap()).await
}

fn class(tape: &Tape) -> Option<FailureClass> {
    match &tape.outcome {
        Outcome::Failed(failure) => Some(failure.class),
        Outcome::Complete(_) => None,
    }
}

#[tokio::test]
async fn a_reply_is_whole_and_its_handshake_is_in_no_latency() {
    let tls = tls();
    let server = serve(&tls);
    assert!(server.base_url().starts_with("https://"));
    let tape = ask(trusting(&server, &tls)).await;
    assert_eq!((class(&tape), tape.output_tokens().get()), (None, TOKENS), "{tape:?}");
    assert_eq!(tape.round_trip.is_some(), cfg!(target_os = "linux"));
    let marks = &tape.marks;
    assert!(marks.connect.unwrap().tls <= marks.send_start);
    assert!(tape.first_token().unwrap().since(marks.send_start.unwrap()).unwrap() >= TTFT);
}

/// More than sockets hold, both ways: writes are cut and tried again.
#[tokio::test]
async fn much_goes_through_both_ways() {
    let tape = under("huge:600000").await;
    assert_eq!((class(&tape), tape.arrivals.len()), (None, 16), "{tape:?}");
    let tls = tls();
    let server = serve(&tls);
    let tape = ask_about(&"a-word-of-some-length ".repeat(1 << 18), trusting(&server, &tls)).await;
    assert_eq!(class(&tape), None, "{:?}", tape.outcome);
    assert_eq!(tape.usage.unwrap().prompt_tokens.unwrap().get(), 1 << 18);
}

#[tokio::test]
async fn faults_are_the_same_under_tls() {
    for fault in ["crlf", "split:20us", "comments", "close", "chunk-bytes"] {
        let tape = under(fault).await;
        assert_eq!((class(&tape), tape.output_tokens().get()), (None, TOKENS), "{fault}");
    }
    for fault in ["reset@3", "fin@3", "cut-chunk@3", "eof@3"] {
        let tape = under(fault).await;
        assert_eq!(class(&tape), Some(FailureClass::Truncated), "{fault}");
        assert_eq!(tape.arrivals.len(), 3, "{fault}");
    }
}

#[tokio::test]
async fn who_does_not_trust_the_server_or_speaks_otherwise_is_turned_away() {
    let server = serve(&tls());
    let stranger = target(&server, Backend::Vllm, PATIENT);
    assert_eq!(class(&ask(stranger).await), Some(FailureClass::Tls));
    let anybody = || target(&server, Backend::Vllm, PATIENT).trust(&Trust::Insecure).unwrap();
    assert_eq!(class(&ask(anybody()).await), None);
    let newer = anybody().http_version(HttpVersion::HTTP2);
    assert_eq!(class(&ask(newer).await), Some(FailureClass::Tls));
    let plain = Target::new(&format!("http://{}", server.addr()), Backend::Vllm, "m").unwrap();
    assert!(class(&ask(plain.timeouts(PATIENT)).await).is_some());
    // None of them has done the server harm.
    assert_eq!(class(&ask(anybody()).await), None);
}
