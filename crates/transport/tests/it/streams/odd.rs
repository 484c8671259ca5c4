//! JSON that is legal and odd, and JSON that is broken.

use fizeau_core::Channel::Visible;
use fizeau_core::FailureClass::Malformed;
use fizeau_core::Finish::Unstated;
use fizeau_core::TokenSource::{ContinuousUsage, Events};

use super::{Case, DONE, V, case, event, text, with_usage};

/// Every case of this file.
pub(super) fn cases() -> Vec<Case> {
    [odd_texts(), odd_counts(), broken()].concat()
}

fn odd_texts() -> Vec<Case> {
    let twice =
        r#"{"choices":[{"text":"lost","text":"Ga"}],"choices":[{"text":"x","text":" bu"}]}"#;
    vec![
        case(
            "17: half a surrogate pair is a character",
            [
                text("a", "", ""),
                text(r"\ud83d", "", ""),
                text(r"\ud83d\ude00", "", ""),
                DONE.into(),
            ]
            .concat(),
            &[V, V, V],
            Events,
            (Ok(Unstated), "a\u{fffd}😀"),
        ),
        case(
            "17: of keys that are repeated the last wins",
            [event(twice), DONE.into()].concat(),
            &[V],
            Events,
            (Ok(Unstated), " bu"),
        ),
        case(
            "17: half a pair in a tool call or beside the text",
            [
                event(r#"{"choices":[{"delta":{"content":"a"}}],"note":"\udc00"}"#),
                event(r#"{"choices":[{"delta":{"content":"\ud83d"}}],"id":"1","id":"2"}"#),
                DONE.into(),
            ]
            .concat(),
            &[V, V],
            Events,
            (Ok(Unstated), "a\u{fffd}"),
        ),
    ]
}

fn odd_counts() -> Vec<Case> {
    let counted = |text_: &str, count: &str| {
        text(
            text_,
            "",
            &with_usage(3, 77)
                .replace("\"completion_tokens\":77", &format!("\"completion_tokens\":{count}")),
        )
    };
    let mut cases = vec![case(
        "8: counts that are whole are counts, however they are written",
        [counted("a", "1.0"), counted("b", "3e0"), counted("c", "4"), DONE.into()].concat(),
        &[V, (2, Visible), V],
        ContinuousUsage,
        (Ok(Unstated), "abc"),
    )];
    for odd in ["-1", "1.5", "99999999999999999999", "1e400", "\"2\"", "[]", "{}", "true", "null"] {
        cases.push(case(
            "8: what cannot be a count is none",
            [counted("a", odd), counted("b", odd), DONE.into()].concat(),
            &[V, V],
            Events,
            (Ok(Unstated), "ab"),
        ));
    }
    cases
}

fn broken() -> Vec<Case> {
    let broken = [
        r#"{"choices":[{"text":"b"}]"#,
        r#"{"choices":[{"text":"\ud83"}]}"#,
        r#"{"choices":[{"text":"b","index":01}]}"#,
        r#"{"choices":[{"text":"b",}]}"#,
        "{\"choices\":[{\"text\":\"\t\"}]}",
    ];
    let broken = broken.map(|bad| {
        let bytes = [text("a", "", ""), event(bad), text("c", "", ""), DONE.into()].concat();
        case("17: what is broken is malformed", bytes, &[V], Events, (Err(Malformed), "a"))
    });
    broken.to_vec()
}
