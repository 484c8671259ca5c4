//! A level, read again, with what is shown of it besides.

use std::path::Path;

use fizeau::interop::{ExtraTallies, RereadLevel, VllmResult};
use fizeau::record::{ReadLevel, RunSetup, TruncatedTail};
use fizeau::report::{Shown, Verbosity};

use super::ReportRequest;
use crate::exit::Fail;
use crate::terminal::say::printable;

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

/// The same with what pages and pictures show, and nothing else.
pub(super) fn detailed(asked: &ReportRequest<'_>) -> Result<Vec<ReadLevel>, Fail> {
    Ok(read(all(asked, ExtraTallies::DETAIL)?))
}

/// Without what is shown of them besides.
pub(super) fn read(levels: Vec<RereadLevel>) -> Vec<ReadLevel> {
    levels.into_iter().map(|level| level.read).collect()
}

/// What `fizeau bench` prints.
pub(super) fn text(of: &RereadLevel, verbosity: Verbosity) -> String {
    let ReadLevel { name, setup: RunSetup { endpoint, started, .. }, report, .. } = &of.read;
    let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
    let head = [
        format!("{name}{} at {}{}", endpoint.model, endpoint.base_url, endpoint.path),
        format!("  {}, begun {started}", endpoint.backend),
    ];
    // What a file says may hold what a terminal would obey.
    let head = head.map(|line| printable(&line)).join("\n");
    let vllm = of.vllm.as_ref().map(VllmResult::block).unwrap_or_default();
    format!("{head}\n{vllm}\n{}", Shown(report).block(verbosity))
}

/// Says what a killed run left over of the tapes of a level in this folder.
pub(crate) fn note_cut(folder: &Path, cut: Option<TruncatedTail>) {
    if let Some(cut) = cut {
        tell!("note: {} is {cut}", folder.join("tapes.jsonl").display());
    }
}
