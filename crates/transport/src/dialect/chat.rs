//! OpenAI's chat route: messages in, deltas of a message out.

use fizeau_core::{Message, Prompt, Role};
use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};

use super::body::{self, Common};
use super::{Ask, Dialect, EndRule, EventError, RequestError, WireEvent, chunk};
use crate::sse::SseEvent;

/// `/v1/chat/completions` as OpenAI, vLLM, SGLang, LMDeploy and llama.cpp's server speak it.
///
/// A prompt of plain text becomes one message of the user.
#[derive(Debug, Clone, Copy, Default)]
pub struct ChatCompletions;

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

enum Messages<'a> {
    Text(&'a str),
    List(&'a [Message]),
}

#[derive(Serialize)]
struct MessageField<'a> {
    role: &'static str,
    content: &'a str,
}

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let field = |role: Role, content| MessageField {
            role: role.as_str(),
            content,
        };
        let mut list = to.serialize_seq(None)?;
        match self {
            Self::Text(text) => list.serialize_element(&field(Role::User, text))?,
            Self::List(messages) => {
                for message in *messages {
                    list.serialize_element(&field(message.role, &message.content))?;
                }
            }
        }
        list.end()
    }
}

impl Dialect for ChatCompletions {
    fn body(&self, ask: &Ask<'_>) -> Result<Vec<u8>, RequestError> {
        let messages = match &ask.request.prompt {
            Prompt::Chat(messages) => Messages::List(messages),
            Prompt::Text(text) => Messages::Text(text),
            Prompt::TokenIds(_) => return Err(RequestError::TokenIdsForChat),
        };
        let limit = ask.request.max_output_tokens.get();
        let new_name = ask.backend.takes().max_completion_tokens;
        body::encode(&Body {
            common: Common::of(ask),
            max_tokens: (!new_name).then_some(limit),
            max_completion_tokens: new_name.then_some(limit),
            messages,
        })
    }

    fn read<'a>(&self, event: &SseEvent<'a>) -> Result<WireEvent<'a>, EventError> {
        chunk::read(event)
    }

    fn end(&self) -> EndRule {
        EndRule::Marker
    }
}
