//! A search, as its folder has it.

use fizeau::metrics::Verdict;
use fizeau::record::{SearchDocument, StoredRun};

use crate::exit::{Fail, Named};
use crate::terminal::say::plain;

/// What a search wrote at its end. Its answer does not follow from tapes alone: which level came next followed from those before.
pub(super) struct StoredSearch {
    document: SearchDocument,
    text: String,
}

impl StoredSearch {
    /// That of a search; none of any other run.
    pub(super) fn of(run: &StoredRun) -> Result<Option<Self>, Fail> {
        let Some(document) = run.search().map_err(Fail::usage)? else { return Ok(None) };
        let path = run.path().join("search.txt");
        if !path.is_file() {
            return Err(Fail::usage("search.txt: it is missing beside search.json"));
        }
        let text = std::fs::read_to_string(path).named("search.txt")?;
        Ok(Some(Self { document, text }))
    }

    pub(super) fn is_invalid(&self) -> bool {
        self.document.verdict == Verdict::Invalid
    }

    pub(super) fn json(&self) -> Result<String, Fail> {
        serde_json::to_string_pretty(&self.document).map_err(Fail::broken)
    }

    /// What a file says may hold what a terminal would obey.
    pub(super) fn text(&self) -> String {
        plain(self.text.trim_end())
    }
}
