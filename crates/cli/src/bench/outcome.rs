//! A level, carried out: measured, judged, kept and shown.

use fizeau::harness::{Cancel, LevelRun, Measure, Notice, Observer, PlannedLevel, Probe};
use fizeau::metrics::Verdict;
use fizeau::record::RunFolder;
use fizeau::report::{Checklist, Detail, LevelReport, Shown, SweepReport, VllmResult, VllmTally};

use super::trial::{Trial, text_after};
use crate::args::TrustArgs;
use crate::checklist;
use crate::client::Client;
use crate::exit::{Exit, Fail};
use crate::levels::{self, Kept, Yardstick};
use crate::progress::{Progress, Title, View};
use crate::report::{PAGE, write_page};
use crate::say::say;

/// What came of the run.
pub(crate) struct Measured {
    run: LevelRun,
    kept: Kept,
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
    /// The level, for whoever measures it.
    pub(super) fn level(&self) -> PlannedLevel<'_> {
        PlannedLevel {
            shard: self.shard,
            warmup: self.warmups(),
            goals: &self.goals,
            until: self.until.as_ref(),
            window: self.args.window.choice(),
            text: text_after(self.args),
            probe: self.probe.as_ref().map(|plan| Probe { plan }),
            ..PlannedLevel::new(self.work.plan(), self.load)
        }
    }

    /// Runs the level; each tape is in `folder` as its request ends.
    pub(crate) async fn measure<M: Measure>(
        &self,
        mut with: M,
        folder: Option<&RunFolder>,
        cancel: &Cancel,
        view: View,
    ) -> Result<Measured, Fail> {
        let mut progress = Progress::new(view, Title::of("bench", &self.setup), cancel);
        progress.only(self.share());
        let mut sink = folder.map(RunFolder::tapes).transpose().map_err(Fail::broken)?;
        let detail = if self.args.result.save_detailed { Detail::Full } else { Detail::Brief };
        let mut vllm = VllmLevel(VllmTally::new(&self.selection, &self.goals, detail));
        let mut kept = Kept::new(folder, self.physics());
        let mut observer = (progress, (&mut kept, &mut vllm));
        let run = with.measure(self.level(), &mut sink, &mut observer).await;
        let run = run.map_err(Fail::broken)?;
        drop(observer);
        Ok(Measured { run, kept, vllm: vllm.0, interrupted: cancel.is_cancelled() })
    }

    /// What is to be said of what `client` measured; it is on disk then.
    pub(crate) fn finish(
        &self,
        client: &Client,
        folder: Option<&RunFolder>,
        measured: Measured,
    ) -> Outcome {
        let Measured { run, kept, vllm, interrupted } = measured;
        let repeated = self.work.repeated();
        let yardstick = Yardstick {
            physics: self.physics.as_ref().map_err(|reason| *reason),
            client,
            asked: self.work.asked_of(self.one_in(), levels::released(&run)),
            abandoned: run.driven.abandoned,
            repeated: repeated.as_deref(),
        };
        let mut report = levels::report(&run, &kept, self.load_point, yardstick, None);
        report.checklist = Some(Checklist::of(&self.setup, std::slice::from_ref(&report)));
        let result = vllm.finish(self.vllm.clone());
        let files = self.keep(folder, &run, &kept, (&report, &result));
        let missed = report.validity.verdict == Verdict::Invalid || !run.is_precise();
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
        run: &LevelRun,
        kept: &Kept,
        (report, result): (&LevelReport, &VllmResult),
    ) -> Result<Vec<String>, Fail> {
        let mut lines = Vec::new();
        if let Some(folder) = folder {
            levels::write(folder, run, kept, report)?;
            let alone = SweepReport::new(self.setup.clone(), vec![report.clone()], None);
            write_page(folder, &alone)?;
            lines.push(format!("run folder: {}", folder.path().display()));
            lines.push(format!("report: {}", folder.path().join(PAGE).display()));
        }
        if let Some(file) = &self.result {
            let path = file.path().display();
            if run.is_partial() {
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

impl Observer for VllmLevel {
    fn notice(&mut self, notice: Notice<'_>) {
        if let Notice::RequestEnded(tape) = notice {
            self.0.add(tape);
        }
    }
}
