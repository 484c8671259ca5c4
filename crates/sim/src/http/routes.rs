//! Which request is answered how.

use fizeau_core::Stamp;
use serde_json::json;

use super::app::App;
use super::ask::{Ask, Route};
use super::metrics;
use super::refusal::{Refusal, Status};
use super::request::{Method, Request};
use super::response::Response;
use super::truth::Detail;

/// What a request comes to.
pub(super) enum Answer {
    /// Work for the engine.
    Generate(Box<Ask>),
    /// A reply that is ready.
    Now(Response),
}

/// Looks up what `request` asks for.
pub(super) fn answer(app: &mut App, request: &Request) -> Answer {
    let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
    let allowed = match path {
        "/v1/chat/completions" | "/v1/completions" => "POST",
        "/health" | "/metrics" | "/v1/models" => "GET",
        "/truth" => "GET, DELETE",
        _ => return Answer::Now(Response::refusal(&not_found(path))),
    };
    let response = match (&request.method, path) {
        (Method::Post, "/v1/chat/completions") => return generate(app, Route::Chat, request),
        (Method::Post, "/v1/completions") => return generate(app, Route::Completions, request),
        (Method::Get, "/health") => Response::json(""),
        (Method::Get, "/metrics") => Response::text(metrics::CONTENT_TYPE, app.exposition()),
        (Method::Get, "/v1/models") => Response::json(models(app)),
        (Method::Get, "/truth") => truth(app, query),
        (Method::Delete, "/truth") => {
            app.truth.clear();
            Response::json("{}")
        }
        (method, _) => Response::refusal(&Refusal {
            status: Status::METHOD_NOT_ALLOWED,
            ..Refusal::bad_request(
                None,
                format!("{path} does not take {}: use {allowed}", method.as_str()),
            )
        })
        .allowing(allowed),
    };
    Answer::Now(response)
}

fn generate(app: &App, route: Route, request: &Request) -> Answer {
    match Ask::parse(app, route, &request.body) {
        Ok(ask) => Answer::Generate(Box::new(ask)),
        Err(refusal) => Answer::Now(Response::refusal(&refusal)),
    }
}

fn models(app: &App) -> String {
    let model = json!({
        "id": app.model(),
        "object": "model",
        "created": app.unix(Stamp::EPOCH),
        "owned_by": "fizeau-sim",
        "root": app.model(),
        "parent": null,
        "max_model_len": app.longest_job,
    });
    json!({"object": "list", "data": [model]}).to_string()
}

fn truth(app: &App, query: &str) -> Response {
    let parts = query.split('&').map(|part| part.split_once('=').map_or(part, |(name, _)| name));
    let with = match parts.into_iter().any(|name| name == "summary") {
        true => Detail::Summary,
        false => Detail::Requests,
    };
    let json = app.truth.to_json(with, app.scale, &app.gauges);
    json.map_or_else(
        |error| {
            let message = format!("the record could not be written: {error}");
            Response::refusal(&Refusal {
                status: Status::INTERNAL,
                kind: "InternalServerError",
                ..Refusal::bad_request(None, message)
            })
        },
        Response::json,
    )
}

fn not_found(path: &str) -> Refusal {
    Refusal {
        status: Status::NOT_FOUND,
        kind: "NotFoundError",
        param: None,
        message: format!(
            "{path} is not served here: /v1/completions, /v1/chat/completions, /v1/models, /health, /metrics and /truth are"
        ),
    }
}
