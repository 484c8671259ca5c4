//! A level, read again, with what is shown of it besides.

use std::path::Path;

use fizeau::interop::{LevelAgain, TakenBeside, VllmResult};
use fizeau::record::{Cut, ReadLevel, Setup};
use fizeau::report::Shown;

use super::Asked;
use crate::exit::Fail;
use crate::terminal::say::printable;

/// All levels of a run; says what a killed run left over.
pub(super) fn all(asked: &Asked<'_>, wanted: TakenBeside) -> Result<Vec<LevelAgain>, Fail> {
    let of = |stored| {
        let level = LevelAgain::read(&asked.reader, stored, wanted).map_err(Fail::usage)?;
        note_cut(stored.path(), level.read.cut);
        Ok(level)
    };
    asked.reader.run().levels().iter().map(of).collect()
}

/// The same with what pages and pictures show, and nothing else.
pub(super) fn detailed(asked: &Asked<'_>) -> Result<Vec<ReadLevel>, Fail> {
    Ok(read(all(asked, TakenBeside::DETAIL)?))
}

/// Without what is shown of them besides.
pub(super) fn read(levels: Vec<LevelAgain>) -> Vec<ReadLevel> {
    levels.into_iter().map(|level| level.read).collect()
}

/// What `fizeau bench` prints.
pub(super) fn text(of: &LevelAgain) -> String {
    let ReadLevel { name, setup: Setup { endpoint, started, .. }, report, .. } = &of.read;
    let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
    let head = [
        format!("{name}{} at {}{}", endpoint.model, endpoint.base_url, endpoint.path),
        format!("  {}, begun {started}", endpoint.backend),
    ];
    // What a file says may hold what a terminal would obey.
    let head = head.map(|line| printable(&line)).join("\n");
    let vllm = of.vllm.as_ref().map(VllmResult::block).unwrap_or_default();
    format!("{head}\n{vllm}\n{}", Shown(report).block())
}

/// Says what a killed run left over of the tapes of a level in this folder.
pub(crate) fn note_cut(folder: &Path, cut: Option<Cut>) {
    if let Some(Cut { whole, rest_bytes, .. }) = cut {
        tell!(
            "note: {}: cut in mid-line: {whole} whole tapes are used, {rest_bytes} bytes are left over",
            folder.join("tapes.jsonl").display(),
        );
    }
}
