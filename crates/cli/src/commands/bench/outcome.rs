//! A level, carried out: measured, judged, kept and shown.

use std::num::NonZeroU32;

use fizeau::core::Tape;
use fizeau::experiment::{MeasuredLevel, Watcher, keep_level};
use fizeau::harness::{Cancel, Measure};
use fizeau::interop::{Detail, VllmResult, VllmTally};
use fizeau::metrics::Verdict;
use fizeau::record::{LevelDetail, LevelReport, RunFolder};
use fizeau::report::Shown;

use super::trial::Trial;
use crate::args::TrustArgs;
use crate::commands::report::{PAGE, write_page};
use crate::commands::shared::checklist;
use crate::commands::shared::details::Details;
use crate::exit::{Exit, Fail};
use crate::terminal::progress::{Progress, Title, View};
use crate::terminal::say::say;

/// What came of the run.
pub(crate) struct Measured {
    level: MeasuredLevel,
    /// What its page shows of its tapes, where it has one.
    detail: Option<LevelDetail>,
    vllm: VllmTally,
    interrupted: bool,
}

/// What is to be said of it, once it is on disk.
pub(crate) struct Outcome {
    pub(crate) report: LevelReport,
    pub(crate) result: VllmResult,
    pub(crate) exit: Exit,
    /// A line for each file, or why there is none.
    files: Result<Vec<String>, Fail>,
}

impl Trial<'_> {
    /// Runs the level; each tape is in `folder` as its request ends.
    pub(crate) async fn measure<M: Measure>(
        &self,
        with: M,
        folder: Option<&RunFolder>,
        cancel: &Cancel,
        view: View,
    ) -> Result<Measured, Fail> {
        let mut progress = Progress::new(view, Title::of("bench", &self.level.setup), cancel);
        let detail = if self.args.result.save_detailed { Detail::Full } else { Detail::Brief };
        let mut vllm =
            VllmLevel(VllmTally::new(&self.selection, &self.level.settings.goals, detail));
        let mut details = folder.map(|_| Details::new(&self.level.settings.goals));
        let mut watcher = (&mut progress, (&mut vllm, &mut details));
        let level = self.level.measure(with, folder, &mut watcher).await?;
        let cap = self.level.load.max_in_flight.map(NonZeroU32::get);
        let detail = details.map(|mut details| details.finish(cap));
        Ok(Measured { level, detail, vllm: vllm.0, interrupted: cancel.is_cancelled() })
    }

    /// What is to be said of what was measured; it is on disk then.
    pub(crate) fn finish(&self, folder: Option<&RunFolder>, measured: Measured) -> Outcome {
        let Measured { level, detail, vllm, interrupted } = measured;
        let report = self.level.report(&level);
        let result = vllm.finish(self.vllm.clone());
        let files = self.keep(folder, (&level, detail), &report, &result);
        let missed = report.validity.verdict == Verdict::Invalid || !level.run.is_precise();
        let exit = match interrupted {
            true => Exit::Interrupted,
            false if missed => Exit::Missed,
            false => Exit::Good,
        };
        Outcome { report, result, exit, files }
    }

    /// Writes the files that were asked for. Gives a line for each.
    fn keep(
        &self,
        folder: Option<&RunFolder>,
        (level, detail): (&MeasuredLevel, Option<LevelDetail>),
        report: &LevelReport,
        result: &VllmResult,
    ) -> Result<Vec<String>, Fail> {
        let mut lines = Vec::new();
        if let Some(folder) = folder {
            keep_level(folder, report, &level.tallies).map_err(Fail::broken)?;
            let shown = LevelReport { detail: detail.map(Box::new), ..report.clone() };
            write_page(folder, &self.level.as_sweep(level, shown))?;
            lines.push(format!("run folder: {}", folder.path().display()));
            lines.push(format!("report: {}", folder.path().join(PAGE).display()));
        }
        if let Some(file) = &self.result {
            let path = file.path().display();
            if level.run.is_partial() {
                // vLLM's format has no mark for a part of a run.
                lines.push(format!("not written, since the run was interrupted: {path}"));
            } else {
                file.write(&result.to_json())?;
                lines.push(format!("result: {path}"));
            }
        }
        Ok(lines)
    }
}

impl Outcome {
    /// Prints both blocks, the checklist and where the files are. On disk before on the screen: who closes the pipe loses nothing, and a
    /// full disk hides nothing.
    pub(crate) fn show(self, trust: &TrustArgs) -> Result<Exit, Fail> {
        if self.report.summary.requests.sent == 0 {
            say("nothing was measured: no request was sent that counts")?;
        } else {
            say(self.result.block())?;
            say(Shown(&self.report).block())?;
        }
        self.report.checklist.iter().try_for_each(|list| checklist::show(list, trust))?;
        for line in self.files? {
            say(line)?;
        }
        let list = self.report.checklist.iter();
        Ok(list.fold(self.exit, |exit, list| checklist::enforce(list, trust, exit)))
    }
}

/// vLLM's figures, added up as requests end.
struct VllmLevel(VllmTally);

impl Watcher for VllmLevel {
    fn tape(&mut self, tape: &Tape) {
        self.0.add(tape);
    }

    fn watches_requests(&self) -> bool {
        false
    }
}
