//! The servers that can be asked, by name. Where vLLM's benchmark has a name for one, that name works here.

mod table;

use std::fmt;
use std::str::FromStr;

use crate::route::{Route, fill};

pub(crate) use table::{KeyHeader, Takes};

use table::{Row, TABLE};

/// Who is asked: which route by default, and which fields beyond the protocol's own it takes.
///
/// ```
/// use fizeau_transport::{Backend, Forcing, Route};
/// let backend: Backend = "vllm".parse()?;
/// assert_eq!((backend.route(), backend.forcing()), (Route::Completions, Forcing::Exact));
/// assert_eq!(Backend::Tgi.forcing(), Forcing::CapOnly);
/// assert!("vlm".parse::<Backend>().unwrap_err().to_string().contains("llama.cpp"));
/// # Ok::<(), fizeau_transport::BackendError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// Anthropic's Messages: `anthropic`.
    Anthropic,
    /// Azure OpenAI, chat, the model's name being the deployment's: `azure`.
    Azure,
    /// DeepSeek: `deepseek`.
    DeepSeek,
    /// DigitalOcean's serverless inference: `digitalocean`.
    DigitalOcean,
    /// Google's Gemini: `gemini`.
    Gemini,
    /// Groq: `groq`.
    Groq,
    /// Infinity, embeddings: `infinity-embeddings`.
    InfinityEmbeddings,
    /// llama.cpp's server, OpenAI completions: `llama.cpp`.
    LlamaCpp,
    /// llama.cpp's server, chat: `llama.cpp-chat`.
    LlamaCppChat,
    /// llama.cpp's server, its own `/completion`: `llama.cpp-native`.
    LlamaCppNative,
    /// LMDeploy: `lmdeploy`.
    Lmdeploy,
    /// Mistral: `mistral`.
    Mistral,
    /// Ollama, `/api/generate`: `ollama`.
    Ollama,
    /// Ollama, `/api/chat`: `ollama-chat`.
    OllamaChat,
    /// Anything that speaks OpenAI's completions: `openai`.
    OpenAi,
    /// Anything that speaks OpenAI's chat: `openai-chat`.
    OpenAiChat,
    /// Anything that speaks OpenAI's embeddings: `openai-embeddings`.
    OpenAiEmbeddings,
    /// Anything that speaks OpenAI's Responses: `openai-responses`.
    OpenAiResponses,
    /// OpenRouter: `openrouter`.
    OpenRouter,
    /// SGLang, OpenAI routes: `sglang`.
    Sglang,
    /// SGLang, its own `/generate`: `sglang-native`.
    SglangNative,
    /// SGLang, OpenAI completions: `sglang-oai`.
    SglangOai,
    /// SGLang, chat: `sglang-oai-chat`.
    SglangOaiChat,
    /// Hugging Face TGI, its own `/generate_stream`: `tgi`.
    Tgi,
    /// Hugging Face TGI, chat: `tgi-chat`.
    TgiChat,
    /// Triton's `generate_stream` in front of TensorRT-LLM: `triton`.
    Triton,
    /// TensorRT-LLM's `trtllm-serve`, completions: `trtllm`.
    Trtllm,
    /// TensorRT-LLM's `trtllm-serve`, chat: `trtllm-chat`.
    TrtllmChat,
    /// vLLM: `vllm`.
    Vllm,
    /// vLLM, chat: `vllm-chat`.
    VllmChat,
    /// vLLM, `/pooling`: `vllm-pooling`.
    VllmPooling,
}

impl Backend {
    /// All backends, in the order in which errors and help list them.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.backend)
    }

    /// Its name on a command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.row().name
    }

    /// The route that it is asked on unless a path says otherwise.
    #[must_use]
    pub fn route(self) -> Route {
        self.row().route
    }

    /// The path, and query where there must be one, that it is asked on unless told otherwise. Some hold the name
    /// of the model.
    ///
    /// ```
    /// use fizeau_transport::Backend;
    /// assert_eq!(Backend::Ollama.path("m"), "/api/generate");
    /// assert!(Backend::Azure.path("my-deployment").starts_with("/openai/deployments/my-deployment/chat/"));
    /// ```
    #[must_use]
    pub fn path(self, model: &str) -> String {
        match self.row().path {
            Some(path) => fill(path, model),
            None => self.route().default_path(model),
        }
    }

    /// The route that `path` (without a query) leads to on it.
    #[must_use]
    pub fn route_of(self, path: &str) -> Route {
        let is_sglang = matches!(self, Self::Sglang | Self::SglangOai | Self::SglangOaiChat);
        match Route::of_path(path) {
            Some(route) => route,
            None if is_sglang && path.ends_with("/generate") => Route::SglangGenerate,
            None => self.route(),
        }
    }

    pub(crate) fn takes(self) -> &'static Takes {
        &self.row().takes
    }

    /// How it wants an API key.
    pub(crate) fn key_header(self) -> KeyHeader {
        self.row().key
    }

    fn row(self) -> &'static Row {
        let row = TABLE.iter().find(|row| row.backend == self);
        // Every backend has a row (a test says so); the first is what a missing one would fall back to.
        row.unwrap_or(&TABLE[0])
    }
}

/// Whether a server can be made to generate just as many tokens as asked, past the model's own end
/// ([`EosRule::Ignore`](fizeau_core::EosRule::Ignore)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Forcing {
    /// It cannot: the asked length is a cap, and a reply may be shorter. Never divide by the asked length.
    CapOnly,
    /// It can, and is told to.
    Exact,
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Backend {
    type Err = BackendError;

    fn from_str(name: &str) -> Result<Self, BackendError> {
        let known = Self::all().find(|backend| backend.as_str() == name);
        known.ok_or_else(|| BackendError(name.to_owned()))
    }
}

/// A name that is no backend's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown backend `{0}`: the known ones are {names}", names = names())]
pub struct BackendError(String);

fn names() -> String {
    let names: Vec<_> = Backend::all().map(Backend::as_str).collect();
    names.join(", ")
}
