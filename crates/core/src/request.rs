//! What is asked of an endpoint, independent of any wire format.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Nanos, Stamp, Tokens};

/// The number of a request within its plan, from 0: session by session in order of their beginnings, the turns of each in
/// order.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct RequestId(pub u64);

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The number of a session (a conversation of requests in order) within its plan, from 0.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct SessionId(pub u64);

/// One call to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Its number within the plan.
    pub id: RequestId,
    /// The session that it belongs to. Requests that stand alone have a session each.
    pub session: SessionId,
    /// Its place within the session, from 0.
    pub turn: u32,
    /// What the model is given.
    pub prompt: Prompt,
    /// How many tokens `prompt` has, where whoever made it knows.
    pub input_tokens: Option<Tokens>,
    /// The most tokens to generate.
    pub max_output_tokens: Tokens,
    /// What to do when the model wants to stop early.
    pub eos: EosRule,
    /// The model to be asked, where it is not the endpoint's own: one of a mix of LoRA adapters.
    pub model: Option<Arc<str>>,
    /// Further fields of the body, as the text of a JSON object: tools, a response format. They go over the endpoint's
    /// own extra fields.
    pub extra: Option<Arc<str>>,
    /// What it is sent for.
    pub part: RequestPurpose,
}

impl Request {
    /// A request that stands alone, for the endpoint's own model, which may stop where it likes.
    ///
    /// ```
    /// use fizeau_core::{Prompt, Request, RequestId, Tokens};
    /// let request = Request::new(RequestId(3), Prompt::Text("Once".to_owned()), Tokens::new(16));
    /// assert_eq!((request.session.0, request.turn), (3, 0));
    /// ```
    #[must_use]
    pub const fn new(id: RequestId, prompt: Prompt, max_output_tokens: Tokens) -> Self {
        Self {
            id,
            session: SessionId(id.0),
            turn: 0,
            prompt,
            input_tokens: None,
            max_output_tokens,
            eos: EosRule::Stop,
            model: None,
            extra: None,
            part: RequestPurpose::Load,
        }
    }
}

/// Why a run sends a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RequestPurpose {
    /// It is part of the load, and of the level's figures.
    #[default]
    Load,
    /// It belongs to a thin stream of small requests beside the load, which shows what somebody else's request meets
    /// there. It has figures of its own and no part in the load's.
    Probe,
}

/// A request and the instant at which it ought to leave.
#[derive(Debug, Clone, PartialEq)]
pub struct Scheduled {
    /// Offset from the start of the level; none in a closed loop, where a request leaves when a slot is free. The next turn
    /// of a session has an instant in either loop, or none if it leaves at once, as the turn before it ends.
    pub at: Option<Nanos>,
    /// The request.
    pub request: Request,
}

/// When a request leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Release {
    /// When it ought to leave, by the schedule; in a closed loop, when its slot became free.
    pub intended: Stamp,
    /// When the pacer let it go.
    pub released: Stamp,
}

impl Release {
    /// Of a request that leaves when it ought to: by hand, in a test, without a pacer.
    ///
    /// ```
    /// use fizeau_core::{Nanos, Release, Stamp};
    /// let at = Stamp::EPOCH + Nanos::from_millis(5);
    /// assert_eq!(Release::at(at), Release { intended: at, released: at });
    /// ```
    #[must_use]
    pub const fn at(instant: Stamp) -> Self {
        Self { intended: instant, released: instant }
    }
}

/// What the model is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prompt {
    /// A whole body in the endpoint's own format, as the text of a JSON object: a line of an OpenAI batch file, a tool
    /// call. It goes out as it is, but for the model, the streaming and, where it names none, the length.
    Body(Arc<str>),
    /// A conversation, to be put through the server's chat template.
    Chat(Vec<Message>),
    /// Plain text, to be tokenized by the server.
    Text(String),
    /// Token ids, exactly as the model shall see them; the length is then certain.
    TokenIds(Vec<u32>),
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: String,
}

/// The speaker of a [`Message`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// The model.
    Assistant,
    /// Whoever set the model up.
    System,
    /// The person.
    User,
}

crate::words! {
    /// The name on the wire, the same for every server: `assistant`, `system`, `user`.
    pub Role::as_str {
        Assistant = "assistant", System = "system", User = "user",
    }
}

/// What the server should do when the model produces its end-of-sequence token before the requested length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EosRule {
    /// Generate on, so that the output has the asked length. Not every server can.
    Ignore,
    /// Stop there, as in ordinary use.
    #[default]
    Stop,
}
