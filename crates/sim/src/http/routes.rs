//! Which request is answered how.

use fizeau_core::Stamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::app::App;
use super::dialect::{self, anthropic, sglang};
use super::metrics;
use super::parsed_request::{GeneratingRoute, ParsedRequest, PromptSource};
use super::prompt::{self, PromptField, PromptMessage};
use super::request::{HttpRequest, Method};
use super::response::{self, ReadyResponse, Refusal, Status};
use super::truth::TruthDetail;

/// What a request comes to.
pub(super) enum RouteAnswer {
    /// Work for the engine.
    Generate(Box<ParsedRequest>),
    /// A reply that is ready.
    Now(ReadyResponse),
}

/// What stands on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathHandler {
    CountTokens,
    Detokenize,
    Generate(GeneratingRoute),
    Health,
    Metrics,
    ModelInfo,
    Models,
    Tokenize,
    Truth,
}

impl PathHandler {
    fn of(path: &str, app: &App) -> Option<Self> {
        Some(match path {
            "/v1/completions" => Self::Generate(GeneratingRoute::Completions),
            "/v1/chat/completions" => Self::Generate(GeneratingRoute::Chat),
            "/v1/responses" => Self::Generate(GeneratingRoute::Responses),
            "/v1/messages" => Self::Generate(GeneratingRoute::Messages),
            "/v1/messages/count_tokens" => Self::CountTokens,
            "/generate" => Self::Generate(GeneratingRoute::Generate),
            "/tokenize" | "/v1/tokenize" => Self::Tokenize,
            "/detokenize" | "/v1/detokenize" => Self::Detokenize,
            "/health" | "/health_generate" => Self::Health,
            "/metrics" => Self::Metrics,
            "/v1/models" => Self::Models,
            // Whoever finds it takes the server for SGLang.
            "/get_model_info" if app.sglang.is_some() => Self::ModelInfo,
            "/truth" => Self::Truth,
            _ => return None,
        })
    }

    const fn allows(self) -> &'static str {
        match self {
            Self::CountTokens | Self::Detokenize | Self::Generate(_) | Self::Tokenize => "POST",
            Self::Health | Self::Metrics | Self::ModelInfo | Self::Models => "GET",
            Self::Truth => "GET, DELETE",
        }
    }

    /// The form of its errors.
    const fn form(self) -> GeneratingRoute {
        match self {
            Self::Generate(route) => route,
            Self::CountTokens => GeneratingRoute::Messages,
            _ => GeneratingRoute::Completions,
        }
    }
}

/// Looks up what `request` asks for.
pub(super) fn answer(app: &mut App, request: &HttpRequest) -> RouteAnswer {
    let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
    let Some(place) = PathHandler::of(path, app) else {
        return RouteAnswer::Now(ReadyResponse::refusal(&not_found(path)));
    };
    let answered = match (&request.method, place) {
        (Method::Post, PathHandler::Generate(route)) => {
            match dialect::parse(app, route, &request.body) {
                Ok(mut ask) => {
                    ask.request_id = request.id.clone().or(ask.request_id);
                    return RouteAnswer::Generate(Box::new(ask));
                }
                Err(refusal) => Err(refusal),
            }
        }
        (Method::Post, PathHandler::CountTokens) => {
            anthropic::count(app, &request.body).map(|json| json_of(&json))
        }
        (Method::Post, PathHandler::Tokenize) => {
            tokenize(app, &request.body).map(|json| json_of(&json))
        }
        (Method::Post, PathHandler::Detokenize) => {
            detokenize(&request.body).map(|json| json_of(&json))
        }
        (Method::Get, PathHandler::Health) => Ok(ReadyResponse::json("")),
        (Method::Get, PathHandler::Metrics) => {
            Ok(ReadyResponse::text(metrics::CONTENT_TYPE, app.exposition()))
        }
        (Method::Get, PathHandler::Models) => Ok(json_of(&models(app))),
        (Method::Get, PathHandler::ModelInfo) => Ok(json_of(&sglang::model_info(app))),
        (Method::Get, PathHandler::Truth) => Ok(truth(app, query)),
        (Method::Delete, PathHandler::Truth) => {
            app.truth.clear();
            Ok(ReadyResponse::json("{}"))
        }
        (method, _) => {
            let refusal = wrong_method(path, method, place);
            let response = ReadyResponse::refusal_on(place.form(), &refusal);
            return RouteAnswer::Now(response.allowing(place.allows()));
        }
    };
    let response =
        answered.unwrap_or_else(|refusal| ReadyResponse::refusal_on(place.form(), &refusal));
    RouteAnswer::Now(response.echoing(request.id.clone()))
}

fn json_of(value: &Value) -> ReadyResponse {
    ReadyResponse::json(value.to_string())
}

fn models(app: &App) -> Value {
    let model = json!({
        "id": app.model(),
        "object": "model",
        "created": app.unix(Stamp::EPOCH),
        "owned_by": if app.sglang.is_some() { "sglang" } else { "fizeau-sim" },
        "root": app.model(),
        "parent": null,
        "max_model_len": app.longest_job,
    });
    json!({"object": "list", "data": [model]})
}

/// What vLLM's `/tokenize` takes: one of the two, and the model.
#[derive(Deserialize)]
struct Texts {
    model: Option<String>,
    prompt: Option<String>,
    messages: Option<Vec<PromptMessage>>,
    return_token_strs: Option<bool>,
}

fn tokenize(app: &App, body: &[u8]) -> Result<Value, Refusal> {
    let body: Texts = response::parsed(body)?;
    PromptSource::of(app, body.model, None)?;
    let ids = match (body.prompt, body.messages) {
        (Some(prompt), _) => prompt::ids(&prompt),
        (None, Some(messages)) => prompt::conversation_ids(&messages),
        (None, None) => {
            let message = "`prompt` or `messages` is missing: a text, or a conversation";
            return Err(Refusal::bad_request(Some("prompt"), message));
        }
    };
    let texts = (body.return_token_strs == Some(true))
        .then(|| ids.iter().map(|id| prompt::text(&[*id])).collect::<Vec<_>>());
    Ok(json!({
        "count": ids.len(),
        "max_model_len": app.longest_job,
        "tokens": ids,
        "token_strs": texts,
    }))
}

fn detokenize(body: &[u8]) -> Result<Value, Refusal> {
    #[derive(Deserialize)]
    struct Ids {
        tokens: PromptField,
    }
    let body: Ids = response::parsed(body)?;
    match &body.tokens {
        PromptField::Ids(ids) => Ok(json!({"prompt": prompt::text(ids)})),
        _ => {
            let message = "`tokens` must be a list of token ids: whole numbers below 2^32";
            Err(Refusal::bad_request(Some("tokens"), message))
        }
    }
}

fn truth(app: &App, query: &str) -> ReadyResponse {
    let parts = query.split('&').map(|part| part.split_once('=').map_or(part, |(name, _)| name));
    let detail = match parts.into_iter().any(|name| name == "summary") {
        true => TruthDetail::Summary,
        false => TruthDetail::Requests,
    };
    let json = app.truth.to_json(detail, app.scale, &app.gauges);
    json.map_or_else(
        |error| {
            let message = format!("the record could not be written: {error}");
            let refusal = Refusal::bad_request(None, message).at(Status::INTERNAL);
            ReadyResponse::refusal(&Refusal { kind: "InternalServerError", ..refusal })
        },
        ReadyResponse::json,
    )
}

fn not_found(path: &str) -> Refusal {
    let message = format!(
        "{path} is not served here: /v1/completions, /v1/chat/completions, /v1/responses, /v1/messages, \
         /generate, /v1/models, /tokenize, /detokenize, /health, /metrics and /truth are"
    );
    Refusal::not_found(None, message)
}

fn wrong_method(path: &str, method: &Method, place: PathHandler) -> Refusal {
    let (method, allowed) = (method.as_str(), place.allows());
    let message = format!("{path} does not take {method}: use {allowed}");
    Refusal::bad_request(None, message).at(Status::METHOD_NOT_ALLOWED)
}
