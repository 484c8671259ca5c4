//! The fields of one JSON object, read one by one, so that an error can name the one at fault.

use std::fmt;
use std::sync::Arc;

use fizeau_core::{Nanos, Tokens};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::array::mended;
use super::error::Fault;
use crate::length::Length;

/// The fields of one JSON object, each as the text that it came as. A field that is `null` is as good as absent; of two
/// with one name the last counts, as in Python's parser.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    pairs: Vec<(String, &'a RawValue)>,
}

impl<'a> Fields<'a> {
    /// The fields of the object that `json` is; `expected` says what it should be.
    pub(super) fn of(json: &'a str, expected: &str) -> Result<Self, Fault> {
        if !json.trim_start().starts_with('{') {
            return Err(Fault::unfit("", json, expected));
        }
        let mut read = Reading { pairs: Vec::new(), current: String::new() };
        let mut parser = serde_json::Deserializer::from_str(json.trim_end());
        let parsed = read.deserialize(&mut parser).and_then(|()| parser.end());
        match parsed {
            Ok(()) => Ok(Self { pairs: read.pairs }),
            Err(error) => Err(Fault::syntax(read.current, &error, expected)),
        }
    }

    /// The text of field `name`.
    pub(super) fn raw(&self, name: &str) -> Option<&'a str> {
        let found = self.pairs.iter().rev().find(|(key, _)| key == name)?.1.get();
        (found != "null").then_some(found)
    }

    /// Text. Half a surrogate pair becomes the replacement character.
    pub(super) fn text(&self, name: &str) -> Result<Option<String>, Fault> {
        let text = self.parsed(name, "text");
        match self.raw(name).filter(|raw| text.is_err() && raw.starts_with('"')) {
            Some(raw) => serde_json::from_str(&mended(raw)).map(Some).or(text),
            None => text,
        }
    }

    pub(super) fn required_text(&self, name: &str) -> Result<String, Fault> {
        self.text(name)?.ok_or_else(|| Fault::missing(name, "text"))
    }

    /// A number of tokens: what a request can ask for or a prompt have.
    pub(super) fn tokens(&self, name: &str) -> Result<Option<Tokens>, Fault> {
        let most = Length::MAX.get();
        let expected = format!("a whole number from 1 to {most}");
        match self.parsed::<u64>(name, &expected)? {
            Some(tokens) if tokens == 0 || tokens > most => {
                Err(Fault::unfit(name, &tokens.to_string(), expected))
            }
            tokens => Ok(tokens.map(Tokens::new)),
        }
    }

    /// Token ids, at least one.
    pub(super) fn ids(&self, name: &str) -> Result<Option<Vec<u32>>, Fault> {
        const EXPECTED: &str =
            "token ids: a list of at least one whole number from 0 to 4294967295";
        match self.parsed::<Vec<u32>>(name, EXPECTED)? {
            Some(ids) if ids.is_empty() => Err(Fault::unfit(name, "an empty list", EXPECTED)),
            ids => Ok(ids),
        }
    }

    /// A span of time given in milliseconds.
    pub(super) fn millis(&self, name: &str) -> Result<Option<Nanos>, Fault> {
        const EXPECTED: &str = "milliseconds: a number from 0 to 1e12";
        let Some(millis) = self.parsed::<f64>(name, EXPECTED)? else { return Ok(None) };
        let fits = (0.0..=1e12).contains(&millis);
        let span = Nanos::from_secs_f64(millis / 1e3).ok().filter(|_| fits);
        span.map(Some).ok_or_else(|| Fault::unfit(name, &millis.to_string(), EXPECTED))
    }

    /// The text of an object, as it stands.
    pub(super) fn object(&self, name: &str) -> Result<Option<Arc<str>>, Fault> {
        match self.raw(name) {
            Some(raw) if !raw.starts_with('{') => Err(Fault::unfit(name, raw, "a JSON object")),
            raw => Ok(raw.map(Arc::from)),
        }
    }

    /// The texts of a list's elements.
    pub(super) fn list(&self, name: &str) -> Result<Option<Vec<&'a str>>, Fault> {
        let elements = self.parsed::<Vec<&RawValue>>(name, "a list of objects")?;
        Ok(elements.map(|list| list.into_iter().map(RawValue::get).collect()))
    }

    /// The texts of a list's elements, at least one.
    pub(super) fn filled_list(&self, name: &str) -> Result<Option<Vec<&'a str>>, Fault> {
        match self.list(name)? {
            Some(list) if list.is_empty() => {
                Err(Fault::unfit(name, "an empty list", "a list of at least one object"))
            }
            list => Ok(list),
        }
    }

    fn parsed<T: serde::Deserialize<'a>>(
        &self,
        name: &str,
        expected: &str,
    ) -> Result<Option<T>, Fault> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        serde_json::from_str(raw).map(Some).map_err(|_| Fault::unfit(name, raw, expected))
    }
}

/// An object being read: what there is of it when the parser gives up says which field is wrong.
struct Reading<'a> {
    pairs: Vec<(String, &'a RawValue)>,
    current: String,
}

impl<'a> DeserializeSeed<'a> for &mut Reading<'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for &mut Reading<'a> {
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
