//! Triton's `generate_stream`.

use fizeau_core::FailureClass::{Empty, InStreamError, Truncated};
use fizeau_core::Finish::Unstated;
use fizeau_core::TokenSource::Events;
use fizeau_transport::Route::TritonGenerate;

use super::{Case, V, case, event};

/// An event with `text`; the log-probabilities change their type from one to the next.
fn chunk(text: &str, logprobs: &str) -> String {
    event(&format!(
        r#"{{"model_name":"ensemble","model_version":"1","sequence_id":0,"sequence_start":false,"sequence_end":false,"output_log_probs":{logprobs},"text_output":"{text}"}}"#
    ))
}

fn stream(texts: &[&str]) -> String {
    let kinds = ["0.0", "[0.0,0.0]"];
    let texts = texts.iter().zip(kinds.into_iter().cycle());
    texts.map(|(text, kind)| chunk(text, kind)).collect()
}

pub(super) fn good() -> String {
    stream(&["Ga", " bu", " zo"])
}

pub(super) fn cases() -> Vec<Case> {
    let good_end = (Ok(Unstated), "Ga bu zo");
    let cases = vec![
        case("13: Triton, the body's end", good(), &[V, V, V], Events, good_end),
        case(
            "26: Triton, accumulated text",
            stream(&["Ga", "Ga bu", "Ga bu", "Ga bu zo"]),
            &[V, V, V],
            Events,
            good_end,
        ),
        case(
            "26: Triton, accumulated text with a character in two halves",
            stream(&["Ga", "Ga \u{fffd}", "Ga é", "Ga é zo"]),
            &[V, V, V],
            Events,
            (Ok(Unstated), "Ga é zo"),
        ),
        case(
            "26: Triton, texts that begin like the one before by chance",
            stream(&[" ", " the", " the", " end"]),
            &[V, V, V, V],
            Events,
            (Ok(Unstated), "  the the end"),
        ),
        case(
            "11: Triton, an error in a later event",
            [&good(), r#"data: {"error":"out of blocks"}"#, "\n\n"].concat(),
            &[V, V, V],
            Events,
            (Err(InStreamError), "Ga bu zo"),
        ),
        case(
            "13: Triton, a body that breaks off",
            good(),
            &[V, V, V],
            Events,
            (Err(Truncated), "Ga bu zo"),
        )
        .cut(),
        case("an end without a token", stream(&["", ""]), &[], Events, (Err(Empty), "")),
    ];
    cases.into_iter().map(|case| case.on(TritonGenerate)).collect()
}
