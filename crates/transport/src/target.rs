//! What is measured: an endpoint and all that a request to it needs beyond the prompt.

mod balance;
mod connections;
mod keep_alive;
mod proxy;
mod request_body;
#[cfg(feature = "tls")]
mod trust;
mod url;

use std::fmt;
use std::sync::Arc;

use fizeau_core::EosRule;
use hyper::Uri;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName,
    HeaderValue, TRANSFER_ENCODING, USER_AGENT,
};

pub(crate) use balance::Balancer;
pub use balance::LoadBalancing;
pub(crate) use connections::ConnectionSettings;
pub use connections::{ConnectionUse, HttpVersion, StampChoice, Timeouts};
pub(crate) use keep_alive::KeepAliveRecord;
pub(crate) use proxy::ProxyRoute;
pub use proxy::{Proxy, ProxyError};
#[cfg(feature = "tls")]
pub(crate) use trust::{TlsSettings, is_authority};
#[cfg(feature = "tls")]
pub use trust::{Trust, TrustError};
pub(crate) use url::{BaseUrl, UrlAuthority, UrlHost, UrlScheme};

use crate::backend::{Backend, KeyHeader, LengthForcing};
use crate::dialect::{Dialect, ExtraBody, Spoken};
use crate::reply::KeepText;
use crate::route::{PromptKind, Route};
use crate::secret::{Secret, Secrets};

/// One endpoint, or several that are alike: where they are, what they speak, how they are reached, and what every
/// request to them carries. It is [`Send`] and cheap to clone: give each thread a transport made of its own clone.
///
/// ```
/// use fizeau_transport::{Backend, Route, Target};
/// let target = Target::new("http://[::1]:8000", Backend::Vllm, "m")?.path("/v1/chat/completions")?;
/// assert_eq!(target.route(), Route::Chat);
/// assert_eq!(target.url(), "http://[::1]:8000/v1/chat/completions");
/// assert_eq!(target.path_str(), "/v1/chat/completions");
/// # Ok::<(), fizeau_transport::TargetError>(())
/// ```
#[derive(Clone)]
pub struct Target {
    first: BaseUrl,
    others: Vec<BaseUrl>,
    balancer: Balancer,
    connections: ConnectionSettings,
    path: String,
    backend: Backend,
    route: Route,
    own: Option<Arc<dyn Dialect>>,
    model: String,
    extra: ExtraBody,
    headers: HeaderMap,
    secrets: Secrets,
    timeouts: Timeouts,
    keep_text: KeepText,
    /// Whether it refuses token ids, whatever its backend takes as a rule.
    refuses_ids: bool,
}

/// Why a target cannot be made. No value of a header, a key or a query is repeated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// The API key cannot stand in a header.
    #[error("the API key holds characters that no HTTP header may carry (a line end, perhaps?)")]
    ApiKey,
    /// A base URL that cannot be used.
    #[error("the base URL `{url}` {why}")]
    BaseUrl {
        /// The URL as given, without a password.
        url: String,
        /// What is wrong, and what would be right.
        why: &'static str,
    },
    /// A header that cannot be sent.
    #[error("the header `{name}` {why}")]
    Header {
        /// Its name as given.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A path that is none, without its query.
    #[error(
        "the endpoint path `{0}` must begin with `/` and hold no spaces, as in /v1/completions"
    )]
    Path(String),
}

impl Target {
    /// The endpoint of `backend` at `base_url`, on the backend's default path, for the model named `model`. A request that
    /// names another is sent for that one, in its body and, where the path names the model, on a path of its own.
    ///
    /// A base URL that ends in the first part of the path, such as the `/v1` that OpenAI's clients take, works as
    /// well.
    ///
    /// # Errors
    /// If `base_url` is not of the form `http[s]://host[:port][/prefix]`. The host may be a name or an address,
    /// IPv6 in brackets. `https://` needs the feature `tls`.
    pub fn new(
        base_url: &str,
        backend: Backend,
        model: impl Into<String>,
    ) -> Result<Self, TargetError> {
        let model = model.into();
        let path = backend.path(&model);
        let mut target = Self {
            first: base_of(base_url, &path)?,
            others: Vec::new(),
            balancer: Balancer::new(LoadBalancing::default(), 1),
            connections: ConnectionSettings::default(),
            path,
            backend,
            route: backend.route(),
            own: None,
            model,
            extra: ExtraBody::default(),
            headers: common_headers(),
            secrets: Secrets::default(),
            timeouts: Timeouts::default(),
            keep_text: KeepText::default(),
            refuses_ids: false,
        };
        target.take_route(backend.route());
        Ok(target)
    }

    /// Shares the requests with one endpoint more, at `base_url`, which is alike in all else. Which endpoint a
    /// request goes to is for [`Target::balance`] to say; its tape says which it was, in the order in which they
    /// were named.
    ///
    /// # Errors
    /// As for [`Target::new`].
    ///
    /// ```
    /// use fizeau_transport::{Backend, LoadBalancing, Target};
    /// let target = Target::new("http://10.0.0.1:8000", Backend::Vllm, "m")?
    ///     .also_at("http://10.0.0.2:8000/v1")?
    ///     .balance(LoadBalancing::LeastInFlight);
    /// let urls: Vec<String> = target.urls().collect();
    /// assert_eq!(urls[1], "http://10.0.0.2:8000/v1/completions");
    /// # Ok::<(), fizeau_transport::TargetError>(())
    /// ```
    pub fn also_at(mut self, base_url: &str) -> Result<Self, TargetError> {
        self.others.push(base_of(base_url, &self.backend.path(&self.model))?);
        self.balancer = Balancer::new(self.balancer.balance(), 1 + self.others.len());
        Ok(self)
    }

    /// Asks on `path` behind the base URL's own. A path that ends as those of [`Route`] do decides what is spoken,
    /// whatever the backend; on any other the backend's own route is.
    ///
    /// # Errors
    /// If `path` does not begin with a slash or holds a character that no URL may.
    pub fn path(mut self, path: &str) -> Result<Self, TargetError> {
        path.clone_into(&mut self.path);
        let (plain, query) = path.split_once('?').unwrap_or((path, ""));
        if !path.starts_with('/') || path.parse::<Uri>().is_err() {
            return Err(TargetError::Path(plain.to_owned()));
        }
        for pair in query.split('&') {
            let value = pair.split_once('=').map_or(pair, |(_, value)| value);
            self.secrets.add(Secret::new(value));
        }
        self.take_route(self.backend.route_of(plain));
        Ok(self)
    }

    /// Speaks what is spoken on `route`, with the headers that belong to it, but for those that the user gave.
    fn take_route(&mut self, route: Route) {
        for (name, _) in self.route.headers() {
            if self.headers.get(*name).is_some_and(|of| !of.is_sensitive()) {
                self.headers.remove(*name);
            }
        }
        self.route = route;
        let media = self.spoken().framing().media();
        let accept = (ACCEPT.as_str(), media);
        for (name, value) in route.headers().iter().copied().chain([accept]) {
            // What the user gives is marked as sensitive.
            if !self.headers.get(name).is_some_and(HeaderValue::is_sensitive) {
                let value = HeaderValue::from_static(value);
                self.headers.insert(HeaderName::from_static(name), value);
            }
        }
    }

    /// Speaks `dialect`, whatever the route, with the headers of its framing: a protocol of one's own.
    #[must_use]
    pub fn dialect(mut self, dialect: Arc<dyn Dialect>) -> Self {
        self.own = Some(dialect);
        self.take_route(self.route);
        self
    }

    /// What is spoken.
    pub(crate) fn spoken(&self) -> Spoken<'static> {
        match &self.own {
            Some(own) => Spoken::Shared(Arc::clone(own)),
            None => Spoken::Borrowed(self.route.dialect()),
        }
    }

    /// Sends `extra` in every body; a request's own extra fields go over it.
    #[must_use]
    pub fn extra_body(mut self, extra: ExtraBody) -> Self {
        self.extra = extra;
        self
    }

    /// Sends the header `name` with `value`, in place of one of ours of that name. The value is taken for a
    /// secret.
    ///
    /// # Errors
    /// If name or value cannot stand in a header, or the name is one that frames the request.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, TargetError> {
        let wrong = |why| TargetError::Header { name: name.to_owned(), why };
        let header: HeaderName =
            name.parse().map_err(|_| wrong("has a name that HTTP does not allow"))?;
        if [CONTENT_LENGTH, TRANSFER_ENCODING].contains(&header) {
            return Err(wrong("frames the request's body and is set by itself"));
        }
        let mut field: HeaderValue =
            value.parse().map_err(|_| wrong("has a value that HTTP does not allow"))?;
        field.set_sensitive(true);
        self.headers.insert(header, field);
        // Word by word: a server repeats a token without the `Bearer` before it.
        for word in value.split_ascii_whitespace() {
            if !["Basic", "Bearer"].contains(&word) {
                self.secrets.add(Secret::new(word));
            }
        }
        Ok(self)
    }

    /// Sends `key` as the backend wants it: as a bearer token, or in a header of its own (Anthropic's `x-api-key`,
    /// Azure's `api-key`, Gemini's `x-goog-api-key`).
    ///
    /// # Errors
    /// If it holds characters that no header may carry.
    pub fn api_key(mut self, key: Secret) -> Result<Self, TargetError> {
        let (header, field) = match self.backend.key_header() {
            KeyHeader::Bearer => (AUTHORIZATION, format!("Bearer {}", key.expose()).parse()),
            KeyHeader::Named(name) => (HeaderName::from_static(name), key.expose().parse()),
        };
        let mut field: HeaderValue = field.map_err(|_| TargetError::ApiKey)?;
        field.set_sensitive(true);
        self.headers.insert(header, field);
        self.secrets.add(key);
        Ok(self)
    }

    /// Gives requests up after `timeouts`.
    #[must_use]
    pub const fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Keeps the generated text on the tapes, or does not.
    #[must_use]
    pub const fn keep_text(mut self, keep_text: KeepText) -> Self {
        self.keep_text = keep_text;
        self
    }

    /// Who is asked.
    #[must_use]
    pub const fn backend(&self) -> Backend {
        self.backend
    }

    /// What is spoken.
    #[must_use]
    pub const fn route(&self) -> Route {
        self.route
    }

    /// The model's name.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Whether a prompt may be given as token ids.
    #[must_use]
    pub fn takes_token_ids(&self) -> bool {
        !self.refuses_ids
            && self.route.takes(PromptKind::TokenIds)
            && self.backend.takes().token_ids
    }

    /// The same of a server that refuses token ids where others of its kind take them.
    #[must_use]
    pub fn with_text_prompts(self) -> Self {
        Self { refuses_ids: true, ..self }
    }

    /// Whether the asked length can be forced.
    #[must_use]
    pub fn forcing(&self) -> LengthForcing {
        self.spoken().forcing(self.backend)
    }

    /// What a request that wants `wanted` tells the server of its end: where the length cannot be forced, the end is the model's, but
    /// for a field of the user's own.
    pub(crate) fn told_end(&self, wanted: EosRule) -> EosRule {
        match self.extra.fields().get("ignore_eos").and_then(serde_json::Value::as_bool) {
            Some(true) => EosRule::Ignore,
            Some(false) => EosRule::Stop,
            None if self.forcing() == LengthForcing::CapOnly => EosRule::Stop,
            None => wanted,
        }
    }

    /// The first endpoint's URL without its query, which may hold a key.
    #[must_use]
    pub fn url(&self) -> String {
        self.url_at(&self.first)
    }

    /// The URLs of all endpoints, in the order in which they were named, without their query.
    pub fn urls(&self) -> impl Iterator<Item = String> + '_ {
        self.bases().map(|base| self.url_at(base))
    }

    /// The path behind the base URL, without its query, which may hold a key.
    #[must_use]
    pub fn path_str(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    fn url_at(&self, base: &BaseUrl) -> String {
        format!("{base}{}", self.path_str())
    }

    pub(crate) const fn base(&self) -> &BaseUrl {
        &self.first
    }

    pub(crate) fn other_bases(&self) -> &[BaseUrl] {
        &self.others
    }

    /// The endpoints, in the order in which they were named; at least one.
    pub(crate) fn bases(&self) -> impl Iterator<Item = &BaseUrl> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// Where requests go behind a base URL: path and query.
    pub(crate) fn request_path(&self) -> &str {
        &self.path
    }

    /// What every request carries, but for `Host`, which is the endpoint's, unless the user gave one.
    pub(crate) const fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    pub(crate) const fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// When a request is given up.
    #[must_use]
    pub const fn limits(&self) -> &Timeouts {
        &self.timeouts
    }

    pub(crate) const fn text(&self) -> KeepText {
        self.keep_text
    }
}

/// Without the query of its path, which may hold a key.
impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target")
            .field("urls", &self.urls().collect::<Vec<_>>())
            .field("balancer", &self.balancer)
            .field("connections", &self.connections)
            .field("backend", &self.backend)
            .field("route", &self.route)
            .field("model", &self.model)
            .field("extra", &self.extra)
            .field("headers", &self.headers)
            .field("timeouts", &self.timeouts)
            .field("keep_text", &self.keep_text)
            .finish_non_exhaustive()
    }
}

/// The base URL of an endpoint whose paths are like `path`, without the first part of it.
fn base_of(base_url: &str, path: &str) -> Result<BaseUrl, TargetError> {
    let wrong = |why| TargetError::BaseUrl { url: url::without_password(base_url), why };
    let mut base = BaseUrl::parse(base_url).map_err(wrong)?;
    let (plain, _) = path.split_once('?').unwrap_or((path, ""));
    let first = plain.split('/').nth(1).unwrap_or_default();
    let before = match base.prefix.strip_suffix(plain) {
        Some(before) => Some(before),
        None => base.prefix.rsplit_once('/').filter(|(_, last)| *last == first).map(|(all, _)| all),
    };
    if let Some(length) = before.map(str::len) {
        base.prefix.truncate(length);
    }
    let is_route = |route: Route| {
        let own = route.default_path("");
        base.prefix.ends_with(own.split_once('?').map_or(own.as_str(), |(plain, _)| plain))
    };
    if Route::ALL.into_iter().any(is_route) {
        return Err(wrong(
            "ends in the path of a route; give the server's address alone, and that path as the endpoint's",
        ));
    }
    // What the prefix is put before begins with a slash and was looked at by itself.
    match format!("{}/", base.prefix).parse::<Uri>() {
        Ok(_) => Ok(base),
        Err(_) => Err(wrong("has a path with characters that no URL may hold")),
    }
}

fn common_headers() -> HeaderMap {
    let agent = concat!("fizeau/", env!("CARGO_PKG_VERSION"));
    HeaderMap::from_iter([
        // Compression would hold events back, and so destroy what is measured.
        (ACCEPT_ENCODING, HeaderValue::from_static("identity")),
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (USER_AGENT, HeaderValue::from_static(agent)),
    ])
}
