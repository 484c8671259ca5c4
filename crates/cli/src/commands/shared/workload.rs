//! From arguments to what is asked.

mod check;
mod lengths;
mod names;
mod prefix;
mod replay;
mod salt;
mod sampling;

pub(crate) use lengths::Nominal;
pub(crate) use names::Source;
pub(crate) use replay::pacing as replay;
pub(crate) use salt::{describe as describe_salt, describe_of_levels as describe_salt_of_levels};
pub(crate) use sampling::sampling_body;

use std::num::NonZeroU64;

use fizeau::core::{EosRule, Tokens};
use fizeau::experiment::{
    ExperimentError, Field, PreparedWorkload, PromptSalt, PromptSource, RecordFormat,
    RecordsSource, TokenizerSpec, TraceSource, WorkloadSpec,
};
use fizeau::workload::{
    Form, Length, Order, PrefixRepetition, Repeat, Seed, Take, TracePacing, VllmRandom,
};

use crate::args::WorkloadArgs;
use crate::args::refusal;
use crate::exit::{Fail, Named};
use check::check_flags;
use names::Records;

/// The workload that `args` ask for, but for how many requests there are and when they leave.
pub(crate) fn spec(args: &WorkloadArgs, nominal: Nominal<'_>) -> Result<WorkloadSpec, Fail> {
    let source = Source::named(&args.dataset_name)?;
    check_flags(args, source)?;
    let mut spec = WorkloadSpec::new(prompts(args, source, nominal)?);
    spec.lengths = match source {
        Source::Times(_) => spec.lengths,
        Source::Records(_) => lengths::of_records(nominal)?,
        _ => lengths::lengths(&args.laws, nominal)?,
    };
    if !matches!(source, Source::Times(_)) {
        spec.prefix = prefix::prefix(&args.prefix)?;
        let sessions = &args.sessions;
        spec.turns = sessions.turns.as_deref().map(str::parse).transpose().given_as("--turns")?;
        let think = sessions.think_time.as_deref().map(str::parse).transpose();
        spec.think_time = think.given_as("--think-time")?;
        let models = args.lora_modules.iter().map(|share| share.parse());
        spec.models = models.collect::<Result<_, _>>().given_as("--lora-modules")?;
    }
    spec.eos = match (args.no_ignore_eos, args.ignore_eos) {
        (true, _) => Some(EosRule::Stop),
        (false, true) => Some(EosRule::Ignore),
        (false, false) => None,
    };
    spec.seed = Seed(args.seed);
    spec.salt = prompt_salt(args);
    spec.tokenizer = tokenizer(args);
    spec.max_context = args.max_model_len.map(Tokens::new);
    Ok(spec)
}

/// Made-up prompts of the lengths that `args` ask for, whatever their data set is.
pub(crate) fn made_up(args: &WorkloadArgs, nominal: Nominal<'_>) -> Result<WorkloadSpec, Fail> {
    let mut spec = WorkloadSpec::new(PromptSource::Random);
    spec.lengths = lengths::lengths(&args.laws, nominal)?;
    spec.prefix = prefix::prefix(&args.prefix)?;
    spec.seed = Seed(args.seed);
    spec.salt = PromptSalt::Reused;
    spec.tokenizer = tokenizer(args);
    Ok(spec)
}

/// So many requests, at least one.
pub(crate) fn requests(requests: Option<u64>) -> Result<Option<NonZeroU64>, Fail> {
    let none = || Fail::usage("--num-prompts: the number of requests is 0: it must be at least 1");
    requests.map(|requests| NonZeroU64::new(requests).ok_or_else(none)).transpose()
}

fn prompts(
    args: &WorkloadArgs,
    source: Source,
    nominal: Nominal<'_>,
) -> Result<PromptSource, Fail> {
    let data = &args.data;
    let path = data.dataset_path.clone().unwrap_or_default();
    let repeat = if data.refuses_repeats() { Repeat::Refused } else { Repeat::Allowed };
    Ok(match source {
        Source::Random => PromptSource::Random,
        Source::Sonnet => PromptSource::Sonnet,
        Source::VllmRandom => {
            let (input_ratio, output_ratio) = lengths::ratios(&args.laws)?;
            PromptSource::VllmRandom(VllmRandom {
                form: Form::Text,
                vocabulary: data.vocab_size,
                input: lengths::fixed(nominal.input, "vllm-random")?,
                output: lengths::fixed(nominal.output, "vllm-random")?,
                prefix: Tokens::new(args.prefix.random_prefix_len),
                input_ratio,
                output_ratio,
            })
        }
        Source::PrefixRepetition => {
            let prefixes = NonZeroU64::new(data.prefix_repetition_num_prefixes);
            PromptSource::PrefixRepetition(PrefixRepetition {
                form: Form::Text,
                vocabulary: data.vocab_size,
                prefix: Tokens::new(data.prefix_repetition_prefix_len),
                suffix: Tokens::new(data.prefix_repetition_suffix_len),
                prefixes: prefixes.ok_or_else(|| {
                    Fail::usage("--prefix-repetition-num-prefixes 0: give at least 1")
                })?,
                output: Tokens::new(data.prefix_repetition_output_len),
            })
        }
        Source::Records(format) => {
            let mut records = RecordsSource::new(record_format(args, format), path);
            records.output = output(args, format)?;
            records.order = if data.disable_shuffle { Order::AsGiven } else { Order::Shuffled };
            records.repeat = repeat;
            PromptSource::Records(records)
        }
        Source::Times(kind) => {
            let mut trace = TraceSource::new(kind, path);
            trace.repeat = repeat;
            PromptSource::Trace(trace)
        }
    })
}

const fn record_format(args: &WorkloadArgs, format: Records) -> RecordFormat {
    match format {
        Records::Custom => RecordFormat::Custom,
        Records::OpenAiBatch => RecordFormat::OpenAiBatch,
        Records::ShareGpt if args.sessions.multi_turn => RecordFormat::ShareGpt(Take::Conversation),
        Records::ShareGpt => RecordFormat::ShareGpt(Take::FirstExchange),
    }
}

/// The output tokens of every request, where a flag says so.
fn output(args: &WorkloadArgs, format: Records) -> Result<Option<Tokens>, Fail> {
    let (flag, tokens) = match format {
        Records::ShareGpt => {
            let tokens =
                args.data.sharegpt_output_len.map(|n| i64::try_from(n).unwrap_or(i64::MAX));
            ("--sharegpt-output-len", tokens)
        }
        Records::Custom | Records::OpenAiBatch => {
            ("--custom-output-len", args.data.custom_output_len.filter(|&tokens| tokens != -1))
        }
    };
    match tokens {
        None => Ok(None),
        Some(tokens) => match u64::try_from(tokens) {
            Ok(tokens @ 1..) if tokens <= Length::MAX.get() => Ok(Some(Tokens::new(tokens))),
            _ => Err(Fail::usage(format!("{flag} {tokens}: give at least 1 token"))),
        },
    }
}

fn tokenizer(args: &WorkloadArgs) -> Option<TokenizerSpec> {
    args.tokenizer.as_deref().and_then(|name| name.parse().ok())
}

/// Which prompts the run has.
pub(crate) fn prompt_salt(args: &WorkloadArgs) -> PromptSalt {
    match args.salt {
        _ if args.reuse_prompts => PromptSalt::Reused,
        Some(number) => PromptSalt::Given(number),
        None => PromptSalt::Fresh,
    }
}

/// `spec` at the times that `pacing` has, where it is a trace.
pub(crate) fn paced(mut spec: WorkloadSpec, pacing: TracePacing) -> WorkloadSpec {
    if let PromptSource::Trace(trace) = &mut spec.source {
        trace.pacing = pacing;
    }
    spec
}

/// What is wrong with an experiment, by the flags that its command has for lengths and arrivals.
pub(crate) fn refused(
    nominal: Nominal<'_>,
    arrivals: &'static str,
) -> impl Fn(ExperimentError) -> Fail + Copy + use<> {
    let (input, output) = (nominal.input.0, nominal.output.0);
    move |error| {
        refusal::of_experiment(error, |field| match field {
            Field::PromptLength => input,
            Field::OutputLength => output,
            Field::Arrivals => arrivals,
            field => refusal::flag(field),
        })
    }
}

/// What of the workload is not as one might think, each in one line.
pub(crate) fn notes(work: &PreparedWorkload, args: &WorkloadArgs) -> Vec<String> {
    work.notes().into_iter().chain(unread(args)).collect()
}

/// vLLM's lines name its file of sonnets.
pub(crate) fn unread(args: &WorkloadArgs) -> Option<String> {
    let path = args.data.dataset_path.as_ref().filter(|_| args.dataset_name == "sonnet")?;
    let path = path.display();
    Some(format!("--dataset-path {path}: not read; --dataset-name sonnet has the sonnets already"))
}

/// Whether the flags name a trace.
pub(crate) fn is_trace(args: &WorkloadArgs) -> bool {
    matches!(Source::named(&args.dataset_name), Ok(Source::Times(_)))
}
