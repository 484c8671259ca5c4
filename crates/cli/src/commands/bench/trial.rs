//! One level, decided: what is asked and what is to be kept of it, whoever answers.

use std::num::NonZeroU32;

use fizeau::core::PerSec;
use fizeau::experiment::{Answering, LevelSettings, PreparedLevel, ProbeSpec, RunOrigin, WallTime};
use fizeau::harness::TextAfter;
use fizeau::interop::{RampStrategy, RequestRate, Selection, VllmRun};
use fizeau::transport::Target;
use fizeau::workload::TracePacing;

use super::arrivals::{arrivals, arrivals_flag, cap, shard};
use super::files;
use crate::args::{ArrivalArgs, LevelArgs, RampArg};
use crate::commands::shared::workload::{self, Nominal};
use crate::exit::{Fail, Named};

/// One level, decided, and what is to be written of it besides. Nothing has been sent.
pub(crate) struct Trial<'a> {
    pub(super) args: &'a LevelArgs,
    pub(crate) level: PreparedLevel,
    pub(super) selection: Selection,
    pub(super) vllm: VllmRun,
    /// Where vLLM's JSON goes.
    pub(super) result: Option<files::ResultFile>,
}

impl<'a> Trial<'a> {
    /// The level that `args` ask of `target`, whose `model` vLLM's result names so. Files are read; nothing is sent.
    pub(crate) fn new(
        args: &'a LevelArgs,
        (target, model): (&Target, &str),
        answering: Answering,
        origin: &RunOrigin,
    ) -> Result<Self, Fail> {
        let selection = selection(args)?;
        let level = settings(args)?.prepare(target, answering, origin);
        let level =
            level.map_err(workload::refused(nominal(args), arrivals_flag(&args.arrivals)))?;
        let vllm = vllm_run(args, model, &level, origin.started)?;
        // As in vLLM, to append is to save.
        let result = (args.result.save_result || args.result.append_result)
            .then(|| result_file(args, &vllm))
            .transpose()?;
        Ok(Self { args, level, selection, vllm, result })
    }

    /// What of the workload is not as one might think, each in one line.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.level.notes().into_iter().chain(workload::unread(&self.args.workload)).collect()
    }
}

/// The level that `args` ask for.
pub(crate) fn settings(args: &LevelArgs) -> Result<LevelSettings, Fail> {
    let mut settings = LevelSettings::default();
    settings.goals = args.result.goodput.join(" ").parse().named("--goodput")?;
    settings.max_in_flight = cap(args.load.max_concurrency)?;
    let is_capped = settings.max_in_flight.is_some();
    let arrivals = arrivals(&args.arrivals, is_capped)?;
    let replay = replay(args, is_capped)?;
    settings.shard = shard(args)?;
    settings.workload = workload::paced(workload::spec(&args.workload, nominal(args))?, replay);
    settings.workload.arrivals = arrivals;
    settings.workload.requests = workload::requests(args.load.num_prompts)?;
    settings.warmups = args.load.num_warmups;
    settings.probe = probe(&args.arrivals);
    settings.window = args.window.choice();
    settings.until = args.load.until.as_deref().map(str::parse).transpose().named("--until")?;
    settings.text = text_after(args);
    settings.price.clone_from(&args.result.price.gpu_hour);
    Ok(settings)
}

/// The stream of probes that the flags ask for.
fn probe(args: &ArrivalArgs) -> Option<ProbeSpec> {
    let args = &args.probe;
    let mut probe = ProbeSpec::new(PerSec::new(args.probe_request_rate?));
    (probe.input, probe.output) = (args.probe_input_len, args.probe_output_len);
    Some(probe)
}

fn selection(args: &LevelArgs) -> Result<Selection, Fail> {
    let (metrics, percentiles) = (&args.result.percentile_metrics, &args.result.metric_percentiles);
    Selection::parse(&metrics.join(","), &percentiles.join(","))
        .named("--percentile-metrics/--metric-percentiles")
}

/// When the requests of a trace leave; flags of traces are for traces.
fn replay(args: &LevelArgs, is_capped: bool) -> Result<TracePacing, Fail> {
    if workload::is_trace(&args.workload) {
        return workload::replay(&args.arrivals, is_capped);
    }
    let given = [
        (args.arrivals.trace_speedup.is_some(), "--trace-speedup"),
        (args.arrivals.ignore_trace_times, "--ignore-trace-times"),
    ];
    match given.into_iter().find(|(is_given, _)| *is_given) {
        None => Ok(TracePacing::ClosedLoop),
        Some((_, flag)) => Err(Fail::usage(format!(
            "{flag}: --dataset-name {} is no trace",
            args.workload.dataset_name
        ))),
    }
}

/// The two flags of lengths.
pub(crate) fn nominal(args: &LevelArgs) -> Nominal<'_> {
    Nominal {
        input: ("--random-input-len", &args.lengths.random_input_len),
        output: ("--random-output-len", &args.lengths.random_output_len),
    }
}

/// What becomes of the text of replies.
pub(crate) const fn text_after(args: &LevelArgs) -> TextAfter {
    if args.result.save_detailed { TextAfter::Keep } else { TextAfter::Drop }
}

fn vllm_run(
    args: &LevelArgs,
    model: &str,
    level: &PreparedLevel,
    now: WallTime,
) -> Result<VllmRun, Fail> {
    let pair = |pair: &String| match pair.split_once('=') {
        Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
        None => Err(Fail::usage(format!("--metadata {pair}: write KEY=VALUE"))),
    };
    Ok(VllmRun {
        date: now.compact(),
        backend: level.setup.endpoint.backend.clone(),
        label: args.result.label.clone(),
        model_id: model.to_owned(),
        tokenizer_id: args.workload.tokenizer.clone(),
        metadata: args.result.metadata.iter().map(pair).collect::<Result<_, _>>()?,
        request_rate: request_rate(&args.arrivals, level.work.mean_rate()),
        burstiness: args.arrivals.burstiness,
        max_concurrency: level.load.max_in_flight.map(NonZeroU32::get),
    })
}

/// The rate as vLLM's file has it; `mean` for laws that vLLM has not.
fn request_rate(args: &ArrivalArgs, mean: Option<PerSec>) -> RequestRate {
    let rates = (args.ramp_up_start_rps, args.ramp_up_end_rps, args.request_rate);
    match (args.ramp_up_strategy, rates) {
        (Some(shape), (Some(start), Some(end), _)) => RequestRate::Ramp {
            strategy: match shape {
                RampArg::Linear => RampStrategy::Linear,
                RampArg::Exponential => RampStrategy::Exponential,
            },
            start: PerSec::new(start),
            end: PerSec::new(end),
        },
        (_, (_, _, Some(rate))) if rate.is_finite() => RequestRate::Limited(PerSec::new(rate)),
        _ => match mean {
            // It is part of a file's name, where three places tell rates apart.
            Some(mean) => RequestRate::Limited(PerSec::new((mean.get() * 1e3).round() / 1e3)),
            None => RequestRate::Unlimited,
        },
    }
}

fn result_file(args: &LevelArgs, run: &VllmRun) -> Result<files::ResultFile, Fail> {
    let name = args.result.result_filename.clone().unwrap_or_else(|| run.file_name());
    let mode = if args.result.append_result { files::Mode::Append } else { files::Mode::Replace };
    files::ResultFile::prepare(args.result.result_dir.as_deref(), &name, mode)
}
