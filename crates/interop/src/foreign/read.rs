//! A record of another tool's file as a type of ours. What is wrong in it is named by file and field.

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    self, Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess,
    Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Value};

use super::{ForeignError, ForeignFile, ForeignPlace};

/// A record of another tool's file, and where it stands.
pub(super) struct Record<'a> {
    /// The file, and which record in it.
    place: ForeignPlace,
    tool: &'static str,
    map: &'a Map<String, Value>,
}

/// No rate and no time is above it; what is would be printed with hundreds of digits.
const GREATEST: f64 = 1e15;

/// Beyond 2^53 a floating number is no count any more.
pub(super) const GREATEST_COUNT: f64 = 9_007_199_254_740_992.0;

impl<'a> Record<'a> {
    /// Each record of `file`, which `tool` wrote.
    pub(super) fn all(
        file: &'a ForeignFile<'_>,
        tool: &'static str,
    ) -> Result<Vec<Self>, ForeignError> {
        let records = file.records()?;
        if records.is_empty() {
            return Err(ForeignError::damaged(file.name(), "it is empty"));
        }
        let of = |(index, value): (usize, &'a Value)| {
            let whole = ForeignPlace::whole(file.name());
            let place = match records.len() {
                1 => whole,
                _ => whole.at(format_args!("record {}", index + 1)),
            };
            match value {
                Value::Object(map) => Ok(Self { place, tool, map }),
                _ => Err(ForeignError::Damaged { place, why: "no object".to_owned() }),
            }
        };
        records.iter().enumerate().map(of).collect()
    }

    /// One that is at hand.
    pub(super) const fn new(
        place: ForeignPlace,
        tool: &'static str,
        map: &'a Map<String, Value>,
    ) -> Self {
        Self { place, tool, map }
    }

    /// The tool that wrote it.
    pub(super) const fn tool(&self) -> &'static str {
        self.tool
    }

    /// All that it has.
    pub(super) const fn map(&self) -> &'a Map<String, Value> {
        self.map
    }

    /// Whether there is a field of that name that is not null.
    pub(super) fn has(&self, field: &str) -> bool {
        self.map.get(field).is_some_and(|value| !value.is_null())
    }

    /// The whole of it. Numbers are from 0 to 1e15, counts may be written as floating numbers.
    pub(super) fn read<T: Deserialize<'a>>(&self) -> Result<T, ForeignError> {
        let entries = Entries { left: self.map.iter(), value: None };
        let value = de::value::MapAccessDeserializer::new(entries);
        T::deserialize(value).map_err(|odd| self.error(odd))
    }

    /// One field of it; none for null.
    pub(super) fn field<T: Deserialize<'a>>(&self, name: &str) -> Result<Option<T>, ForeignError> {
        let value = self.map.get(name).map(|value| Option::deserialize(ValueAtPath(value)));
        let read = value.transpose().map_err(|odd| self.error(odd.within(name)))?;
        Ok(read.flatten())
    }

    /// A text; none for what is no text.
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.map.get(name)?.as_str()
    }

    /// A text as it is, a number or a truth as JSON has it; none for lists and objects.
    pub(super) fn words(&self, name: &str) -> Option<String> {
        words(self.map.get(name)?)
    }

    /// The records in a list of it that must be there, each called `one` and its number.
    pub(super) fn each(&self, list: &str, one: &str) -> Result<Vec<Self>, ForeignError> {
        let values = match self.map.get(list) {
            Some(Value::Array(values)) => values,
            Some(Value::Null) | None => return Err(self.missing(list)),
            Some(other) => return Err(self.wrong(list, &other.to_string(), "a list")),
        };
        let of = |(index, value): (usize, &'a Value)| match value {
            Value::Object(map) => {
                let place = self.place.at(format_args!("{one} {}", index + 1));
                Ok(Self { place, tool: self.tool, map })
            }
            other => Err(self.wrong(&format!("{list}[{index}]"), &other.to_string(), "an object")),
        };
        values.iter().enumerate().map(of).collect()
    }

    /// That a field is not there, or holds nothing.
    pub(super) fn missing(&self, field: &str) -> ForeignError {
        if self.map.get(field).is_some_and(Value::is_null) {
            return self.wrong(field, NULL, A_VALUE);
        }
        let (place, tool) = (self.place.clone(), self.tool);
        ForeignError::Missing { place, field: field.to_owned(), tool }
    }

    /// That a field holds `found`, which is shortened.
    pub(super) fn wrong(&self, field: &str, found: &str, wanted: &'static str) -> ForeignError {
        let found = match found.char_indices().nth(40) {
            Some((end, _)) => format!("{}...", found.get(..end).unwrap_or_default()),
            None => found.to_owned(),
        };
        ForeignError::Wrong { place: self.place.clone(), field: field.to_owned(), found, wanted }
    }

    fn error(&self, odd: FieldError) -> ForeignError {
        match odd.what {
            FieldProblem::Missing => self.missing(&odd.path),
            FieldProblem::Wrong(found, wanted) => self.wrong(&odd.path, &found, wanted),
            FieldProblem::Other(why) => {
                let why = format!("`{}`: {why}", odd.path);
                ForeignError::Damaged { place: self.place.clone(), why }
            }
        }
    }
}

/// A text as it is, a number or a truth as JSON has it; none for lists and objects.
pub(super) fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(_) | Value::Object(_) | Value::Null => None,
        plain => Some(plain.to_string()),
    }
}

/// What is there if it is as it ought to be, and nothing for all else: of what a result may lack.
#[derive(Debug, Clone)]
pub(super) struct Lenient<T>(pub(super) Option<T>);

impl<T> Default for Lenient<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Option::<Value>::deserialize(from)?;
        Ok(Self(value.and_then(|value| T::deserialize(ValueAtPath(&value)).ok())))
    }
}

/// What is wrong, and with which field.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {what:?}")]
struct FieldError {
    path: String,
    what: FieldProblem,
}

#[derive(Debug)]
enum FieldProblem {
    Missing,
    /// What was found, and what is wanted.
    Wrong(String, &'static str),
    Other(String),
}

const NULL: &str = "null or NaN";
const A_VALUE: &str = "a value";

impl FieldError {
    /// The same of the field or the element `step` of something greater.
    fn within(self, step: &str) -> Self {
        let path = match self.path.as_str() {
            "" => step.to_owned(),
            path if path.starts_with('[') => format!("{step}{path}"),
            path => format!("{step}.{path}"),
        };
        Self { path, what: self.what }
    }
}

impl de::Error for FieldError {
    fn custom<T: std::fmt::Display>(why: T) -> Self {
        Self { path: String::new(), what: FieldProblem::Other(why.to_string()) }
    }

    fn missing_field(field: &'static str) -> Self {
        Self { path: field.to_owned(), what: FieldProblem::Missing }
    }
}

/// A value within a record.
#[derive(Clone, Copy)]
struct ValueAtPath<'a>(&'a Value);

impl<'a> ValueAtPath<'a> {
    fn wrong(self, wanted: &'static str) -> FieldError {
        let what = match self.0 {
            Value::Null => FieldProblem::Wrong(NULL.to_owned(), A_VALUE),
            found => FieldProblem::Wrong(found.to_string(), wanted),
        };
        FieldError { path: String::new(), what }
    }
}

impl<'de> Deserializer<'de> for ValueAtPath<'de> {
    type Error = FieldError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FieldError> {
        match self.0 {
            Value::Array(list) => visitor.visit_seq(Items(list.iter().enumerate())),
            Value::Object(map) => visitor.visit_map(Entries { left: map.iter(), value: None }),
            plain => plain.deserialize_any(visitor).map_err(de::Error::custom),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FieldError> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FieldError> {
        let number = self.0.as_f64().filter(|number| (0.0..=GREATEST).contains(number));
        visitor.visit_f64(number.ok_or_else(|| self.wrong("a number from 0 to 1e15"))?)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FieldError> {
        let is_whole =
            |number: &f64| number.fract() == 0.0 && (0.0..=GREATEST_COUNT).contains(number);
        let whole = || self.0.as_f64().filter(is_whole).map(|number| number as u64);
        let count = self.0.as_u64().or_else(whole);
        visitor.visit_u64(count.ok_or_else(|| self.wrong("a whole number from 0 up"))?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FieldError> {
        visitor.visit_borrowed_str(self.0.as_str().ok_or_else(|| self.wrong("a text"))?)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FieldError> {
        let list = self.0.as_array().ok_or_else(|| self.wrong("a list"))?;
        visitor.visit_seq(Items(list.iter().enumerate()))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, FieldError> {
        let map = self.0.as_object().ok_or_else(|| self.wrong("an object"))?;
        visitor.visit_map(Entries { left: map.iter(), value: None })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u128 f32 char str bytes byte_buf unit unit_struct
        newtype_struct tuple tuple_struct map enum identifier ignored_any
    }
}

/// The elements of a list.
struct Items<'a>(std::iter::Enumerate<std::slice::Iter<'a, Value>>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = FieldError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, FieldError> {
        let Some((index, value)) = self.0.next() else { return Ok(None) };
        let read = seed.deserialize(ValueAtPath(value));
        read.map(Some).map_err(|odd| odd.within(&format!("[{index}]")))
    }
}

/// The fields of an object.
struct Entries<'a> {
    left: serde_json::map::Iter<'a>,
    value: Option<(&'a String, &'a Value)>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = FieldError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, FieldError> {
        self.value = self.left.next();
        let Some((key, _)) = self.value else { return Ok(None) };
        seed.deserialize(BorrowedStrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, FieldError> {
        let Some((key, value)) = self.value else {
            return Err(de::Error::custom("a value before its key"));
        };
        seed.deserialize(ValueAtPath(value)).map_err(|odd| odd.within(key))
    }
}
