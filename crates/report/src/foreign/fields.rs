//! The fields of a record, each read with an error that names file and field.

use serde_json::{Map, Value};

use super::{ForeignError, ForeignFile, ImportedLevel};

/// A record of another tool's file.
pub(super) struct Fields<'a> {
    /// The file, and which record in it.
    place: String,
    tool: &'static str,
    /// What stands in front of the names of its fields: those of a nested object.
    prefix: String,
    map: &'a Map<String, Value>,
}

const NUMBER: &str = "a number from 0 to 1e15";

/// No rate and no time is above it; what is would be printed with hundreds of digits.
const GREATEST: f64 = 1e15;
const WHOLE: &str = "a whole number from 0 up";

/// What `import` makes of each record of `files`.
pub(super) fn levels_of<'f, 'b: 'f>(
    files: impl IntoIterator<Item = &'f ForeignFile<'b>>,
    tool: &'static str,
    import: impl Fn(&Fields<'_>, &ForeignFile<'_>) -> Result<ImportedLevel, ForeignError>,
) -> Result<Vec<ImportedLevel>, ForeignError> {
    let mut levels = Vec::new();
    for file in files {
        for fields in Fields::all(file, tool)? {
            levels.push(import(&fields, file)?);
        }
    }
    Ok(levels)
}

impl<'a> Fields<'a> {
    /// Those of each record of `file`.
    pub(super) fn all(
        file: &'a ForeignFile<'_>,
        tool: &'static str,
    ) -> Result<Vec<Self>, ForeignError> {
        let records = file.records()?;
        if records.is_empty() {
            let (file, why) = (file.name().to_owned(), "it is empty".to_owned());
            return Err(ForeignError::Damaged { file, why });
        }
        let place = |index: usize| match records.len() {
            1 => file.name().to_owned(),
            _ => format!("{} record {}", file.name(), index + 1),
        };
        let of = |(index, record): (usize, &'a Value)| {
            let place = place(index);
            match record.as_object() {
                Some(map) => Ok(Self { place, tool, prefix: String::new(), map }),
                None => Err(ForeignError::Damaged { file: place, why: "no object".to_owned() }),
            }
        };
        records.iter().enumerate().map(of).collect()
    }

    /// Those of a record that is at hand.
    pub(super) const fn new(
        place: String,
        tool: &'static str,
        map: &'a Map<String, Value>,
    ) -> Self {
        Self { place, tool, prefix: String::new(), map }
    }

    /// Where something within it stands, for the fields of that.
    pub(super) fn place_of(&self, name: &str) -> String {
        format!("{} {}{name}", self.place, self.prefix)
    }

    /// The tool that wrote them.
    pub(super) const fn tool(&self) -> &'static str {
        self.tool
    }

    /// All of them.
    pub(super) const fn map(&self) -> &'a Map<String, Value> {
        self.map
    }

    /// What is there; nothing for null.
    pub(super) fn get(&self, field: &str) -> Option<&'a Value> {
        self.map.get(field).filter(|value| !value.is_null())
    }

    pub(super) fn has(&self, field: &str) -> bool {
        self.get(field).is_some()
    }

    /// A number that must be there.
    pub(super) fn number(&self, field: &str) -> Result<f64, ForeignError> {
        self.maybe_number(field)?.ok_or_else(|| self.missing(field))
    }

    /// A number from 0 to 1e15; none for null.
    pub(super) fn maybe_number(&self, field: &str) -> Result<Option<f64>, ForeignError> {
        self.get(field).map(|value| self.number_of(field, value)).transpose()
    }

    /// A count that must be there.
    pub(super) fn whole(&self, field: &str) -> Result<u64, ForeignError> {
        self.maybe_whole(field)?.ok_or_else(|| self.missing(field))
    }

    /// A count; none for null. Some tools write counts as floating numbers.
    pub(super) fn maybe_whole(&self, field: &str) -> Result<Option<u64>, ForeignError> {
        self.get(field).map(|value| self.whole_of(field, value)).transpose()
    }

    /// A text; none for null, and for what is no text.
    pub(super) fn text(&self, field: &str) -> Option<String> {
        self.get(field)?.as_str().map(str::to_owned)
    }

    /// What is there in words: a text as it is, a number as JSON has it; none for lists and objects.
    pub(super) fn words(&self, field: &str) -> Option<String> {
        match self.get(field)? {
            Value::String(text) => Some(text.clone()),
            Value::Array(_) | Value::Object(_) | Value::Null => None,
            plain => Some(plain.to_string()),
        }
    }

    /// An object within; none for null.
    pub(super) fn object(&self, field: &str) -> Result<Option<Self>, ForeignError> {
        let Some(value) = self.get(field) else { return Ok(None) };
        let map = value.as_object().ok_or_else(|| self.wrong(field, value, "an object"))?;
        let prefix = format!("{}{field}.", self.prefix);
        Ok(Some(Self { place: self.place.clone(), tool: self.tool, prefix, map }))
    }

    /// A list; none for null.
    pub(super) fn list(&self, field: &str) -> Result<Option<&'a [Value]>, ForeignError> {
        let Some(value) = self.get(field) else { return Ok(None) };
        let list = value.as_array().ok_or_else(|| self.wrong(field, value, "a list"))?;
        Ok(Some(list))
    }

    /// A list of numbers; what is null in it is none.
    pub(super) fn numbers(&self, field: &str) -> Result<Option<Vec<Option<f64>>>, ForeignError> {
        let Some(list) = self.list(field)? else { return Ok(None) };
        let each = |(index, value): (usize, &Value)| match value {
            Value::Null => Ok(None),
            value => self.number_of(&format!("{field}[{index}]"), value).map(Some),
        };
        list.iter().enumerate().map(each).collect::<Result<_, _>>().map(Some)
    }

    /// A list of counts.
    pub(super) fn wholes(&self, field: &str) -> Result<Option<Vec<u64>>, ForeignError> {
        let Some(list) = self.list(field)? else { return Ok(None) };
        let each = |(index, value): (usize, &Value)| match value {
            Value::Null => Ok(0),
            value => self.whole_of(&format!("{field}[{index}]"), value),
        };
        list.iter().enumerate().map(each).collect::<Result<_, _>>().map(Some)
    }

    /// A list of lists of numbers.
    pub(super) fn number_lists(&self, field: &str) -> Result<Option<Vec<Vec<f64>>>, ForeignError> {
        let Some(list) = self.list(field)? else { return Ok(None) };
        let each = |(index, value): (usize, &Value)| {
            let name = format!("{field}[{index}]");
            let inner = value.as_array().ok_or_else(|| self.wrong(&name, value, "a list"))?;
            inner.iter().map(|value| self.number_of(&name, value)).collect()
        };
        list.iter().enumerate().map(each).collect::<Result<_, _>>().map(Some)
    }

    /// A list of texts; what is no text is empty.
    pub(super) fn texts(&self, field: &str) -> Result<Option<Vec<String>>, ForeignError> {
        let texts = |list: &[Value]| {
            list.iter().map(|value| value.as_str().unwrap_or_default().to_owned()).collect()
        };
        Ok(self.list(field)?.map(texts))
    }

    /// That a field is not there, or holds nothing.
    pub(super) fn missing(&self, field: &str) -> ForeignError {
        let (place, tool) = (self.place.clone(), self.tool);
        if self.map.contains_key(field) {
            let (field, found) = (format!("{}{field}", self.prefix), "null or NaN".to_owned());
            return ForeignError::Wrong { place, field, found, wanted: "a value" };
        }
        ForeignError::Missing { place, field: format!("{}{field}", self.prefix), tool }
    }

    pub(super) fn wrong(&self, field: &str, found: &Value, wanted: &'static str) -> ForeignError {
        let text = found.to_string();
        let found = match text.char_indices().nth(40) {
            Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
            None => text,
        };
        let field = format!("{}{field}", self.prefix);
        ForeignError::Wrong { place: self.place.clone(), field, found, wanted }
    }

    fn number_of(&self, field: &str, value: &Value) -> Result<f64, ForeignError> {
        let number = value.as_f64().filter(|number| (0.0..=GREATEST).contains(number));
        number.ok_or_else(|| self.wrong(field, value, NUMBER))
    }

    fn whole_of(&self, field: &str, value: &Value) -> Result<u64, ForeignError> {
        // Beyond 2^53 a floating number is no count any more.
        let is_whole = |number: &f64| {
            number.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(number)
        };
        let whole = value.as_u64().or_else(|| value.as_f64().filter(is_whole).map(|n| n as u64));
        whole.ok_or_else(|| self.wrong(field, value, WHOLE))
    }
}
