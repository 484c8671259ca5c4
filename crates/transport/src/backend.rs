//! The servers that can be asked, by name. Where vLLM's benchmark has a name for one, that name works here.

use std::fmt;
use std::str::FromStr;

use crate::route::{Route, fill};

/// The kind of server: its default route, and the fields beyond the protocol's own that it takes.
///
/// ```
/// use fizeau_transport::{Backend, LengthForcing, Route};
/// let backend: Backend = "vllm".parse()?;
/// assert_eq!((backend.route(), backend.forcing()), (Route::Completions, LengthForcing::Exact));
/// assert_eq!(Backend::Tgi.forcing(), LengthForcing::CapOnly);
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
    pub(crate) fn route_of(self, path: &str) -> Route {
        let is_sglang = matches!(self, Self::Sglang | Self::SglangOai | Self::SglangOaiChat);
        match Route::of_path(path) {
            Some(route) => route,
            None if is_sglang && path.ends_with("/generate") => Route::SglangGenerate,
            None => self.route(),
        }
    }

    pub(crate) fn takes(self) -> &'static SupportedFields {
        &self.row().takes
    }

    /// How it wants an API key.
    pub(crate) fn key_header(self) -> KeyHeader {
        self.row().key
    }

    fn row(self) -> &'static BackendEntry {
        let row = TABLE.iter().find(|row| row.backend == self);
        // Every backend has a row (a test says so); the first is what a missing one would fall back to.
        row.unwrap_or(&TABLE[0])
    }
}

/// Whether a server can be made to generate exactly as many tokens as requested, past the model's own end
/// ([`EosRule::Ignore`](fizeau_core::EosRule::Ignore)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LengthForcing {
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
#[error("unknown backend `{0}`{near}: the known ones are {names}", near = near(.0), names = names())]
pub struct BackendError(String);

/// The backends of which `name` is the second half, as `chat` is of some.
fn near(name: &str) -> String {
    let of = |known: &&str| known.strip_suffix(name).is_some_and(|first| first.ends_with('-'));
    let near: Vec<&str> = Backend::all().map(Backend::as_str).filter(of).collect();
    match near.is_empty() {
        true => String::new(),
        false => format!(", which may be one of {}", near.join(", ")),
    }
}

fn names() -> String {
    let names: Vec<_> = Backend::all().map(Backend::as_str).collect();
    names.join(", ")
}

// What is known of each backend, one row each.

/// One backend.
#[derive(Debug)]
struct BackendEntry {
    backend: Backend,
    name: &'static str,
    route: Route,
    takes: SupportedFields,
    /// Where it is not the route's own.
    path: Option<&'static str>,
    key: KeyHeader,
}

/// What a backend takes beyond the common fields. OpenAI's own service refuses fields that it does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SupportedFields {
    /// `ignore_eos`; sent only if the request asks to ignore the end.
    pub(crate) ignore_eos: bool,
    /// `stream_options.include_usage`: the usage at the end.
    pub(crate) include_usage: bool,
    /// `stream_options.continuous_usage_stats`: a running usage on every chunk.
    pub(crate) continuous_usage: bool,
    /// `return_token_ids`: the generated ids on every chunk.
    pub(crate) return_token_ids: bool,
    /// Token ids as the prompt.
    pub(crate) token_ids: bool,
    /// Chat: `max_completion_tokens`, the newer name of `max_tokens`.
    pub(crate) max_completion_tokens: bool,
}

impl SupportedFields {
    /// Whether the OpenAI routes can be made to generate the asked length.
    pub(crate) const fn forcing(self) -> LengthForcing {
        if self.ignore_eos { LengthForcing::Exact } else { LengthForcing::CapOnly }
    }
}

/// How a backend wants an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyHeader {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// The key alone, under this name.
    Named(&'static str),
}

const fn takes(fields: [bool; 6]) -> SupportedFields {
    SupportedFields {
        ignore_eos: fields[0],
        include_usage: fields[1],
        continuous_usage: fields[2],
        return_token_ids: fields[3],
        token_ids: fields[4],
        max_completion_tokens: fields[5],
    }
}

impl BackendEntry {
    const fn new(
        backend: Backend,
        name: &'static str,
        route: Route,
        takes: SupportedFields,
    ) -> Self {
        Self { backend, name, route, takes, path: None, key: KeyHeader::Bearer }
    }

    const fn key(self, name: &'static str) -> Self {
        Self { key: KeyHeader::Named(name), ..self }
    }

    const fn path(self, path: &'static str) -> Self {
        Self { path: Some(path), ..self }
    }
}

/// Azure's last API version that is not a preview, at the time of writing.
const AZURE: &str = "/openai/deployments/{model}/chat/completions?api-version=2024-10-21";

/// `openai` takes `ignore_eos` because vLLM's own benchmark uses that name for vLLM servers and sends it. Mistral
/// gives the usage unasked and refuses fields that it does not know. The columns about usage are of the OpenAI
/// routes, on which the same server can be asked too; the others have ways of their own.
#[rustfmt::skip]
static TABLE: [BackendEntry; 31] = {
    use Backend as B;
    use Route::{
        Chat, Completions, Embeddings, Gemini, LlamaCppCompletion, Messages, OllamaChat, OllamaGenerate, Responses,
        SglangGenerate, TgiGenerate, TritonGenerate,
    };
    const Y: bool = true;
    const N: bool = false;
    const fn row(backend: B, name: &'static str, route: Route, fields: [bool; 6]) -> BackendEntry {
        BackendEntry::new(backend, name, route, takes(fields))
    }
    [
        //                                                            ignore_eos  continuous  ids
        //                                                                include_usage  return_ids  max_compl.
        row(B::Vllm,            "vllm",             Completions,        [Y,   Y,   Y,    Y,   Y,     Y]),
        row(B::VllmChat,        "vllm-chat",        Chat,               [Y,   Y,   Y,    Y,   Y,     Y]),
        row(B::OpenAi,          "openai",           Completions,        [Y,   Y,   N,    N,   Y,     Y]),
        row(B::OpenAiChat,      "openai-chat",      Chat,               [Y,   Y,   N,    N,   Y,     Y]),
        row(B::OpenAiResponses, "openai-responses", Responses,          [N,   Y,   N,    N,   N,     Y]),
        row(B::Sglang,          "sglang",           Completions,        [Y,   Y,   Y,    N,   Y,     N]),
        row(B::SglangOai,       "sglang-oai",       Completions,        [Y,   Y,   Y,    N,   Y,     N]),
        row(B::SglangOaiChat,   "sglang-oai-chat",  Chat,               [Y,   Y,   Y,    N,   Y,     N]),
        row(B::SglangNative,    "sglang-native",    SglangGenerate,     [Y,   Y,   Y,    N,   Y,     N]),
        row(B::Tgi,             "tgi",              TgiGenerate,        [N,   Y,   N,    N,   N,     N]),
        row(B::TgiChat,         "tgi-chat",         Chat,               [N,   Y,   N,    N,   N,     N]),
        row(B::Trtllm,          "trtllm",           Completions,        [Y,   Y,   Y,    N,   Y,     N]),
        row(B::TrtllmChat,      "trtllm-chat",      Chat,               [Y,   Y,   Y,    N,   Y,     Y]),
        row(B::Triton,          "triton",           TritonGenerate,     [Y,   N,   N,    N,   N,     N]),
        row(B::Lmdeploy,        "lmdeploy",         Completions,        [Y,   Y,   N,    Y,   N,     N]),
        row(B::LlamaCpp,        "llama.cpp",        Completions,        [Y,   Y,   N,    N,   Y,     N]),
        row(B::LlamaCppChat,    "llama.cpp-chat",   Chat,               [Y,   Y,   N,    N,   Y,     N]),
        row(B::LlamaCppNative,  "llama.cpp-native", LlamaCppCompletion, [Y,   Y,   N,    N,   Y,     N]),
        row(B::Ollama,          "ollama",           OllamaGenerate,     [N,   Y,   N,    N,   N,     N]),
        row(B::OllamaChat,      "ollama-chat",      OllamaChat,         [N,   Y,   N,    N,   N,     N]),
        row(B::Anthropic,       "anthropic",        Messages,           [N,   Y,   N,    N,   N,     N])
            .key("x-api-key"),
        row(B::Gemini,          "gemini",           Gemini,             [N,   Y,   N,    N,   N,     N])
            .key("x-goog-api-key"),
        row(B::Azure,           "azure",            Chat,               [N,   Y,   N,    N,   Y,     Y])
            .key("api-key").path(AZURE),
        row(B::OpenRouter,      "openrouter",       Chat,               [N,   Y,   N,    N,   N,     N]),
        row(B::DeepSeek,        "deepseek",         Chat,               [N,   Y,   N,    N,   N,     N]),
        row(B::Groq,            "groq",             Chat,               [N,   Y,   N,    N,   N,     Y]),
        row(B::Mistral,         "mistral",          Chat,               [N,   N,   N,    N,   N,     N]),
        row(B::DigitalOcean,    "digitalocean",     Chat,               [N,   Y,   N,    N,   N,     Y]),
        row(B::OpenAiEmbeddings, "openai-embeddings", Embeddings,       [N,   N,   N,    N,   Y,     N]),
        row(B::InfinityEmbeddings, "infinity-embeddings", Embeddings,   [N,   N,   N,    N,   N,     N]),
        row(B::VllmPooling,     "vllm-pooling",     Embeddings,         [N,   N,   N,    N,   Y,     N])
            .path("/pooling"),
    ]
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_name_is_answered_with_the_whole_ones() {
        let said = "responses".parse::<Backend>().unwrap_err().to_string();
        let start = "unknown backend `responses`, which may be one of openai-responses: the known ones are vllm,";
        assert!(said.starts_with(start), "{said}");
        let chat = near("chat");
        assert!(chat.contains("vllm-chat") && chat.contains("ollama-chat"), "{chat}");
        assert_eq!((near("tgv"), near("")), (String::new(), String::new()));
    }
}
