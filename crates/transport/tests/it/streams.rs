//! Streams of our own invention and what a reader should make of them.

mod anthropic;
mod embeddings;
mod ends;
mod gemini;
mod hosted;
mod llama_cpp;
mod odd;
mod ollama;
mod responses;
mod sglang;
mod shapes;
mod tgi;
mod tokens;
mod triton;

use fizeau_core::{Channel, FailureClass, Finish, Outcome, TokenSource};
use fizeau_transport::{BodyEnd, Reply, Route};

/// Every case of the OpenAI routes.
pub(crate) fn cases() -> Vec<Case> {
    [tokens::cases(), ends::cases(), hosted::cases(), odd::cases(), shapes::cases()].concat()
}

/// Every case of every route.
pub(crate) fn all_cases() -> Vec<Case> {
    [
        cases(),
        anthropic::cases(),
        embeddings::cases(),
        gemini::cases(),
        llama_cpp::cases(),
        ollama::cases(),
        responses::cases(),
        sglang::cases(),
        tgi::cases(),
        triton::cases(),
    ]
    .concat()
}

/// One good reply of each route that is not OpenAI's completions or chat.
pub(crate) fn good_replies() -> Vec<(Route, String)> {
    vec![
        (Route::Messages, anthropic::good()),
        (Route::Embeddings, embeddings::good()),
        (Route::Gemini, gemini::good()),
        (Route::LlamaCppCompletion, llama_cpp::good()),
        (Route::OllamaChat, ollama::good_chat()),
        (Route::OllamaGenerate, ollama::good()),
        (Route::Responses, responses::good()),
        (Route::SglangGenerate, sglang::good()),
        (Route::TgiGenerate, tgi::good()),
        (Route::TritonGenerate, triton::good()),
    ]
}

/// What a stream holds.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// What it is about.
    pub(crate) name: &'static str,
    pub(crate) route: Route,
    pub(crate) bytes: String,
    /// How HTTP ends the body.
    pub(crate) body_end: BodyEnd,
    pub(crate) expected: Expected,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expected {
    /// Tokens and channel of each arrival.
    pub(crate) arrivals: Vec<(u32, Channel)>,
    pub(crate) source: TokenSource,
    pub(crate) end: Result<Finish, FailureClass>,
    pub(crate) text: &'static str,
}

impl Case {
    /// The same on another route.
    pub(crate) fn on(self, route: Route) -> Self {
        Self { route, ..self }
    }

    /// The same with a body that broke off.
    pub(crate) fn cut(self) -> Self {
        let body_end = BodyEnd::Cut;
        Self { body_end, ..self }
    }

    /// Holds `reply` against what is expected.
    #[track_caller]
    pub(crate) fn check(&self, reply: &Reply) {
        let end = match &reply.outcome {
            Outcome::Complete(finish) => Ok(*finish),
            Outcome::Failed(failure) => Err(failure.class),
        };
        let arrivals: Vec<_> = reply.arrivals.iter().map(|a| (a.tokens, a.channel)).collect();
        let text = reply.text.as_deref().unwrap_or_default();
        let expected = &self.expected;
        assert_eq!(arrivals, expected.arrivals, "{}: arrivals", self.name);
        assert_eq!(end, expected.end, "{}: {:?}", self.name, reply.outcome);
        assert_eq!(text, expected.text, "{}: text", self.name);
        if !arrivals.is_empty() {
            assert_eq!(reply.token_source, expected.source, "{}: source", self.name);
        }
        let bytes: u32 = reply.arrivals.iter().map(|a| a.bytes).sum();
        let chars: u32 = reply.arrivals.iter().map(|a| a.chars).sum();
        let counts = (bytes as usize, chars as usize);
        let is_text = reply.token_source != TokenSource::Tokenless;
        let sizes =
            if is_text { (text.len(), text.chars().count()) } else { (self.bytes.len(), 0) };
        assert_eq!(counts, sizes, "{}: sizes", self.name);
    }
}

/// One `data` event.
pub(crate) fn event(json: &str) -> String {
    format!("data: {json}\n\n")
}

/// A completions chunk with `text` and whatever else belongs to choice and chunk.
pub(crate) fn text(text: &str, choice: &str, chunk: &str) -> String {
    event(&format!(
        r#"{{"id":"c","object":"text_completion","choices":[{{"index":0,"text":"{text}","finish_reason":null{choice}}}]{chunk}}}"#
    ))
}

/// A chat chunk with the fields `delta`.
pub(crate) fn delta(delta: &str, finish: &str, chunk: &str) -> String {
    event(&format!(
        r#"{{"id":"c","object":"chat.completion.chunk","choices":[{{"index":0,"delta":{{{delta}}},"logprobs":null,"finish_reason":{finish}}}]{chunk}}}"#
    ))
}

/// A usage chunk without choices.
pub(crate) fn usage(prompt: u32, completion: u32) -> String {
    event(&format!(r#"{{"choices":[]{}}}"#, with_usage(prompt, completion)))
}

/// A usage field, to follow others.
pub(crate) fn with_usage(prompt: u32, completion: u32) -> String {
    let total = prompt + completion;
    format!(
        r#","usage":{{"prompt_tokens":{prompt},"total_tokens":{total},"completion_tokens":{completion}}}"#
    )
}

pub(crate) const DONE: &str = "data: [DONE]\n\n";

/// A finish-only chunk of the completions route.
pub(crate) fn finish(reason: &str) -> String {
    event(&format!(r#"{{"choices":[{{"index":0,"text":"","finish_reason":"{reason}"}}]}}"#))
}

/// How a stream ends.
pub(crate) type End = Result<Finish, FailureClass>;

/// A case of completions, or of chat if it holds a delta.
pub(crate) fn case(
    name: &'static str,
    bytes: impl Into<String>,
    arrivals: &[(u32, Channel)],
    source: TokenSource,
    (end, text): (End, &'static str),
) -> Case {
    let bytes = bytes.into();
    Case {
        name,
        route: if bytes.contains("delta") { Route::Chat } else { Route::Completions },
        bytes,
        body_end: BodyEnd::Whole,
        expected: Expected { arrivals: arrivals.to_vec(), source, end, text },
    }
}

/// One visible token.
pub(crate) const V: (u32, Channel) = (1, Channel::Visible);
