//! Conversations, as the routes have them that take messages.

use fizeau_core::Tokens;
use serde::Deserialize;
use serde_json::Value;

use super::prompt::Read;
use super::vocabulary;
use crate::content::Chain;

/// A message, or another item of a conversation.
#[derive(Deserialize)]
pub(super) struct Message {
    role: Option<Value>,
    content: Option<Value>,
}

impl Message {
    /// `content` as `role` says it.
    pub(super) fn new(role: &str, content: Value) -> Self {
        Self { role: Some(role.into()), content: Some(content) }
    }

    fn role(&self) -> &str {
        self.role.as_ref().and_then(Value::as_str).unwrap_or_default()
    }

    /// Its texts: the content is one, or a list of parts of which some have one. Tools and their calls have none.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let (whole, parts) = match &self.content {
            Some(Value::String(text)) => (Some(text.as_str()), &[][..]),
            Some(Value::Array(parts)) => (None, parts.as_slice()),
            _ => (None, &[][..]),
        };
        whole.into_iter().chain(parts.iter().filter_map(|part| part.get("text")?.as_str()))
    }
}

/// Counts the words of all messages, and tells `chain` of them.
pub(super) fn read(messages: &[Message], mut chain: Option<Chain>) -> Read {
    let mut words = 0;
    for message in messages {
        chain.iter_mut().for_each(|chain| chain.role(message.role()));
        for text in message.texts() {
            words += text.split_whitespace().count();
            chain.iter_mut().for_each(|chain| chain.words(text));
        }
    }
    Read { tokens: Tokens::new((words as u64).max(1)), chain }
}

/// The token ids of all messages, as many as [`read`] counts.
pub(super) fn ids(messages: &[Message]) -> Vec<u32> {
    let texts: Vec<_> = messages.iter().flat_map(Message::texts).collect();
    vocabulary::ids(&texts.join(" "))
}
