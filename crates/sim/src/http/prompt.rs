//! Prompts that are a text or token ids, read without a detour: a list of ids may be long, and tokens wait meanwhile.

use std::fmt;

use fizeau_core::Tokens;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::refusal::Refusal;
use super::vocabulary;
use crate::content::{Chain, Form};
use crate::text;

/// The field with a prompt, whatever it holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Prompt {
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
pub(super) struct Read {
    pub(super) tokens: Tokens,
    /// All of it, where a prefix cache wants to know.
    pub(super) chain: Option<Chain>,
}

impl Prompt {
    /// Reads the prompt that stood in `field`; `chain` begins that of a prompt of a form, where one is wanted.
    pub(super) fn read(
        &self,
        field: &'static str,
        chain: impl Fn(Form) -> Option<Chain>,
    ) -> Result<Read, Refusal> {
        let refuse =
            |message: &str| Err(Refusal::bad_request(Some(field), format!("`{field}` {message}")));
        match self {
            Self::Text(text) => {
                let mut chain = chain(Form::Text);
                chain.iter_mut().for_each(|chain| chain.words(text));
                Ok(Read { tokens: Tokens::new(text::count(text)), chain })
            }
            Self::Ids(ids) if ids.is_empty() => {
                refuse("is an empty list: it needs at least one token id")
            }
            Self::Ids(ids) => {
                let mut chain = chain(Form::Ids);
                chain.iter_mut().for_each(|chain| chain.ids(ids));
                Ok(Read { tokens: Tokens::new(ids.len() as u64), chain })
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
            Self::Text(text) => vocabulary::ids(text),
            Self::Ids(ids) => ids.clone(),
            Self::Several | Self::NoIds | Self::Else => Vec::new(),
        }
    }

    /// Its text; none of what is no prompt.
    pub(super) fn to_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Ids(ids) => vocabulary::text(ids),
            Self::Several | Self::NoIds | Self::Else => String::new(),
        }
    }
}

impl<'de> Deserialize<'de> for Prompt {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PromptVisitor)
    }
}

struct PromptVisitor;

impl<'de> Visitor<'de> for PromptVisitor {
    type Value = Prompt;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of token ids")
    }

    fn visit_str<E>(self, text: &str) -> Result<Prompt, E> {
        Ok(Prompt::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Prompt, A::Error> {
        let mut ids = Vec::new();
        // All is read, to the end of the list: what follows it is to be read too.
        let (mut several, mut no_ids) = (false, false);
        while let Some(item) = items.next_element()? {
            match item {
                Item::Id(id) => ids.push(id),
                Item::Prompt => several = true,
                Item::Else => no_ids = true,
            }
        }
        Ok(match (several, no_ids) {
            (true, _) => Prompt::Several,
            (false, true) => Prompt::NoIds,
            (false, false) => Prompt::Ids(ids),
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Prompt, A::Error> {
        skip_map(map).map(|()| Prompt::Else)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Prompt, E> {
        Ok(Prompt::Else)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Prompt, E> {
        Ok(Prompt::Else)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Prompt, E> {
        Ok(Prompt::Else)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Prompt, E> {
        Ok(Prompt::Else)
    }

    fn visit_unit<E>(self) -> Result<Prompt, E> {
        Ok(Prompt::Else)
    }
}

/// An element of a list.
enum Item {
    Id(u32),
    /// A text or a list: a prompt by itself.
    Prompt,
    Else,
}

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ItemVisitor)
    }
}

struct ItemVisitor;

impl<'de> Visitor<'de> for ItemVisitor {
    type Value = Item;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a token id")
    }

    fn visit_u64<E>(self, number: u64) -> Result<Item, E> {
        Ok(u32::try_from(number).map_or(Item::Else, Item::Id))
    }

    fn visit_str<E>(self, _: &str) -> Result<Item, E> {
        Ok(Item::Prompt)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Item, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Item::Prompt)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Item, A::Error> {
        skip_map(map).map(|()| Item::Else)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Item, E> {
        Ok(Item::Else)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Item, E> {
        Ok(Item::Else)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Item, E> {
        Ok(Item::Else)
    }

    fn visit_unit<E>(self) -> Result<Item, E> {
        Ok(Item::Else)
    }
}

fn skip_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<(), A::Error> {
    while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_prompt_is_told_apart() {
        let cases = [
            (r#""the speed\nof light""#, Prompt::Text("the speed\nof light".to_owned())),
            ("[1, 4294967295]", Prompt::Ids(vec![1, u32::MAX])),
            ("[]", Prompt::Ids(vec![])),
            ("[1, 4294967296]", Prompt::NoIds),
            ("[1, -1]", Prompt::NoIds),
            ("[1.5, null, true, {\"a\": [1]}]", Prompt::NoIds),
            ("[1, \"a\"]", Prompt::Several),
            ("[null, [1, [2]]]", Prompt::Several),
            ("{\"a\": [{}]}", Prompt::Else),
            ("7", Prompt::Else),
            ("-7", Prompt::Else),
            ("7.5", Prompt::Else),
            ("true", Prompt::Else),
            ("null", Prompt::Else),
        ];
        for (json, prompt) in cases {
            assert_eq!(serde_json::from_str::<Prompt>(json).unwrap(), prompt, "{json}");
        }
    }
}
