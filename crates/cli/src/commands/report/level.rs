//! A level, read again, with what is shown of it besides.

use std::borrow::Cow;
use std::path::Path;

use fizeau::interop::{
    Detail, DetailTally, PeerSettings, Selection, VllmResult, VllmRun, VllmTally,
};
use fizeau::record::{Cut, ReadLevel, Setup, StoredLevel, Unseen};
use fizeau::report::Shown;

use super::{Asked, Depth};
use crate::exit::Fail;
use crate::terminal::say::printable;

/// A level, read again, and vLLM's block of it.
pub(super) struct Level {
    pub(super) read: ReadLevel,
    /// None where nobody asked.
    vllm: Option<VllmResult>,
}

impl Level {
    /// All of a run.
    pub(super) fn all(asked: &Asked<'_>) -> Result<Vec<Self>, Fail> {
        asked.reader.run().levels().iter().map(|stored| Self::of(stored, asked)).collect()
    }

    pub(super) fn of(stored: &StoredLevel, asked: &Asked<'_>) -> Result<Self, Fail> {
        let (reader, run) = (&asked.reader, asked.reader.run());
        let mut vllm = None;
        if asked.shows_blocks {
            let shown = of_vllm(stored.unseen(run.document()).map_err(Fail::usage)?.as_ref())?;
            vllm = Some(VllmTally::new(&shown, reader.goals(), Detail::Brief));
        }
        let mut details = (asked.depth == Depth::Page).then(DetailTally::default);
        let read = reader.level(stored, |tape| {
            vllm.iter_mut().for_each(|vllm| vllm.add(&tape));
            if let Some(details) = &mut details {
                details.add(Cow::Owned(tape));
            }
        });
        let mut read = read.map_err(Fail::usage)?;
        note_cut(stored.path(), read.cut);
        let settings = PeerSettings { goals: reader.goals().clone(), max_concurrency: read.cap };
        read.report.detail = details.map(|details| Box::new(details.finish(&settings)));
        let asked = VllmRun::of(&read.setup, &read.report.asked, read.cap);
        Ok(Self { vllm: vllm.map(|vllm| vllm.finish(asked)), read })
    }

    /// What `fizeau bench` prints.
    pub(super) fn text(&self) -> String {
        let ReadLevel { name, setup: Setup { endpoint, started, .. }, report, .. } = &self.read;
        let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
        let head = [
            format!("{name}{} at {}{}", endpoint.model, endpoint.base_url, endpoint.path),
            format!("  {}, begun {started}", endpoint.backend),
        ];
        // What a file says may hold what a terminal would obey.
        let head = head.map(|line| printable(&line)).join("\n");
        let vllm = self.vllm.as_ref().map(VllmResult::block).unwrap_or_default();
        format!("{head}\n{vllm}\n{}", Shown(report).block())
    }
}

/// The latencies in vLLM's block: its ITL only where gaps were seen.
fn of_vllm(unseen: Option<&Unseen>) -> Result<Selection, Fail> {
    match unseen {
        Some(unseen) if unseen.has_no_gaps() => {
            Selection::parse("ttft,tpot", "99").map_err(Fail::broken)
        }
        _ => Ok(Selection::default()),
    }
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
