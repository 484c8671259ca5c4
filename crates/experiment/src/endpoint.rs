//! Which endpoint is called, how, and whether it answers.

mod connections;
mod discovery;
mod preflight;

use std::fmt;

use fizeau_core::Tape;
use fizeau_harness::on_own_thread;
use fizeau_record::{Connections, Endpoint};
use fizeau_transport::{Backend, ExtraBody, KeepText, MonotonicClock, Secret, Target, Timeouts};

pub use connections::{ConnectionSpec, TrustSpec};
pub use discovery::DetectedEndpoint;
pub use preflight::{PreflightStep, check_context, preflight};

use crate::input::{Blame, ExperimentError, Field, InputError};
use crate::workload::PreparedWorkload;

/// An endpoint that is to be called.
///
/// ```
/// use fizeau_experiment::EndpointSpec;
/// use fizeau_transport::{Backend, KeepText};
///
/// let mut spec = EndpointSpec::new("http://127.0.0.1:8000", "llama");
/// spec.backend = Backend::VllmChat;
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
    pub backend: Backend,
    /// The route; none for the backend's own.
    pub route: Option<String>,
    /// The model's name, as the servers know it.
    pub model: String,
    /// Extra headers. Values never reach a file.
    pub headers: Vec<ExtraHeader>,
    /// The API key.
    pub api_key: Option<Secret>,
    /// When a request is given up.
    pub timeouts: Timeouts,
    /// Fields that each request's body has besides, sampling above all: the text of a JSON object.
    pub extra_body: String,
    /// How it is reached.
    pub connections: ConnectionSpec,
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
            backend: Backend::Vllm,
            route: None,
            model: model.into(),
            headers: Vec::new(),
            api_key: None,
            timeouts: Timeouts::default(),
            extra_body: "{}".to_owned(),
            connections: ConnectionSpec::default(),
        }
    }

    /// The endpoint, ready to be called. Files are read; nothing is sent.
    ///
    /// # Errors
    /// If an input is wrong.
    pub fn prepare(&self, keep_text: KeepText) -> Result<PreparedEndpoint, InputError> {
        let none = || InputError::new(Field::BaseUrl, "name at least one server");
        let (first, others) = self.base_urls.split_first().ok_or_else(none)?;
        let mut target = Target::new(first, self.backend, &self.model).blame(Field::BaseUrl)?;
        for url in others {
            target = target.also_at(url).blame(Field::BaseUrl)?;
        }
        if let Some(path) = &self.route {
            target = target.path(path).blame(Field::Route)?;
        }
        for ExtraHeader { name, value } in &self.headers {
            target = target.header(name, value).blame(Field::Header)?;
        }
        if let Some(key) = &self.api_key {
            target = target.api_key(key.clone()).blame(Field::ApiKey)?;
        }
        let extra = ExtraBody::parse(&self.extra_body).blame(Field::ExtraBody)?;
        let target = self
            .connections
            .apply(target)?
            .extra_body(extra)
            .timeouts(self.timeouts)
            .keep_text(keep_text);
        let connections = self.connections.describe(&target);
        let extra_body = self.extra_body.clone();
        Ok(PreparedEndpoint {
            target,
            timeouts: self.timeouts,
            found: None,
            extra_body,
            connections,
        })
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
    pub found: Option<DetectedEndpoint>,
    /// Fields that each request's body has besides: the text of a JSON object.
    pub extra_body: String,
    /// How it is reached, in words for people.
    pub connections: Connections,
}

impl PreparedEndpoint {
    /// A target that is ready, of whose connections nothing is said.
    #[must_use]
    pub fn of(target: Target) -> Self {
        let (timeouts, connections) = (*target.limits(), Connections::default());
        Self { target, timeouts, found: None, extra_body: "{}".to_owned(), connections }
    }

    /// With what was found out of it.
    #[must_use]
    pub fn with_found(self, found: Option<DetectedEndpoint>) -> Self {
        Self { found, ..self }
    }

    /// Whether it answers: [`preflight`] of `workload`, from a thread of its own, so that any task may wait for it.
    ///
    /// # Errors
    /// As [`preflight`].
    pub fn preflight(
        &self,
        workload: &PreparedWorkload,
    ) -> impl Future<Output = Result<Tape, ExperimentError>> + Send + use<> {
        let (target, workload) = (self.target.clone(), workload.clone());
        let tried = on_own_thread(async move || {
            preflight(&target, MonotonicClock::new(), workload.plan(), |_| ()).await
        });
        async { tried.await.map_err(ExperimentError::broken)? }
    }

    /// For the record.
    pub fn describe(&self) -> Endpoint {
        let url = self.target.url();
        let (base_url, path) = split_url(&url);
        Endpoint {
            base_url: base_url.to_owned(),
            path: path.to_owned(),
            backend: self.target.backend().as_str().to_owned(),
            model: self.target.model().to_owned(),
            connections: self.connections.clone(),
        }
    }
}

/// `http://host:port` and the path behind it.
pub fn split_url(url: &str) -> (&str, &str) {
    let origin = url.find("://").map_or(0, |at| at + 3);
    let path = url[origin..].find('/').map_or(url.len(), |at| origin + at);
    url.split_at(path)
}
