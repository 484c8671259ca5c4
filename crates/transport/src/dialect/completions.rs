//! OpenAI's completions route: plain text or token ids in, text out.

use fizeau_core::Prompt;
use serde::Serialize;

use super::openai::{self, Common};
use super::{Ask, Dialect, EndRule, EventError, RequestError, WireEvent, body, chunk};
use crate::backend::{Backend, Forcing};
use crate::event::RawEvent;

/// `/v1/completions` as OpenAI, vLLM, SGLang, TensorRT-LLM, LMDeploy and llama.cpp's server speak it.
///
/// A conversation of one message is sent as its text. A body given whole goes out as it is, but for what makes it
/// measurable: see [`Prompt::Body`].
#[derive(Debug)]
pub(super) struct Completions;

#[derive(Serialize)]
struct Body<'a> {
    #[serde(flatten)]
    common: Common<'a>,
    max_tokens: u64,
    prompt: PromptField<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum PromptField<'a> {
    Text(&'a str),
    Ids(&'a [u32]),
}

impl Dialect for Completions {
    fn body(&self, ask: &Ask<'_>) -> Result<Vec<u8>, RequestError> {
        let prompt = match &ask.request.prompt {
            Prompt::Body(json) => return openai::whole(ask, json, "prompt", "max_tokens"),
            Prompt::TokenIds(ids) if ask.backend.takes().token_ids => PromptField::Ids(ids),
            _ => PromptField::Text(body::plain_text(ask)?),
        };
        body::encode(&Body {
            common: Common::of(ask),
            max_tokens: ask.request.max_output_tokens.get(),
            prompt,
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
