//! The servers that can be told by name, and which backends fit each.

use std::fmt;

use crate::backend::Backend;
use crate::route::Route;
use crate::target::{Target, UrlHost};

/// A kind of server, as it gives itself away by its host's name or in answer to a GET.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ServerKind {
    /// Anthropic's API.
    Anthropic,
    /// Azure OpenAI.
    Azure,
    /// DeepSeek's API.
    DeepSeek,
    /// DigitalOcean's serverless inference.
    DigitalOcean,
    /// Google's Gemini API.
    Gemini,
    /// Groq's API.
    Groq,
    /// llama.cpp's server.
    LlamaCpp,
    /// LMDeploy.
    Lmdeploy,
    /// Mistral's API.
    Mistral,
    /// Ollama.
    Ollama,
    /// OpenAI's API.
    OpenAi,
    /// OpenRouter.
    OpenRouter,
    /// SGLang.
    Sglang,
    /// Hugging Face TGI.
    Tgi,
    /// Triton.
    Triton,
    /// TensorRT-LLM's `trtllm-serve`.
    Trtllm,
    /// vLLM.
    Vllm,
}

/// One server: its name, its backends (OpenAI's completions first where it has them, then chat, then its own; its own
/// first where only there tokens are counted), the ends of its hosts' names, and what it calls itself as the owner of
/// a model in `/v1/models`.
type ServerEntry = (
    ServerKind,
    &'static str,
    &'static [Backend],
    &'static [&'static str],
    &'static [&'static str],
);

#[rustfmt::skip]
static TABLE: [ServerEntry; 17] = {
    use Backend as B;
    use ServerKind as S;
    [
        (S::Vllm, "vLLM", &[B::Vllm, B::VllmChat], &[], &["vllm"]),
        (S::Sglang, "SGLang", &[B::Sglang, B::SglangOaiChat, B::SglangNative], &[], &["sglang"]),
        (S::Trtllm, "TensorRT-LLM", &[B::Trtllm, B::TrtllmChat], &[], &["tensorrt_llm"]),
        (S::Lmdeploy, "LMDeploy", &[B::Lmdeploy], &[], &["lmdeploy"]),
        (S::LlamaCpp, "llama.cpp", &[B::LlamaCpp, B::LlamaCppChat, B::LlamaCppNative], &[], &["llamacpp"]),
        (S::Tgi, "TGI", &[B::Tgi, B::TgiChat], &[], &[]),
        (S::Triton, "Triton", &[B::Triton], &[], &[]),
        (S::Ollama, "Ollama", &[B::Ollama, B::OllamaChat], &[], &["library"]),
        (S::OpenAi, "OpenAI", &[B::OpenAiChat, B::OpenAiResponses, B::OpenAi], &["api.openai.com"], &[]),
        (S::Anthropic, "Anthropic", &[B::Anthropic], &["api.anthropic.com"], &[]),
        (S::Gemini, "Gemini", &[B::Gemini], &["generativelanguage.googleapis.com"], &[]),
        (S::Azure, "Azure OpenAI", &[B::Azure], &[".openai.azure.com"], &[]),
        (S::OpenRouter, "OpenRouter", &[B::OpenRouter], &["openrouter.ai"], &[]),
        (S::DeepSeek, "DeepSeek", &[B::DeepSeek], &["api.deepseek.com"], &[]),
        (S::Groq, "Groq", &[B::Groq], &["api.groq.com"], &[]),
        (S::Mistral, "Mistral", &[B::Mistral], &["api.mistral.ai"], &[]),
        (S::DigitalOcean, "DigitalOcean", &[B::DigitalOcean], &["inference.do-ai.run"], &[]),
    ]
};

/// What to try where nothing is known, the likeliest first. The plainer `openai` comes after vLLM, which asks for more: a
/// server that gives more is one that speaks vLLM's form.
const ANY: [Backend; 12] = [
    Backend::Vllm,
    Backend::OpenAi,
    Backend::VllmChat,
    Backend::OpenAiChat,
    Backend::OpenAiResponses,
    Backend::Anthropic,
    Backend::SglangNative,
    Backend::LlamaCppNative,
    Backend::Tgi,
    Backend::Ollama,
    Backend::Triton,
    Backend::Gemini,
];

/// What is spoken on a path that was named, and is tried nowhere else.
const NAMED: [Backend; 2] = [Backend::OllamaChat, Backend::OpenAiEmbeddings];

/// A backend to be tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackendCandidate {
    /// The backend.
    pub backend: Backend,
    /// Why it is tried.
    pub ground: CandidateReason,
}

/// Why a backend is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CandidateReason {
    /// The server says that it is this.
    Known,
    /// It may be.
    Guess,
}

impl ServerKind {
    /// The server at a well-known public host; none at a host that may run anything.
    ///
    /// ```
    /// use fizeau_transport::{Backend, ServerKind, Target};
    /// let target = |url| Target::new(url, Backend::OpenAi, "m");
    /// assert_eq!(ServerKind::of(&target("http://api.groq.com/openai")?), Some(ServerKind::Groq));
    /// assert_eq!(ServerKind::of(&target("http://localhost:8000")?), None);
    /// # Ok::<(), fizeau_transport::TargetError>(())
    /// ```
    #[must_use]
    pub fn of(target: &Target) -> Option<Self> {
        match &target.base().authority.host {
            UrlHost::Address(_) => None,
            UrlHost::Name(name) => Self::of_host(name),
        }
    }

    fn of_host(host: &str) -> Option<Self> {
        let host = host.to_ascii_lowercase();
        let is_at = |row: &&ServerEntry| row.3.iter().any(|end| is_within(&host, end));
        TABLE.iter().find(is_at).map(|row| row.0)
    }

    /// The server that calls itself `owner` of a model.
    pub(super) fn of_owner(owner: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.4.contains(&owner)).map(|row| row.0)
    }

    /// The backends that fit it, the likeliest first.
    #[must_use]
    pub fn backends(self) -> &'static [Backend] {
        self.row().map_or(&[], |row| row.2)
    }

    fn row(self) -> Option<&'static ServerEntry> {
        TABLE.iter().find(|row| row.0 == self)
    }
}

impl fmt::Display for ServerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().map_or("unknown", |row| row.1))
    }
}

fn is_within(host: &str, end: &str) -> bool {
    match end.strip_prefix('.') {
        Some(_) => host.ends_with(end),
        None => host == end || host.strip_suffix(end).is_some_and(|rest| rest.ends_with('.')),
    }
}

/// What to try on `server`, in order; with `path` given only what is spoken there.
///
/// ```
/// use fizeau_transport::{Backend, CandidateReason, candidates};
/// let chat = candidates(None, Some("/v1/chat/completions"));
/// assert_eq!((chat[0].backend, chat[0].ground), (Backend::VllmChat, CandidateReason::Guess));
/// ```
#[must_use]
pub fn candidates(server: Option<ServerKind>, path: Option<&str>) -> Vec<BackendCandidate> {
    let known = server.map_or(&[][..], ServerKind::backends);
    let route = path.and_then(|path| Route::of_path(path.split('?').next().unwrap_or(path)));
    let is_here = |backend: &Backend| route.is_none_or(|route| backend.route() == route);
    let named = NAMED.iter().filter(|_| route.is_some());
    let guesses = ANY.iter().chain(named).filter(|backend| !known.contains(backend));
    let candidate = |ground| move |&backend: &Backend| BackendCandidate { backend, ground };
    let known =
        known.iter().filter(|backend| is_here(backend)).map(candidate(CandidateReason::Known));
    let guesses = guesses.filter(|backend| is_here(backend)).map(candidate(CandidateReason::Guess));
    known.chain(guesses).collect()
}
