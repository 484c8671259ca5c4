//! From arguments to an endpoint, and whether it answers.

mod connections;

pub(crate) use connections::{announce, apply_plain, wanted};

use fizeau::core::{EosRule, FailureClass, Nanos, RequestId, RequestSource, Tape, Timer};
use fizeau::harness::{PreflightError, TextAfter, preflight};
use fizeau::record::{Connections, Endpoint};
use fizeau::transport::{
    Backend, ExtraBody, Forcing, HttpTransport, KeepText, MonotonicClock, RequestError, Secret,
    Target, Timeouts, context_limit,
};
use fizeau::workload::Workload;

use crate::args::{EndpointArgs, WorkloadArgs};
use crate::exit::{Fail, Named};
use crate::probe::Found;
use crate::progress::Waiting;
use crate::workload::{self, Limit};

/// An endpoint to be called, and how to name it on record.
pub(crate) struct Called {
    pub(crate) target: Target,
    pub(crate) timeouts: Timeouts,
    /// What `--backend auto` found out.
    pub(crate) found: Option<Found>,
    /// Fields that each request's body has besides, sampling above all: an object.
    pub(crate) sampling: serde_json::Value,
    connections: Connections,
    base_url: String,
    path: String,
}

impl Called {
    /// With what was found out of it.
    pub(crate) fn with_found(self, found: Option<Found>) -> Self {
        Self { found, ..self }
    }

    /// For the record.
    pub(crate) fn describe(&self) -> Endpoint {
        Endpoint {
            base_url: self.base_url.clone(),
            path: self.path.clone(),
            backend: self.target.backend().as_str().to_owned(),
            model: self.target.model().to_owned(),
            connections: self.connections.clone(),
        }
    }
}

/// The endpoint that `args` name, at `base_urls`, for `model`. Nothing is sent.
pub(crate) fn call(
    args: &EndpointArgs,
    base_urls: &[String],
    model: &str,
    extra: &str,
    keep_text: KeepText,
) -> Result<Called, Fail> {
    let backend: Backend = args.backend.parse().named("--backend")?;
    let (first, others) = base_urls
        .split_first()
        .ok_or_else(|| Fail::usage("--base-url: name at least one server"))?;
    let mut target = Target::new(first, backend, model).named("--base-url")?;
    for url in others {
        target = target.also_at(url).named("--base-url")?;
    }
    if let Some(path) = &args.endpoint {
        target = target.path(path).named("--endpoint")?;
    }
    for header in &args.headers {
        let (name, value) = header
            .split_once(['=', ':'])
            .ok_or_else(|| Fail::usage("--header: write NAME=VALUE or \"NAME: VALUE\""))?;
        target = target.header(name.trim(), value.trim()).named("--header")?;
    }
    if let Some(key) = api_key(args)? {
        target = target.api_key(key).named("API key")?;
    }
    let timeouts = timeouts(args)?;
    let target = connections::apply(target, &args.connections)?
        .extra_body(ExtraBody::parse(extra).named("--extra-body")?)
        .timeouts(timeouts)
        .keep_text(keep_text);
    let url = target.url();
    let (base_url, path) = split(&url);
    Ok(Called {
        base_url: base_url.to_owned(),
        path: path.to_owned(),
        timeouts,
        found: None,
        sampling: serde_json::from_str(extra).named("--extra-body")?,
        connections: connections::describe(&target, &args.connections),
        target,
    })
}

/// `http://host:port` and the path behind it.
pub(crate) fn split(url: &str) -> (&str, &str) {
    let origin = url.find("://").map_or(0, |at| at + 3);
    let path = url[origin..].find('/').map_or(url.len(), |at| origin + at);
    url.split_at(path)
}

/// From a file, or from the environment; never from the command line, which others can read.
fn api_key(args: &EndpointArgs) -> Result<Option<Secret>, Fail> {
    if let Some(path) = &args.api_key_file {
        let name = format!("--api-key-file {}", path.display());
        let text = std::fs::read_to_string(path).named(&name)?;
        return Ok(Some(Secret::new(text.trim())));
    }
    let from = ["FIZEAU_API_KEY", "OPENAI_API_KEY"];
    let mut keys = from.iter().filter_map(|name| std::env::var(name).ok());
    Ok(keys.find(|key| !key.is_empty()).map(Secret::new))
}

fn timeouts(args: &EndpointArgs) -> Result<Timeouts, Fail> {
    let seconds = |flag: &str, value: Option<f64>| match value {
        None => Ok(None),
        Some(0.0) => Err(Fail::usage(format!(
            "{flag}: 0 seconds are over at once; give more, or leave it out"
        ))),
        Some(value) => Nanos::from_secs_f64(value).map(Some).named(flag),
    };
    Ok(Timeouts {
        connect: seconds("--connect-timeout", Some(args.connect_timeout))?,
        first_token: seconds("--first-token-timeout", args.first_token_timeout)?,
        idle: seconds("--idle-timeout", args.idle_timeout)?,
        total: seconds("--timeout", Some(args.timeout))?,
    })
}

/// Whether the generated text is needed: for a file, for a tokenizer to count, or for the next turn of a conversation.
pub(crate) fn keep_text(after: TextAfter, workload: &WorkloadArgs) -> KeepText {
    let is_needed = workload.tokenizer.is_some() || workload::may_have_turns(workload);
    match after {
        TextAfter::Drop if !is_needed => KeepText::No,
        _ => KeepText::Yes,
    }
}

/// Refuses a workload that is too long for the model as the server says, where nobody else has said how much it takes. Not to
/// know is nothing to fail over.
pub(crate) async fn check_context(
    target: &Target,
    known: Option<&Limit>,
    check: impl FnOnce(&Limit) -> Result<(), Fail>,
) -> Result<(), Fail> {
    if known.is_some() {
        return Ok(());
    }
    match context_limit(target).await {
        Ok(Some(tokens)) => check(&Limit { tokens, said_by: "the server", cache: None }),
        Ok(None) | Err(_) => Ok(()),
    }
}

/// Sends one request of the workload's own shape to each endpoint, so that one that cannot be used is one clear line. It is a
/// warm-up request: its prompt is none of the run's.
pub(crate) async fn check(
    transport: &HttpTransport<MonotonicClock>,
    timer: &impl Timer,
    plan: &dyn Workload,
) -> Result<Tape, Fail> {
    let first = plan.warmup(Box::new(std::iter::once(0))).next_request().map_err(Fail::usage)?;
    let Some(mut request) = first.map(|scheduled| scheduled.request) else {
        return Err(Fail::usage("the workload has no request"));
    };
    request.max_output_tokens = request.max_output_tokens.min(SHORT);
    let target = transport.target();
    if request.eos == EosRule::Ignore && target.forcing() == Forcing::CapOnly {
        let backend = target.backend().as_str();
        tell!(
            "note: {backend} cannot be told to generate the full length there; outputs may be shorter than asked, and the \
             figures are of what came"
        );
    }
    let mut tape = None;
    for (number, url) in (0..).zip(target.urls()) {
        // With nothing else in flight, both ways of balancing send the k-th request to the k-th endpoint.
        request.id = RequestId(number);
        let _checking = Waiting::for_reply(&url);
        let checked = preflight(transport, timer, &request).await;
        let checked = checked.map_err(|error| unusable(&error, &url, target))?;
        tape.get_or_insert(checked);
    }
    for note in transport.notes() {
        tell!("note: {note}");
    }
    tape.ok_or_else(|| Fail::usage("--base-url: name at least one server"))
}

fn unusable(error: &PreflightError<RequestError>, url: &str, target: &Target) -> Fail {
    let remedy = match error {
        PreflightError::Unsendable(_) => "choose another --endpoint or --backend".to_owned(),
        PreflightError::Failed(failure) => remedy(failure.class, failure.status, target),
    };
    Fail::endpoint(format!("{url}: {error}; {remedy}"))
}

const SHORT: fizeau::core::Tokens = fizeau::core::Tokens::new(4);

/// What to try.
fn remedy(class: FailureClass, status: Option<u16>, target: &Target) -> String {
    let model = target.model();
    match (class, status) {
        (FailureClass::Connect | FailureClass::TimeoutConnect, _) => {
            "is the server up, and is --base-url right?".to_owned()
        }
        (FailureClass::Tls, _) => {
            "--ca-cert FILE trusts the certificates in a PEM file, --insecure trusts any".to_owned()
        }
        (FailureClass::Status, Some(401 | 403)) => {
            "give a key in FIZEAU_API_KEY, OPENAI_API_KEY or --api-key-file".to_owned()
        }
        (FailureClass::Status, Some(404)) => {
            format!("check --model ({model}) and --endpoint")
        }
        (FailureClass::Status, Some(300..=399)) => {
            "the server sends elsewhere: give that address as --base-url".to_owned()
        }
        (FailureClass::Status, Some(400 | 413 | 422)) => {
            "the server refuses this request: check --backend, --model and the lengths".to_owned()
        }
        (FailureClass::Status, Some(429 | 503)) => "the server is busy: try again later".to_owned(),
        (FailureClass::Status, _) => "look at the server's log".to_owned(),
        (
            FailureClass::TimeoutFirstToken
            | FailureClass::TimeoutIdle
            | FailureClass::TimeoutTotal,
            _,
        ) => "raise the timeout, or look at the server's log".to_owned(),
        _ => format!(
            "this is not what {} streams: check --backend and --endpoint",
            target.backend().as_str()
        ),
    }
}

/// The target that `args` lead to, without an endpoint at hand: for what must be known before one is started.
pub(crate) fn nowhere(args: &EndpointArgs) -> Result<Target, Fail> {
    Ok(call(args, &["http://127.0.0.1:1".to_owned()], "", "{}", KeepText::No)?.target)
}
