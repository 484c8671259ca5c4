//! A search, as its folder has it.

use fizeau::record::{SearchDocument, StoredRun};

use crate::exit::{Fail, Named};
use crate::terminal::say::plain;

/// What a search wrote at its end, and its text; none of any other run. Its answer does not follow from tapes alone: which level came next
/// followed from those before.
pub(super) fn of(run: &StoredRun) -> Result<Option<(SearchDocument, String)>, Fail> {
    let Some(document) = run.search()? else { return Ok(None) };
    let path = run.path().join("search.txt");
    refuse_if!(!path.is_file(), "search.txt: it is missing beside search.json");
    let text = std::fs::read_to_string(path).named("search.txt")?;
    // What a file says may hold what a terminal would obey.
    Ok(Some((document, plain(text.trim_end()))))
}
