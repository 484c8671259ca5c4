//! The servers that can be asked, under the names that vLLM's benchmark gives them.

use std::fmt;
use std::str::FromStr;

use crate::dialect::{ChatCompletions, Completions, Dialect};

/// Who is asked: which route by default, and which fields beyond OpenAI's own it takes.
///
/// ```
/// use fizeau_transport::{Backend, Route};
/// let backend: Backend = "vllm".parse()?;
/// assert_eq!(backend.route(), Route::Completions);
/// assert!("tgi".parse::<Backend>().unwrap_err().to_string().contains("llama.cpp"));
/// # Ok::<(), fizeau_transport::BackendError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// llama.cpp's server, OpenAI routes: `llama.cpp`.
    LlamaCpp,
    /// LMDeploy: `lmdeploy`.
    Lmdeploy,
    /// Anything that speaks OpenAI's completions: `openai`.
    OpenAi,
    /// Anything that speaks OpenAI's chat: `openai-chat`.
    OpenAiChat,
    /// SGLang, OpenAI routes: `sglang`.
    Sglang,
    /// The same: `sglang-oai`.
    SglangOai,
    /// SGLang, chat: `sglang-oai-chat`.
    SglangOaiChat,
    /// vLLM: `vllm`.
    Vllm,
    /// vLLM, chat: `vllm-chat`.
    VllmChat,
}

/// The kind of endpoint that a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Route {
    /// `/v1/chat/completions`: messages, put through the server's template.
    Chat,
    /// `/v1/completions`: text or token ids, as they are.
    Completions,
}

/// What a backend takes beyond the common fields. OpenAI's own service refuses fields that it does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Takes {
    /// `ignore_eos`; sent only if the request asks to ignore the end.
    pub(crate) ignore_eos: bool,
    /// `stream_options.continuous_usage_stats`: a running usage on every chunk.
    pub(crate) continuous_usage: bool,
    /// `return_token_ids`: the generated ids on every chunk.
    pub(crate) return_token_ids: bool,
    /// Token ids as `prompt`.
    pub(crate) token_ids: bool,
    /// Chat: `max_completion_tokens`, the newer name of `max_tokens`.
    pub(crate) max_completion_tokens: bool,
}

/// One backend's row: its name, its default route, what it takes.
type Row = (Backend, &'static str, Route, Takes);

const fn takes(fields: [bool; 5]) -> Takes {
    Takes {
        ignore_eos: fields[0],
        continuous_usage: fields[1],
        return_token_ids: fields[2],
        token_ids: fields[3],
        max_completion_tokens: fields[4],
    }
}

/// `openai` takes `ignore_eos` because vLLM's own benchmark uses that name for vLLM servers and sends it.
#[rustfmt::skip]
static TABLE: [Row; 9] = {
    use Backend as B;
    use Route::{Chat, Completions};
    const Y: bool = true;
    const N: bool = false;
    [
        //                                                      ignore_eos  continuous  return_ids  ids
        //                                                      max_compl.
        (B::Vllm,          "vllm",            Completions, takes([Y,         Y,          Y,          Y,   Y])),
        (B::VllmChat,      "vllm-chat",       Chat,        takes([Y,         Y,          Y,          Y,   Y])),
        (B::OpenAi,        "openai",          Completions, takes([Y,         N,          N,          Y,   Y])),
        (B::OpenAiChat,    "openai-chat",     Chat,        takes([Y,         N,          N,          Y,   Y])),
        (B::Sglang,        "sglang",          Completions, takes([Y,         Y,          N,          Y,   N])),
        (B::SglangOai,     "sglang-oai",      Completions, takes([Y,         Y,          N,          Y,   N])),
        (B::SglangOaiChat, "sglang-oai-chat", Chat,        takes([Y,         Y,          N,          Y,   N])),
        (B::Lmdeploy,      "lmdeploy",        Completions, takes([Y,         N,          Y,          N,   N])),
        (B::LlamaCpp,      "llama.cpp",       Completions, takes([Y,         N,          N,          Y,   N])),
    ]
};

impl Backend {
    /// All backends, in the order in which errors and help list them.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.0)
    }

    /// Its name on a command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.row().1
    }

    /// The route that it is asked on unless a path says otherwise.
    #[must_use]
    pub fn route(self) -> Route {
        self.row().2
    }

    pub(crate) fn takes(self) -> &'static Takes {
        &self.row().3
    }

    fn row(self) -> &'static Row {
        let row = TABLE.iter().find(|row| row.0 == self);
        // Every backend has a row (a test says so); the first is what a missing one would fall back to.
        row.unwrap_or(&TABLE[0])
    }
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
    let names: Vec<_> = TABLE.iter().map(|row| row.1).collect();
    names.join(", ")
}

impl Route {
    /// The path that OpenAI gave it.
    #[must_use]
    pub const fn default_path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Completions => "/v1/completions",
        }
    }

    /// The route that `path` (without a query) leads to, told by its end; none if it is neither.
    #[must_use]
    pub fn of_path(path: &str) -> Option<Self> {
        let path = path.trim_end_matches('/');
        if path.ends_with("chat/completions") {
            Some(Self::Chat)
        } else if path.ends_with("completions") {
            Some(Self::Completions)
        } else {
            None
        }
    }

    /// What is spoken there.
    #[must_use]
    pub fn dialect(self) -> &'static dyn Dialect {
        match self {
            Self::Chat => &ChatCompletions,
            Self::Completions => &Completions,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Backend;

    #[test]
    fn every_backend_has_its_own_row_and_name() {
        let named = [
            (Backend::LlamaCpp, "llama.cpp"),
            (Backend::Lmdeploy, "lmdeploy"),
            (Backend::OpenAi, "openai"),
            (Backend::OpenAiChat, "openai-chat"),
            (Backend::Sglang, "sglang"),
            (Backend::SglangOai, "sglang-oai"),
            (Backend::SglangOaiChat, "sglang-oai-chat"),
            (Backend::Vllm, "vllm"),
            (Backend::VllmChat, "vllm-chat"),
        ];
        assert_eq!(Backend::all().count(), named.len());
        for (backend, name) in named {
            assert_eq!(backend.to_string(), name);
            assert_eq!(name.parse(), Ok(backend));
        }
    }
}
