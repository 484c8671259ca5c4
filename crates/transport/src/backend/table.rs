//! What is known of each backend, one row each.

use super::{Backend, Forcing};
use crate::route::Route;

/// One backend.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) backend: Backend,
    pub(super) name: &'static str,
    pub(super) route: Route,
    pub(super) takes: Takes,
    /// Where it is not the route's own.
    pub(super) path: Option<&'static str>,
    pub(super) key: KeyHeader,
}

/// What a backend takes beyond the common fields. OpenAI's own service refuses fields that it does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Takes {
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

impl Takes {
    /// Whether the OpenAI routes can be made to generate the asked length.
    pub(crate) const fn forcing(self) -> Forcing {
        if self.ignore_eos { Forcing::Exact } else { Forcing::CapOnly }
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

const fn takes(fields: [bool; 6]) -> Takes {
    Takes {
        ignore_eos: fields[0],
        include_usage: fields[1],
        continuous_usage: fields[2],
        return_token_ids: fields[3],
        token_ids: fields[4],
        max_completion_tokens: fields[5],
    }
}

impl Row {
    const fn new(backend: Backend, name: &'static str, route: Route, takes: Takes) -> Self {
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
pub(super) static TABLE: [Row; 31] = {
    use Backend as B;
    use Route::{
        Chat, Completions, Embeddings, Gemini, LlamaCppCompletion, Messages, OllamaChat, OllamaGenerate, Responses,
        SglangGenerate, TgiGenerate, TritonGenerate,
    };
    const Y: bool = true;
    const N: bool = false;
    const fn row(backend: B, name: &'static str, route: Route, fields: [bool; 6]) -> Row {
        Row::new(backend, name, route, takes(fields))
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
