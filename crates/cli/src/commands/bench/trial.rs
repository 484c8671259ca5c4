//! One level, decided: what is asked and what is to be kept of it, whoever answers.

use std::num::{NonZeroU32, NonZeroU64};

use fizeau::core::PerSec;
use fizeau::experiment::{
    ContextLimit, PreparedWorkload, SpeedOfLightReference, WallTime, WorkloadSpec,
};
use fizeau::harness::{Load, TextAfter};
use fizeau::interop::{RampStrategy, RequestRate, Selection, VllmRun};
use fizeau::metrics::{GoodputGoals, Precision};
use fizeau::record::LevelPlan;
use fizeau::record::{Endpoint, Engine, LoadPoint, Setup};
use fizeau::transport::Target;
use fizeau::workload::{Pacing, Plan, Shard, TracePacing};

use super::arrivals::{arrivals, arrivals_flag, cap, shard};
use super::{files, probe_stream};
use crate::args::{ArrivalArgs, LevelArgs, RampArg};
use crate::commands::shared::record;
use crate::commands::shared::workload::{self, Nominal};
use crate::exit::{Fail, Named};

/// One level, decided. Nothing has been sent.
pub(crate) struct Trial<'a> {
    pub(super) args: &'a LevelArgs,
    pub(super) spec: WorkloadSpec,
    pub(super) work: PreparedWorkload,
    /// Which share of it is ours.
    pub(super) shard: Shard,
    /// A thin stream beside it.
    pub(super) probe: Option<Plan>,
    /// The most tokens that the model takes, where that is known.
    pub(super) limit: Option<ContextLimit>,
    pub(super) load: Load,
    pub(super) load_point: LoadPoint,
    pub(super) goals: GoodputGoals,
    /// What is to be known before it ends.
    pub(super) until: Option<Precision>,
    pub(super) selection: Selection,
    /// What the speed of light is computed from, or why there is none.
    pub(super) physics: Result<SpeedOfLightReference, &'static str>,
    pub(super) setup: Setup,
    pub(super) vllm: VllmRun,
    /// Where vLLM's JSON goes.
    pub(super) result: Option<files::ResultFile>,
}

/// Who is to answer.
pub(crate) struct Place<'a> {
    /// What kinds of prompt it takes.
    pub(crate) target: &'a Target,
    /// The model's name for vLLM's result.
    pub(crate) model: &'a str,
    /// For the record.
    pub(crate) endpoint: Endpoint,
    pub(crate) engine: Engine,
    /// What the speed of light is computed from, or why there is none.
    pub(crate) physics: Result<SpeedOfLightReference, &'static str>,
    /// The most tokens that it takes, where it has said so.
    pub(crate) limit: Option<ContextLimit>,
    /// Who reads the prompts.
    pub(crate) reader: Reader,
}

/// Who reads the prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// A server, which gets all of them.
    Server,
    /// A simulated engine, to which a prompt that shares nothing with another is a length.
    Simulation,
}

impl<'a> Trial<'a> {
    /// What is run, and on what.
    pub(crate) const fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The level that `args` ask of `place`. Files are read; nothing is sent.
    pub(crate) fn new(args: &'a LevelArgs, place: Place<'_>, now: WallTime) -> Result<Self, Fail> {
        let goals: GoodputGoals = args.result.goodput.join(" ").parse().named("--goodput")?;
        let cap = cap(args.load.max_concurrency)?;
        let arrivals = arrivals(&args.arrivals, cap.is_some())?;
        let replay = replay(args, cap.is_some())?;
        let shard = shard(args)?;
        let selection = selection(args)?;
        let Place { target, endpoint, engine, physics, .. } = place;
        let mut spec = workload::paced(workload::spec(&args.workload, nominal(args))?, replay);
        (spec.requests, spec.arrivals) = (workload::requests(requests(args))?, arrivals);
        let refused = workload::refused(nominal(args), arrivals_flag(&args.arrivals));
        let work = spec.prepare(target).map_err(&refused)?;
        let work = match place.reader {
            Reader::Server => work,
            Reader::Simulation => work.unread().map_err(&refused)?,
        };
        let until = until(args, work.plan().pacing())?;
        let physics = physics.map(|physics| physics.for_prompts_of(work.typical_prompt()));
        let config = physics.as_ref().ok().and_then(SpeedOfLightReference::config);
        let limit = place.limit.or_else(|| spec.context_limit(config));
        let probe = probe_stream::probe(args, target, (&spec, work.salt()))?;
        let vllm = vllm_run(args, (&endpoint, place.model), &work, cap, now)?;
        let mut setup = setup((endpoint, engine), (&work, shard), now);
        physics.iter().for_each(|physics| physics.describe_in(&mut setup));
        // As in vLLM, to append is to save.
        let result = (args.result.save_result || args.result.append_result)
            .then(|| result_file(args, &vllm))
            .transpose()?;
        let trial = Self {
            args,
            load: Load { max_in_flight: cap, stop_after: None },
            load_point: load_point(&work, one_in(shard), cap),
            spec,
            work,
            shard,
            probe,
            limit,
            goals,
            until,
            selection,
            physics,
            setup,
            vllm,
            result,
        };
        trial.limit.iter().try_for_each(|limit| trial.fits(limit))?;
        Ok(trial)
    }

    /// Refuses requests and probes that are longer than `limit`.
    pub(super) fn fits(&self, limit: &ContextLimit) -> Result<(), Fail> {
        self.work.check(limit)?;
        self.probe.as_ref().map_or(Ok(()), |probe| probe_stream::check(probe, limit))
    }

    /// What the speed of light is computed from.
    pub(crate) fn physics(&self) -> Option<&SpeedOfLightReference> {
        self.physics.as_ref().ok()
    }

    /// What of the workload is not as one might think, each in one line.
    pub(crate) fn notes(&self) -> Vec<String> {
        let notes = workload::notes(&self.work, &self.args.workload);
        self.work.repeated().into_iter().chain(notes).collect()
    }

    /// Requests sent first: a tenth of the run, at most the fifty that good methodology asks for.
    pub(super) fn warmups(&self) -> u64 {
        warmups_of(self.work.requests().get(), self.args.load.num_warmups)
    }

    /// How many requests are about ours: sessions are shared out, and some have more turns than others.
    pub(super) fn share(&self) -> u64 {
        self.work.requests().get().div_ceil(self.one_in().get())
    }

    /// Every how many-th session is ours.
    pub(super) fn one_in(&self) -> NonZeroU64 {
        one_in(self.shard)
    }

    /// What goes on record before the first request, but for who carried it out.
    pub(crate) fn document(&self) -> Result<record::RunDocument<'_>, Fail> {
        let args = self.args;
        let level = LevelPlan {
            load: None,
            visit: None,
            role: None,
            arrivals: None,
            requests: self.work.requests().get(),
            warmup_requests: self.warmups(),
            max_in_flight: self.load.max_in_flight.map(NonZeroU32::get),
            release_for_ms: None,
            seed: None,
            window: args.window.choice().into(),
            until: self.until.as_ref().map(Precision::to_string),
        };
        let asked = record::AskedPlan {
            plan: self.work.record()?,
            lengths: self.work.asked_lengths(),
            probe: self.probe.as_ref().map(Plan::spec),
            shard: args.load.shard.as_deref(),
        };
        let document =
            record::RunDocument::new(&self.setup, asked, vec![level], &args.result.goodput)?;
        let document =
            document.with_deployment(self.physics().map(SpeedOfLightReference::deployment));
        Ok(document.with_price(args.result.price.gpu_hour.as_ref()))
    }
}

fn selection(args: &LevelArgs) -> Result<Selection, Fail> {
    let (metrics, percentiles) = (&args.result.percentile_metrics, &args.result.metric_percentiles);
    Selection::parse(&metrics.join(","), &percentiles.join(","))
        .named("--percentile-metrics/--metric-percentiles")
}

/// What is to be known before the run ends.
fn until(args: &LevelArgs, pacing: Pacing) -> Result<Option<Precision>, Fail> {
    let asked = args.load.until.as_deref().map(str::parse).transpose().named("--until")?;
    if asked.is_some() && pacing == Pacing::AtOnce {
        return Err(Fail::usage(
            "--until: say how hard to press, or all requests leave at once: --max-concurrency N or --request-rate R",
        ));
    }
    Ok(asked)
}

/// How many requests are asked for; none for as many as there are.
fn requests(args: &LevelArgs) -> Option<u64> {
    let until = args.load.until.as_ref();
    args.load.num_prompts.or_else(|| until.and_then(|_| workload::most_until_known(&args.workload)))
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

/// The rate of requests, all turns counted, where the load has one; else how many are in flight.
pub(crate) fn load_point(
    work: &PreparedWorkload,
    one_in: NonZeroU64,
    cap: Option<NonZeroU32>,
) -> LoadPoint {
    if let (Pacing::OpenLoop { .. }, Some(rate)) = (work.plan().pacing(), work.mean_rate()) {
        let share = work.requests_per_arrival() / one_in.get() as f64;
        return LoadPoint::Rate(rate * share);
    }
    let all = u32::try_from(work.requests().get()).unwrap_or(u32::MAX);
    LoadPoint::Concurrency(cap.map_or(all, NonZeroU32::get).min(all))
}

fn one_in(shard: Shard) -> NonZeroU64 {
    NonZeroU64::new(shard.session(1) - shard.session(0)).unwrap_or(NonZeroU64::MIN)
}

fn vllm_run(
    args: &LevelArgs,
    (endpoint, model): (&Endpoint, &str),
    work: &PreparedWorkload,
    cap: Option<NonZeroU32>,
    now: WallTime,
) -> Result<VllmRun, Fail> {
    let pair = |pair: &String| match pair.split_once('=') {
        Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
        None => Err(Fail::usage(format!("--metadata {pair}: write KEY=VALUE"))),
    };
    Ok(VllmRun {
        date: now.compact(),
        backend: endpoint.backend.clone(),
        label: args.result.label.clone(),
        model_id: model.to_owned(),
        tokenizer_id: args.workload.tokenizer.clone(),
        metadata: args.result.metadata.iter().map(pair).collect::<Result<_, _>>()?,
        request_rate: request_rate(&args.arrivals, work.mean_rate()),
        burstiness: args.arrivals.burstiness,
        max_concurrency: cap.map(NonZeroU32::get),
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

fn setup(
    (endpoint, engine): (Endpoint, Engine),
    (work, shard): (&PreparedWorkload, Shard),
    now: WallTime,
) -> Setup {
    Setup {
        tool: record::tool(),
        started: now.rfc3339(),
        command_line: record::command_line(),
        endpoint,
        engine,
        workload: work.described(one_in(shard)),
        host: record::host(),
        model_config: None,
        hardware: None,
        deployment: None,
        precision: None,
    }
}

/// As many as were `given`, or by default.
pub(crate) fn warmups_of(requests: u64, given: Option<u64>) -> u64 {
    given.unwrap_or_else(|| requests.div_ceil(10).min(50))
}
