//! A query as a line of JSON. Read without an allocation where texts have no escapes, since files have many lines.

use std::borrow::Cow;
use std::fmt;

use fizeau_roofline::{ExpertExchange, ExpertRouting, Overlap, Prefix};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::{SolQuery, SolQueryError};

/// A line of JSON that was understood as a query.
#[derive(Debug)]
#[non_exhaustive]
pub struct QueryLine<'a> {
    /// The query.
    pub query: SolQuery<'a>,
    /// Fields that nothing is known of.
    pub unknown: Vec<String>,
}

impl<'a> SolQuery<'a> {
    /// The query of `line`, a JSON object; what it does not say is as in this one.
    ///
    /// # Errors
    /// If it is no such object, or a field of it is not understood.
    ///
    /// ```
    /// use fizeau_experiment::{LoadQuery, SolQuery, SystemQuery};
    ///
    /// let load = LoadQuery { isl: 1024, osl: 128, cached: 0, concurrency: 1 };
    /// let defaults = SolQuery { system: SystemQuery::new("llama-3.1-8b", "h100-sxm"), load };
    /// let line = defaults.line(br#"{"tp": 2, "concurrency": 8.0, "note": "x"}"#)?;
    /// assert_eq!((line.query.system.deployment.tp, line.query.load.concurrency), (2, 8));
    /// assert_eq!(line.unknown, ["note"]);
    /// # Ok::<(), fizeau_experiment::SolQueryError>(())
    /// ```
    pub fn line(&self, line: &'a [u8]) -> Result<QueryLine<'a>, SolQueryError> {
        let mut json = serde_json::Deserializer::from_slice(line);
        let read = QueryReader(self).deserialize(&mut json);
        let read = read.and_then(|read| json.end().map(|()| read));
        read.map_err(|error| not_json(&error)).and_then(|read| read).map_err(SolQueryError)
    }
}

/// Every line is the first of its own text, so only the column says something.
fn not_json(error: &serde_json::Error) -> String {
    let column = error.column();
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    format!("not a JSON object: {what} at column {column}")
}

struct QueryReader<'q, 'a>(&'q SolQuery<'a>);

impl<'a> DeserializeSeed<'a> for QueryReader<'_, 'a> {
    type Value = Result<QueryLine<'a>, String>;

    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for QueryReader<'_, 'a> {
    type Value = Result<QueryLine<'a>, String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    /// Reads on after the first field that is wrong, so that what is no JSON at all is said to be that.
    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut line = QueryLine { query: self.0.clone(), unknown: Vec::new() };
        let mut wrong = None;
        while let Some(FieldName(name)) = map.next_key()? {
            let value: FieldValue<'a> = map.next_value()?;
            if let Err(error) = line.set(&name, value) {
                wrong.get_or_insert(error);
            }
        }
        Ok(wrong.map_or(Ok(line), Err))
    }
}

impl<'a> QueryLine<'a> {
    /// A null is as if the field were absent.
    fn set(&mut self, name: &str, value: FieldValue<'a>) -> Result<(), String> {
        let SolQuery { system, load } = &mut self.query;
        let spread = &mut system.deployment;
        if matches!(value, FieldValue::Null(())) {
            return Ok(());
        }
        match name {
            "model_config" => system.model_config = Some(value.text(name)?),
            "hardware" => system.hardware = Some(value.text(name)?),
            "weights" => system.weights = Some(value.text(name)?),
            "engine" => system.engine = Some(value.text(name)?),
            "kv" => system.kv = Some(value.text(name)?),
            "tp" => spread.tp = value.degree(name)?,
            "pp" => spread.pp = value.degree(name)?,
            "ep" => spread.ep = value.degree(name)?,
            "dp" => spread.dp = value.degree(name)?,
            "replicas" => spread.replicas = value.degree(name)?,
            "prefix" => spread.choices.prefix = value.one_of(name, &PREFIXES)?,
            "routing" => spread.choices.routing = value.routing(name)?,
            "overlap" => spread.choices.overlap = value.one_of(name, &OVERLAPS)?,
            "exchange" => spread.choices.exchange = value.one_of(name, &EXCHANGES)?,
            "isl" => load.isl = value.count(name)?,
            "osl" => load.osl = value.count(name)?,
            "cached" => load.cached = value.count(name)?,
            "concurrency" => load.concurrency = value.count(name)?,
            _ => self.unknown.push(name.to_owned()),
        }
        Ok(())
    }
}

const PREFIXES: [(&str, Prefix); 2] = [("shared", Prefix::Shared), ("own", Prefix::Own)];
const OVERLAPS: [(&str, Overlap); 2] =
    [("none", Overlap::None), ("two-batches", Overlap::TwoBatches)];
const EXCHANGES: [(&str, ExpertExchange); 3] = [
    ("fastest", ExpertExchange::Fastest),
    ("all-to-all", ExpertExchange::AllToAll),
    ("all-gather", ExpertExchange::AllGather),
];

/// A field's name.
#[derive(Deserialize)]
struct FieldName<'a>(#[serde(borrow)] Cow<'a, str>);

/// A field's value.
#[derive(Deserialize)]
#[serde(untagged)]
enum FieldValue<'a> {
    Null(()),
    Whole(u64),
    /// Any other number.
    Number(f64),
    #[serde(borrow)]
    Text(Cow<'a, str>),
    /// Lists, objects, `true` and `false`.
    Other(IgnoredAny),
}

impl<'a> FieldValue<'a> {
    fn text(self, name: &str) -> Result<Cow<'a, str>, String> {
        match self {
            Self::Text(text) => Ok(text),
            _ => Err(format!("{name} must be a text")),
        }
    }

    fn one_of<T: Copy>(self, name: &str, all: &[(&str, T)]) -> Result<T, String> {
        let text = self.text(name)?;
        let found = all.iter().find(|(known, _)| *known == text);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let all: Vec<&str> = all.iter().map(|(known, _)| *known).collect();
            format!("{name} is `{text}`; it must be {}", all.join(" or "))
        })
    }

    fn routing(self, name: &str) -> Result<ExpertRouting, String> {
        self.text(name)?.parse().map_err(|error| format!("{name} {error}"))
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
