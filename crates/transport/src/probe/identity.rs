//! What a server says of itself in answer to GETs that cost it nothing.

use std::time::Duration;

use fizeau_core::Tokens;
use serde_json::Value;
use tokio::time::timeout;

use super::server::ServerKind;
use crate::clock::MonotonicClock;
use crate::http::{HttpTransport, NoReply, PreconnectError};
use crate::target::Target;

/// What a server says of itself, as far as it can be had for free: which kind it is, and the models that it serves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identity {
    server: Option<ServerKind>,
    models: Vec<String>,
    /// With which status it would not say.
    refused: Option<u16>,
}

/// Why an endpoint could not be asked for the name of its model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelNameError {
    /// It serves none that it names.
    #[error("the server names no model: give the one that it serves")]
    None,
    /// It does not say without a key, or not with this one.
    #[error(
        "the server answers HTTP {0} when it is asked for its models: give a key that it takes"
    )]
    Refused(u16),
    /// It serves several.
    #[error("the server has {} models, give one of them: {}", .0.len(), listed(.0))]
    Several(Vec<String>),
}

/// No more names than a person reads.
fn listed(models: &[String]) -> String {
    let first: Vec<&str> = models.iter().take(20).map(String::as_str).collect();
    let more = if models.len() > first.len() { ", ..." } else { "" };
    format!("{}{more}", first.join(", "))
}

/// A path that says which server answers it, and how to read the answer.
type IdentityLookup = (&'static str, fn(&Value) -> Identity);

/// In order, until one has told. Each is answered from memory by the server that has it.
const LOOKS: [IdentityLookup; 6] = [
    ("/v1/models", of_models),
    ("/get_model_info", of_sglang),
    ("/props", of_llama_cpp),
    ("/api/tags", of_ollama),
    ("/info", of_tgi),
    ("/v2", of_triton),
];

impl Identity {
    /// Looks at the server of `target`, whose route and model play no part. A well-known host is told by its name. What
    /// cannot be found out is left open.
    ///
    /// # Errors
    /// If no connection can be made.
    pub async fn of(target: &Target) -> Result<Self, PreconnectError> {
        let transport = HttpTransport::new(target.clone(), MonotonicClock::new());
        let mut identity = Self { server: ServerKind::of(target), ..Self::default() };
        for (path, read) in LOOKS {
            if identity.server.is_some() && !identity.models.is_empty() {
                break;
            }
            match json(&transport, path).await? {
                Ok(answer) => identity.add(read(&answer)),
                Err(refused) => identity.refused = identity.refused.or(refused),
            }
            // Of a hosted API nothing but the list of models can be had.
            if path == "/v1/models" && identity.server.is_some() {
                break;
            }
        }
        Ok(identity)
    }

    /// Which server it is; none if it does not show.
    #[must_use]
    pub const fn server(&self) -> Option<ServerKind> {
        self.server
    }

    /// The names of the models that it serves, as far as it says.
    #[must_use]
    pub fn models(&self) -> &[String] {
        &self.models
    }

    /// The name of the one model that it serves.
    ///
    /// # Errors
    /// If it names none, or more than one.
    pub fn only_model(&self) -> Result<&str, ModelNameError> {
        match &*self.models {
            [] => Err(self.refused.map_or(ModelNameError::None, ModelNameError::Refused)),
            [only] => Ok(only),
            several => Err(ModelNameError::Several(several.to_vec())),
        }
    }

    /// What was known first stays.
    fn add(&mut self, other: Self) {
        self.server = self.server.or(other.server);
        if self.models.is_empty() {
            self.models = other.models;
        }
    }
}

/// The JSON that answers a GET of `path` with status 200; none if something else does.
async fn answer(
    transport: &HttpTransport<MonotonicClock>,
    path: &str,
) -> Result<Option<Value>, PreconnectError> {
    Ok(json(transport, path).await?.ok())
}

/// The same; in place of none the status with which a server says that the asker may not know.
async fn json(
    transport: &HttpTransport<MonotonicClock>,
    path: &str,
) -> Result<Result<Value, Option<u16>>, PreconnectError> {
    match transport.get(path).await {
        Ok((200, body)) => Ok(serde_json::from_slice(&body).map_err(|_| None)),
        Ok((status @ (401 | 403), _)) => Ok(Err(Some(status))),
        Err(NoReply::Unreachable(error)) => Err(error),
        Ok(_) | Err(NoReply::Other) => Ok(Err(None)),
    }
}

/// OpenAI's list of models. The owner is the server's own name on many of them.
fn of_models(answer: &Value) -> Identity {
    let models = answer["data"].as_array().map(Vec::as_slice).unwrap_or_default();
    let owners = models.iter().filter_map(|model| model["owned_by"].as_str());
    Identity {
        server: owners.into_iter().find_map(ServerKind::of_owner),
        models: names(models, "id"),
        ..Identity::default()
    }
}

fn of_sglang(answer: &Value) -> Identity {
    let path = answer["model_path"].as_str();
    told(ServerKind::Sglang, path.is_some(), path)
}

fn of_llama_cpp(answer: &Value) -> Identity {
    told(ServerKind::LlamaCpp, answer["default_generation_settings"].is_object(), None)
}

fn of_ollama(answer: &Value) -> Identity {
    match answer["models"].as_array() {
        Some(models) => {
            let (server, models) = (Some(ServerKind::Ollama), names(models, "name"));
            Identity { server, models, ..Identity::default() }
        }
        None => Identity::default(),
    }
}

fn of_tgi(answer: &Value) -> Identity {
    let model = answer["model_id"].as_str();
    let is_tgi = model.is_some() && !answer["max_total_tokens"].is_null();
    told(ServerKind::Tgi, is_tgi, model)
}

fn of_triton(answer: &Value) -> Identity {
    told(ServerKind::Triton, answer["name"] == "triton", None)
}

fn told(server: ServerKind, is_it: bool, model: Option<&str>) -> Identity {
    if !is_it {
        return Identity::default();
    }
    let models = model.map(str::to_owned).into_iter().collect();
    Identity { server: Some(server), models, ..Identity::default() }
}

fn names(models: &[Value], key: &str) -> Vec<String> {
    models.iter().filter_map(|model| model[key].as_str().map(str::to_owned)).collect()
}

// What a server says of the longest request that it takes.

/// How long all of it may take: a run waits for it, and can do without.
const PATIENCE: Duration = Duration::from_secs(5);

/// A path, and how to read the limit for a model of that name from its answer.
type LimitLookup = (&'static str, fn(&Value, &str) -> Option<u64>);

/// In order, until one has told: OpenAI's list of models, llama.cpp's server (what one of its slots can hold), TGI.
const LIMIT_LOOKS: [LimitLookup; 3] = [
    ("/v1/models", limit_of_models),
    ("/props", |answer, _| answer["default_generation_settings"]["n_ctx"].as_u64()),
    ("/info", |answer, _| answer["max_total_tokens"].as_u64()),
];

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

/// The model that the first endpoint of `target` says it serves, where it lists one alone. Some servers answer to any name.
///
/// # Errors
/// If no connection can be made.
pub async fn listed_model(target: &Target) -> Result<Option<String>, PreconnectError> {
    let transport = HttpTransport::new(target.clone(), MonotonicClock::new());
    let asked = timeout(PATIENCE, answer(&transport, "/v1/models")).await.unwrap_or(Ok(None))?;
    Ok(asked.and_then(|answer| of_models(&answer).only_model().ok().map(str::to_owned)))
}

async fn ask(target: &Target) -> Result<Option<Tokens>, PreconnectError> {
    let transport = HttpTransport::new(target.clone(), MonotonicClock::new());
    // Of a hosted API nothing but the list of models can be had.
    let looks = if ServerKind::of(target).is_some() { 1 } else { LIMIT_LOOKS.len() };
    for (path, read) in LIMIT_LOOKS.into_iter().take(looks) {
        let answer = answer(&transport, path).await?;
        let limit = answer.and_then(|answer| read(&answer, target.model()));
        if let Some(limit) = limit.filter(|limit| *limit > 0) {
            return Ok(Some(Tokens::new(limit)));
        }
    }
    Ok(None)
}

/// By the model's own card, else that of the model that it is an adapter of. A server that lists one model and answers to
/// other names for it means that one.
fn limit_of_models(answer: &Value, model: &str) -> Option<u64> {
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
