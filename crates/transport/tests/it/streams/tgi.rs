//! TGI's `/generate_stream`.

use fizeau_core::Channel::{Silent, Visible};
use fizeau_core::FailureClass::{InStreamError, Truncated};
use fizeau_core::Finish::{Length, Stop, Unstated};
use fizeau_core::TokenSource::{FinalUsageSpread, TokenIds};
use fizeau_transport::Route::TgiGenerate;

use super::{Case, V, case};

/// An event of one token, without a space after the colon, as TGI writes it.
fn token(text: &str, special: bool, rest: &str) -> String {
    format!(
        "data:{{\"index\":1,\"token\":{{\"id\":11,\"text\":\"{text}\",\"logprob\":-0.1,\"special\":{special}}},{rest}}}\n\n"
    )
}

const MORE: &str = r#""generated_text":null,"details":null"#;

fn last(reason: &str, count: u32) -> String {
    format!(
        r#""generated_text":"Ga bu zo","details":{{"finish_reason":"{reason}","generated_tokens":{count},"seed":null,"input_length":3}}"#
    )
}

pub(super) fn good() -> String {
    [token("Ga", false, MORE), token(" bu", false, MORE), token(" zo", false, &last("length", 3))]
        .concat()
}

pub(super) fn cases() -> Vec<Case> {
    let start = [token("Ga", false, MORE), token(" bu", false, MORE)].concat();
    let cases = vec![
        case(
            "10, 28: TGI, the last event has a token and the reason",
            good(),
            &[V, V, V],
            TokenIds,
            (Ok(Length), "Ga bu zo"),
        ),
        case(
            "4, 14: TGI, comments and a special token, which is none of the text",
            [":\n\n", &start, ":\n", &token("</s>", true, &last("eos_token", 3))].concat(),
            &[V, V, (1, Silent)],
            TokenIds,
            (Ok(Stop), "Ga bu"),
        ),
        case(
            "3: TGI, a count that differs from the events",
            [&*start, &token(" zo", false, &last("length", 5))].concat(),
            &[(2, Visible), (2, Visible), (1, Visible)],
            FinalUsageSpread,
            (Ok(Length), "Ga bu zo"),
        ),
        case(
            "13: TGI, an end without details is one",
            [&*start, &token(" zo", false, r#""generated_text":"Ga bu zo""#)].concat(),
            &[V, V, V],
            TokenIds,
            (Ok(Unstated), "Ga bu zo"),
        ),
        case(
            "11: TGI, an error",
            [&*start, "data:{\"error\":\"no\",\"error_type\":\"overloaded\"}\n\n"].concat(),
            &[V, V],
            TokenIds,
            (Err(InStreamError), "Ga bu"),
        ),
        case(
            "13: TGI, an end before the last event",
            start.clone(),
            &[V, V],
            TokenIds,
            (Err(Truncated), "Ga bu"),
        ),
        case(
            "13: TGI, a body that breaks off behind the last event",
            good(),
            &[V, V, V],
            TokenIds,
            (Err(Truncated), "Ga bu zo"),
        )
        .cut(),
    ];
    cases.into_iter().map(|case| case.on(TgiGenerate)).collect()
}
