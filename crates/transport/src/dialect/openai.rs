//! What the bodies of OpenAI's completions and chat have in common.

use fizeau_core::EosRule;
use serde::Serialize;
use serde_json::{Map, Value};

use super::body::{Object, Part, True};
use super::given::Given;
use super::{Ask, RequestError};
use crate::backend::Takes;

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
        Self {
            model: ask.model,
            stream: true,
            stream_options: takes.include_usage.then_some(StreamOptions {
                include_usage: true,
                continuous_usage_stats: takes.continuous_usage.then_some(true),
            }),
            ignore_eos: yes(ignores_eos(ask), "ignore_eos"),
            return_token_ids: yes(wants_ids(*takes), "return_token_ids"),
            extra,
        }
    }
}

/// Ids are asked for only where nothing cheaper is exact: on vLLM they come with a copy of the whole prompt in the first
/// chunk, which would burden the very latency that is measured.
const fn wants_ids(takes: Takes) -> bool {
    takes.return_token_ids && !takes.continuous_usage
}

fn ignores_eos(ask: &Ask<'_>) -> bool {
    ask.backend.takes().ignore_eos && ask.request.eos == EosRule::Ignore
}

/// The names of the length, of which a body needs one.
const LIMITS: [&str; 2] = ["max_tokens", "max_completion_tokens"];

/// A body given whole as `json`, which must have a `subject`, made measurable: streamed, with usage, one reply. The length
/// is called `limit` where the body has none.
pub(super) fn whole(
    ask: &Ask<'_>,
    json: &str,
    subject: &'static str,
    limit: &'static str,
) -> Result<Vec<u8>, RequestError> {
    let given = Given::parse(json)?;
    given.check_subject(subject)?;
    for name in ["n", "best_of"] {
        given.check_single(name)?;
    }
    let takes = *ask.backend.takes();
    let yes = |wanted: bool, name| (wanted && !given.has(name)).then_some(Part::Yes(True));
    let has_limit = LIMITS.iter().any(|name| given.has(name));
    let count = Part::Count(ask.request.max_output_tokens.get());
    let options = takes.include_usage.then(|| Part::Owned(stream_options(&given, takes)));
    let ours = Object::default()
        .with("stream", Part::Yes(True))
        .maybe("stream_options", options)
        .maybe(limit, (!has_limit).then_some(count))
        .maybe("ignore_eos", yes(ignores_eos(ask), "ignore_eos"))
        .maybe("return_token_ids", yes(wants_ids(takes), "return_token_ids"));
    given.encode(ask, ours)
}

/// The body's own options, with usage.
fn stream_options(given: &Given<'_>, takes: Takes) -> Value {
    let mut options = given.object("stream_options").unwrap_or_default();
    options.insert("include_usage".to_owned(), Value::Bool(true));
    if takes.continuous_usage {
        options.insert("continuous_usage_stats".to_owned(), Value::Bool(true));
    }
    Value::Object(options)
}
