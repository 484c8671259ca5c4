//! What a server says of itself in answer to GETs that cost it nothing.

use serde_json::Value;

use super::server::Server;
use crate::clock::MonotonicClock;
use crate::http::{HttpTransport, Lost, PreconnectError};
use crate::target::Target;

/// What a server says of itself, as far as it can be had for free: which kind it is, and the models that it serves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identity {
    server: Option<Server>,
    models: Vec<String>,
}

/// Why an endpoint could not be asked for the name of its model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// It serves none that it names.
    #[error("the server names no model: give the one that it serves")]
    None,
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
type Look = (&'static str, fn(&Value) -> Identity);

/// In order, until one has told. Each is answered from memory by the server that has it.
const LOOKS: [Look; 6] = [
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
        let mut identity = Self { server: Server::of(target), models: Vec::new() };
        for (path, read) in LOOKS {
            if identity.server.is_some() && !identity.models.is_empty() {
                break;
            }
            match transport.get(path).await {
                Ok((200, body)) => {
                    if let Ok(answer) = serde_json::from_slice(&body) {
                        identity.add(read(&answer));
                    }
                }
                Err(Lost::Unreachable(error)) => return Err(error),
                Ok(_) | Err(Lost::Other) => {}
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
    pub const fn server(&self) -> Option<Server> {
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
    pub fn only_model(&self) -> Result<&str, ModelError> {
        match &*self.models {
            [] => Err(ModelError::None),
            [only] => Ok(only),
            several => Err(ModelError::Several(several.to_vec())),
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

/// OpenAI's list of models. The owner is the server's own name on many of them.
fn of_models(answer: &Value) -> Identity {
    let models = answer["data"].as_array().map(Vec::as_slice).unwrap_or_default();
    let owners = models.iter().filter_map(|model| model["owned_by"].as_str());
    Identity { server: owners.into_iter().find_map(Server::of_owner), models: names(models, "id") }
}

fn of_sglang(answer: &Value) -> Identity {
    let path = answer["model_path"].as_str();
    told(Server::Sglang, path.is_some(), path)
}

fn of_llama_cpp(answer: &Value) -> Identity {
    told(Server::LlamaCpp, answer["default_generation_settings"].is_object(), None)
}

fn of_ollama(answer: &Value) -> Identity {
    match answer["models"].as_array() {
        Some(models) => Identity { server: Some(Server::Ollama), models: names(models, "name") },
        None => Identity::default(),
    }
}

fn of_tgi(answer: &Value) -> Identity {
    let model = answer["model_id"].as_str();
    let is_tgi = model.is_some() && !answer["max_total_tokens"].is_null();
    told(Server::Tgi, is_tgi, model)
}

fn of_triton(answer: &Value) -> Identity {
    told(Server::Triton, answer["name"] == "triton", None)
}

fn told(server: Server, is_it: bool, model: Option<&str>) -> Identity {
    if !is_it {
        return Identity::default();
    }
    Identity { server: Some(server), models: model.map(str::to_owned).into_iter().collect() }
}

fn names(models: &[Value], key: &str) -> Vec<String> {
    models.iter().filter_map(|model| model[key].as_str().map(str::to_owned)).collect()
}
