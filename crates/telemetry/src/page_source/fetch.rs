//! One GET.

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use fizeau_core::Nanos;

use super::address::{below, shown};
use super::error::{FetchError, FetchErrorKind};
use super::trust::PageTrust;
use crate::exposition::{
    Page, PageError, PageForm, PageLimits, PageParser, SeriesBook, SharedLayouts,
};
use crate::secret::Secret;
use crate::source::Source;
use crate::vocabulary::{VocabularyEntry, meaning_of};

/// How pages are asked for. Sources that have clones of the same settings hold the names of their series once, where these are the same.
#[derive(Debug, Clone)]
pub struct PageSettings {
    limits: PageLimits,
    patience: Nanos,
    headers: Vec<(String, Secret)>,
    trust: PageTrust,
    wanted: fn(&str) -> bool,
    named: Arc<[String]>,
    layouts: SharedLayouts,
}

impl Default for PageSettings {
    /// The usual limits, ten seconds, no headers.
    fn default() -> Self {
        Self {
            limits: PageLimits::default(),
            patience: Nanos::from_secs(10),
            headers: Vec::new(),
            trust: PageTrust::default(),
            wanted: |_| true,
            named: Arc::default(),
            layouts: SharedLayouts::default(),
        }
    }
}

impl PageSettings {
    /// How large a page may be.
    #[must_use]
    pub const fn limits(mut self, limits: PageLimits) -> Self {
        self.limits = limits;
        self
    }

    /// How long a page may take, from the name's lookup to its last byte.
    #[must_use]
    pub const fn patience(mut self, patience: Nanos) -> Self {
        self.patience = patience;
        self
    }

    /// Trusting those certificates.
    #[must_use]
    pub fn trust(mut self, trust: PageTrust) -> Self {
        self.trust = trust;
        self
    }

    /// With a header, such as `Authorization`. Its value is a secret: nothing shows it.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), Secret::new(value)));
        self
    }

    /// Only metrics whose meaning is known: those of a scraper that keeps no others.
    #[must_use]
    pub fn known_only(mut self) -> Self {
        self.wanted = is_known;
        self
    }

    /// Of those the ones that a [`ServingAssessment`](crate::ServingAssessment) and what devices draw come from; of a histogram its count
    /// and sum, no buckets, which are most of a page.
    #[must_use]
    pub fn assessed_only(mut self) -> Self {
        self.wanted = |metric| {
            let is_assessed = |entry: &VocabularyEntry| entry.meaning.is_assessed();
            !metric.ends_with("_bucket") && meaning_of(metric).is_some_and(is_assessed)
        };
        self
    }

    /// And those of these names, with or without `_total`.
    #[must_use]
    pub fn named(mut self, metrics: &[String]) -> Self {
        self.named = metrics.into();
        self
    }

    fn scrubbed(&self, text: &str) -> String {
        self.headers.iter().fold(text.to_owned(), |text, (_, secret)| secret.scrubbed(&text))
    }
}

/// A page of metrics at an address. Connections are kept open between pages; redirects are not followed, since what is behind one
/// may be no place for a key.
#[derive(Debug)]
pub struct PageSource {
    agent: ureq::Agent,
    url: Secret,
    shown: String,
    settings: PageSettings,
    /// What the next page is read with.
    book: SeriesBook,
}

impl PageSource {
    /// The page at `url`.
    ///
    /// ```
    /// use fizeau_telemetry::{PageSettings, PageSource};
    /// let settings = PageSettings::default().header("Authorization", "Bearer sk-12345");
    /// let source = PageSource::new("http://me:pass@127.0.0.1:8000/metrics", settings);
    /// assert_eq!(source.address(), "http://127.0.0.1:8000/metrics");
    /// assert!(!format!("{source:?}").contains("12345"));
    /// ```
    #[must_use]
    pub fn new(url: impl Into<String>, settings: PageSettings) -> Self {
        let url = url.into();
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(settings.patience.into()))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_idle_connections_per_host(1)
            .max_idle_age(Duration::from_secs(4))
            .input_buffer_size(PIECE)
            .output_buffer_size(REQUEST)
            .user_agent("fizeau");
        let agent = settings.trust.apply(config).build().new_agent();
        Self {
            agent,
            shown: shown(&url),
            url: Secret::new(url),
            book: SeriesBook::sharing(settings.layouts.clone()),
            settings,
        }
    }

    /// The page that an endpoint has beside its API: `/metrics`, `/v1` at the end of its base left out.
    #[must_use]
    pub fn beside(base_url: &str, settings: PageSettings) -> Self {
        Self::new(below(base_url, "/metrics"), settings)
    }

    /// The other place for it, of TensorRT-LLM: `/prometheus/metrics`.
    #[must_use]
    pub fn beside_tensorrt_llm(base_url: &str, settings: PageSettings) -> Self {
        Self::new(below(base_url, "/prometheus/metrics"), settings)
    }

    /// The address, without user, password and query.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.shown
    }

    fn fetch(&mut self) -> Result<Page, FetchErrorKind> {
        let mut request = self.agent.get(self.url.expose()).header("Accept", ACCEPT);
        for (name, value) in &self.settings.headers {
            request = request.header(name, value.expose());
        }
        let mut response = request.call().map_err(|error| self.broken(&error))?;
        match response.status().as_u16() {
            200 => {}
            404 => return Err(FetchErrorKind::NotFound),
            status @ (401 | 403) => return Err(FetchErrorKind::Refused { status }),
            status => return Err(FetchErrorKind::Status { status }),
        }
        let header = response.headers().get("content-type").and_then(|value| value.to_str().ok());
        let form = PageForm::of_content_type(header);
        let limit = self.settings.limits.bytes;
        // Nothing of it is waited for.
        if response.body().content_length().is_some_and(|bytes| bytes > limit) {
            return Err(FetchErrorKind::Page(PageError::TooLong { limit }));
        }
        self.read(form, &mut response.body_mut().as_reader())
    }

    fn read(&mut self, form: PageForm, body: &mut impl Read) -> Result<Page, FetchErrorKind> {
        let PageSettings { limits, wanted, ref layouts, ref named, .. } = self.settings;
        let next = SeriesBook::sharing(layouts.clone());
        let book = std::mem::replace(&mut self.book, next);
        let mut parser = PageParser::new(form, limits).wanting(wanted);
        parser = parser.wanting_named(Arc::clone(named)).after(book);
        let mut piece = vec![0; PIECE];
        loop {
            let length = match body.read(&mut piece) {
                Ok(0) => {
                    let (page, book) = parser.end()?;
                    self.book = book;
                    return Ok(page);
                }
                Ok(length) => length,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                    return Err(FetchErrorKind::CutShort);
                }
                Err(error) => return Err(self.broken(&ureq::Error::from(error))),
            };
            parser.feed(piece.get(..length).unwrap_or_default())?;
        }
    }

    fn broken(&self, error: &ureq::Error) -> FetchErrorKind {
        let limit = self.settings.patience;
        match error {
            ureq::Error::Timeout(_) => FetchErrorKind::TooSlow { limit },
            ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::TimedOut => {
                FetchErrorKind::TooSlow { limit }
            }
            error => {
                let text = match error {
                    ureq::Error::Io(error) => error.to_string(),
                    error => error.to_string(),
                };
                let text = self.url.scrubbed(&text);
                FetchErrorKind::Connection(self.settings.scrubbed(&text))
            }
        }
    }
}

impl Source for PageSource {
    type Error = FetchError;

    fn page(&mut self) -> Result<Page, FetchError> {
        self.fetch().map_err(|kind| FetchError { address: self.shown.clone(), kind })
    }
}

fn is_known(metric: &str) -> bool {
    meaning_of(metric).is_some()
}

/// Text first: all give it, and OpenMetrics adds exemplars that nobody here wants.
const ACCEPT: &str =
    "text/plain;version=0.0.4, application/openmetrics-text;version=1.0.0;q=0.5, */*;q=0.1";
/// A fleet has a hundred sources and more, and holds a piece of each page.
const PIECE: usize = 16 << 10;
const REQUEST: usize = 4 << 10;
