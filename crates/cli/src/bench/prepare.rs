//! All that can be decided of a run before anything is sent.

use std::num::{NonZeroU32, NonZeroU64};

use fizeau::core::PerSec;
use fizeau::harness::{Load, TextAfter};
use fizeau::metrics::{GoodputGoals, Precision};
use fizeau::report::{Engine, LoadPoint, RampStrategy, RequestRate, Selection, Setup, VllmRun};
use fizeau::workload::{Pacing, Plan, Shard, TracePacing};

use super::arrivals::{arrivals, arrivals_flag, cap, shard};
use super::{Job, files, fits, one_in, probe_stream};
use crate::args::{ArrivalArgs, BenchArgs, EndpointArgs, RampArg};
use crate::client::{self, Client};
use crate::endpoint::{self, Called};
use crate::exit::{Fail, Named};
use crate::record;
use crate::speed::Physics;
use crate::workload::{self, Nominal, Wish, Work};

/// The run against `endpoint`. Files are read; nothing is sent.
pub(super) fn prepare(args: &BenchArgs, endpoint: &EndpointArgs) -> Result<Job, Fail> {
    let now = record::WallTime::now();
    let goals: GoodputGoals = args.result.goodput.join(" ").parse().named("--goodput")?;
    let cap = cap(args.load.max_concurrency)?;
    let arrivals = arrivals(&args.arrivals, cap.is_some())?;
    let replay = replay(args, cap.is_some())?;
    let shard = shard(args)?;
    let (metrics, percentiles) = (&args.result.percentile_metrics, &args.result.metric_percentiles);
    let selection = Selection::parse(&metrics.join(","), &percentiles.join(","))
        .named("--percentile-metrics/--metric-percentiles")?;
    let base_urls = base_urls(args);
    let called = call(args, endpoint, &base_urls)?;
    let wish = Wish {
        args: &args.workload,
        nominal: nominal(args),
        requests: requests(args),
        arrivals,
        arrivals_flag: arrivals_flag(&args.arrivals),
        replay,
    };
    let work = wish.work(&called.target)?;
    let until = until(args, work.plan().pacing())?;
    let physics = Physics::from_args(&args.physics)?;
    let physics = physics.map(|physics| physics.for_prompts_of(work.typical()));
    let config = physics.as_ref().and_then(Physics::config);
    let limit = workload::limit(args.workload.max_model_len, config);
    let probe = probe_stream::probe(args, &called.target, work.salt())?;
    limit.iter().try_for_each(|limit| fits(&work, probe.as_ref(), limit))?;
    let (requests, pacing) = (work.requests().get(), work.plan().pacing());
    let in_flight = client::in_flight(requests, cap, pacing);
    let wanted = endpoint::wanted(&endpoint.connections, &base_urls, in_flight);
    let client = Client::new(&args.client, wanted)?;
    let vllm = vllm_run(args, (&called, &work), cap, now)?;
    let mut setup = setup(args, &called, (&work, shard), now);
    physics.iter().for_each(|physics| physics.describe_in(&mut setup));
    // As in vLLM, to append is to save.
    let result = (args.result.save_result || args.result.append_result)
        .then(|| result_file(args, &vllm))
        .transpose()?;
    Ok(Job {
        load: Load { max_in_flight: cap, stop_after: None },
        load_point: load_point(&work, one_in(shard), cap),
        called,
        client,
        calibration: None,
        shard,
        probe,
        work,
        limit,
        goals,
        until,
        selection,
        physics,
        setup,
        vllm,
        result,
    })
}

/// What is to be known before the run ends.
fn until(args: &BenchArgs, pacing: Pacing) -> Result<Option<Precision>, Fail> {
    let asked = args.load.until.as_deref().map(str::parse).transpose().named("--until")?;
    if asked.is_some() && pacing == Pacing::AtOnce {
        return Err(Fail::usage(
            "--until: say how hard to press, or all requests leave at once: --max-concurrency N or --request-rate R",
        ));
    }
    Ok(asked)
}

/// How many requests are asked for; none for as many as there are.
fn requests(args: &BenchArgs) -> Option<u64> {
    let until = args.load.until.as_ref();
    args.load.num_prompts.or_else(|| until.and_then(|_| workload::most_until_known(&args.workload)))
}

/// When the requests of a trace leave; flags of traces are for traces.
fn replay(args: &BenchArgs, is_capped: bool) -> Result<TracePacing, Fail> {
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
pub(crate) fn nominal(args: &BenchArgs) -> Nominal<'_> {
    Nominal {
        input: ("--random-input-len", &args.lengths.random_input_len),
        output: ("--random-output-len", &args.lengths.random_output_len),
    }
}

pub(super) fn base_urls(args: &BenchArgs) -> Vec<String> {
    let host = args.host.host.as_deref().unwrap_or("127.0.0.1");
    let port = args.host.port.unwrap_or(8000);
    match &*args.endpoint.base_url {
        [] if host.contains(':') => vec![format!("http://[{host}]:{port}")],
        [] => vec![format!("http://{host}:{port}")],
        urls => urls.to_vec(),
    }
}

fn call(args: &BenchArgs, endpoint: &EndpointArgs, base_urls: &[String]) -> Result<Called, Fail> {
    let name = endpoint.served_model_name.as_ref().or(endpoint.model.as_ref());
    let name = name.ok_or_else(|| Fail::usage("--model: name the model as the server knows it"))?;
    let keep_text = endpoint::keep_text(text_after(args), &args.workload);
    let extra = workload::sampling_body(&args.sampling)?;
    endpoint::call(endpoint, base_urls, name, &extra, keep_text)
}

/// What becomes of the text of replies.
pub(crate) const fn text_after(args: &BenchArgs) -> TextAfter {
    if args.result.save_detailed { TextAfter::Keep } else { TextAfter::Drop }
}

/// The rate of requests, all turns counted, where the load has one; else how many are in flight.
pub(crate) fn load_point(work: &Work, one_in: NonZeroU64, cap: Option<NonZeroU32>) -> LoadPoint {
    if let (Pacing::OpenLoop { .. }, Some(rate)) = (work.plan().pacing(), work.mean_rate()) {
        let share = work.requests_an_arrival() / one_in.get() as f64;
        return LoadPoint::Rate(rate * share);
    }
    let all = u32::try_from(work.requests().get()).unwrap_or(u32::MAX);
    LoadPoint::Concurrency(cap.map_or(all, NonZeroU32::get).min(all))
}

fn vllm_run(
    args: &BenchArgs,
    (called, work): (&Called, &Work),
    cap: Option<NonZeroU32>,
    now: record::WallTime,
) -> Result<VllmRun, Fail> {
    let pair = |pair: &String| match pair.split_once('=') {
        Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
        None => Err(Fail::usage(format!("--metadata {pair}: write KEY=VALUE"))),
    };
    let model = args.endpoint.model.as_deref().unwrap_or_else(|| called.target.model());
    Ok(VllmRun {
        date: now.compact(),
        backend: called.target.backend().as_str().to_owned(),
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

fn result_file(args: &BenchArgs, run: &VllmRun) -> Result<files::ResultFile, Fail> {
    let name = args.result.result_filename.clone().unwrap_or_else(|| run.file_name());
    let mode = if args.result.append_result { files::Mode::Append } else { files::Mode::Replace };
    files::ResultFile::prepare(args.result.result_dir.as_deref(), &name, mode)
}

fn setup(
    args: &BenchArgs,
    called: &Called,
    (work, shard): (&Work, Shard),
    now: record::WallTime,
) -> Setup {
    Setup {
        tool: record::tool(),
        started: now.rfc3339(),
        command_line: record::command_line(),
        endpoint: called.describe(),
        engine: Engine::Remote { description: None },
        workload: work.described(&args.workload, one_in(shard)),
        host: record::host(),
        model_config: None,
        hardware: None,
        deployment: None,
    }
}

/// A tenth of the run, at most the fifty that good methodology asks for.
pub(super) fn warmups(job: &Job, args: &BenchArgs) -> u64 {
    warmups_of(job.work.requests().get(), args.load.num_warmups)
}

/// As many as were `given`, or by default.
pub(crate) fn warmups_of(requests: u64, given: Option<u64>) -> u64 {
    given.unwrap_or_else(|| requests.div_ceil(10).min(50))
}

pub(super) fn document<'a>(
    job: &'a Job,
    args: &'a BenchArgs,
    epoch_unix_ns: u64,
) -> Result<record::RunDocument<'a>, Fail> {
    let level = record::LevelPlan {
        requests: job.work.requests().get(),
        warmup_requests: warmups(job, args),
        max_in_flight: job.load.max_in_flight.map(NonZeroU32::get),
        release_for_ms: None,
        seed: None,
        window: args.window.choice().into(),
        until: job.until.as_ref().map(Precision::to_string),
    };
    let client = record::ClientPlan {
        threads: job.client.threads(),
        thresholds: &args.client.threshold,
        calibration: job.calibration.as_ref(),
    };
    let asked = record::AskedPlan {
        plan: job.work.record(args.workload.tokenizer.as_deref())?,
        lengths: job.work.asked_lengths(),
        probe: job.probe.as_ref().map(Plan::spec),
        shard: args.load.shard.as_deref(),
        epoch_unix_ns,
    };
    let goodput = &args.result.goodput;
    let physics = job.physics.as_ref().map(Physics::spread);
    let document =
        record::RunDocument::new(&job.setup, asked, vec![level], &job.called, goodput, client);
    Ok(document?.with_spread(physics))
}
