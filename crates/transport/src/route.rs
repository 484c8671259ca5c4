//! The kinds of endpoint, told by their paths.

use std::fmt::Write;

use fizeau_core::Prompt;

/// The kind of endpoint that a path leads to.
///
/// ```
/// use fizeau_transport::{PromptKind, Route};
/// assert_eq!(Route::of_path("/v1/messages"), Some(Route::Messages));
/// assert_eq!(Route::TritonGenerate.default_path("llm"), "/v2/models/llm/generate_stream");
/// assert!(Route::LlamaCppCompletion.takes(PromptKind::TokenIds));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Route {
    /// `/v1/chat/completions`: messages, put through the server's template.
    Chat,
    /// `/v1/completions`: text or token ids, as they are.
    Completions,
    /// `/v1/embeddings`: text or token ids, as they are. The reply is a vector and no stream.
    Embeddings,
    /// Gemini's `/v1beta/models/MODEL:streamGenerateContent`: messages.
    Gemini,
    /// llama.cpp's `/completion`: text or token ids, as they are.
    LlamaCppCompletion,
    /// Anthropic's `/v1/messages`: messages.
    Messages,
    /// Ollama's `/api/chat`: messages.
    OllamaChat,
    /// Ollama's `/api/generate`: text, as it is.
    OllamaGenerate,
    /// OpenAI's `/v1/responses`: text, taken for a message, or messages.
    Responses,
    /// SGLang's `/generate`: text or token ids, as they are.
    SglangGenerate,
    /// TGI's `/generate_stream`: text, as it is.
    TgiGenerate,
    /// Triton's `/v2/models/MODEL/generate_stream`: text, as it is.
    TritonGenerate,
}

/// The forms of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PromptKind {
    /// A whole body in the format of OpenAI's routes.
    Body,
    /// A conversation.
    Chat,
    /// Plain text.
    Text,
    /// Token ids.
    TokenIds,
}

/// Where a request names its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelNameLocation {
    Body,
    Nowhere,
    Path,
}

impl PromptKind {
    /// The form of `prompt`.
    #[must_use]
    pub const fn of(prompt: &Prompt) -> Self {
        match prompt {
            Prompt::Body(_) => Self::Body,
            Prompt::Chat(_) => Self::Chat,
            Prompt::Text(_) => Self::Text,
            Prompt::TokenIds(_) => Self::TokenIds,
        }
    }
}

impl Route {
    /// All routes.
    pub const ALL: [Self; 12] = [
        Self::Chat,
        Self::Completions,
        Self::Embeddings,
        Self::Gemini,
        Self::LlamaCppCompletion,
        Self::Messages,
        Self::OllamaChat,
        Self::OllamaGenerate,
        Self::Responses,
        Self::SglangGenerate,
        Self::TgiGenerate,
        Self::TritonGenerate,
    ];

    /// The path, and query where there must be one, that whoever made the route gave it. Some hold the name of
    /// the model.
    #[must_use]
    pub fn default_path(self, model: &str) -> String {
        let path = match self {
            Self::Chat => "/v1/chat/completions",
            Self::Completions => "/v1/completions",
            Self::Embeddings => "/v1/embeddings",
            Self::Gemini => "/v1beta/models/{model}:streamGenerateContent?alt=sse",
            Self::LlamaCppCompletion => "/completion",
            Self::Messages => "/v1/messages",
            Self::OllamaChat => "/api/chat",
            Self::OllamaGenerate => "/api/generate",
            Self::Responses => "/v1/responses",
            Self::SglangGenerate => "/generate",
            Self::TgiGenerate => "/generate_stream",
            Self::TritonGenerate => "/v2/models/{model}/generate_stream",
        };
        fill(path, plain_name(model))
    }

    /// The route that `path` (without a query) leads to, told by its end; none if that says nothing. `/generate`
    /// alone does not: several servers mean different things by it.
    #[must_use]
    pub fn of_path(path: &str) -> Option<Self> {
        let path = path.trim_end_matches('/');
        let ends = [
            ("chat/completions", Self::Chat),
            ("completions", Self::Completions),
            ("/embeddings", Self::Embeddings),
            ("/pooling", Self::Embeddings),
            (":streamGenerateContent", Self::Gemini),
            ("/completion", Self::LlamaCppCompletion),
            ("/messages", Self::Messages),
            ("/api/chat", Self::OllamaChat),
            ("/api/generate", Self::OllamaGenerate),
            ("/responses", Self::Responses),
        ];
        if path.ends_with("/generate_stream") {
            let of_model = path.contains("/models/");
            return Some(if of_model { Self::TritonGenerate } else { Self::TgiGenerate });
        }
        let found = ends.into_iter().find(|(end, _)| path.ends_with(end));
        found.map(|(_, route)| route)
    }

    /// Whether a prompt of `kind` is sent as it is.
    ///
    /// Where a route takes only text, a conversation of one message is sent as its text; where it takes only
    /// messages, text is sent as one of the user. Token ids are sent as they are or not at all, and for them the
    /// backend has a say too: see [`Target::takes_token_ids`](crate::Target::takes_token_ids). A whole body goes to the
    /// routes in whose format it is, OpenAI's.
    #[must_use]
    pub const fn takes(self, kind: PromptKind) -> bool {
        match kind {
            PromptKind::Body => {
                matches!(self, Self::Chat | Self::Completions | Self::Embeddings | Self::Responses)
            }
            PromptKind::Chat => matches!(
                self,
                Self::Chat | Self::Gemini | Self::Messages | Self::OllamaChat | Self::Responses
            ),
            PromptKind::Text => matches!(self, Self::Responses) || !self.takes(PromptKind::Chat),
            PromptKind::TokenIds => {
                matches!(
                    self,
                    Self::Completions
                        | Self::Embeddings
                        | Self::LlamaCppCompletion
                        | Self::SglangGenerate
                )
            }
        }
    }

    /// Where its requests name their model.
    pub(crate) const fn model_place(self) -> ModelNameLocation {
        match self {
            Self::Chat
            | Self::Completions
            | Self::Embeddings
            | Self::Messages
            | Self::OllamaChat
            | Self::OllamaGenerate
            | Self::Responses => ModelNameLocation::Body,
            Self::Gemini | Self::TritonGenerate => ModelNameLocation::Path,
            Self::LlamaCppCompletion | Self::SglangGenerate | Self::TgiGenerate => {
                ModelNameLocation::Nowhere
            }
        }
    }

    /// The headers that every request on it carries beyond the common ones.
    pub(crate) const fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            // The version that all present servers of this API speak.
            Self::Messages => &[("anthropic-version", "2023-06-01")],
            _ => &[],
        }
    }
}

/// `path` with the name of the model in its place, as one segment of a path.
pub(crate) fn fill(path: &str, model: &str) -> String {
    path.replace("{model}", &segment(model))
}

/// `path` with the name of the model `own` in it replaced by `other`; none if it does not hold it.
pub(crate) fn renamed(path: &str, own: &str, other: &str) -> Option<String> {
    let (own, other) = (segment(plain_name(own)), segment(plain_name(other)));
    ["/models/", "/deployments/"].iter().find_map(|front| {
        let (before, behind) = path.split_once(front)?;
        let rest = behind.strip_prefix(&*own)?;
        rest.starts_with(['/', ':']).then(|| format!("{before}{front}{other}{rest}"))
    })
}

/// Google's own list of models names them with a prefix that its paths have already.
fn plain_name(model: &str) -> &str {
    model.strip_prefix("models/").unwrap_or(model)
}

/// `model` as one segment of a path.
fn segment(model: &str) -> String {
    let mut segment = String::with_capacity(model.len());
    for byte in model.bytes() {
        // The unreserved characters of RFC 3986.
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            segment.push(byte.into());
        } else {
            // Writing to a string cannot fail.
            let _ = write!(segment, "%{byte:02X}");
        }
    }
    segment
}
