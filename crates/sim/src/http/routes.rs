//! Which request is answered how.

use fizeau_core::Stamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::app::App;
use super::dialect::{self, anthropic, sglang};
use super::metrics;
use super::parsed_request::{ParsedRequest, Route, Source};
use super::prompt::{self, Message, Prompt};
use super::request::{Method, Request};
use super::response::{self, Refusal, Response, Status};
use super::truth::Detail;

/// What a request comes to.
pub(super) enum Answer {
    /// Work for the engine.
    Generate(Box<ParsedRequest>),
    /// A reply that is ready.
    Now(Response),
}

/// What stands on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    CountTokens,
    Detokenize,
    Generate(Route),
    Health,
    Metrics,
    ModelInfo,
    Models,
    Tokenize,
    Truth,
}

impl Place {
    fn of(path: &str, app: &App) -> Option<Self> {
        Some(match path {
            "/v1/completions" => Self::Generate(Route::Completions),
            "/v1/chat/completions" => Self::Generate(Route::Chat),
            "/v1/responses" => Self::Generate(Route::Responses),
            "/v1/messages" => Self::Generate(Route::Messages),
            "/v1/messages/count_tokens" => Self::CountTokens,
            "/generate" => Self::Generate(Route::Generate),
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
    const fn form(self) -> Route {
        match self {
            Self::Generate(route) => route,
            Self::CountTokens => Route::Messages,
            _ => Route::Completions,
        }
    }
}

/// Looks up what `request` asks for.
pub(super) fn answer(app: &mut App, request: &Request) -> Answer {
    let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
    let Some(place) = Place::of(path, app) else {
        return Answer::Now(Response::refusal(&not_found(path)));
    };
    let answered = match (&request.method, place) {
        (Method::Post, Place::Generate(route)) => match dialect::parse(app, route, &request.body) {
            Ok(mut ask) => {
                ask.request_id = request.id.clone().or(ask.request_id);
                return Answer::Generate(Box::new(ask));
            }
            Err(refusal) => Err(refusal),
        },
        (Method::Post, Place::CountTokens) => {
            anthropic::count(app, &request.body).map(|json| json_of(&json))
        }
        (Method::Post, Place::Tokenize) => tokenize(app, &request.body).map(|json| json_of(&json)),
        (Method::Post, Place::Detokenize) => detokenize(&request.body).map(|json| json_of(&json)),
        (Method::Get, Place::Health) => Ok(Response::json("")),
        (Method::Get, Place::Metrics) => {
            Ok(Response::text(metrics::CONTENT_TYPE, app.exposition()))
        }
        (Method::Get, Place::Models) => Ok(json_of(&models(app))),
        (Method::Get, Place::ModelInfo) => Ok(json_of(&sglang::model_info(app))),
        (Method::Get, Place::Truth) => Ok(truth(app, query)),
        (Method::Delete, Place::Truth) => {
            app.truth.clear();
            Ok(Response::json("{}"))
        }
        (method, _) => {
            let refusal = wrong_method(path, method, place);
            let response = Response::refusal_on(place.form(), &refusal);
            return Answer::Now(response.allowing(place.allows()));
        }
    };
    let response = answered.unwrap_or_else(|refusal| Response::refusal_on(place.form(), &refusal));
    Answer::Now(response.echoing(request.id.clone()))
}

fn json_of(value: &Value) -> Response {
    Response::json(value.to_string())
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
    messages: Option<Vec<Message>>,
    return_token_strs: Option<bool>,
}

fn tokenize(app: &App, body: &[u8]) -> Result<Value, Refusal> {
    let body: Texts = response::parsed(body)?;
    Source::of(app, body.model, None)?;
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
        tokens: Prompt,
    }
    let body: Ids = response::parsed(body)?;
    match &body.tokens {
        Prompt::Ids(ids) => Ok(json!({"prompt": prompt::text(ids)})),
        _ => {
            let message = "`tokens` must be a list of token ids: whole numbers below 2^32";
            Err(Refusal::bad_request(Some("tokens"), message))
        }
    }
}

fn truth(app: &App, query: &str) -> Response {
    let parts = query.split('&').map(|part| part.split_once('=').map_or(part, |(name, _)| name));
    let detail = match parts.into_iter().any(|name| name == "summary") {
        true => Detail::Summary,
        false => Detail::Requests,
    };
    let json = app.truth.to_json(detail, app.scale, &app.gauges);
    json.map_or_else(
        |error| {
            let message = format!("the record could not be written: {error}");
            let refusal = Refusal::bad_request(None, message).at(Status::INTERNAL);
            Response::refusal(&Refusal { kind: "InternalServerError", ..refusal })
        },
        Response::json,
    )
}

fn not_found(path: &str) -> Refusal {
    let message = format!(
        "{path} is not served here: /v1/completions, /v1/chat/completions, /v1/responses, /v1/messages, \
         /generate, /v1/models, /tokenize, /detokenize, /health, /metrics and /truth are"
    );
    Refusal::not_found(None, message)
}

fn wrong_method(path: &str, method: &Method, place: Place) -> Refusal {
    let (method, allowed) = (method.as_str(), place.allows());
    let message = format!("{path} does not take {method}: use {allowed}");
    Refusal::bad_request(None, message).at(Status::METHOD_NOT_ALLOWED)
}
