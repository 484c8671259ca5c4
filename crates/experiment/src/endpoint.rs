//! Which endpoint is called, how, and whether it answers.

mod caches;
mod connections;
mod discovery;
mod named;

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use fizeau_record::{ConnectionRecord, EndpointRecord};
use fizeau_transport::{Backend, ExtraBody, KeepText, Route, Secret, Target, Timeouts};
use thiserror::Error;

pub use caches::CacheBeforeLevel;
pub(crate) use caches::EmptiedCaches;
pub use connections::{ConnectionSpec, TrustSpec};
pub use discovery::DetectedEndpoint;
pub use named::{NamedUrl, NamedUrlError};

use crate::client::ConnectionNeeds;
use crate::hint::InputHint;
use crate::input::{Blame, ExperimentError, InputError, InputField};

/// An endpoint that is to be called.
///
/// ```
/// use fizeau_experiment::EndpointSpec;
/// use fizeau_transport::{Backend, KeepText};
///
/// let mut spec = EndpointSpec::new("http://127.0.0.1:8000", "llama");
/// spec.backend = Backend::VllmChat.into();
/// let endpoint = spec.prepare(KeepText::No)?;
/// assert_eq!(endpoint.describe().path, "/v1/chat/completions");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EndpointSpec {
    /// The servers, which are alike and share the requests; at least one.
    pub base_urls: Vec<String>,
    /// What they are.
    pub backend: BackendChoice,
    /// The route; none for the backend's own.
    pub route: Option<String>,
    /// The model's name, as the servers know it; empty for the only one that they have, where the backend is found out.
    pub model: String,
    /// Extra headers. Values never reach a file.
    pub headers: Vec<ExtraHeader>,
    /// The API key.
    pub api_key: Option<Secret>,
    /// When a request is given up.
    pub timeouts: Timeouts,
    /// Fields that each request's body has besides, sampling above all: the text of a JSON object.
    pub extra_body: String,
    /// Of how many tokens the log-probabilities are asked for at each place, beside the one that is taken; none for no field at all.
    pub logprobs: Option<u32>,
    /// How it is reached.
    pub connections: ConnectionSpec,
    /// What becomes of its prefix cache before each level.
    pub cache: CacheBeforeLevel,
    /// The level, from 1 in the order of measuring, while which its own profiler runs; none for no level.
    pub profiled_level: Option<NonZeroU32>,
    /// What was found out of it.
    detected: Option<DetectedEndpoint>,
}

/// What a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackendChoice {
    /// This.
    Named(Backend),
    /// It is to be found out, by requests that cost it next to nothing.
    Detected,
}

impl From<Backend> for BackendChoice {
    fn from(backend: Backend) -> Self {
        Self::Named(backend)
    }
}

impl FromStr for BackendChoice {
    type Err = <Backend as FromStr>::Err;

    /// `auto`, or a backend's name.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "auto" { Ok(Self::Detected) } else { text.parse().map(Self::Named) }
    }
}

/// A header that each request has besides.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExtraHeader {
    /// Its name.
    pub name: String,
    /// Its value, which may be a secret.
    pub value: String,
}

impl ExtraHeader {
    /// A header of that name and value.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into() }
    }

    /// Whether HTTP can carry it.
    #[must_use]
    pub fn can_be_sent(&self) -> bool {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        let is_named = !self.name.is_empty() && self.name.chars().all(is_name);
        is_named && !self.value.chars().any(char::is_control)
    }
}

/// Why a text is no header. It does not say the text, which may hold a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("write NAME=VALUE or \"NAME: VALUE\"")]
pub struct HeaderTextError;

impl FromStr for ExtraHeader {
    type Err = HeaderTextError;

    fn from_str(text: &str) -> Result<Self, HeaderTextError> {
        let (name, value) = text.split_once(['=', ':']).ok_or(HeaderTextError)?;
        Ok(Self::new(name.trim(), value.trim()))
    }
}

impl fmt::Debug for ExtraHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ...", self.name)
    }
}

impl EndpointSpec {
    /// A server that speaks as vLLM does, called as by default.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_urls: vec![base_url.into()],
            backend: Backend::Vllm.into(),
            route: None,
            model: model.into(),
            headers: Vec::new(),
            api_key: None,
            timeouts: Timeouts::default(),
            extra_body: "{}".to_owned(),
            logprobs: None,
            connections: ConnectionSpec::default(),
            cache: CacheBeforeLevel::default(),
            profiled_level: None,
            detected: None,
        }
    }

    /// The endpoint, ready to be called. Files are read; nothing is sent. Where the backend is to be found out, vLLM's stands in its place,
    /// so that all that does not hang on it can be checked.
    ///
    /// # Errors
    /// If an input is wrong.
    pub fn prepare(&self, keep_text: KeepText) -> Result<PreparedEndpoint, InputError> {
        match self.backend {
            BackendChoice::Detected if self.model.is_empty() => {
                self.called(Backend::Vllm, "model", keep_text)
            }
            BackendChoice::Detected => self.called(Backend::Vllm, &self.model, keep_text),
            BackendChoice::Named(_) if self.model.is_empty() => {
                let missing =
                    "the model is missing: give the name that the server's /v1/models lists";
                Err(InputError::new(InputField::Model, missing).hint(InputHint::ServerKnowsModel))
            }
            BackendChoice::Named(backend) => self.called(backend, &self.model, keep_text),
        }
    }

    /// As this backend, for that model.
    fn called(
        &self,
        backend: Backend,
        model: &str,
        keep_text: KeepText,
    ) -> Result<PreparedEndpoint, InputError> {
        let none = || InputError::new(InputField::BaseUrl, "name at least one server");
        let (first, others) = self.base_urls.split_first().ok_or_else(none)?;
        let mut target = Target::new(first, backend, model).blame(InputField::BaseUrl)?;
        for url in others {
            target = target.also_at(url).blame(InputField::BaseUrl)?;
        }
        if let Some(path) = &self.route {
            target = target.path(path).blame(InputField::Route)?;
        }
        for ExtraHeader { name, value } in &self.headers {
            target = target.header(name, value).blame(InputField::Header)?;
        }
        if let Some(key) = &self.api_key {
            target = target.api_key(key.clone()).blame(InputField::ApiKey)?;
        }
        let mut extra = ExtraBody::parse(&self.extra_body).blame(InputField::ExtraBody)?;
        if let Some(most) = self.logprobs {
            let fields = match target.route() {
                Route::Chat => format!(r#"{{"logprobs":true,"top_logprobs":{most}}}"#),
                Route::Completions => format!(r#"{{"logprobs":{most}}}"#),
                _ => {
                    let why = "only OpenAI's completions and chat routes have them";
                    return Err(InputError::new(InputField::LogProbabilities, why));
                }
            };
            extra = extra.merge(ExtraBody::parse(&fields).blame(InputField::LogProbabilities)?);
        }
        let extra_body = match self.logprobs {
            Some(_) => extra.to_string(),
            None => self.extra_body.clone(),
        };
        let target = self
            .connections
            .apply(target)?
            .extra_body(extra)
            .timeouts(self.timeouts)
            .keep_text(keep_text);
        Ok(PreparedEndpoint {
            timeouts: self.timeouts,
            detected: self.detected.clone(),
            extra_body,
            connections: ConnectionRecord {
                headers: self.header_names(),
                ..self.connections.describe(&target)
            },
            reached: self.connections.clone(),
            cache: self.cache,
            profiled_level: self.profiled_level,
            target,
        })
    }

    fn header_names(&self) -> Vec<String> {
        let names = self.headers.iter().map(|header| header.name.to_ascii_lowercase());
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        names
    }
}

/// An endpoint that is ready to be called, and how to name it on record.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PreparedEndpoint {
    /// For the transport.
    pub target: Target,
    /// When a request is given up.
    pub timeouts: Timeouts,
    /// What was found out of it, where that was asked for.
    pub detected: Option<DetectedEndpoint>,
    /// Fields that each request's body has besides: the text of a JSON object.
    pub extra_body: String,
    /// How it is reached, in words for people.
    pub connections: ConnectionRecord,
    /// How it is reached.
    pub reached: ConnectionSpec,
    /// What becomes of its prefix cache before each level.
    pub cache: CacheBeforeLevel,
    /// The level, from 1 in the order of measuring, while which its own profiler runs; none for no level.
    pub profiled_level: Option<NonZeroU32>,
}

impl From<Target> for PreparedEndpoint {
    /// A target that is ready, of whose connections nothing is said.
    fn from(target: Target) -> Self {
        Self {
            timeouts: *target.limits(),
            detected: None,
            extra_body: "{}".to_owned(),
            connections: ConnectionRecord::default(),
            reached: ConnectionSpec::default(),
            cache: CacheBeforeLevel::default(),
            profiled_level: None,
            target,
        }
    }
}

impl PreparedEndpoint {
    /// For the record.
    pub fn describe(&self) -> EndpointRecord {
        let url = self.target.url();
        let (base_url, path) = split_url(&url);
        EndpointRecord {
            base_url: base_url.to_owned(),
            path: path.to_owned(),
            backend: self.target.backend().as_str().to_owned(),
            model: self.target.model().to_owned(),
            connections: self.connections.clone(),
            prefix_cache: match self.cache {
                CacheBeforeLevel::Emptied => Some("emptied before each level".to_owned()),
                CacheBeforeLevel::Kept => None,
            },
        }
    }
}

/// Where an experiment finds an endpoint: as a specification says, or ready to be called.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum EndpointSource {
    /// As this says.
    Spec(Box<EndpointSpec>),
    /// This.
    Ready(Box<PreparedEndpoint>),
}

impl From<EndpointSpec> for EndpointSource {
    fn from(spec: EndpointSpec) -> Self {
        Self::Spec(Box::new(spec))
    }
}

impl From<PreparedEndpoint> for EndpointSource {
    fn from(endpoint: PreparedEndpoint) -> Self {
        Self::Ready(Box::new(endpoint))
    }
}

impl From<Target> for EndpointSource {
    fn from(target: Target) -> Self {
        PreparedEndpoint::from(target).into()
    }
}

impl EndpointSource {
    /// The endpoint, ready to be called.
    pub(crate) fn prepare(&self, keep_text: KeepText) -> Result<PreparedEndpoint, InputError> {
        match (self, keep_text) {
            (Self::Spec(spec), keep_text) => spec.prepare(keep_text),
            (Self::Ready(endpoint), KeepText::No) => Ok((**endpoint).clone()),
            (Self::Ready(endpoint), KeepText::Yes) => {
                let target = endpoint.target.clone().keep_text(KeepText::Yes);
                Ok(PreparedEndpoint { target, ..(**endpoint).clone() })
            }
        }
    }

    /// As [`prepare`](Self::prepare), for what asks no model of it.
    pub(crate) fn prepare_unnamed(&self) -> Result<PreparedEndpoint, InputError> {
        match self {
            Self::Spec(spec) if spec.model.is_empty() => {
                EndpointSpec { model: "model".to_owned(), ..(**spec).clone() }.prepare(KeepText::No)
            }
            other => other.prepare(KeepText::No),
        }
    }

    /// What it is, found out where that is asked for.
    pub(crate) async fn detect(&self) -> Result<Option<DetectedEndpoint>, ExperimentError> {
        match self {
            Self::Spec(spec) if spec.backend == BackendChoice::Detected => {
                spec.detect().await.map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The same, of which is known what was `found`.
    pub(crate) fn as_found(&self, found: DetectedEndpoint) -> Self {
        match self {
            Self::Spec(spec) => {
                let (backend, model) = (found.kind.into(), found.model.clone());
                EndpointSpec { backend, model, detected: Some(found), ..(**spec).clone() }.into()
            }
            ready => ready.clone(),
        }
    }
}

/// What a run with `in_flight` requests at `endpoints` wants of connections, which are all reached as the first is.
pub(crate) fn needs_of(endpoints: &[PreparedEndpoint], in_flight: u64) -> ConnectionNeeds {
    let urls: Vec<String> = endpoints.iter().flat_map(|one| one.target.urls()).collect();
    endpoints.first().map_or_else(
        || ConnectionNeeds::of(in_flight),
        |first| first.reached.needs(&urls, in_flight),
    )
}

/// `http://host:port` and the path behind it.
pub(crate) fn split_url(url: &str) -> (&str, &str) {
    let origin = url.find("://").map_or(0, |at| at + 3);
    let path = url[origin..].find('/').map_or(url.len(), |at| origin + at);
    url.split_at(path)
}
