//! `/v1/embeddings` and vLLM's `/pooling`.

use fizeau_core::Channel::Embedding;
use fizeau_core::FailureClass::{Empty, InStreamError, Malformed, Truncated};
use fizeau_core::Finish::Unstated;
use fizeau_core::TokenSource::{Events, Tokenless};
use fizeau_transport::Route::Embeddings;

use super::{Case, case};

pub(super) fn good() -> String {
    body(r#""embedding":[0.25,-1e-3,7]"#)
}

fn body(vector: &str) -> String {
    format!(
        r#"{{"id":"embd-1","object":"list","data":[{{"index":0,"object":"embedding",{vector}}}],"model":"m",
"usage":{{"prompt_tokens":5,"total_tokens":5,"completion_tokens":0}}}}"#
    )
}

pub(super) fn cases() -> Vec<Case> {
    let good_body =
        |name, body: String| case(name, body, &[(0, Embedding)], Tokenless, (Ok(Unstated), ""));
    let bad = |name, body: &str, class| case(name, body, &[], Events, (Err(class), ""));
    let whole = good();
    let cases = vec![
        good_body("11: an embedding", good()),
        good_body("11: an embedding in base64", body(r#""embedding":"AACAPw==""#)),
        good_body("11: one vector a token", body(r#""data":[[0.5,1],[2,3]]"#)),
        good_body(
            "11: several embeddings",
            r#" {"data":[{"embedding":[1]},{"embedding":[2]}]} "#.into(),
        ),
        bad("11: no embedding", r#"{"data":[]}"#, Empty),
        bad("11: an empty embedding", &body(r#""embedding":[]"#), Empty),
        bad("11: an empty embedding in base64", &body(r#""embedding":"""#), Empty),
        bad("11: nothing at all", "", Empty),
        bad(
            "11: an error in place of an embedding",
            r#"{"error":{"message":"no"}}"#,
            InStreamError,
        ),
        bad("17: half an embedding", &whole[..whole.len() - 1], Malformed),
        bad("17: no object", "[1,2]", Malformed),
        // All of it came, but HTTP does not say so.
        case(
            "13: an embedding that broke off",
            whole.clone(),
            &[(0, Embedding)],
            Tokenless,
            (Err(Truncated), ""),
        )
        .cut(),
        bad("13: half of one that broke off", &whole[..40], Truncated).cut(),
    ];
    cases.into_iter().map(|case| case.on(Embeddings)).collect()
}
