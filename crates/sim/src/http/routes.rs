//! Connections and routes.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use fizeau_core::Clock;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};

use super::app::App;
use super::ask::{Ask, Delivery, Refusal, Route};
use super::frames::{self, Frames};
use super::reply::{self, NoReply, Reply, TokenStream};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream; charset=utf-8");

/// How long to wait after a connection could not be accepted, which is mostly a lack of file descriptors that
/// others will give back.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Accepts connections for ever.
pub(super) async fn accept(listener: TcpListener, app: Arc<App>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(connection(stream, Arc::clone(&app)))),
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn connection(stream: TcpStream, app: Arc<App>) {
    // Without this, the kernel would hold small writes back until earlier ones are acknowledged.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY could not be set");
    }
    let service = service_fn(|request| {
        let app = Arc::clone(&app);
        async move { Ok::<_, Infallible>(answer(&app, request).await) }
    });
    let served = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    if let Err(error) = served.await {
        tracing::debug!(%error, "a connection broke off");
    }
}

async fn answer(app: &Arc<App>, request: Request<Incoming>) -> Response<Reply> {
    let path = request.uri().path();
    let allowed = match path {
        "/v1/chat/completions" | "/v1/completions" => "POST",
        "/health" | "/v1/models" => "GET",
        "/truth" => "GET, DELETE",
        _ => return refuse(&not_found(path)),
    };
    match (request.method(), path) {
        (&Method::POST, "/v1/chat/completions") => generate(app, Route::Chat, request).await,
        (&Method::POST, _) if allowed == "POST" => generate(app, Route::Completions, request).await,
        (&Method::GET, "/health") => with_body(StatusCode::OK, JSON, Bytes::new()),
        (&Method::GET, "/v1/models") => with_body(StatusCode::OK, JSON, models(app)),
        (&Method::GET, "/truth") => truth(app),
        (&Method::DELETE, "/truth") => {
            app.truth().clear();
            with_body(StatusCode::OK, JSON, "{}")
        }
        (method, _) => {
            let mut response = refuse(&Refusal {
                status: StatusCode::METHOD_NOT_ALLOWED,
                kind: "BadRequestError",
                param: None,
                message: format!("{path} does not take {method}: use {allowed}"),
            });
            let allowed = HeaderValue::from_static(allowed);
            response.headers_mut().insert(ALLOW, allowed);
            response
        }
    }
}

async fn generate(app: &Arc<App>, route: Route, request: Request<Incoming>) -> Response<Reply> {
    let body = match read(app, request.into_body()).await {
        Ok(body) => body,
        Err(refusal) => return refuse(&refusal),
    };
    let arrived = app.clock.now();
    let mut ask = match Ask::parse(app, route, &body) {
        Ok(ask) => ask,
        Err(refusal) => return refuse(&refusal),
    };
    let call = app.submit(&ask, arrived);
    let record = reply::record(&ask, &call, arrived);
    let (job, created) = (call.id, app.clock.started_unix() + arrived.as_nanos() / 1_000_000_000);
    if ask.delivery == Delivery::Streamed {
        let frames = Frames::new(&mut ask, job, created);
        return stream(TokenStream::new(call, frames, record));
    }
    match reply::collect(call, record).await {
        Ok(tokens) => with_body(StatusCode::OK, JSON, frames::whole(&ask, job, created, tokens)),
        Err(NoReply::Refused(error)) => refuse(&Refusal::bad_request(None, error.to_string())),
        Err(NoReply::Stopped) => refuse(&Refusal {
            status: StatusCode::SERVICE_UNAVAILABLE,
            kind: "InternalServerError",
            param: None,
            message: "the simulated engine has stopped".to_owned(),
        }),
    }
}

/// The whole body, if it is not too large.
async fn read(app: &App, body: Incoming) -> Result<Bytes, Refusal> {
    match Limited::new(body, app.body_limit).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Refusal {
            status: StatusCode::PAYLOAD_TOO_LARGE,
            kind: "BadRequestError",
            param: None,
            message: format!("the body is larger than the {} bytes taken here", app.body_limit),
        }),
        Err(error) => {
            Err(Refusal::bad_request(None, format!("the body could not be read: {error}")))
        }
    }
}

fn models(app: &App) -> String {
    let model = json!({
        "id": app.model(),
        "object": "model",
        "created": app.clock.started_unix(),
        "owned_by": "fizeau-sim",
        "root": app.model(),
        "parent": null,
        "max_model_len": app.longest_job,
    });
    json!({"object": "list", "data": [model]}).to_string()
}

fn truth(app: &App) -> Response<Reply> {
    let json = app.truth().to_json();
    match json {
        Ok(json) => with_body(StatusCode::OK, JSON, json),
        Err(error) => refuse(&Refusal {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            kind: "InternalServerError",
            param: None,
            message: format!("the record could not be written: {error}"),
        }),
    }
}

fn not_found(path: &str) -> Refusal {
    Refusal {
        status: StatusCode::NOT_FOUND,
        kind: "NotFoundError",
        param: None,
        message: format!(
            "{path} is not served here: /v1/completions, /v1/chat/completions, /v1/models, /health and /truth are"
        ),
    }
}

fn refuse(refusal: &Refusal) -> Response<Reply> {
    with_body(refusal.status, JSON, refusal.to_json())
}

fn stream(tokens: TokenStream) -> Response<Reply> {
    let mut response = Response::new(Reply::Stream(Box::new(tokens)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, EVENT_STREAM);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

fn with_body(status: StatusCode, kind: HeaderValue, body: impl Into<Bytes>) -> Response<Reply> {
    let mut response = Response::new(Reply::whole(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
