//! Ollama's NDJSON.

use fizeau_core::Channel::{Reasoning, ToolCall, Visible};
use fizeau_core::FailureClass::{InStreamError, Malformed, Truncated};
use fizeau_core::Finish::{Length, Stop};
use fizeau_core::TokenSource::{Events, FinalUsageSpread};
use fizeau_transport::Route::{OllamaChat, OllamaGenerate};

use super::{Case, V, case};

fn line(fields: &str) -> String {
    format!("{{\"model\":\"m\",\"created_at\":\"2026-01-01T00:00:00.000001Z\",{fields}}}\n")
}

fn response(text: &str) -> String {
    line(&format!(r#""response":"{text}","done":false"#))
}

fn message(fields: &str) -> String {
    line(&format!(r#""message":{{"role":"assistant",{fields}}},"done":false"#))
}

const FIGURES: &str = r#""total_duration":1000000000,"load_duration":5000000,"prompt_eval_count":3,"prompt_eval_duration":20000000,"eval_count":4,"eval_duration":900000000"#;

fn done(reason: &str, figures: &str) -> String {
    line(&format!(r#""response":"","done":true,"done_reason":"{reason}",{figures}"#))
}

pub(super) fn good() -> String {
    [response("Ga"), response(" bu"), done("length", FIGURES)].concat()
}

pub(super) fn good_chat() -> String {
    let end = format!(
        r#""message":{{"role":"assistant","content":""}},"done":true,"done_reason":"stop",{FIGURES}"#
    );
    [message(r#""content":"","thinking":"hm""#), message(r#""content":"Ga""#), line(&end)].concat()
}

pub(super) fn cases() -> Vec<Case> {
    let generate = generate().into_iter().map(|case| case.on(OllamaGenerate));
    let chat = chat().into_iter().map(|case| case.on(OllamaChat));
    generate.chain(chat).collect()
}

fn generate() -> Vec<Case> {
    let start = [response("Ga"), response(" bu")].concat();
    let two = &[V, V];
    vec![
        case(
            "6: Ollama, the final count over the lines",
            good(),
            &[(2, Visible), (2, Visible)],
            FinalUsageSpread,
            (Ok(Length), "Ga bu"),
        ),
        case(
            "15: Ollama, CRLF, blank lines, a last line without its end",
            format!("\n\r\n{}", good().replace('\n', "\r\n\n").trim_end()),
            &[(2, Visible), (2, Visible)],
            FinalUsageSpread,
            (Ok(Length), "Ga bu"),
        ),
        case(
            "2: Ollama, thoughts",
            [
                line(r#""response":"","thinking":"hm","done":false"#),
                response("Ga"),
                done("stop", r#""eval_count":2"#),
            ]
            .concat(),
            &[(1, Reasoning), V],
            FinalUsageSpread,
            (Ok(Stop), "hmGa"),
        ),
        case(
            "8: Ollama, counts left out",
            [&*start, &done("stop", r#""total_duration":1"#)].concat(),
            two,
            Events,
            (Ok(Stop), "Ga bu"),
        ),
        case(
            "11: Ollama, an error line",
            [&*start, "{\"error\":\"no memory\"}\n"].concat(),
            two,
            Events,
            (Err(InStreamError), "Ga bu"),
        ),
        case(
            "13: Ollama, no line that is done",
            start.clone(),
            two,
            Events,
            (Err(Truncated), "Ga bu"),
        ),
        case(
            "13: Ollama, cut within a line",
            [&*start, "{\"response\":\" zo"].concat(),
            two,
            Events,
            (Err(Truncated), "Ga bu"),
        ),
        case(
            "garbage: Ollama, a line of HTML",
            [&*start, "<html>\n"].concat(),
            two,
            Events,
            (Err(Malformed), "Ga bu"),
        ),
    ]
}

fn chat() -> Vec<Case> {
    vec![
        case(
            "2: Ollama chat, thoughts and text",
            good_chat(),
            &[(2, Reasoning), (2, Visible)],
            FinalUsageSpread,
            (Ok(Stop), "hmGa"),
        ),
        case(
            "11: Ollama chat, an error line",
            [message(r#""content":"Ga""#), "{\"error\":\"no memory\"}\n".to_owned()].concat(),
            &[V],
            Events,
            (Err(InStreamError), "Ga"),
        ),
        case(
            "2: Ollama chat, a tool call",
            [
                message(
                    r#""content":"","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]"#,
                ),
                done("stop", r#""eval_count":1"#),
            ]
            .concat(),
            &[(1, ToolCall)],
            FinalUsageSpread,
            (Ok(Stop), r#"f{"a":1}"#),
        ),
    ]
}
