//! OpenAI's completions route: plain text or token ids in, text out.

use fizeau_core::Prompt;
use serde::Serialize;

use super::body::{self, Common};
use super::{Ask, Dialect, EndRule, EventError, RequestError, WireEvent, chunk};
use crate::sse::SseEvent;

/// `/v1/completions` as OpenAI, vLLM, SGLang, LMDeploy and llama.cpp's server speak it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Completions;

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
            Prompt::Text(text) => PromptField::Text(text),
            Prompt::TokenIds(ids) if ask.backend.takes().token_ids => PromptField::Ids(ids),
            Prompt::TokenIds(_) => return Err(RequestError::TokenIdsNotTaken(ask.backend)),
            Prompt::Chat(_) => return Err(RequestError::ChatForCompletions),
        };
        body::encode(&Body {
            common: Common::of(ask),
            max_tokens: ask.request.max_output_tokens.get(),
            prompt,
        })
    }

    fn read<'a>(&self, event: &SseEvent<'a>) -> Result<WireEvent<'a>, EventError> {
        chunk::read(event)
    }

    fn end(&self) -> EndRule {
        EndRule::Marker
    }
}
