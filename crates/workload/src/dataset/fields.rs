//! The fields of one JSON object, read one by one, so that an error can name the one at fault.

use std::fmt;
use std::sync::Arc;

use fizeau_core::spelling::edit_distance;
use fizeau_core::{Nanos, Tokens};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::array::mended;
use super::error::RecordFault;
use crate::length::Length;

/// The fields of one JSON object, each as the text that it came as. A field that is `null` is as good as absent; of two
/// with one name the last counts, as in Python's parser.
#[derive(Debug)]
pub(super) struct RecordFields<'a> {
    pairs: Vec<(String, &'a RawValue)>,
}

impl<'a> RecordFields<'a> {
    /// The fields of the object that `json` is; `expected` says what it should be.
    pub(super) fn of(json: &'a str, expected: &str) -> Result<Self, RecordFault> {
        if !json.trim_start().starts_with('{') {
            return Err(RecordFault::unfit("", json, expected));
        }
        let mut read = ObjectReader { pairs: Vec::new(), current: String::new() };
        let mut parser = serde_json::Deserializer::from_str(json.trim_end());
        let parsed = read.deserialize(&mut parser).and_then(|()| parser.end());
        match parsed {
            Ok(()) => Ok(Self { pairs: read.pairs }),
            Err(error) => Err(RecordFault::syntax(read.current, &error, expected)),
        }
    }

    /// The text of field `name`.
    pub(super) fn raw(&self, name: &str) -> Option<&'a str> {
        let found = self.pairs.iter().rev().find(|(key, _)| key == name)?.1.get();
        (found != "null").then_some(found)
    }

    /// Text. Half a surrogate pair becomes the replacement character.
    pub(super) fn text(&self, name: &str) -> Result<Option<String>, RecordFault> {
        let text = self.parsed(name, "text");
        match self.raw(name).filter(|raw| text.is_err() && raw.starts_with('"')) {
            Some(raw) => serde_json::from_str(&mended(raw)).map(Some).or(text),
            None => text,
        }
    }

    pub(super) fn required_text(&self, name: &str) -> Result<String, RecordFault> {
        self.text(name)?.ok_or_else(|| RecordFault::missing(name, "text"))
    }

    /// A number of tokens: what a request can ask for or a prompt have.
    pub(super) fn tokens(&self, name: &str) -> Result<Option<Tokens>, RecordFault> {
        let most = Length::MAX.get();
        let expected = format!("a whole number from 1 to {most}");
        match self.parsed::<u64>(name, &expected)? {
            Some(tokens) if tokens == 0 || tokens > most => {
                Err(RecordFault::unfit(name, &tokens.to_string(), expected))
            }
            tokens => Ok(tokens.map(Tokens::new)),
        }
    }

    /// The number of tokens under any of `names`, which all mean the same.
    pub(super) fn same_tokens(&self, names: &[&str]) -> Result<Option<Tokens>, RecordFault> {
        let mut found: Option<(&str, Tokens)> = None;
        for &name in names {
            let Some(tokens) = self.tokens(name)? else { continue };
            let (first, before) = *found.get_or_insert((name, tokens));
            if before != tokens {
                let expected = format!("{before}, as {first} says: they mean the same");
                return Err(RecordFault::unfit(name, &tokens.to_string(), expected));
            }
        }
        Ok(found.map(|(_, tokens)| tokens))
    }

    /// Refuses a field that is none of `known` and nearly one of them that is not there: nobody would look at it.
    pub(super) fn check_spelling(&self, known: &[&str]) -> Result<(), RecordFault> {
        for (key, _) in self.pairs.iter().filter(|(key, _)| !known.contains(&key.as_str())) {
            let meant = known.iter().find(|name| is_misspelt(key, name));
            if let Some(meant) = meant.filter(|name| self.raw(name).is_none()) {
                return Err(RecordFault::unknown(key, format!("{meant}, or a name less like it")));
            }
        }
        Ok(())
    }

    /// Token ids, at least one.
    pub(super) fn ids(&self, name: &str) -> Result<Option<Vec<u32>>, RecordFault> {
        const EXPECTED: &str =
            "token ids: a list of at least one whole number from 0 to 4294967295";
        match self.parsed::<Vec<u32>>(name, EXPECTED)? {
            Some(ids) if ids.is_empty() => Err(RecordFault::unfit(name, "an empty list", EXPECTED)),
            ids => Ok(ids),
        }
    }

    /// A span of time given in milliseconds.
    pub(super) fn millis(&self, name: &str) -> Result<Option<Nanos>, RecordFault> {
        const EXPECTED: &str = "milliseconds: a number from 0 to 1e12";
        let Some(millis) = self.parsed::<f64>(name, EXPECTED)? else { return Ok(None) };
        let fits = (0.0..=1e12).contains(&millis);
        let span = Nanos::from_secs_f64(millis / 1e3).ok().filter(|_| fits);
        span.map(Some).ok_or_else(|| RecordFault::unfit(name, &millis.to_string(), EXPECTED))
    }

    /// The text of an object, as it stands.
    pub(super) fn object(&self, name: &str) -> Result<Option<Arc<str>>, RecordFault> {
        match self.raw(name) {
            Some(raw) if !raw.starts_with('{') => {
                Err(RecordFault::unfit(name, raw, "a JSON object"))
            }
            raw => Ok(raw.map(Arc::from)),
        }
    }

    /// The texts of a list's elements.
    pub(super) fn list(&self, name: &str) -> Result<Option<Vec<&'a str>>, RecordFault> {
        let elements = self.parsed::<Vec<&RawValue>>(name, "a list of objects")?;
        Ok(elements.map(|list| list.into_iter().map(RawValue::get).collect()))
    }

    /// The texts of a list's elements, at least one.
    pub(super) fn filled_list(&self, name: &str) -> Result<Option<Vec<&'a str>>, RecordFault> {
        match self.list(name)? {
            Some(list) if list.is_empty() => {
                Err(RecordFault::unfit(name, "an empty list", "a list of at least one object"))
            }
            list => Ok(list),
        }
    }

    fn parsed<T: serde::Deserialize<'a>>(
        &self,
        name: &str,
        expected: &str,
    ) -> Result<Option<T>, RecordFault> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        serde_json::from_str(raw).map(Some).map_err(|_| RecordFault::unfit(name, raw, expected))
    }
}

/// Whether `key` is `name` but for a letter, for letters in another order, or for capitals, hyphens and underscores. `min_tokens`,
/// which is two letters from `max_tokens`, is another name.
fn is_misspelt(key: &str, name: &str) -> bool {
    let letters = |text: &str| text.to_lowercase().replace(['_', '-', ' '], "");
    let sorted = |text: &str| {
        let mut letters: Vec<char> = text.chars().collect();
        letters.sort_unstable();
        letters
    };
    let (key, name) = (letters(key), letters(name));
    edit_distance(&key, &name) <= 1 || sorted(&key) == sorted(&name)
}

/// An object being read: what there is of it when the parser gives up says which field is wrong.
struct ObjectReader<'a> {
    pairs: Vec<(String, &'a RawValue)>,
    current: String,
}

impl<'a> DeserializeSeed<'a> for &mut ObjectReader<'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for &mut ObjectReader<'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            self.current.clone_from(&key);
            self.pairs.push((key, map.next_value()?));
        }
        self.current.clear();
        Ok(())
    }
}
