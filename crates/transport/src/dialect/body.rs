//! What bodies are made of: prompts in the forms that routes take, and JSON objects under construction.

use std::borrow::Cow;
use std::fmt;

use fizeau_core::{EosRule, Message, Prompt, Role};
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::fields::TextField;
use super::{BodyInput, RequestError};

/// The prompt for a route that completes plain text. A conversation of one message is its text.
pub(super) fn plain_text<'a>(ask: &BodyInput<'a>) -> Result<&'a str, RequestError> {
    match &ask.request.prompt {
        Prompt::Text(text) => Ok(text),
        Prompt::Chat(messages) => match &**messages {
            [only] => Ok(&only.content),
            _ => Err(RequestError::ChatForCompletions),
        },
        Prompt::Body(_) => Err(RequestError::BodyNotTaken(ask.backend)),
        Prompt::TokenIds(_) => Err(RequestError::TokenIdsNotTaken(ask.backend)),
    }
}

/// The prompt for a route that takes messages.
pub(super) fn messages<'a>(ask: &BodyInput<'a>) -> Result<ChatMessages<'a>, RequestError> {
    match &ask.request.prompt {
        Prompt::Chat(messages) => Ok(ChatMessages::List(messages)),
        Prompt::Text(text) => Ok(ChatMessages::Text(text)),
        Prompt::Body(_) => Err(RequestError::BodyNotTaken(ask.backend)),
        Prompt::TokenIds(_) => Err(RequestError::TokenIdsForChat),
    }
}

/// A conversation. Plain text is one message of the user.
#[derive(Debug, Clone, Copy)]
pub(super) enum ChatMessages<'a> {
    List(&'a [Message]),
    Text(&'a str),
}

impl<'a> ChatMessages<'a> {
    /// Who says what, in order.
    pub(super) fn iter(self) -> impl Iterator<Item = (Role, &'a str)> {
        let (text, list) = match self {
            Self::List(list) => (None, list),
            Self::Text(text) => (Some((Role::User, text)), &[][..]),
        };
        let list = list.iter().map(|message| (message.role, &*message.content));
        text.into_iter().chain(list)
    }

    /// What the system says, if anything, for protocols that keep it apart from the messages.
    pub(super) fn system(self) -> Option<String> {
        let said: Vec<_> =
            self.iter().filter(|(role, _)| *role == Role::System).map(|(_, text)| text).collect();
        (!said.is_empty()).then(|| said.join("\n\n"))
    }
}

#[derive(Serialize)]
struct MessageField<'a> {
    role: &'static str,
    content: &'a str,
}

/// By hand, since it is a list of borrowed pairs.
impl Serialize for ChatMessages<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut list = to.serialize_seq(None)?;
        for (role, content) in self.iter() {
            let role = role.as_str();
            list.serialize_element(&MessageField { role, content })?;
        }
        list.end()
    }
}

/// A JSON object under construction: fields of ours, then those of the user in their place or behind them.
#[derive(Debug, Default)]
pub(super) struct JsonObject<'a>(Vec<(&'a str, FieldValue<'a>)>);

/// The value of a field.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum FieldValue<'a> {
    Count(u64),
    Given(&'a Value),
    Ids(&'a [u32]),
    Messages(ChatMessages<'a>),
    Object(JsonObject<'a>),
    Owned(Value),
    Text(&'a str),
    Yes(True),
}

/// `true`.
#[derive(Debug)]
pub(super) struct True;

/// By hand, since a field that is always `true` holds nothing.
impl Serialize for True {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bool(true)
    }
}

/// The object within a body that holds the sampling parameters, and their names there. Those that the user gives
/// at the top of the extra body are moved into it, where the server looks for them.
#[derive(Debug)]
pub(super) struct NestedParameters {
    pub(super) field: &'static str,
    /// The name as users know it, and the one of this protocol.
    pub(super) names: &'static [(&'static str, &'static str)],
}

impl<'a> JsonObject<'a> {
    /// With `part` as the field `name`.
    pub(super) fn with(mut self, name: &'a str, part: FieldValue<'a>) -> Self {
        self.0.push((name, part));
        self
    }

    /// With `part` as the field `name`, if there is one.
    pub(super) fn maybe(self, name: &'a str, part: Option<FieldValue<'a>>) -> Self {
        match part {
            Some(part) => self.with(name, part),
            None => self,
        }
    }

    /// With `true` as the field `name` if the request asks to generate past the model's own end.
    pub(super) fn ignore_eos(self, name: &'a str, ask: &BodyInput<'_>) -> Self {
        let ignore = ask.request.eos == EosRule::Ignore;
        self.maybe(name, ignore.then_some(FieldValue::Yes(True)))
    }

    /// The whole body for `ask`: this and the user's fields, of which none is in `reserved`.
    pub(super) fn encode(
        mut self,
        ask: &BodyInput<'a>,
        reserved: &[&'static str],
        nest: Option<&NestedParameters>,
    ) -> Result<Vec<u8>, RequestError> {
        if let Some(name) = ask.extra.first_of(reserved) {
            return Err(RequestError::Reserved(name));
        }
        let moved = |name: &str| {
            let nest = nest?;
            let pair = nest.names.iter().find(|pair| pair.0 == name)?;
            Some((nest.field, pair.1))
        };
        let (inner, outer): (Vec<_>, Vec<_>) =
            ask.extra.fields().iter().partition(|(name, _)| moved(name).is_some());
        for (name, value) in inner {
            if let Some((field, name)) = moved(name)
                && let Some(FieldValue::Object(within)) = self.find(field)
            {
                within.put(name, value);
            }
        }
        for (name, value) in outer {
            self.put(name, value);
        }
        encode(&self)
    }

    fn merge(&mut self, fields: &'a Map<String, Value>) {
        for (name, value) in fields {
            self.put(name, value);
        }
    }

    /// Sets a field of the user's. An object is laid over ours of that name, not put in its place.
    pub(super) fn put(&mut self, name: &'a str, value: &'a Value) {
        match (self.find(name), value) {
            (Some(FieldValue::Object(ours)), Value::Object(theirs)) => ours.merge(theirs),
            (Some(part), value) => *part = FieldValue::Given(value),
            (None, value) => self.0.push((name, FieldValue::Given(value))),
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|field| field.0 == name)
    }

    /// The fields, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'a str, &FieldValue<'a>)> {
        self.0.iter().map(|(name, part)| (*name, part))
    }

    fn find(&mut self, name: &str) -> Option<&mut FieldValue<'a>> {
        let field = self.0.iter_mut().find(|field| field.0 == name);
        field.map(|field| &mut field.1)
    }
}

/// By hand, since its keys keep the order in which they were put.
impl Serialize for JsonObject<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.0.len()))?;
        for (name, part) in &self.0 {
            map.serialize_entry(name, part)?;
        }
        map.end()
    }
}

pub(super) fn encode(body: &impl Serialize) -> Result<Vec<u8>, RequestError> {
    serde_json::to_vec(body).map_err(|_| RequestError::Encode)
}

// Bodies that are given whole: they go out as they are, but for the fields that we set.
//
// Only the names of the fields are read; their values are copied as they stand.

/// A body in the form of OpenAI's routes.
#[derive(Debug)]
pub(super) struct GivenBody<'a> {
    fields: Vec<(Cow<'a, str>, &'a RawValue)>,
    len: usize,
}

impl<'a> GivenBody<'a> {
    /// The fields of the JSON object `json`.
    pub(super) fn parse(json: &'a str) -> Result<Self, RequestError> {
        let fields: RawFields<'a> = serde_json::from_str(json)
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
    pub(super) fn encode(
        self,
        ask: &BodyInput<'a>,
        ours: JsonObject<'a>,
    ) -> Result<Vec<u8>, RequestError> {
        let model = (!ask.model.is_empty()).then_some(FieldValue::Text(ask.model));
        let mut ours = ours.maybe("model", model);
        for (name, value) in ask.extra.fields() {
            if !self.has(name) {
                ours.put(name, value);
            }
        }
        // Room for what is set; a few fields of ours are no longer than that.
        let mut body = Vec::with_capacity(self.len + 256);
        let whole = MergedBody { ours, given: self };
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
struct MergedBody<'a> {
    ours: JsonObject<'a>,
    given: GivenBody<'a>,
}

/// By hand, since it is two objects in one, of which ours goes first.
impl Serialize for MergedBody<'_> {
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
struct RawFields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for RawFields<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;

        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = RawFields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some((TextField(name), value)) = map.next_entry::<TextField<'de>, _>()? {
                    fields.push((name, value));
                }
                Ok(RawFields(fields))
            }
        }

        from.deserialize_map(FieldsVisitor)
    }
}
