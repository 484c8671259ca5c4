//! What is asked of an endpoint, independent of any wire format.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Nanos, Tokens};

/// The number of a request within its plan, from 0, in order of intended release.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
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
}

/// A request and the instant at which it ought to leave.
#[derive(Debug, Clone, PartialEq)]
pub struct Scheduled {
    /// Offset from the start of the level; none in a closed loop, where a request leaves when a slot is free.
    pub at: Option<Nanos>,
    /// The request.
    pub request: Request,
}

/// What the model is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prompt {
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

/// Who says a [`Message`].
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

impl Role {
    /// The name on the wire, the same for every server: `assistant`, `system`, `user`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Assistant => "assistant",
            Self::System => "system",
            Self::User => "user",
        }
    }
}

/// What a server shall do when the model produces its end-of-sequence token before the asked length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EosRule {
    /// Generate on, so that the output has the asked length. Not every server can.
    Ignore,
    /// Stop there, as in ordinary use.
    #[default]
    Stop,
}
