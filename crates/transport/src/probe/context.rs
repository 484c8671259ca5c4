//! What a server says of the longest request that it takes.

use std::time::Duration;

use fizeau_core::Tokens;
use serde_json::Value;
use tokio::time::timeout;

use super::server::Server;
use crate::clock::MonotonicClock;
use crate::http::{HttpTransport, Lost, PreconnectError};
use crate::target::Target;

/// How long all of it may take: a run waits for it, and can do without.
const PATIENCE: Duration = Duration::from_secs(5);

/// A path, and how to read the limit for a model of that name from its answer.
type Look = (&'static str, fn(&Value, &str) -> Option<u64>);

/// In order, until one has told: OpenAI's list of models, llama.cpp's server, TGI.
const LOOKS: [Look; 3] = [("/v1/models", of_models), ("/props", of_llama_cpp), ("/info", of_tgi)];

/// The names that the limit goes by on a card in the list of models: vLLM's and SGLang's; OpenRouter's; Groq's; Mistral's.
const NAMES: [&str; 4] =
    ["max_model_len", "context_length", "context_window", "max_context_length"];

/// The most tokens, prompt and output together, that one request to `target` may have, as its first endpoint says of the
/// target's model: a GET or a few, with the target's headers and timeouts, over within five seconds. None where the server
/// does not say, or gives no sense.
///
/// Of a LoRA adapter without a limit of its own it is that of the model below it.
///
/// ```no_run
/// use fizeau_transport::{Backend, Target, context_limit};
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let target = Target::new("http://127.0.0.1:8000", Backend::Vllm, "m")?;
/// if let Some(limit) = context_limit(&target).await? {
///     println!("prompt and output have {limit} tokens together at most");
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// If no connection can be made.
pub async fn context_limit(target: &Target) -> Result<Option<Tokens>, PreconnectError> {
    timeout(PATIENCE, ask(target)).await.unwrap_or(Ok(None))
}

async fn ask(target: &Target) -> Result<Option<Tokens>, PreconnectError> {
    let transport = HttpTransport::new(target.clone(), MonotonicClock::new());
    // Of a hosted API nothing but the list of models can be had.
    let looks = if Server::of(target).is_some() { 1 } else { LOOKS.len() };
    for (path, read) in LOOKS.into_iter().take(looks) {
        match transport.get(path).await {
            Ok((200, body)) => {
                let answer = serde_json::from_slice(&body).unwrap_or(Value::Null);
                if let Some(limit) = read(&answer, target.model()).filter(|limit| *limit > 0) {
                    return Ok(Some(Tokens::new(limit)));
                }
            }
            Err(Lost::Unreachable(error)) => return Err(error),
            Ok(_) | Err(Lost::Other) => {}
        }
    }
    Ok(None)
}

/// By the model's own card, else that of the model that it is an adapter of. A server that lists one model and answers to
/// other names for it means that one.
fn of_models(answer: &Value, model: &str) -> Option<u64> {
    let cards = answer["data"].as_array()?;
    let named = |name: &str| cards.iter().find(|card| card["id"] == name);
    let card = match (named(model), &**cards) {
        (Some(card), _) => card,
        (None, [only]) => only,
        _ => return None,
    };
    let parent = || named(card["parent"].as_str()?).and_then(on_card);
    on_card(card).or_else(parent)
}

fn on_card(card: &Value) -> Option<u64> {
    NAMES.iter().find_map(|name| card[*name].as_u64())
}

/// What one of its slots can hold.
fn of_llama_cpp(answer: &Value, _: &str) -> Option<u64> {
    answer["default_generation_settings"]["n_ctx"].as_u64()
}

fn of_tgi(answer: &Value, _: &str) -> Option<u64> {
    answer["max_total_tokens"].as_u64()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::of_models;

    fn limit(cards: &Value, model: &str) -> Option<u64> {
        of_models(&json!({ "data": cards }), model)
    }

    #[test]
    fn each_name_of_the_limit_is_known() {
        for name in super::NAMES {
            assert_eq!(limit(&json!([{"id": "m", name: 8192}]), "m"), Some(8192), "{name}");
        }
        assert_eq!(limit(&json!([{"id": "m", "max_model_len": null}]), "m"), None);
        assert_eq!(limit(&json!([{"id": "m", "max_model_len": -1}]), "m"), None);
        assert_eq!(limit(&json!("m"), "m"), None);
    }

    #[test]
    fn an_adapter_has_the_limit_of_its_model() {
        let cards = json!([
            {"id": "base", "max_model_len": 4096, "parent": null},
            {"id": "adapter", "max_model_len": null, "parent": "base"},
        ]);
        assert_eq!(limit(&cards, "adapter"), Some(4096));
        assert_eq!(limit(&cards, "other"), None, "which of the two is meant is not known");
    }

    #[test]
    fn the_only_model_is_meant_whatever_its_name() {
        assert_eq!(limit(&json!([{"id": "m", "max_model_len": 9}]), "other"), Some(9));
    }
}
