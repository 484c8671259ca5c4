//! The same faults in the dialects that are not OpenAI's chunks.

use fizeau::core::{FailureClass, Finish, Outcome, Tape};
use fizeau::transport::Backend;

use super::stand::{PATIENT, TOKENS, TTFT, ask, serve, target};

const DIALECTS: [Backend; 3] =
    [Backend::SglangNative, Backend::Anthropic, Backend::OpenAiResponses];

/// None of these takes a token away.
const GOOD: [&str; 15] = [
    "role-at-once",
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
    "bundle",
];

async fn under(fault: &str, backend: Backend) -> Tape {
    let server = serve(fault, TTFT);
    ask(target(&server, backend, PATIENT)).await
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
    for backend in DIALECTS {
        for (fault, class) in cases {
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
}
