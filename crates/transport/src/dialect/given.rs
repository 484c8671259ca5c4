//! Bodies that are given whole: they go out as they are, but for the fields that we set.
//!
//! Only the names of the fields are read; their values are copied as they stand.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::body::{Object, Part};
use super::fields::Text;
use super::{Ask, RequestError};

/// A body in the form of OpenAI's routes.
#[derive(Debug)]
pub(super) struct Given<'a> {
    fields: Vec<(Cow<'a, str>, &'a RawValue)>,
    len: usize,
}

impl<'a> Given<'a> {
    /// The fields of the JSON object `json`.
    pub(super) fn parse(json: &'a str) -> Result<Self, RequestError> {
        let fields: Fields<'a> = serde_json::from_str(json)
            .map_err(|error| RequestError::BodyNotAnObject(error.to_string()))?;
        Ok(Self { fields: fields.0, len: json.len() })
    }

    /// Whether the body sets `name`; one that is null is not set.
    pub(super) fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    /// The object that the body has as `name`.
    pub(super) fn object(&self, name: &str) -> Option<Map<String, Value>> {
        serde_json::from_str(self.value(name)?).ok()
    }

    /// Whether the body has the `subject` of its route, and one of it.
    pub(super) fn check_subject(&self, subject: &'static str) -> Result<(), RequestError> {
        let value = self.value(subject).ok_or(RequestError::BodyLacks(subject))?;
        // A list of texts or of lists is a list of prompts; messages are objects, token ids are numbers.
        let inner = value.strip_prefix('[').unwrap_or_default().trim_start();
        let is_list = inner.starts_with(['"', '[']);
        let count =
            |list: &str| serde_json::from_str(list).map_or(0, |list: Vec<&RawValue>| list.len());
        if is_list && count(value) > 1 {
            return Err(RequestError::BodySeveral(subject));
        }
        Ok(())
    }

    /// Whether `name`, a number of replies, is one where it is set.
    pub(super) fn check_single(&self, name: &'static str) -> Result<(), RequestError> {
        match self.value(name) {
            None | Some("1") => Ok(()),
            Some(_) => Err(RequestError::BodySeveral(name)),
        }
    }

    /// The body with `ours` and the model in the place of its own fields of these names, and those of the extra fields
    /// that it does not set.
    pub(super) fn encode(self, ask: &Ask<'a>, ours: Object<'a>) -> Result<Vec<u8>, RequestError> {
        let model = (!ask.model.is_empty()).then_some(Part::Text(ask.model));
        let mut ours = ours.maybe("model", model);
        for (name, value) in ask.extra.fields() {
            if !self.has(name) {
                ours.put(name, value);
            }
        }
        // Room for what is set; a few fields of ours are no longer than that.
        let mut body = Vec::with_capacity(self.len + 256);
        let whole = Whole { ours, given: self };
        serde_json::to_writer(&mut body, &whole).map_err(|_| RequestError::Encode)?;
        Ok(body)
    }

    /// The text of field `name`: of several of that name the last, as servers have it.
    fn value(&self, name: &str) -> Option<&'a str> {
        let (_, value) = self.fields.iter().rev().find(|field| field.0 == name)?;
        Some(value.get()).filter(|value| *value != "null")
    }
}

/// What goes out.
struct Whole<'a> {
    ours: Object<'a>,
    given: Given<'a>,
}

impl Serialize for Whole<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        for (name, part) in self.ours.iter() {
            map.serialize_entry(name, part)?;
        }
        for (name, value) in &self.given.fields {
            if !self.ours.has(name) {
                map.serialize_entry(name, value)?;
            }
        }
        map.end()
    }
}

/// The fields of an object, in order, their values unread.
struct Fields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;

        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some((Text(name), value)) = map.next_entry::<Text<'de>, _>()? {
                    fields.push((name, value));
                }
                Ok(Fields(fields))
            }
        }

        from.deserialize_map(FieldsVisitor)
    }
}
