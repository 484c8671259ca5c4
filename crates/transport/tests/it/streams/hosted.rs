//! Where hosted services differ on the chat route.

use fizeau_core::Channel::{Reasoning, ToolCall, Visible};
use fizeau_core::FailureClass::InStreamError;
use fizeau_core::Finish::{Length, Stop, ToolCalls, Unstated};
use fizeau_core::TokenSource::{Events, FinalUsageSpread};

use super::{Case, DONE, V, case, delta, event};

/// Every case of this file.
pub(super) fn cases() -> Vec<Case> {
    let content = |text: &str| delta(&format!(r#""content":"{text}""#), "null", "");
    let role = delta(r#""role":"assistant","content":"""#, "null", "");
    let stop = delta("", r#""stop""#, "");
    let figures = r#""queue_time":0.5,"prompt_tokens":3,"prompt_time":0.25,"completion_tokens":4,"completion_time":2,"total_time":2.25"#;
    vec![
        case(
            "10: Azure, a filter's report first and in between",
            [
                event(r#"{"choices":[],"prompt_filter_results":[{"prompt_index":0}]}"#),
                role.clone(),
                content("Ga"),
                event(r#"{"choices":[{"index":0,"finish_reason":null,"content_filter_results":{},"content_filter_offsets":{}}]}"#),
                content(" bu"),
                delta("", r#""length""#, ""),
                DONE.into(),
            ]
            .concat(),
            &[V, V],
            Events,
            (Ok(Length), "Ga bu"),
        ),
        case(
            "14, 32: OpenRouter, comments while it waits",
            [
                ": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n",
                &content("Ga"),
                &stop,
                DONE,
            ]
            .concat(),
            &[V],
            Events,
            (Ok(Stop), "Ga"),
        ),
        case(
            "11: OpenRouter, an error as the reason",
            [
                content("Ga"),
                delta(
                    r#""content":"""#,
                    r#""error""#,
                    r#","error":{"code":502,"message":"provider gone"}"#,
                ),
                DONE.into(),
            ]
            .concat(),
            &[V],
            Events,
            (Err(InStreamError), "Ga"),
        ),
        case(
            "2: DeepSeek, thoughts, then text",
            [
                ": keep-alive\n\n".into(),
                role.clone(),
                delta(r#""content":null,"reasoning_content":"hm""#, "null", ""),
                delta(r#""content":"Ga","reasoning_content":null"#, "null", ""),
                stop.clone(),
                DONE.into(),
            ]
            .concat(),
            &[(1, Reasoning), V],
            Events,
            (Ok(Stop), "hmGa"),
        ),
        case(
            "7: Groq, usage of its own in the last chunk",
            [
                delta(r#""role":"assistant","content":"""#, "null", r#","x_groq":{"id":"r"}"#),
                content("Ga"),
                content(" bu"),
                delta("", r#""stop""#, &format!(r#","x_groq":{{"id":"r","usage":{{{figures}}}}}"#)),
                DONE.into(),
            ]
            .concat(),
            &[(2, Visible), (2, Visible)],
            FinalUsageSpread,
            (Ok(Stop), "Ga bu"),
        ),
        case(
            "7: Mistral, parts, and usage with the last choice",
            [
                role,
                delta(
                    r#""content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]"#,
                    "null",
                    "",
                ),
                delta(
                    r#""content":"Ga""#,
                    r#""length""#,
                    r#","usage":{"prompt_tokens":3,"completion_tokens":2}"#,
                ),
                DONE.into(),
            ]
            .concat(),
            &[(1, Reasoning), V],
            FinalUsageSpread,
            (Ok(Length), "hmGa"),
        ),
        case(
            "xAI, thoughts counted beside the text, as the total tells",
            [
                content("Ga"),
                content(" bu"),
                event(
                    r#"{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":2,"total_tokens":24,"completion_tokens_details":{"reasoning_tokens":10}}}"#,
                ),
                DONE.into(),
            ]
            .concat(),
            &[(11, Visible), V],
            FinalUsageSpread,
            (Ok(Unstated), "Ga bu"),
        ),
        case(
            "a gateway before Gemini, thoughts in the total alone (mozilla-ai/any-llm#1290)",
            [
                content("Ga"),
                content(" bu"),
                event(
                    r#"{"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":2,"total_tokens":32}}"#,
                ),
                DONE.into(),
            ]
            .concat(),
            &[(11, Visible), V],
            FinalUsageSpread,
            (Ok(Unstated), "Ga bu"),
        ),
        case(
            "a total with the cached part of the prompt once more tells of no thoughts",
            [
                content("Ga"),
                content(" bu"),
                event(
                    r#"{"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":2,"total_tokens":38,"prompt_tokens_details":{"cached_tokens":16}}}"#,
                ),
                DONE.into(),
            ]
            .concat(),
            &[V, V],
            FinalUsageSpread,
            (Ok(Unstated), "Ga bu"),
        ),
        case(
            "custom tools, whose input is free text (openai/openai-openapi#576)",
            [
                delta(
                    r#""tool_calls":[{"index":0,"id":"c","type":"custom","function":null,"custom":{"name":"shell","input":""}}]"#,
                    "null",
                    "",
                ),
                delta(
                    r#""tool_calls":[{"index":0,"id":null,"type":null,"function":null,"custom":{"name":null,"input":"echo"}}]"#,
                    "null",
                    "",
                ),
                delta(
                    r#""tool_calls":[{"index":1,"function":{"name":"f","arguments":"{}"},"custom":{}}]"#,
                    "null",
                    "",
                ),
                delta("", r#""tool_calls""#, ""),
                DONE.into(),
            ]
            .concat(),
            &[(1, ToolCall), (1, ToolCall), (1, ToolCall)],
            Events,
            (Ok(ToolCalls), "shellechof{}"),
        ),
        case(
            "Mistral, the end of the model's context",
            [delta(r#""content":"Ga""#, r#""model_length""#, ""), DONE.into()].concat(),
            &[V],
            Events,
            (Ok(Length), "Ga"),
        ),
        case(
            "Together, the text as that of both routes, and a number for the log-probabilities",
            [
                event(r#"{"choices":[{"index":0,"text":"Ga","logprobs":-0.1,"finish_reason":null,"delta":{"role":"assistant","content":"Ga","tool_calls":null}}],"usage":null}"#),
                event(r#"{"choices":[{"index":0,"text":" bu","logprobs":null,"finish_reason":"stop","delta":{"content":" bu"}}]}"#),
                DONE.into(),
            ]
            .concat(),
            &[V, V],
            Events,
            (Ok(Stop), "Ga bu"),
        ),
        case(
            "TGI before 3.1, a tool call that is no list, its arguments an object",
            [
                delta(r#""tool_calls":{"index":0,"function":{"name":"f","arguments":{"a":1}}}"#, "null", ""),
                delta("", r#""tool_calls""#, ""),
                DONE.into(),
            ]
            .concat(),
            &[(1, ToolCall)],
            Events,
            (Ok(ToolCalls), r#"f{"a":1}"#),
        ),
        case(
            "one tool call under the old name and the new",
            [
                delta(
                    r#""tool_calls":[{"index":0,"function":{"arguments":"x"}}],"function_call":{"arguments":"x"}"#,
                    r#""tool_calls""#,
                    "",
                ),
                DONE.into(),
            ]
            .concat(),
            &[(1, ToolCall)],
            Events,
            (Ok(ToolCalls), "x"),
        ),
    ]
}
