//! A level, read again, with what is shown of it besides.

use std::path::Path;

use fizeau::interop::{ExtraTallies, RereadLevel, VllmResult};
use fizeau::record::text::plain_lines;
use fizeau::record::{ReadLevel, SearchDocument, StoredRun, SweepReport, TruncatedTail};
use fizeau::report::{Shown, Verbosity};

use super::ReportRequest;
use crate::exit::{Fail, Named};

/// All levels of a run; says what a killed run left over.
pub(super) fn all(
    asked: &ReportRequest<'_>,
    wanted: ExtraTallies,
) -> Result<Vec<RereadLevel>, Fail> {
    let of = |stored| {
        let level = RereadLevel::read(&asked.reader, stored, wanted).map_err(Fail::usage)?;
        note_cut(stored.path(), level.read.cut);
        Ok(level)
    };
    asked.reader.run().levels().iter().map(of).collect()
}

/// Without what is shown of them besides.
pub(super) fn read(levels: Vec<RereadLevel>) -> Vec<ReadLevel> {
    levels.into_iter().map(|level| level.read).collect()
}

/// What `fizeau bench` prints of a level that is the only one of `run`, or of one of several.
pub(super) fn text(of: &RereadLevel, run: Option<&SweepReport>, verbosity: Verbosity) -> String {
    let vllm = of.vllm.as_ref().map(VllmResult::block).unwrap_or_default();
    Shown(&of.read).text(&vllm, run, verbosity)
}

/// Says what a killed run left over of the tapes of a level in this folder.
pub(crate) fn note_cut(folder: &Path, cut: Option<TruncatedTail>) {
    if let Some(cut) = cut {
        tell!("note: {} is {cut}", folder.join("tapes.jsonl").display());
    }
}

// A search, as its folder has it.

/// What a search wrote at its end, and its text; none of any other run. Its answer does not follow from tapes alone: which level came next
/// followed from those before.
pub(super) fn search(run: &StoredRun) -> Result<Option<(SearchDocument, String)>, Fail> {
    let Some(document) = run.search()? else { return Ok(None) };
    let path = run.path().join("search.txt");
    refuse_if!(!path.is_file(), "search.txt: it is missing, though search.json is there");
    let text = std::fs::read_to_string(path).named("search.txt")?;
    // What a file says may hold what a terminal would obey.
    Ok(Some((document, plain_lines(text.trim_end()))))
}
