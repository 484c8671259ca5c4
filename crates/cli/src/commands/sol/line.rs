//! A query as a line of JSON. Read without an allocation where texts have no escapes, since files have many lines.

use std::borrow::Cow;
use std::fmt;

use clap::ValueEnum;
use fizeau::roofline::Routing;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::query::Query;
use crate::args::routing;

/// A line that was understood.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub(super) query: Query<'a>,
    /// Fields that nothing is known of.
    pub(super) unknown: Vec<String>,
}

/// The query of `line`; what it does not say is as in `defaults`.
pub(super) fn parse<'a>(line: &'a [u8], defaults: &Query<'a>) -> Result<Line<'a>, String> {
    let mut json = serde_json::Deserializer::from_slice(line);
    let read = Reader(defaults).deserialize(&mut json);
    let read = read.and_then(|read| json.end().map(|()| read));
    read.map_err(|error| not_json(&error))?
}

/// Every line is the first of its own text, so only the column says something.
fn not_json(error: &serde_json::Error) -> String {
    let column = error.column();
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    format!("not a JSON object: {what} at column {column}")
}

struct Reader<'q, 'a>(&'q Query<'a>);

impl<'a> DeserializeSeed<'a> for Reader<'_, 'a> {
    type Value = Result<Line<'a>, String>;

    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for Reader<'_, 'a> {
    type Value = Result<Line<'a>, String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    /// Reads on after the first field that is wrong, so that what is no JSON at all is said to be that.
    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut line = Line { query: self.0.clone(), unknown: Vec::new() };
        let mut wrong = None;
        while let Some(Name(name)) = map.next_key()? {
            let value: Scalar<'a> = map.next_value()?;
            if let Err(error) = line.set(&name, value) {
                wrong.get_or_insert(error);
            }
        }
        Ok(wrong.map_or(Ok(line), Err))
    }
}

impl<'a> Line<'a> {
    /// A null is as if the field were absent.
    fn set(&mut self, name: &str, value: Scalar<'a>) -> Result<(), String> {
        let Query { system, load } = &mut self.query;
        if matches!(value, Scalar::Null(())) {
            return Ok(());
        }
        match name {
            "model_config" => system.model_config = Some(value.text(name)?),
            "hardware" => system.hardware = Some(value.text(name)?),
            "weights" => system.weights = Some(value.text(name)?),
            "engine" => system.engine = Some(value.text(name)?),
            "kv" => system.kv = Some(value.text(name)?),
            "tp" => system.degrees.tp = value.degree(name)?,
            "pp" => system.degrees.pp = value.degree(name)?,
            "ep" => system.degrees.ep = value.degree(name)?,
            "dp" => system.degrees.dp = value.degree(name)?,
            "replicas" => system.degrees.replicas = value.degree(name)?,
            "prefix" => system.choices.prefix = value.one_of(name)?,
            "routing" => system.choices.routing = value.routing(name)?,
            "overlap" => system.choices.overlap = value.one_of(name)?,
            "exchange" => system.choices.exchange = value.one_of(name)?,
            "isl" => load.isl = value.count(name)?,
            "osl" => load.osl = value.count(name)?,
            "cached" => load.cached = value.count(name)?,
            "concurrency" => load.concurrency = value.count(name)?,
            _ => self.unknown.push(name.to_owned()),
        }
        Ok(())
    }
}

/// A field's name.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// A field's value.
#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar<'a> {
    Null(()),
    Whole(u64),
    /// Any other number.
    Number(f64),
    #[serde(borrow)]
    Text(Cow<'a, str>),
    /// Lists, objects, `true` and `false`.
    Other(IgnoredAny),
}

impl<'a> Scalar<'a> {
    fn text(self, name: &str) -> Result<Cow<'a, str>, String> {
        match self {
            Self::Text(text) => Ok(text),
            _ => Err(format!("{name} must be a text")),
        }
    }

    fn one_of<T: ValueEnum>(self, name: &str) -> Result<T, String> {
        let text = self.text(name)?;
        T::from_str(&text, false).map_err(|_| {
            let all = T::value_variants().iter().filter_map(T::to_possible_value);
            let all: Vec<String> = all.map(|value| value.get_name().to_owned()).collect();
            format!("{name} is `{text}`; it must be {}", all.join(" or "))
        })
    }

    fn routing(self, name: &str) -> Result<Routing, String> {
        routing(&self.text(name)?).map_err(|error| format!("{name} {error}"))
    }

    /// Programs that keep all numbers as floating-point ones write 8 as 8.0.
    fn count(self, name: &str) -> Result<u64, String> {
        match self {
            Self::Whole(count) => Ok(count),
            Self::Number(number) if number >= 0.0 && number.fract() == 0.0 && number < 1e15 => {
                Ok(number as u64)
            }
            Self::Number(number) => Err(format!("{name} is {number}; it must be a whole number")),
            _ => Err(format!("{name} must be a whole number")),
        }
    }

    fn degree(self, name: &str) -> Result<u32, String> {
        let count = self.count(name)?;
        u32::try_from(count).map_err(|_| format!("{name} is {count}; it must be from 1 to 65536"))
    }
}
