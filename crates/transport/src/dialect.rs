//! What servers speak: how a request is written, what an event of the reply means, when the reply is over.
//!
//! A dialect is one file below this one. They share the writing of bodies ([`body`]) and the reading of JSON
//! ([`json`], [`fields`]); the two OpenAI routes also share the reading of chunks ([`chunk`]).

mod anthropic;
mod body;
pub(crate) mod chunk;
mod embeddings;
mod fields;
mod gemini;
mod json;
mod llama_cpp;
mod ollama;
mod openai;
mod responses;
mod sglang;
mod tgi;
mod triton;

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

use fizeau_core::{Channel, Finish, Request, ServerTiming, Usage};
use serde_json::{Map, Value};

use crate::backend::{Backend, LengthForcing};
use crate::event::RawEvent;
use crate::framing::Framing;
use crate::route::Route;

/// How one protocol writes a request and reads the events of a reply. Implementors hold no state: what
/// depends on earlier events (running counts, sticky errors) is kept by [`ReplyReader`](crate::ReplyReader).
pub trait Dialect: std::fmt::Debug + Send + Sync {
    /// The JSON body that asks for `ask`, as a stream wherever there are tokens.
    ///
    /// # Errors
    /// If the request cannot be expressed in this dialect.
    fn body(&self, ask: &BodyInput<'_>) -> Result<Vec<u8>, RequestError>;

    /// What `event` says.
    ///
    /// # Errors
    /// If the event is not what the protocol allows.
    fn read<'a>(&self, event: &RawEvent<'a>) -> Result<WireEvent<'a>, EventError>;

    /// How a good reply ends.
    fn end(&self) -> EndRule;

    /// How the bytes of a reply are framed where its content type does not say.
    fn framing(&self) -> Framing {
        Framing::Sse
    }

    /// Whether an event may repeat the output of earlier ones.
    fn repeats(&self) -> CumulativeEvents {
        CumulativeEvents::Never
    }

    /// The keys behind which values differ from one event of a reply to the next that are otherwise alike; none if
    /// each event must be read in full.
    ///
    /// A dialect that names them (an empty list will do) says that its events are JSON, and that three things hold.
    /// A text is taken as it stands, and decides nothing but the channel of its event. A number or a list behind such
    /// a key is a count of its own (or, for a list, its length is), or it says nothing. A string behind such a key
    /// says nothing. Events that differ in nothing else are then read without a parser, which costs a tenth.
    fn varying(&self) -> Option<&'static [&'static str]> {
        None
    }

    /// Whether `backend` can be made to generate the asked length.
    fn forcing(&self, backend: Backend) -> LengthForcing {
        let _ = backend;
        LengthForcing::CapOnly
    }

    /// The fields, beyond those that [`ExtraBody::parse`] refuses, that make a request what it is. One within
    /// an object is written with a dot, as in `options.num_predict`.
    fn reserved(&self) -> &'static [&'static str] {
        &[]
    }
}

/// What a target speaks: a dialect of this crate, or one of somebody's own that is shared.
#[derive(Debug, Clone)]
pub(crate) enum Spoken<'d> {
    Borrowed(&'d dyn Dialect),
    Shared(Arc<dyn Dialect>),
}

impl<'d> Deref for Spoken<'d> {
    type Target = dyn Dialect + 'd;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Borrowed(dialect) => *dialect,
            Self::Shared(dialect) => &**dialect,
        }
    }
}

/// A dialect of this crate as its file states it, a field for each method of [`Dialect`].
#[derive(Debug)]
struct Builtin {
    body: fn(&BodyInput<'_>) -> Result<Vec<u8>, RequestError>,
    read: for<'a> fn(&RawEvent<'a>) -> Result<WireEvent<'a>, EventError>,
    end: EndRule,
    framing: Framing,
    repeats: CumulativeEvents,
    varying: Option<&'static [&'static str]>,
    forcing: fn(Backend) -> LengthForcing,
    reserved: &'static [&'static str],
}

impl Builtin {
    /// What most have in common: server-sent events up to an end marker, and a length that is a cap alone.
    const fn stream(
        body: fn(&BodyInput<'_>) -> Result<Vec<u8>, RequestError>,
        read: for<'a> fn(&RawEvent<'a>) -> Result<WireEvent<'a>, EventError>,
    ) -> Self {
        Self {
            body,
            read,
            end: EndRule::Marker,
            framing: Framing::Sse,
            repeats: CumulativeEvents::Never,
            varying: None,
            forcing: |_| LengthForcing::CapOnly,
            reserved: &[],
        }
    }
}

impl Dialect for Builtin {
    fn body(&self, ask: &BodyInput<'_>) -> Result<Vec<u8>, RequestError> {
        (self.body)(ask)
    }

    fn read<'a>(&self, event: &RawEvent<'a>) -> Result<WireEvent<'a>, EventError> {
        (self.read)(event)
    }

    fn end(&self) -> EndRule {
        self.end
    }

    fn framing(&self) -> Framing {
        self.framing
    }

    fn repeats(&self) -> CumulativeEvents {
        self.repeats
    }

    fn varying(&self) -> Option<&'static [&'static str]> {
        self.varying
    }

    fn forcing(&self, backend: Backend) -> LengthForcing {
        (self.forcing)(backend)
    }

    fn reserved(&self) -> &'static [&'static str] {
        self.reserved
    }
}

impl Route {
    /// What is spoken there.
    #[must_use]
    pub fn dialect(self) -> &'static dyn Dialect {
        match self {
            Self::Chat => &openai::CHAT,
            Self::Completions => &openai::COMPLETIONS,
            Self::Embeddings => &embeddings::EMBEDDINGS,
            Self::Gemini => &gemini::GEMINI,
            Self::LlamaCppCompletion => &llama_cpp::COMPLETION,
            Self::Messages => &anthropic::MESSAGES,
            Self::OllamaChat => &ollama::CHAT,
            Self::OllamaGenerate => &ollama::GENERATE,
            Self::Responses => &responses::RESPONSES,
            Self::SglangGenerate => &sglang::GENERATE,
            Self::TgiGenerate => &tgi::GENERATE,
            Self::TritonGenerate => &triton::GENERATE,
        }
    }
}

impl Backend {
    /// Whether it can be made to generate the asked length, on its default route.
    #[must_use]
    pub fn forcing(self) -> LengthForcing {
        self.route().dialect().forcing(self)
    }
}

impl ExtraBody {
    /// Whether these fields can be sent on `route`, whose protocol has names of its own for what is set for each
    /// request.
    ///
    /// ```
    /// use fizeau_transport::{ExtraBody, Route};
    /// let extra = ExtraBody::parse(r#"{"options": {"num_predict": 9}}"#)?;
    /// assert!(extra.check(Route::OllamaChat).is_err());
    /// assert!(extra.check(Route::Chat).is_ok());
    /// # Ok::<(), fizeau_transport::ExtraBodyError>(())
    /// ```
    ///
    /// # Errors
    /// If one of them is the route's own.
    pub fn check(&self, route: Route) -> Result<(), ExtraBodyError> {
        match self.first_of(route.dialect().reserved()) {
            Some(name) => Err(ExtraBodyError::Reserved(name.to_owned())),
            None => Ok(()),
        }
    }
}

/// Everything that goes into a request's body.
#[derive(Debug, Clone, Copy)]
pub struct BodyInput<'a> {
    /// The model's name, as the server knows it. Empty where a body given whole shall keep the name that it has.
    pub model: &'a str,
    /// The request.
    pub request: &'a Request,
    /// Who is asked, and so which fields it takes.
    pub backend: Backend,
    /// Further fields.
    pub extra: &'a ExtraBody,
}

/// How a good reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndRule {
    /// The end of the body itself.
    Body,
    /// The end of the body itself, once an event has said why the generation ended ([`WireEvent::finish`]); a
    /// body that ends before was cut off.
    FinishThenBody,
    /// An event that says so ([`WireEvent::done`]); a body that ends without it was cut off.
    Marker,
}

/// Whether an event may repeat the output of earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CumulativeEvents {
    /// Each holds only what is new.
    Never,
    /// By a setting of the server, each holds all the text and token ids so far. The reader finds out.
    Perhaps,
}

/// The content of one event. Usage, timing, text, a finish reason and an error are independent of each other:
/// servers send any combination of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WireEvent<'a> {
    /// Text of the answer.
    pub visible: Cow<'a, str>,
    /// Text of the thoughts.
    pub reasoning: Cow<'a, str>,
    /// Text of a refusal.
    pub refusal: Cow<'a, str>,
    /// Names and arguments of tool calls.
    pub tool_call: Cow<'a, str>,
    /// The bytes of the body that brought an embedding; absent where there is none.
    pub embedded: Option<u64>,
    /// How many token ids it lists.
    pub token_ids: u32,
    /// How many log-probability entries it lists.
    pub logprobs: u32,
    /// The running count of generated tokens; absent where the event is about usage alone.
    pub running: Option<u64>,
    /// What the server says it used, if it says anything but zeros.
    pub usage: Option<Usage>,
    /// What the server says of its own timing.
    pub timing: Option<ServerTiming>,
    /// Why the generation ended.
    pub finish: Option<Finish>,
    /// The server's words for what went wrong.
    pub error: Option<String>,
    /// Whether this is the end marker.
    pub done: bool,
    /// Whether it tells that the model thought, with or without the text of it.
    pub has_thought: bool,
}

impl WireEvent<'_> {
    /// The texts in the order of the channels' visibility, empty ones included.
    #[must_use]
    pub fn texts(&self) -> [(Channel, &str); 4] {
        [
            (Channel::Visible, &*self.visible),
            (Channel::ToolCall, &*self.tool_call),
            (Channel::Refusal, &*self.refusal),
            (Channel::Reasoning, &*self.reasoning),
        ]
    }

    /// Whether it has neither output nor usage nor an error.
    fn has_nothing(&self) -> bool {
        let is_quiet = self.channel().is_none() && self.token_ids == 0 && self.logprobs == 0;
        is_quiet && self.usage.is_none() && self.error.is_none()
    }

    /// The channel of its text: the one that a reader would see first, if there are several. None without text.
    #[must_use]
    pub fn channel(&self) -> Option<Channel> {
        let texts = self.texts();
        let with_text = texts.iter().find(|(_, text)| !text.is_empty());
        with_text.map(|(channel, _)| *channel)
    }
}

/// Why a request cannot be expressed. Nothing was sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// A whole body without what its route is about.
    #[error(
        "the body given whole has no `{0}`, which this route needs: is it meant for another route?"
    )]
    BodyLacks(&'static str),
    /// A whole body that is none.
    #[error("a body given whole must be a JSON object such as {{\"messages\": [...]}}: {0}")]
    BodyNotAnObject(String),
    /// A whole body of another format.
    #[error(
        "the backend `{0}` does not take a body of OpenAI's format: give the prompt as text or messages"
    )]
    BodyNotTaken(Backend),
    /// A whole body that asks for several replies in one, whose tokens would mix on one tape.
    #[error("the body given whole asks for several replies in one (`{0}`): ask for one")]
    BodySeveral(&'static str),
    /// A conversation of several messages, or of none, for a route that completes plain text.
    #[error(
        "a conversation of several messages cannot be sent to a route that completes plain text: give the prompt \
         as text, or use a chat route such as /v1/chat/completions"
    )]
    ChatForCompletions,
    /// The body could not be written as JSON.
    #[error("the request's body could not be written as JSON")]
    Encode,
    /// The request's own extra fields are none.
    #[error("the request's own field `extra`: {0}")]
    Extra(ExtraBodyError),
    /// A request for another model than the target's, where requests do not name one.
    #[error(
        "this endpoint cannot be asked for the model `{0}`: neither the bodies of its route nor its path name a \
         model"
    )]
    ModelFixed(String),
    /// The extra body sets a field that is set for each request.
    #[error(
        "the extra body must not set `{0}`: it is set for each request from the workload and the target"
    )]
    Reserved(&'static str),
    /// Token ids for a chat route, where the template works on text.
    #[error(
        "token ids cannot be sent to a chat route: give the prompt as text or messages, or use a route that takes \
         ids such as /v1/completions"
    )]
    TokenIdsForChat,
    /// Token ids for a backend that takes only text.
    #[error("the backend `{0}` takes no token ids: give the prompt as text")]
    TokenIdsNotTaken(Backend),
}

/// Why an event is not what the protocol allows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is not a JSON object of the protocol: {0}")]
pub struct EventError(String);

impl EventError {
    /// An error that says `why`.
    #[must_use]
    pub fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

// Fields of the body beyond those that we write ourselves.

/// Further fields of a request's body: sampling parameters (`temperature`, `top_p`, `top_k`, ...) and
/// whatever else a server understands. They are sent as given; a field that we would otherwise set, such as
/// `ignore_eos`, is theirs.
///
/// On routes that keep sampling parameters in an object of their own (SGLang's `sampling_params`, TGI's
/// `parameters`, Ollama's `options`, Gemini's `generationConfig`), those named as on the OpenAI routes are moved
/// into it under the name that they have there, and such an object is laid over ours.
///
/// ```
/// use fizeau_transport::ExtraBody;
/// let sampling = ExtraBody::parse(r#"{"temperature": 0.0, "top_p": 0.9}"#)?;
/// let all = sampling.merge(ExtraBody::parse(r#"{"top_p": 0.5}"#)?);
/// assert_eq!(all.to_string(), r#"{"temperature":0.0,"top_p":0.5}"#);
/// assert!(ExtraBody::parse(r#"{"stream": false}"#).is_err());
/// # Ok::<(), fizeau_transport::ExtraBodyError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExtraBody(Map<String, Value>);

/// Fields that make a request what it is, by the names of the OpenAI routes: the measurement relies on them.
const RESERVED: [&str; 9] = [
    "best_of",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "model",
    "n",
    "prompt",
    "stream",
    "stream_options",
];

/// Why a text is no extra body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExtraBodyError {
    /// The text is not a JSON object.
    #[error("the extra body must be a JSON object such as {{\"temperature\": 0.0}}: {0}")]
    NotAnObject(String),
    /// A field that is set for each request.
    #[error(
        "the extra body must not set `{0}`: it is set for each request from the workload and the target"
    )]
    Reserved(String),
}

impl ExtraBody {
    /// The fields of the JSON object `json`.
    ///
    /// # Errors
    /// If `json` is not a JSON object, or names a field that is set for each request (`model`, `prompt`,
    /// `messages`, `max_tokens`, `max_completion_tokens`, `stream`, `stream_options`), or asks for several replies
    /// in one (`n`, `best_of`), whose tokens would mix on one tape. Other routes have further names for these: see
    /// [`ExtraBody::check`].
    pub fn parse(json: &str) -> Result<Self, ExtraBodyError> {
        let fields: Map<String, Value> = serde_json::from_str(json)
            .map_err(|error| ExtraBodyError::NotAnObject(error.to_string()))?;
        match RESERVED.iter().find(|name| fields.contains_key(**name)) {
            Some(name) => Err(ExtraBodyError::Reserved((*name).to_owned())),
            None => Ok(Self(fields)),
        }
    }

    /// The first of `names` that is set; one within an object is written with a dot.
    pub(crate) fn first_of(&self, names: &[&'static str]) -> Option<&'static str> {
        let is_set = |name: &str| match name.split_once('.') {
            Some((outer, inner)) => self.0.get(outer).is_some_and(|of| of.get(inner).is_some()),
            None => self.0.contains_key(name),
        };
        names.iter().copied().find(|name| is_set(name))
    }

    /// These fields and those of `over`, which win.
    #[must_use]
    pub fn merge(mut self, over: Self) -> Self {
        self.0.extend(over.0);
        self
    }

    pub(crate) const fn fields(&self) -> &Map<String, Value> {
        &self.0
    }
}

impl std::fmt::Display for ExtraBody {
    /// The fields as one JSON object, names in order.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&serde_json::to_string(&self.0).unwrap_or_default())
    }
}
