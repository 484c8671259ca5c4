//! From a file to a trace.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;

use fizeau::core::{Nanos, PerSec, Tokens};
use fizeau::metrics::CacheExpectation;
use fizeau::record::{Asked, AskedArrivals};
use fizeau::transport::Target;
use fizeau::workload::{
    Opener, Pacing, Repeat, Salt, Seed, Trace, TraceFormat, TracePacing, TraceSpec, Wording,
    Workload,
};

use serde_json::Value;

use super::names::{Source, Times};
use super::{Work, eos, form, salt, synthetic};
use crate::args::{ArrivalArgs, WorkloadArgs};
use crate::exit::{Fail, Named};
use crate::tokenizer;

/// The trace that `args` name, for `target`. The whole file is read once; nothing is sent.
pub(super) fn work(
    args: &WorkloadArgs,
    format: Times,
    requests: Option<u64>,
    pacing: TracePacing,
    target: &Target,
) -> Result<Work, Fail> {
    let path = args.data.dataset_path.clone().unwrap_or_default();
    let tokenizer = args.tokenizer.as_deref().map(tokenizer::load).transpose()?;
    let wording = if tokenizer.is_some() { Wording::Exact } else { Wording::Words };
    let zero = || Fail::usage("--num-prompts: the number of requests is 0: it must be at least 1");
    let requests = requests.map(|n| NonZeroU64::new(n).ok_or_else(zero)).transpose()?;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let source = Source::Times(format);
    let spec = TraceSpec {
        pacing,
        requests,
        repeat: if args.data.refuses_repeats() { Repeat::Refused } else { Repeat::Allowed },
        content: synthetic(form(target, tokenizer.is_some()), wording),
        eos: eos(args, source),
        seed: Seed(args.seed),
        salt: salt::salt(args, source),
        ..TraceSpec::new(&*name, file_format(format))
    };
    // A file that is not there is told by its whole path.
    let flag = format!("--dataset-path {}", path.display());
    if !std::fs::metadata(&path).named(&flag)?.is_file() {
        return Err(Fail::usage(format!(
            "{flag}: no file; a trace is read twice, so that a pipe will not do"
        )));
    }
    File::open(&path).named(&flag)?;
    let trace = match &tokenizer {
        None => Trace::new(spec, opener(path)),
        Some(codec) => Trace::with_tokenizer(spec, opener(path), Arc::clone(codec)),
    };
    Ok(Work::Trace { trace: trace.named("--dataset-path")?, tokenizer })
}

/// When the requests of a trace leave. What paces other data sets does not pace a trace.
pub(crate) fn pacing(args: &ArrivalArgs, is_capped: bool) -> Result<TracePacing, Fail> {
    let is_unlimited = args.request_rate == Some(f64::INFINITY);
    if args.request_rate.is_some() && !is_unlimited {
        return Err(Fail::usage(
            "--request-rate: a trace has its own times: --trace-speedup X replays them faster, --ignore-trace-times or \
             --request-rate inf without them",
        ));
    }
    if is_unlimited && args.trace_speedup.is_some() {
        return Err(Fail::usage(
            "--trace-speedup: --request-rate inf sends all at once, whatever the times of the trace",
        ));
    }
    let other = [
        (args.ramp_up_strategy.is_some(), "--ramp-up-strategy"),
        (args.request_rate_series.is_some(), "--request-rate-series"),
        (args.burst.is_some(), "--burst"),
        (args.diurnal.is_some(), "--diurnal"),
    ];
    if let Some((_, flag)) = other.into_iter().find(|(is_given, _)| *is_given) {
        return Err(Fail::usage(format!("{flag}: a trace has its own times")));
    }
    match args.ignore_trace_times {
        _ if is_unlimited => Ok(TracePacing::ClosedLoop),
        false => Ok(TracePacing::TimeStamps { speed_up: speed_up(args.trace_speedup)? }),
        true if is_capped => Ok(TracePacing::ClosedLoop),
        true => Err(Fail::usage(
            "--ignore-trace-times: say how many requests are in flight at a time: --max-concurrency N, or --request-rate inf",
        )),
    }
}

fn speed_up(factor: Option<f64>) -> Result<f64, Fail> {
    match factor.unwrap_or(1.0) {
        factor if (1e-6..=1e9).contains(&factor) => Ok(factor),
        factor => Err(Fail::usage(format!(
            "--trace-speedup {factor}: give a factor from 1e-6 to 1e9; 2 is twice as fast"
        ))),
    }
}

const fn file_format(format: Times) -> TraceFormat {
    match format {
        Times::Mooncake => TraceFormat::mooncake(),
        Times::Azure => TraceFormat::Azure,
        Times::BurstGpt => TraceFormat::BurstGpt,
    }
}

fn opener(path: PathBuf) -> Opener {
    Arc::new(move || {
        let file = File::open(&path)?;
        Ok(Box::new(BufReader::with_capacity(BUFFER, file)) as Box<dyn BufRead + Send>)
    })
}

const BUFFER: usize = 1 << 18;

/// How requests arrive, in one line.
pub(super) fn describe_arrivals(trace: &Trace) -> String {
    let span = trace.facts().span.as_secs_f64();
    match trace.spec().pacing {
        TracePacing::ClosedLoop => "closed loop, whatever the times of the trace".to_owned(),
        TracePacing::TimeStamps { speed_up } if speed_up.to_bits() == 1.0_f64.to_bits() => {
            format!("the times of the trace, {span:.3} s")
        }
        TracePacing::TimeStamps { speed_up } => {
            format!("the times of the trace, {span:.3} s, {speed_up} times as fast")
        }
    }
}

/// The mean rate of the part that is replayed, the file taken once.
pub(super) fn mean_rate(trace: &Trace) -> Option<PerSec> {
    let TracePacing::TimeStamps { speed_up } = trace.spec().pacing else {
        return None;
    };
    let (facts, requests) = (trace.facts(), trace.requests().get());
    let gaps = requests.min(facts.records).saturating_sub(1);
    let is_known = facts.span > Nanos::ZERO && gaps > 0;
    is_known.then(|| PerSec::new(gaps as f64 / facts.span.as_secs_f64() * speed_up))
}

/// What is asked of arrivals and of a cache. Only a format with ids of blocks says what prompts share, and it is summed over
/// the whole: where no more than some requests were `released` hits are reported, not judged.
pub(super) fn asked(trace: &Trace, released: Option<u64>) -> Asked {
    let arrivals = match trace.pacing() {
        Pacing::ClosedLoop => None,
        _ => Some(AskedArrivals { rate: mean_rate(trace), cv_squared: None }),
    };
    let cache = match trace.spec().format {
        _ if trace.spec().salt == Salt::NONE => CacheExpectation::Reuse,
        TraceFormat::Mooncake { .. } if trace.expected_cache().cached > Tokens::ZERO => {
            match released {
                None => CacheExpectation::Share(trace.expected_cache().share()),
                Some(_) => CacheExpectation::Reuse,
            }
        }
        _ => CacheExpectation::None,
    };
    Asked { arrivals, cache }
}

/// That the trace is begun again, in words.
pub(super) fn repeated(trace: &Trace) -> Option<String> {
    let (requests, records) = (trace.requests(), trace.facts().records);
    let rounds = trace.rounds();
    (rounds > 1).then(|| {
        format!("{requests} requests are asked for and the trace has {records}: it is replayed up to {rounds} times")
    })
}

/// Which rows are not sent, or not at their time, in words.
pub(super) fn left_out(trace: &Trace) -> Option<String> {
    let (name, facts) = (&trace.spec().name, trace.facts());
    let skipped = (facts.skipped > 0)
        .then(|| format!("{} rows with an empty prompt or reply are left out", facts.skipped));
    let late = (facts.late > 0).then(|| {
        format!("{} rows are earlier than one before them and leave together with it", facts.late)
    });
    let parts: Vec<String> = skipped.into_iter().chain(late).collect();
    (!parts.is_empty()).then(|| format!("{name}: {}", parts.join("; ")))
}

/// The mean lengths.
pub(super) fn typical(trace: &Trace) -> (u64, u64) {
    let (facts, requests) = (trace.facts(), trace.requests());
    (facts.input.get() / requests, facts.output.get() / requests)
}

/// What was asked, and which file it was.
pub(super) fn record(trace: &Trace) -> Result<Value, Fail> {
    let mut record = serde_json::to_value(trace.spec()).map_err(Fail::broken)?;
    if let Some(fields) = record.as_object_mut() {
        let facts = trace.facts();
        fields.insert("records".to_owned(), facts.records.into());
        fields.insert("skipped".to_owned(), facts.skipped.into());
        fields.insert("late".to_owned(), facts.late.into());
        fields.insert("checksum".to_owned(), format!("{:016x}", facts.checksum).into());
    }
    Ok(record)
}
