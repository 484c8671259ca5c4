//! What is a token, on which channel, and how many there are.

use fizeau_core::Channel::{Reasoning, Refusal, Silent, ToolCall, Visible};
use fizeau_core::Finish::{Length, Stop, ToolCalls, Unstated};
use fizeau_core::TokenSource::{ContinuousUsage, Events, FinalUsageSpread, Logprobs, TokenIds};

use super::{Case, DONE, V, case, delta, event, finish, text, usage, with_usage};

/// Every case of this file.
pub(super) fn cases() -> Vec<Case> {
    [
        roles_and_thoughts(),
        other_channels_and_annotations(),
        bundles(),
        hidden_tokens(),
        usage_beside_choices(),
        which_usage_counts(),
        prompts_and_choices(),
    ]
    .concat()
}

fn roles_and_thoughts() -> Vec<Case> {
    let role = delta(r#""role":"assistant","content":"""#, "null", "");
    let null_role = delta(r#""role":"assistant","content":null"#, "null", "");
    let content = |text: &str| delta(&format!(r#""content":"{text}""#), "null", "");
    let stop = delta("", r#""stop""#, "");
    vec![
        case(
            "1: role chunks are no tokens",
            [
                role.clone(),
                null_role,
                content("Ga"),
                content(" bu"),
                stop.clone(),
                usage(9, 2),
                DONE.into(),
            ]
            .concat(),
            &[V, V],
            FinalUsageSpread,
            (Ok(Stop), "Ga bu"),
        ),
        case(
            "2: thoughts under either name, keys with null",
            [
                role.clone(),
                delta(
                    r#""reasoning":"hm","reasoning_content":"hm","content":null,"tool_calls":null"#,
                    "null",
                    "",
                ),
                delta(r#""reasoning_content":"ah""#, "null", ""),
                delta(r#""reasoning_details":[{"type":"reasoning.text","text":"so"}]"#, "null", ""),
                content("Ga"),
                stop.clone(),
                DONE.into(),
            ]
            .concat(),
            &[(1, Reasoning), (1, Reasoning), (1, Reasoning), V],
            Events,
            (Ok(Stop), "hmahsoGa"),
        ),
    ]
}

fn other_channels_and_annotations() -> Vec<Case> {
    vec![
        case(
            "2: tool calls, refusals, typed parts",
            [
                delta(
                    r#""tool_calls":[{"index":0,"function":{"name":"f","arguments":""}}]"#,
                    "null",
                    "",
                ),
                delta(
                    r#""tool_calls":[{"index":0,"function":{"name":null,"arguments":"{}"}}]"#,
                    "null",
                    "",
                ),
                delta(r#""function_call":{"arguments":"x"}"#, "null", ""),
                delta(r#""refusal":"no""#, "null", ""),
                delta(
                    r#""content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]"#,
                    "null",
                    "",
                ),
                delta(
                    r#""content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#,
                    "null",
                    "",
                ),
                delta("", r#""tool_calls""#, ""),
                DONE.into(),
            ]
            .concat(),
            &[(1, ToolCall), (1, ToolCall), (1, ToolCall), (1, Refusal), (1, Reasoning), V],
            Events,
            (Ok(ToolCalls), "f{}xnohmab"),
        ),
        case(
            "10: a finish-only chunk is no token, an annotation neither",
            [
                event(r#"{"choices":[],"prompt_filter_results":[{"prompt_index":0}]}"#),
                "data: null\n\n".into(),
                text("Ga", "", ""),
                finish("length"),
                event(r#"{"choices":null,"sglext":{}}"#),
                DONE.into(),
            ]
            .concat(),
            &[V],
            Events,
            (Ok(Length), "Ga"),
        ),
    ]
}

fn bundles() -> Vec<Case> {
    let chat_logprobs = delta(r#""content":"x""#, r#""stop","logprobs":{"content":[{},{}]}"#, "")
        .replace(r#""logprobs":null,"#, "");
    vec![
        case(
            "3, 5: bundles counted by running usage, the first one too",
            [running("Ga bu", 3), running(" zo", 4), running(" me", 8), usage(3, 8), DONE.into()]
                .concat(),
            &[(3, Visible), (1, Visible), (4, Visible)],
            ContinuousUsage,
            (Ok(Unstated), "Ga bu zo me"),
        ),
        case(
            "3: bundles counted by ids, before running usage",
            [ids("Ga bu", "1,2,3"), ids(" zo", "4"), usage(3, 4), DONE.into()].concat(),
            &[(3, Visible), (1, Visible)],
            TokenIds,
            (Ok(Unstated), "Ga bu zo"),
        ),
        case(
            "3: ids that miss hidden tokens give way to the final usage",
            [ids("Ga", "1"), ids(" zo", "4"), usage(3, 5), DONE.into()].concat(),
            &[(3, Visible), (2, Visible)],
            FinalUsageSpread,
            (Ok(Unstated), "Ga zo"),
        ),
        case(
            "3: log-probabilities count",
            [logprobs("Ga bu", 2), logprobs(" zo", 1), DONE.into()].concat(),
            &[(2, Visible), (1, Visible)],
            Logprobs,
            (Ok(Unstated), "Ga bu zo"),
        ),
        case(
            "3: log-probabilities count in chat",
            [chat_logprobs, DONE.into()].concat(),
            &[(2, Visible)],
            Logprobs,
            (Ok(Stop), "x"),
        ),
    ]
}

/// A last usage of 12 tokens, ten of which were thoughts.
fn mostly_thought() -> String {
    event(
        r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":12,"total_tokens":15,"completion_tokens_details":{"reasoning_tokens":10}}}"#,
    )
}

fn hidden_tokens() -> Vec<Case> {
    let content = |text: &str| delta(&format!(r#""content":"{text}""#), "null", "");
    let thought = delta(r#""reasoning_content":"hm""#, "null", "");
    vec![
        case(
            "5: thoughts that were never streamed count to the first event, not to the pace",
            [content("Ga"), content(" bu"), mostly_thought(), DONE.into()].concat(),
            &[(11, Visible), (1, Visible)],
            FinalUsageSpread,
            (Ok(Unstated), "Ga bu"),
        ),
        case(
            "5: thoughts that were streamed, or a summary of them, have the server's count of them to themselves",
            [thought.clone(), content("Ga"), content(" bu"), mostly_thought(), DONE.into()]
                .concat(),
            &[(10, Reasoning), V, V],
            FinalUsageSpread,
            (Ok(Unstated), "hmGa bu"),
        ),
        case(
            "5: where the server's division leaves an event without a token, all are spread over all",
            [
                thought,
                content("Ga"),
                content(" bu"),
                mostly_thought().replace(r#""reasoning_tokens":10"#, r#""reasoning_tokens":11"#),
                DONE.into(),
            ]
            .concat(),
            &[(4, Reasoning), (4, Visible), (4, Visible)],
            FinalUsageSpread,
            (Ok(Unstated), "hmGa bu"),
        ),
        case(
            "5: thoughts within the text are spread with the rest, wherever events cut their tag",
            [content("hm</thi"), content("nk>Ga"), mostly_thought(), DONE.into()].concat(),
            &[(6, Visible), (6, Visible)],
            FinalUsageSpread,
            (Ok(Unstated), "hm</think>Ga"),
        ),
        case(
            "4: empty text with a sign of tokens is silent output",
            [running("", 2), running("", 2), running("é", 3), usage(3, 3), DONE.into()].concat(),
            &[(2, Silent), (1, Visible)],
            ContinuousUsage,
            (Ok(Unstated), "é"),
        ),
        case(
            "4: the same by ids",
            [ids("", "1,2"), ids("é", "3"), ids("", ""), DONE.into()].concat(),
            &[(2, Silent), (1, Visible)],
            TokenIds,
            (Ok(Unstated), "é"),
        ),
        case(
            "4: tokens hidden until the finish chunk arrive with it",
            [
                delta(r#""content":"""#, "null", &with_usage(3, 0)),
                delta(r#""content":"a""#, "null", &with_usage(3, 1)),
                delta("", r#""stop""#, &with_usage(3, 5)),
                usage(3, 5),
                DONE.into(),
            ]
            .concat(),
            &[(1, Visible), (4, Silent)],
            ContinuousUsage,
            (Ok(Stop), "a"),
        ),
        case(
            "6: more or fewer tokens than events",
            [text("a", "", ""), text("b", "", ""), text("c", "", ""), usage(3, 7), DONE.into()]
                .concat(),
            &[(3, Visible), (2, Visible), (2, Visible)],
            FinalUsageSpread,
            (Ok(Unstated), "abc"),
        ),
    ]
}

fn usage_beside_choices() -> Vec<Case> {
    vec![
        case(
            "7: usage beside the last text",
            [text("a", "", ""), text("b", "", &with_usage(3, 4)), DONE.into()].concat(),
            &[(2, Visible), (2, Visible)],
            FinalUsageSpread,
            (Ok(Unstated), "ab"),
        ),
        case(
            "7: usage in a finish chunk that has a choice is no token",
            [
                text("a", "", ""),
                text("b", "", ""),
                event(&format!(
                    r#"{{"choices":[{{"text":"","finish_reason":"length"}}]{}}}"#,
                    with_usage(3, 4)
                )),
                DONE.into(),
            ]
            .concat(),
            &[(2, Visible), (2, Visible)],
            FinalUsageSpread,
            (Ok(Length), "ab"),
        ),
    ]
}

fn which_usage_counts() -> Vec<Case> {
    let zero = r#","usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}"#;
    let timings = r#","timings":{"cache_n":1,"prompt_n":2,"prompt_ms":10.0,"predicted_n":4,"predicted_ms":90.0}"#;
    vec![
        case(
            "8: null and zero usage on every chunk",
            [
                text("a", "", r#","usage":null"#),
                text("b", "", zero),
                usage(3, 4),
                event(&format!(r#"{{"choices":[]{zero}}}"#)),
                DONE.into(),
            ]
            .concat(),
            &[(2, Visible), (2, Visible)],
            FinalUsageSpread,
            (Ok(Unstated), "ab"),
        ),
        case(
            "8: the last usage wins, and none that counts no output",
            [text("a", "", ""), usage(3, 9), usage(3, 2), usage(3, 0), DONE.into()].concat(),
            &[(2, Visible)],
            FinalUsageSpread,
            (Ok(Unstated), "a"),
        ),
        case(
            "8: the server's own account where there is no usage",
            [text("a", "", ""), text("", "", timings), DONE.into()].concat(),
            &[(4, Visible)],
            FinalUsageSpread,
            (Ok(Unstated), "a"),
        ),
    ]
}

fn prompts_and_choices() -> Vec<Case> {
    let both = r#"{"choices":[{"index":0,"text":"a"},{"index":1,"text":"b"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}"#;
    let second =
        r#"{"choices":[{"index":1,"text":"c"}],"usage":{"prompt_tokens":3,"completion_tokens":5}}"#;
    let placeholder =
        r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"output_ids":[7,8]}]}"#;
    let content =
        r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"a"},"output_ids":[9]}]}"#;
    vec![
        case(
            "25: the prompt's ids on the first chunk are no output",
            [
                text("a", r#","token_ids":[7],"prompt_token_ids":[1,2,3]"#, ""),
                text("b", r#","token_ids":[8],"prompt_token_ids":null"#, ""),
                usage(3, 2),
                DONE.into(),
            ]
            .concat(),
            &[V, V],
            TokenIds,
            (Ok(Unstated), "ab"),
        ),
        case(
            "33: several choices that nobody asked for are one output, as the server counts it",
            [event(both), event(second), usage(3, 5), DONE.into()].concat(),
            &[(4, Visible), V],
            ContinuousUsage,
            (Ok(Unstated), "abc"),
        ),
        case(
            "4: LMDeploy, tokens on what looks like a role",
            [event(placeholder), event(content), usage(3, 3), DONE.into()].concat(),
            &[(2, Silent), V],
            TokenIds,
            (Ok(Unstated), "a"),
        ),
    ]
}

/// A chunk that lists the ids of its tokens.
fn ids(content: &str, ids: &str) -> String {
    text(content, &format!(r#","token_ids":[{ids}]"#), "")
}

/// A chunk with the running count of tokens.
fn running(content: &str, count: u32) -> String {
    text(content, "", &with_usage(3, count))
}

/// A chunk with `n` log-probability entries.
fn logprobs(content: &str, n: usize) -> String {
    let tokens = vec![r#""t""#; n].join(",");
    text(content, &format!(r#","logprobs":{{"tokens":[{tokens}],"token_logprobs":[]}}"#), "")
}
