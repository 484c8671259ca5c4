//! OpenAI's chat route: messages in, deltas of a message out.

use fizeau_core::Prompt;
use serde::Serialize;

use super::body::{self, Messages};
use super::openai::{self, Common};
use super::{Ask, Dialect, EndRule, EventError, RequestError, WireEvent, chunk};
use crate::backend::{Backend, Forcing};
use crate::event::RawEvent;

/// `/v1/chat/completions` as OpenAI and all who follow it speak it.
///
/// A prompt of plain text becomes one message of the user. A body given whole goes out as it is, but for what makes it
/// measurable: see [`Prompt::Body`].
#[derive(Debug)]
pub(super) struct ChatCompletions;

#[derive(Serialize)]
struct Body<'a> {
    #[serde(flatten)]
    common: Common<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    messages: Messages<'a>,
}

impl Dialect for ChatCompletions {
    fn body(&self, ask: &Ask<'_>) -> Result<Vec<u8>, RequestError> {
        let new_name = ask.backend.takes().max_completion_tokens;
        if let Prompt::Body(json) = &ask.request.prompt {
            let limit = if new_name { "max_completion_tokens" } else { "max_tokens" };
            return openai::whole(ask, json, "messages", limit);
        }
        let messages = body::messages(ask)?;
        let limit = ask.request.max_output_tokens.get();
        body::encode(&Body {
            common: Common::of(ask),
            max_tokens: (!new_name).then_some(limit),
            max_completion_tokens: new_name.then_some(limit),
            messages,
        })
    }

    fn read<'a>(&self, event: &RawEvent<'a>) -> Result<WireEvent<'a>, EventError> {
        chunk::read(event)
    }

    fn end(&self) -> EndRule {
        EndRule::Marker
    }

    fn varying(&self) -> Option<&'static [&'static str]> {
        Some(chunk::VARYING)
    }

    fn forcing(&self, backend: Backend) -> Forcing {
        backend.takes().forcing()
    }
}
