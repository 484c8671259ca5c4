//! What the bodies of OpenAI's completions and chat have in common.

use fizeau_core::EosRule;
use serde::Serialize;
use serde_json::{Map, Value};

use super::Ask;

/// Fields of every request. A field that the user's extra body names is left to it.
#[derive(Debug, Serialize)]
pub(super) struct Common<'a> {
    model: &'a str,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ignore_eos: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    return_token_ids: Option<bool>,
    #[serde(flatten)]
    extra: &'a Map<String, Value>,
}

#[derive(Debug, Serialize)]
struct StreamOptions {
    include_usage: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    continuous_usage_stats: Option<bool>,
}

impl<'a> Common<'a> {
    pub(super) fn of(ask: &Ask<'a>) -> Self {
        let takes = ask.backend.takes();
        let extra = ask.extra.fields();
        let yes = |wanted: bool, name: &str| (wanted && !extra.contains_key(name)).then_some(true);
        // Ids are asked for only where nothing cheaper is exact: on vLLM they come with a copy of the whole
        // prompt in the first chunk, which would burden the very latency that is measured.
        let ids = takes.return_token_ids && !takes.continuous_usage;
        Self {
            model: ask.model,
            stream: true,
            stream_options: takes.include_usage.then_some(StreamOptions {
                include_usage: true,
                continuous_usage_stats: takes.continuous_usage.then_some(true),
            }),
            ignore_eos: yes(takes.ignore_eos && ask.request.eos == EosRule::Ignore, "ignore_eos"),
            return_token_ids: yes(ids, "return_token_ids"),
            extra,
        }
    }
}
