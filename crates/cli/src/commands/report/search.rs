//! A search, as its folder has it.

use fizeau::record::StoredRun;
use serde_json::Value;

use crate::exit::{Fail, Named};

/// The file of a folder that says it is that of a search.
const SEARCH: &str = "search.json";

/// What a search wrote at its end. Its answer is no matter of tapes alone: which level came next followed from those before.
pub(super) struct Stored {
    json: String,
    text: String,
    document: Value,
}

impl Stored {
    /// That of a search; none of any other run.
    pub(super) fn of(run: &StoredRun) -> Result<Option<Self>, Fail> {
        let read = |name: &str| match std::fs::read_to_string(run.path().join(name)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            read => read.named(name).map(Some),
        };
        let Some(json) = read(SEARCH)? else { return Ok(None) };
        let document: Value = serde_json::from_str(&json).named(SEARCH)?;
        if document["schema"] != "fizeau.search/1" {
            return Err(Fail::usage(format!("{SEARCH}: its schema is not fizeau.search/1")));
        }
        let text = read("search.txt")?;
        let text =
            text.ok_or_else(|| Fail::usage("search.txt: it is missing beside search.json"))?;
        Ok(Some(Self { json, text, document }))
    }

    pub(super) fn is_invalid(&self) -> bool {
        self.document["verdict"] == "invalid"
    }

    pub(super) fn json(&self) -> String {
        self.json.trim_end().to_owned()
    }

    /// What a file says may hold what a terminal would obey.
    pub(super) fn text(&self) -> String {
        let is_obeyed = |c: char| c.is_control() && c != '\n';
        self.text.trim_end().replace(is_obeyed, "\u{fffd}")
    }
}
