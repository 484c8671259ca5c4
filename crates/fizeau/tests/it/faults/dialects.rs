//! The same faults in the dialects that are not OpenAI's chunks.

use fizeau::core::{FailureClass, Finish, Outcome, Tape};
use fizeau::transport::Backend;

use super::stand::{PATIENT, TOKENS, TTFT, ask, serve, target, truth};

const DIALECTS: [Backend; 3] =
    [Backend::SglangNative, Backend::Anthropic, Backend::OpenAiResponses];

/// None of these takes a token away.
const GOOD: [&str; 13] = [
    "late-usage:2ms",
    "crlf",
    "cr",
    "comments",
    "glued-comments",
    "no-space",
    "multi-data",
    "extra-fields",
    "split:20us",
    "drip:1us",
    "coalesce",
    "stall@3:2ms",
    "chunk-bytes",
];

async fn under(fault: &str, backend: Backend) -> Tape {
    let server = serve(fault, TTFT);
    let tape = ask(target(&server, backend, PATIENT)).await;
    // Or the fault would be tried on nobody.
    assert_eq!(truth(server.addr())[0]["fault"], fault, "{backend}");
    tape
}

/// The length asked for is the normal end, whatever it is called: `length`, `max_tokens`, `response.incomplete`.
#[tokio::test]
async fn odd_streams_are_read_in_every_dialect() {
    for backend in DIALECTS {
        for fault in GOOD {
            let tape = under(fault, backend).await;
            assert_eq!(tape.outcome, Outcome::Complete(Finish::Length), "{fault} {backend}");
            assert_eq!(tape.output_tokens().get(), TOKENS, "{fault} {backend}");
            let met = tape.first_token().unwrap().since(tape.marks.send_start.unwrap()).unwrap();
            assert!(met >= TTFT, "{fault} {backend}: {met}");
        }
    }
}

#[tokio::test]
async fn failures_are_seen_in_every_dialect() {
    use FailureClass::{InStreamError, Truncated};
    let cases = [
        ("eof@3", Truncated),
        ("reset@3", Truncated),
        ("fin@3", Truncated),
        ("cut-chunk@3", Truncated),
        ("error@3", InStreamError),
    ];
    // As far as each has a word for it.
    let named = [
        (Backend::SglangNative, ("abort@3", InStreamError)),
        (Backend::SglangNative, ("error-text@3", InStreamError)),
        (Backend::Anthropic, ("content-filter@3", InStreamError)),
        (Backend::OpenAiResponses, ("abort@3", InStreamError)),
        (Backend::OpenAiResponses, ("content-filter@3", InStreamError)),
    ];
    let all = DIALECTS.into_iter().flat_map(|backend| cases.map(|case| (backend, case)));
    for (backend, (fault, class)) in all.chain(named) {
        let tape = under(fault, backend).await;
        let Outcome::Failed(failure) = &tape.outcome else {
            panic!("{fault} {backend}: {tape:?}");
        };
        assert_eq!(
            (failure.class, tape.arrivals.len()),
            (class, 3),
            "{fault} {backend}: {failure}"
        );
    }
}
