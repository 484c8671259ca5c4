//! One level: what is asked of it, and what is to be kept and shown of it, whoever answers.

use std::fs;
use std::num::{NonZeroU32, NonZeroU64};

use fizeau::core::{Nanos, PerSec};
use fizeau::experiment::{
    DetailWatcher, LevelSettings, MeasuredLevel, PreparedLevel, ProbeSpec, TapeWatcher, WallTime,
};
use fizeau::harness::{Cancel, TextAfter};
use fizeau::interop::{DetailTally, VllmDetail, VllmResult, VllmRun, VllmSelection, VllmTally};
use fizeau::record::{
    LevelReport, LevelStatus, ResultFile, ResultFileMode, RunFolder, SweepReport,
};
use fizeau::report::Shown;
use fizeau::workload::TracePacing;

use super::arrivals::{arrivals, check_burstiness, pacing};
use crate::args::{LevelArgs, ProbeArgs, TrustArgs};
use crate::commands::report::{PAGE, write_page};
use crate::commands::shared::{checklist, speed, workload};
use crate::exit::{Exit, Fail, Named, parsed, refuse_given};
use crate::terminal::progress::{Progress, View, title};
use crate::terminal::say::say;

/// What is to be written of a level besides its run's folder. Nothing has been sent.
pub(crate) struct LevelOutputs<'a> {
    args: &'a LevelArgs,
    selection: VllmSelection,
    vllm: VllmRun,
    /// Where vLLM's JSON goes.
    result: Option<ResultFile>,
}

/// Who watches a level.
type LevelWatcher = (Progress, (TapeWatcher<VllmTally>, Option<DetailWatcher<DetailTally>>));

/// What is noted on it, once it is on disk.
pub(crate) struct Outcome {
    pub(crate) report: LevelReport,
    /// As a sweep of one level, which has the goals.
    pub(crate) sweep: SweepReport,
    result: VllmResult,
    exit: Exit,
    /// A line for each file, or why there is none.
    files: Result<Vec<String>, Fail>,
}

impl<'a> LevelOutputs<'a> {
    /// That of `level`, which `args` ask for, whose `model` vLLM's result names so.
    pub(crate) fn new(
        args: &'a LevelArgs,
        model: &str,
        level: &PreparedLevel,
    ) -> Result<Self, Fail> {
        let selection = selection(args)?;
        let vllm = vllm_run(args, model, level);
        // As in vLLM, to append is to save.
        let result = (args.result.save_result || args.result.append_result)
            .then(|| result_file(args, &vllm))
            .transpose()?;
        Ok(Self { args, selection, vllm, result })
    }

    /// Who watches the level. Where it has a folder, its page needs more than its figures.
    pub(crate) fn watcher(
        &self,
        level: &PreparedLevel,
        folder: Option<&RunFolder>,
        view: View,
        cancel: &Cancel,
    ) -> LevelWatcher {
        let (goals, setup) = (&level.settings.goals, &level.basis.setup);
        let detail = match self.result {
            None => VllmDetail::Totals,
            Some(_) if self.args.result.save_detailed => VllmDetail::Full,
            Some(_) => VllmDetail::Brief,
        };
        let vllm = VllmTally::new(&self.selection, goals, detail);
        let vllm = TapeWatcher::new(vllm, VllmTally::add);
        let details = folder.map(|_| DetailWatcher::new(goals));
        (Progress::new(view, title("bench", setup), cancel), (vllm, details))
    }

    /// What is noted on what was measured, once the files are written that were asked for.
    pub(crate) fn finish(
        &self,
        folder: Option<&RunFolder>,
        measured: MeasuredLevel,
        (_, (vllm, _)): LevelWatcher,
        cancel: &Cancel,
    ) -> Outcome {
        let MeasuredLevel { report, sweep, .. } = measured;
        let result = vllm.into_inner().finish(self.vllm.clone().offered(&report));
        let files = self.keep(folder, &sweep, &result);
        let exit = Exit::of(cancel, !sweep.passes_alone());
        Outcome { report, sweep, result, exit, files }
    }

    /// Writes the files that were asked for. Gives a line for each.
    fn keep(
        &self,
        folder: Option<&RunFolder>,
        sweep: &SweepReport,
        result: &VllmResult,
    ) -> Result<Vec<String>, Fail> {
        let mut lines = Vec::new();
        if folder.is_none() && self.result.is_none() {
            lines.push("Nothing was stored; --out DIR keeps the run and writes its page.".into());
        }
        if let Some(folder) = folder {
            write_page(folder, sweep)?;
            lines.push(format!("Report: {}", folder.path().join(PAGE).display()));
        }
        if let Some(file) = &self.result {
            let path = file.path().display();
            if sweep.levels().iter().any(|level| level.status != LevelStatus::Finished) {
                // vLLM's format has no mark for a part of a run.
                lines.push(format!("not written, since the run was interrupted: {path}"));
            } else {
                let written = file.write(&result.to_json());
                written.map_err(|error| broken!("{path}: {error}"))?;
                lines.push(format!("result: {path}"));
            }
        }
        Ok(lines)
    }
}

impl Outcome {
    /// The same, if the run's folder was `written`. What could not be written is told after the figures, and takes none of them away.
    pub(crate) fn written(mut self, written: Result<(), Fail>) -> Self {
        self.files = written.and(self.files);
        self
    }

    /// Prints both blocks, the checklist and where the files are. On disk before on the screen: who closes the pipe loses nothing, and a
    /// full disk hides nothing.
    pub(crate) fn show(self, trust: &TrustArgs) -> Result<Exit, Fail> {
        if self.report.summary.requests.sent == 0 {
            say("nothing was measured: no measured request was sent")?;
        } else {
            say(self.result.block())?;
            say(Shown(&self.report).block_with(&self.sweep, trust.output.verbosity()))?;
            if let Some(needed) = self.sweep.requests_needed() {
                say(format!("Use --num-prompts {needed} to decide all goals."))?;
            }
            speed::say_missing([&self.report])?;
            self.report.checklist.iter().try_for_each(|list| checklist::show(list, trust))?;
        }
        for line in self.files? {
            say(line)?;
        }
        let list = self.report.checklist.iter();
        Ok(list.fold(self.exit, |exit, list| checklist::enforce(list, trust, exit)))
    }
}

/// The level that `args` ask for.
pub(crate) fn settings(args: &LevelArgs) -> Result<LevelSettings, Fail> {
    let mut settings = LevelSettings::default();
    settings.goals = args.goals.goodput()?;
    settings.slo = args.goals.given()?;
    settings.max_in_flight = args.load.in_flight.max_concurrency;
    let is_capped = settings.max_in_flight.is_some();
    let arrivals = arrivals(&args.arrivals, is_capped)?;
    check_burstiness(&args.arrivals, workload::is_trace(&args.workload))?;
    let replay = replay(args, is_capped)?;
    settings.time =
        args.load.level_seconds.map(Nanos::from_secs_f64).transpose().named("--level-seconds")?;
    settings.workload = workload::paced(workload::spec(&args.workload)?, replay);
    settings.workload.arrivals = arrivals;
    settings.workload.requests = args.load.num_prompts;
    settings.warmups = args.load.num_warmups;
    settings.probe = probe(&args.probe);
    settings.window = args.window.choice();
    settings.until = parsed(&args.load.until).named("--until")?;
    settings.text = text_after(args);
    settings.price.clone_from(&args.result.price.gpu_hour);
    Ok(settings)
}

/// The stream of probes that the flags ask for.
fn probe(args: &ProbeArgs) -> Option<ProbeSpec> {
    let mut probe = ProbeSpec::new(PerSec::new(args.probe_request_rate?));
    (probe.input, probe.output) = (args.probe_input_len, args.probe_output_len);
    Some(probe)
}

/// The figures of vLLM's block.
pub(crate) fn selection(args: &LevelArgs) -> Result<VllmSelection, Fail> {
    let (metrics, percentiles) = (&args.result.percentile_metrics, &args.result.metric_percentiles);
    VllmSelection::parse(&metrics.join(","), &percentiles.join(","))
        .named("--percentile-metrics/--metric-percentiles")
}

/// When the requests of a trace leave; flags of traces are for traces.
fn replay(args: &LevelArgs, is_capped: bool) -> Result<TracePacing, Fail> {
    if workload::is_trace(&args.workload) {
        return pacing(&args.arrivals, &args.replay, is_capped);
    }
    let given = [
        (args.replay.trace_speedup.is_some(), "--trace-speedup"),
        (args.replay.ignore_trace_times, "--ignore-trace-times"),
    ];
    let name = &args.workload.dataset_name;
    refuse_given(&given, |flag| {
        format!("{flag} needs a trace, and --dataset-name {name} is not one")
    })?;
    Ok(TracePacing::ClosedLoop)
}

/// What becomes of the text of replies.
pub(crate) const fn text_after(args: &LevelArgs) -> TextAfter {
    if args.result.save_detailed { TextAfter::Keep } else { TextAfter::Drop }
}

fn vllm_run(args: &LevelArgs, model: &str, level: &PreparedLevel) -> VllmRun {
    let law = (!workload::is_trace(&args.workload)).then_some(&level.settings.workload.arrivals);
    let requested = level.basis.work.requested_load(NonZeroU64::MIN);
    let cap = level.load.max_in_flight.map(NonZeroU32::get);
    VllmRun {
        date: WallTime::now().compact(),
        label: args.result.label.clone(),
        model_id: model.to_owned(),
        tokenizer_id: args.workload.tokenizer.clone(),
        metadata: args.result.metadata.clone(),
        ..VllmRun::of(&level.basis.setup, &requested, law, cap)
    }
}

fn result_file(args: &LevelArgs, run: &VllmRun) -> Result<ResultFile, Fail> {
    let name = args.result.result_filename.clone().unwrap_or_else(|| run.file_name());
    let mode =
        if args.result.append_result { ResultFileMode::Append } else { ResultFileMode::Replace };
    if let Some(dir) = &args.result.result_dir {
        fs::create_dir_all(dir).named(&format!("--result-dir {}", dir.display()))?;
    }
    let path = args.result.result_dir.clone().unwrap_or_default().join(name);
    let flag = format!("--result-filename {}", path.display());
    ResultFile::prepare(path, mode).named(&flag)
}
