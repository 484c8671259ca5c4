//! From a file to a trace.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::sync::Arc;

use fizeau_core::{Nanos, PerSec, Tokens};
use fizeau_metrics::CacheExpectation;
use fizeau_record::{ArrivalMoments, RequestedLoad};
use fizeau_transport::Target;
use fizeau_workload::{
    Pacing, Salt, TextSource, Trace, TraceFormat, TraceOpener, TracePacing, TraceSpec, Workload,
};
use serde_json::Value;

use super::{PreparedWorkload, TraceSource, WorkloadSpec, form, synthetic};
use crate::input::{Blame, ExperimentError, InputError, InputField, unreadable};
use crate::tokenizer::TokenizerSpec;

/// The trace that `spec` asks for, for `target`. The whole file is read once; nothing is sent.
pub(super) fn prepare(
    of: &WorkloadSpec,
    source: &TraceSource,
    target: &Target,
) -> Result<PreparedWorkload, InputError> {
    let path = source.path.clone();
    let tokenizer = of.tokenizer.as_ref().map(TokenizerSpec::load).transpose()?;
    let wording = if tokenizer.is_some() { TextSource::Exact } else { TextSource::Words };
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let spec = TraceSpec {
        pacing: source.pacing,
        requests: of.requests,
        repeat: source.repeat,
        content: synthetic(form(target, tokenizer.is_some()), wording),
        eos: of.eos_rule(),
        seed: of.seed,
        salt: of.drawn_salt(),
        ..TraceSpec::new(&*name, source.format())
    };
    // A file that is not there is told by its whole path.
    let of_file = |error| unreadable(InputField::DatasetPath, &path, &error);
    if !std::fs::metadata(&path).map_err(of_file)?.is_file() {
        let why = "this is not a file; a trace is read twice, so it cannot be a pipe";
        return Err(InputError::new(InputField::DatasetPath, why).given(path.display()));
    }
    File::open(&path).map_err(of_file)?;
    let opener = opener(path);
    let trace = match &tokenizer {
        None => Trace::new(spec, opener),
        Some(codec) => Trace::with_tokenizer(spec, opener, Arc::clone(codec)),
    };
    let trace = trace.blame(InputField::DatasetPath)?;
    PreparedWorkload::of_trace(trace, tokenizer, of)
}

fn opener(path: PathBuf) -> TraceOpener {
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

/// The mean rate of the part that is replayed before `end`.
pub(super) fn mean_rate(trace: &Trace, end: Option<Nanos>) -> Result<Option<PerSec>, InputError> {
    trace.mean_rate(end).blame(InputField::DatasetPath)
}

/// What is asked of arrivals and of a cache. Only a format with ids of blocks says what prompts share, and it is summed over
/// the whole: where no more than some requests were `released` hits are reported, not judged.
pub(super) fn requested_load(
    trace: &Trace,
    rate: Option<PerSec>,
    released: Option<u64>,
) -> RequestedLoad {
    let arrivals = match trace.pacing() {
        Pacing::ClosedLoop => None,
        _ => Some(ArrivalMoments { rate, cv_squared: None }),
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
    RequestedLoad { arrivals, cache }
}

/// That the trace is begun again, in words.
pub(super) fn repeated(trace: &Trace) -> Option<String> {
    let (requests, records) = (trace.requests(), trace.facts().records);
    let rounds = trace.rounds();
    (rounds > 1).then(|| {
        format!("the trace has {records} records for {requests} requests: it is replayed up to {rounds} \
         times")
    })
}

/// Which rows are not sent, or not at their time, in words.
pub(super) fn left_out(trace: &Trace) -> Option<String> {
    let (name, facts) = (&trace.spec().name, trace.facts());
    let skipped = match facts.skipped {
        0 => None,
        1 => Some("1 row with an empty prompt or reply is left out".to_owned()),
        rows => Some(format!("{rows} rows with an empty prompt or reply are left out")),
    };
    let late = match facts.late {
        0 => None,
        1 => {
            Some("1 row is earlier than the row before it and leaves together with that".to_owned())
        }
        rows => Some(format!(
            "{rows} rows are earlier than a row before them and leave together with that row"
        )),
    };
    let others = matches!(trace.spec().format, TraceFormat::BurstGpt).then(|| {
        "the rows of all models are sent, each at its own time; `vllm bench serve` sends those of GPT-4 alone, all at once unless a \
         rate is given".to_owned()
    });
    let parts: Vec<String> = skipped.into_iter().chain(late).chain(others).collect();
    (!parts.is_empty()).then(|| format!("{name}: {}", parts.join("; ")))
}

/// The mean length of a prompt.
pub(super) fn typical_prompt(trace: &Trace) -> Tokens {
    Tokens::new(trace.facts().input.get() / trace.requests().get())
}

/// What was asked, and which file it was.
pub(super) fn record(trace: &Trace) -> Result<Value, ExperimentError> {
    let mut record = serde_json::to_value(trace.spec()).map_err(ExperimentError::broken)?;
    if let Some(fields) = record.as_object_mut() {
        let facts = trace.facts();
        fields.insert("records".to_owned(), facts.records.into());
        fields.insert("skipped".to_owned(), facts.skipped.into());
        fields.insert("late".to_owned(), facts.late.into());
        fields.insert("checksum".to_owned(), format!("{:016x}", facts.checksum).into());
    }
    Ok(record)
}
