//! Replies that fail: each has its class, and what came before is kept.

use fizeau::core::{FailureClass, Nanos, Outcome};
use fizeau::transport::{Backend, Timeouts};

use super::stand::{PATIENT, TTFT, ask, serve, target, truth};

use FailureClass::{
    Connect, InStreamError, Malformed, Status, TimeoutFirstToken, TimeoutIdle, Truncated,
};

/// A fault, the class of its failure and the tokens that came before it.
const FAILED: [(&str, FailureClass, usize); 27] = [
    ("error", InStreamError, 8),
    ("error@0", InStreamError, 0),
    ("error@16", InStreamError, 16),
    ("error-text@2", InStreamError, 2),
    ("error-finish@2", InStreamError, 2),
    ("error-then-usage@2", InStreamError, 2),
    ("content-filter@2", InStreamError, 2),
    ("abort@2", InStreamError, 2),
    ("eof@3", Truncated, 3),
    ("eof@16", Truncated, 16),
    ("cut-chunk@3", Truncated, 3),
    ("fin@3", Truncated, 3),
    ("fin@0", Truncated, 0),
    ("reset@3", Truncated, 3),
    ("reset@0", Truncated, 0),
    ("bad-chunk@3", Malformed, 3),
    ("reset-at-once", Connect, 0),
    ("close-at-once", Connect, 0),
    ("garbage", Malformed, 0),
    ("cut-head", Truncated, 0),
    ("gzip", Malformed, 0),
    ("unstreamed", Malformed, 0),
    ("429:7s", Status, 0),
    ("503", Status, 0),
    ("500", Status, 0),
    ("crlf+error@2", InStreamError, 2),
    ("bundle:4+eof@6", Truncated, 2),
];

/// A fault that lasts for ever.
const STUCK: [(&str, FailureClass, usize); 3] = [
    ("stall@3", TimeoutIdle, 3),
    ("stall@0", TimeoutFirstToken, 0),
    ("no-reply", TimeoutFirstToken, 0),
];

pub(crate) fn tried() -> Vec<&'static str> {
    FAILED.iter().chain(&STUCK).map(|(fault, ..)| *fault).collect()
}

async fn check((fault, class, events): (&str, FailureClass, usize), timeouts: Timeouts) {
    for backend in [Backend::Vllm, Backend::VllmChat, Backend::OpenAi] {
        let server = serve(fault, TTFT);
        let tape = ask(target(&server, backend, timeouts)).await;
        let Outcome::Failed(failure) = &tape.outcome else {
            panic!("{fault} {backend}: {tape:?}");
        };
        assert_eq!(failure.class, class, "{fault} {backend}: {failure}");
        assert_eq!(tape.arrivals.len(), events, "{fault} {backend}");
        assert!(tape.marks.end.is_some(), "{fault} {backend}");
        let requests = truth(server.addr());
        assert_eq!(requests[0]["fault"], fault, "{backend}");
    }
}

#[tokio::test]
async fn each_failure_has_its_class() {
    for case in FAILED {
        check(case, PATIENT).await;
    }
}

#[tokio::test]
async fn silence_ends_with_the_limit_that_was_set() {
    let limit = Some(Nanos::from_millis(60));
    for case in STUCK {
        let limits = match case.1 {
            TimeoutIdle => Timeouts { idle: limit, ..PATIENT },
            _ => Timeouts { first_token: limit, ..PATIENT },
        };
        check(case, limits).await;
    }
}

/// Comments while a request is queued are no progress: they neither are the first token nor defer its limit.
#[tokio::test]
async fn keep_alives_do_not_keep_a_request_alive() {
    let server = serve("keep-alive:1ms", Nanos::from_secs(60));
    let limits = Timeouts { first_token: Some(Nanos::from_millis(60)), ..PATIENT };
    let tape = ask(target(&server, Backend::Vllm, limits)).await;
    let Outcome::Failed(failure) = &tape.outcome else {
        panic!("{tape:?}");
    };
    assert_eq!((failure.class, tape.arrivals.len()), (TimeoutFirstToken, 0));
}

#[tokio::test]
async fn a_servers_wish_to_be_left_alone_is_kept() {
    for (fault, status) in [("429:7s", 429), ("503:7s", 503)] {
        let server = serve(fault, TTFT);
        let tape = ask(target(&server, Backend::Vllm, PATIENT)).await;
        let Outcome::Failed(failure) = tape.outcome else {
            panic!("{fault} is no success");
        };
        assert_eq!(
            (failure.status, failure.retry_after),
            (Some(status), Some(Nanos::from_secs(7)))
        );
        assert_eq!(truth(server.addr()).len(), 1, "nothing is tried again");
    }
}
