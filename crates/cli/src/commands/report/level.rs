//! A level, read again, with what is shown of it besides.

use std::path::Path;

use fizeau::interop::{ExtraTallies, RereadLevel, VllmResult};
use fizeau::record::{ReadLevel, TruncatedTail};

use super::ReportRequest;
use crate::exit::Fail;

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

/// vLLM's block, which stands above our own.
pub(super) fn head(of: &RereadLevel) -> String {
    of.vllm.as_ref().map(VllmResult::block).unwrap_or_default()
}

/// Says what a killed run left over of the tapes of a level in this folder.
pub(crate) fn note_cut(folder: &Path, cut: Option<TruncatedTail>) {
    if let Some(cut) = cut {
        tell!("note: {} is {cut}", folder.join("tapes.jsonl").display());
    }
}
