//! Prompts that are a text or token ids, read without a detour: a list of ids may be long, and tokens wait meanwhile.

use std::fmt;

use fizeau_core::Tokens;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::response::Refusal;
use crate::content::{TokenChain, TokenForm};
use crate::text;

/// The field with a prompt, whatever it holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PromptField {
    Text(String),
    Ids(Vec<u32>),
    /// A list with a text or a list in it.
    Several,
    /// A list with something else in it.
    NoIds,
    /// Neither text nor list.
    Else,
}

/// A prompt that can be served.
#[derive(Debug)]
pub(super) struct ServedPrompt {
    pub(super) tokens: Tokens,
    /// All of it, where a prefix cache wants to know.
    pub(super) chain: Option<TokenChain>,
}

impl PromptField {
    /// Reads the prompt that stood in `field`; `chain` begins that of a prompt of a form, where one is wanted.
    pub(super) fn read(
        &self,
        field: &'static str,
        chain: impl Fn(TokenForm) -> Option<TokenChain>,
    ) -> Result<ServedPrompt, Refusal> {
        let refuse =
            |message: &str| Err(Refusal::bad_request(Some(field), format!("`{field}` {message}")));
        match self {
            Self::Text(text) => {
                let mut chain = chain(TokenForm::Text);
                chain.iter_mut().for_each(|chain| chain.words(text));
                Ok(ServedPrompt { tokens: Tokens::new(text::count(text)), chain })
            }
            Self::Ids(ids) if ids.is_empty() => {
                refuse("is an empty list: it needs at least one token id")
            }
            Self::Ids(ids) => {
                let mut chain = chain(TokenForm::Ids);
                chain.iter_mut().for_each(|chain| chain.ids(ids));
                Ok(ServedPrompt { tokens: Tokens::new(ids.len() as u64), chain })
            }
            Self::Several => refuse(
                "is a list of prompts: the simulated engine takes one prompt a request, a text or \
                 a list of token ids",
            ),
            Self::NoIds => {
                refuse("holds something that is no token id: ids are whole numbers below 2^32")
            }
            Self::Else => refuse("must be a text or a list of token ids"),
        }
    }

    /// Its token ids; none of what is no prompt.
    pub(super) fn to_ids(&self) -> Vec<u32> {
        match self {
            Self::Text(text) => ids(text),
            Self::Ids(ids) => ids.clone(),
            Self::Several | Self::NoIds | Self::Else => Vec::new(),
        }
    }

    /// Its text; none of what is no prompt.
    pub(super) fn to_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Ids(ids) => text(ids),
            Self::Several | Self::NoIds | Self::Else => String::new(),
        }
    }
}

impl<'de> Deserialize<'de> for PromptField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PromptVisitor)
    }
}

/// The methods of a visitor for what is no prompt.
macro_rules! something_else {
    ($($visit:ident $value:ty),+) => {
        $(fn $visit<E>(self, _: $value) -> Result<PromptField, E> { Ok(PromptField::Else) })+
    };
}

struct PromptVisitor;

impl<'de> Visitor<'de> for PromptVisitor {
    type Value = PromptField;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of token ids")
    }

    fn visit_str<E>(self, text: &str) -> Result<PromptField, E> {
        Ok(PromptField::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<PromptField, A::Error> {
        let mut ids = Vec::new();
        // All is read, to the end of the list: what follows it is to be read too.
        let (mut several, mut no_ids) = (false, false);
        while let Some(item) = items.next_element()? {
            match item {
                // A prompt by itself.
                Value::String(_) | Value::Array(_) => several = true,
                item => match item.as_u64().and_then(|id| u32::try_from(id).ok()) {
                    Some(id) => ids.push(id),
                    None => no_ids = true,
                },
            }
        }
        Ok(match (several, no_ids) {
            (true, _) => PromptField::Several,
            (false, true) => PromptField::NoIds,
            (false, false) => PromptField::Ids(ids),
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PromptField, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(PromptField::Else)
    }

    something_else!(visit_bool bool, visit_u64 u64, visit_i64 i64, visit_f64 f64);

    fn visit_unit<E>(self) -> Result<PromptField, E> {
        Ok(PromptField::Else)
    }
}

// Conversations, as the routes have them that take messages.

/// A message, or another item of a conversation.
#[derive(Deserialize)]
pub(super) struct PromptMessage {
    role: Option<Value>,
    content: Option<Value>,
}

impl PromptMessage {
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
pub(super) fn read(messages: &[PromptMessage], mut chain: Option<TokenChain>) -> ServedPrompt {
    let mut words = 0;
    for message in messages {
        chain.iter_mut().for_each(|chain| chain.role(message.role()));
        for text in message.texts() {
            words += text.split_whitespace().count();
            chain.iter_mut().for_each(|chain| chain.words(text));
        }
    }
    ServedPrompt { tokens: Tokens::new((words as u64).max(1)), chain }
}

/// The token ids of all messages, as many as [`read`] counts.
pub(super) fn conversation_ids(messages: &[PromptMessage]) -> Vec<u32> {
    let texts: Vec<_> = messages.iter().flat_map(PromptMessage::texts).collect();
    ids(&texts.join(" "))
}

// Texts to token ids and back, without a tokenizer: one token to a word.

/// The id of the token that ends a reply, and stands for a text without words.
pub(super) const END: u32 = 2;
/// Ids of words that the simulated model never says begin here, above all of its own.
const OTHERS: u32 = 10_000;
/// How many of them there are.
const OTHER_WORDS: u32 = 100_000;

/// The ids of a text: one to a word, and one if it has none. The same word has the same id; two words may share one.
pub(super) fn ids(text: &str) -> Vec<u32> {
    let ids: Vec<u32> = text.split_whitespace().map(id).collect();
    if ids.is_empty() { vec![END] } else { ids }
}

/// A text with these ids. What no word is known for is written as `t` and its number, which has that id again.
pub(super) fn text(ids: &[u32]) -> String {
    let mut text = String::new();
    for id in ids {
        match text::word_of(u64::from(*id)) {
            Some(word) => text.push_str(word),
            None => text.push_str(&format!(" t{id}")),
        }
    }
    text
}

fn id(word: &str) -> u32 {
    let known = text::id_of(word).and_then(|id| u32::try_from(id).ok());
    let numbered = || word.strip_prefix('t').and_then(|number| number.parse().ok());
    known.or_else(numbered).unwrap_or_else(|| OTHERS + hash(word) % OTHER_WORDS)
}

/// FNV-1a of 32 bits, by Fowler, Noll and Vo: the same on every machine and in every version.
fn hash(word: &str) -> u32 {
    word.bytes().fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_form_of_a_prompt_is_told_apart() {
        let cases = [
            (r#""the speed\nof light""#, PromptField::Text("the speed\nof light".to_owned())),
            ("[1, 4294967295]", PromptField::Ids(vec![1, u32::MAX])),
            ("[]", PromptField::Ids(vec![])),
            ("[1, 4294967296]", PromptField::NoIds),
            ("[1, -1]", PromptField::NoIds),
            ("[1.5, null, true, {\"a\": [1]}]", PromptField::NoIds),
            ("[1, \"a\"]", PromptField::Several),
            ("[null, [1, [2]]]", PromptField::Several),
            ("{\"a\": [{}]}", PromptField::Else),
            ("7", PromptField::Else),
            ("-7", PromptField::Else),
            ("7.5", PromptField::Else),
            ("true", PromptField::Else),
            ("null", PromptField::Else),
        ];
        for (json, prompt) in cases {
            assert_eq!(serde_json::from_str::<PromptField>(json).unwrap(), prompt, "{json}");
        }
    }

    proptest! {
        #[test]
        fn ids_come_back(ids in prop::collection::vec(any::<u32>(), 1..50)) {
            prop_assert_eq!(super::ids(&text(&ids)), ids);
        }

        #[test]
        fn there_are_as_many_as_a_text_counts(text in "[a-z0-9 \n]{0,40}") {
            prop_assert_eq!(ids(&text).len() as u64, text::count(&text));
        }
    }

    #[test]
    fn what_the_model_says_has_its_ids() {
        let job = crate::serve::JobId(5);
        let said: String = (0..40).map(|index| text::word(job, index)).collect();
        let given: Vec<_> = (0..40).map(|index| text::token_id(job, index)).collect();
        assert_eq!(ids(&said).into_iter().map(u64::from).collect::<Vec<_>>(), given);
        // FNV-1a of "a" and of "foobar", from its authors' test vectors.
        assert_eq!((hash("a"), hash("foobar")), (0xE40C_292C, 0xBF9C_F968));
    }
}
