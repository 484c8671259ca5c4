//! ShareGPT: one JSON array of conversations.

use std::io::BufRead;

use fizeau_core::{Message, Prompt, Role, TokenCounter, Tokens};

use super::array::each_element;
use super::error::{DatasetError, RecordFault, RecordStart};
use super::fields::RecordFields;
use super::{Conversation, Dataset};
use crate::codec::{CodecError, TextCodec};
use crate::parts::Turn;

const EXPECTED: &str = "a JSON array of {\"conversations\": [{\"from\", \"value\"}, ...]}";

/// How a ShareGPT file is read.
#[derive(Debug, Clone, Copy, Default)]
pub struct ShareGpt<'a> {
    /// What is taken of each conversation.
    pub take: ConversationUse,
    /// What counts the lengths of prompts and replies. Without it lengths are unknown, and no record is too long.
    pub codec: Option<&'a dyn TextCodec>,
    /// The output length of all requests, in place of the lengths of the replies in the file.
    pub output: Option<Tokens>,
}

/// The part of each conversation of a ShareGPT file that becomes a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ConversationUse {
    /// The first message as the prompt, and the length of the second as that of the output, whoever said them: vLLM's way.
    ///
    /// As there, a record of fewer than two messages is dropped, and where a tokenizer counts also one whose prompt has
    /// fewer than 4 tokens or more than 1024, whose output has fewer than 4 (unless [`ShareGpt::output`] is given), or that
    /// has more than 2048 in both. vLLM counts the special tokens that a tokenizer adds; here they are not counted. A record
    /// with an empty first message is dropped in any case. The rules: `ShareGPTDataset` and `is_valid_sequence` in vLLM's
    /// `benchmarks/datasets`; its order of records is another, since it shuffles with Python's generator.
    #[default]
    FirstExchange,
    /// The whole conversation, a turn for each thing that the user says and the file has an answer to.
    ///
    /// What the model says before the user's first word is left out, as are empty messages. A turn with a system message is
    /// a chat, any other plain text. A record is dropped where somebody unknown speaks, or where no turn is left.
    Conversation,
}

impl Dataset {
    /// Reads ShareGPT's JSON: an array of `{"id", "conversations": [{"from": "human" | "gpt" | ..., "value"}, ...]}`. Other
    /// fields are not looked at. The array is taken apart record by record, so that a large file costs its prompts only.
    ///
    /// ```
    /// use fizeau_workload::{Dataset, ShareGpt};
    /// let json = r#"[{"id": "a", "conversations": [{"from": "human", "value": "Why is the sky blue?"},
    ///                                             {"from": "gpt", "value": "Because of Rayleigh scattering."}]},
    ///                {"id": "b", "conversations": []}]"#;
    /// let dataset = Dataset::sharegpt("sky.json", json.as_bytes(), &ShareGpt::default())?;
    /// assert_eq!((dataset.conversations.len(), dataset.dropped), (1, 1));
    /// # Ok::<(), fizeau_workload::DatasetError>(())
    /// ```
    ///
    /// # Errors
    /// If the file is not such an array, the tokenizer fails, or no record is left.
    pub fn sharegpt(
        name: &str,
        reader: impl BufRead,
        options: &ShareGpt<'_>,
    ) -> Result<Self, DatasetError> {
        let mut conversations = Vec::new();
        let mut dropped = 0;
        each_element(name, reader, EXPECTED, |json, at| {
            match options.conversation(json).map_err(|wrong| wrong.at(at))? {
                Some(conversation) => conversations.push(conversation),
                None => dropped += 1,
            }
            Ok(())
        })?;
        Self::of(name, conversations, dropped)
    }
}

/// What is wrong with a record.
enum RecordError {
    Fault(RecordFault),
    Codec(CodecError),
}

impl From<RecordFault> for RecordError {
    fn from(fault: RecordFault) -> Self {
        Self::Fault(fault)
    }
}

impl RecordError {
    fn at(self, at: RecordStart<'_>) -> DatasetError {
        match self {
            Self::Fault(fault) => fault.at(at),
            Self::Codec(source) => {
                DatasetError::Tokenizer { name: at.name.into(), location: at.location, source }
            }
        }
    }
}

impl ShareGpt<'_> {
    /// What is taken of one record; none where it is dropped.
    fn conversation(&self, json: &str) -> Result<Option<Conversation>, RecordError> {
        let fields = RecordFields::of(json, "an object with the field conversations")?;
        let listed = fields.list("conversations")?.unwrap_or_default();
        match self.take {
            ConversationUse::FirstExchange => match listed.as_slice() {
                [first, second, ..] => self.exchange(&message(0, first)?, &message(1, second)?),
                _ => Ok(None),
            },
            ConversationUse::Conversation => {
                let messages =
                    listed.iter().enumerate().map(|(number, json)| message(number, json));
                self.turns(messages.collect::<Result<_, _>>()?)
            }
        }
    }

    fn exchange(
        &self,
        prompt: &ShareGptMessage,
        reply: &ShareGptMessage,
    ) -> Result<Option<Conversation>, RecordError> {
        let input = self.count(&prompt.value)?;
        let output = self.output_of(&reply.value)?;
        let short = |tokens: Option<Tokens>| tokens.is_some_and(|tokens| tokens.get() < 4);
        let long = |tokens: Tokens, most: u64| tokens.get() > most;
        let both = input.unwrap_or_default() + output.unwrap_or_default();
        let too_short = short(input) || (self.output.is_none() && short(output));
        let too_long = input.is_some_and(|input| long(input, 1024) || long(both, 2048));
        if prompt.value.is_empty() || too_short || too_long {
            return Ok(None);
        }
        let prompt = Prompt::Text(prompt.value.clone());
        let turn = Turn { input_tokens: input, output_tokens: output, ..Turn::new(prompt) };
        Ok(Some(turn.into()))
    }

    fn turns(&self, said: Vec<ShareGptMessage>) -> Result<Option<Conversation>, RecordError> {
        let mut turns = Vec::new();
        let mut new: Vec<Message> = Vec::new();
        for ShareGptMessage { from, value } in said {
            let Some(role) = role(&from) else { return Ok(None) };
            if role != Role::Assistant {
                hear(&mut new, role, value);
            } else if new.iter().any(|message| message.role == Role::User) {
                turns.push(self.turn(std::mem::take(&mut new), &value)?);
            }
        }
        Ok((!turns.is_empty()).then_some(Conversation { turns }))
    }

    fn turn(&self, new: Vec<Message>, reply: &str) -> Result<Turn, RecordError> {
        // An empty reply says nothing of how long the output shall be.
        let output_tokens = self.output_of(reply)?.filter(|tokens| *tokens > Tokens::ZERO);
        let (prompt, input_tokens) = match <[Message; 1]>::try_from(new) {
            Ok([Message { role: Role::User, content }]) => {
                let tokens = self.count(&content)?;
                (Prompt::Text(content), tokens)
            }
            Ok(only) => (Prompt::Chat(only.into()), None),
            Err(several) => (Prompt::Chat(several), None),
        };
        Ok(Turn { input_tokens, output_tokens, ..Turn::new(prompt) })
    }

    fn output_of(&self, reply: &str) -> Result<Option<Tokens>, RecordError> {
        self.output.map_or_else(|| self.count(reply), |given| Ok(Some(given)))
    }

    fn count(&self, text: &str) -> Result<Option<Tokens>, RecordError> {
        self.codec.map(|codec| codec.count(text)).transpose().map_err(RecordError::Codec)
    }
}

/// Adds what somebody says to what is new. Chat templates want roles to take turns, so that one speaker's messages are
/// put together.
fn hear(new: &mut Vec<Message>, role: Role, value: String) {
    match new.last_mut() {
        _ if value.is_empty() => {}
        Some(last) if last.role == role => {
            last.content.push('\n');
            last.content.push_str(&value);
        }
        _ => new.push(Message { role, content: value }),
    }
}

/// One message of the file.
struct ShareGptMessage {
    from: String,
    value: String,
}

fn message(number: usize, json: &str) -> Result<ShareGptMessage, RecordFault> {
    let read = RecordFields::of(json, "an object of from and value").and_then(|fields| {
        Ok(ShareGptMessage {
            from: fields.required_text("from")?,
            value: fields.required_text("value")?,
        })
    });
    read.map_err(|fault| fault.inside(&format!("conversations[{number}]")))
}

/// Whoever the file's names mean; its first collectors gave each model its own.
fn role(from: &str) -> Option<Role> {
    match from {
        "human" | "user" => Some(Role::User),
        "assistant" | "bard" | "bing" | "chatgpt" | "gpt" => Some(Role::Assistant),
        "system" => Some(Role::System),
        _ => None,
    }
}
