//! From arguments to what is asked.

mod check;
mod lengths;

use check::check_flags;
pub(crate) use check::check_lengths;
use fizeau::core::{EosRule, Tokens};
use fizeau::experiment::{
    ExperimentError, InputField, PreparedWorkload, PromptSalt, PromptSource, RecordFormat,
    TokenizerSpec, WorkloadSpec,
};
use fizeau::workload::{
    ConversationUse, Length, RecordOrder, RecordReuse, Salt, Seed, SharedPrefix, TracePacing,
};

use crate::args::{SamplingArgs, WorkloadArgs, refusal};
use crate::exit::{Fail, Named, parsed};
use crate::terminal::say::say;

/// The workload that `args` ask for, but for how many requests there are and when they leave.
pub(crate) fn spec(args: &WorkloadArgs) -> Result<WorkloadSpec, Fail> {
    let mut source = source(args)?;
    check_flags(args, &source)?;
    detail(&mut source, args)?;
    let mut spec = WorkloadSpec::new(source);
    if !matches!(spec.source, PromptSource::Trace(_)) {
        spec.lengths = lengths::lengths(&args.lengths, &spec.source)?;
        spec.prefix = lengths::prefix(&args.prefix)?;
        let of = &args.lengths;
        let told = [&of.random_input_len, &of.length_preset, &of.length_pairs];
        if spec.prefix == SharedPrefix::None && told.iter().all(|told| told.is_none()) {
            spec.prefix = spec.source.usual_prefix();
        }
        let sessions = &args.sessions;
        spec.turns = parsed(&sessions.turns).given_as("--turns")?;
        spec.think_time = parsed(&sessions.think_time).given_as("--think-time")?;
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
pub(crate) fn made_up(args: &WorkloadArgs) -> Result<WorkloadSpec, Fail> {
    let mut spec = WorkloadSpec::new(PromptSource::Random);
    spec.lengths = lengths::lengths(&args.lengths, &spec.source)?;
    spec.prefix = lengths::prefix(&args.prefix)?;
    spec.seed = Seed(args.seed);
    spec.salt = PromptSalt::Reused;
    spec.tokenizer = tokenizer(args);
    Ok(spec)
}

/// Puts into `source` what flags say of it.
fn detail(source: &mut PromptSource, args: &WorkloadArgs) -> Result<(), Fail> {
    let data = &args.data;
    let repeat = if data.refuses_repeats() { RecordReuse::Refused } else { RecordReuse::Allowed };
    match source {
        PromptSource::VllmRandom(of) => {
            of.vocabulary = data.vocab_size;
            of.prefix = Tokens::new(args.prefix.random_prefix_len);
            lengths::of_vllm(of, &args.lengths)?;
        }
        PromptSource::PrefixRepetition(of) => {
            of.vocabulary = data.vocab_size;
            of.prefix = Tokens::new(data.prefix_repetition_prefix_len);
            of.suffix = Tokens::new(data.prefix_repetition_suffix_len);
            of.output = Tokens::new(data.prefix_repetition_output_len);
            of.prefixes = data.prefix_repetition_num_prefixes;
        }
        PromptSource::Records(records) => {
            records.output = output(args, records.format)?;
            records.order =
                if data.disable_shuffle { RecordOrder::AsGiven } else { RecordOrder::Shuffled };
            records.repeat = repeat;
            if args.sessions.multi_turn {
                records.format = RecordFormat::ShareGpt(ConversationUse::Conversation);
            }
        }
        PromptSource::Trace(trace) => {
            (trace.repeat, trace.block) = (repeat, data.timed_trace_chunk_hash_size);
            trace.tick = data.timed_trace_sec_multiplier;
        }
        _ => {}
    }
    Ok(())
}

/// The output tokens of every request, where a flag says so.
fn output(args: &WorkloadArgs, format: RecordFormat) -> Result<Option<Tokens>, Fail> {
    let (flag, tokens) = match format {
        RecordFormat::ShareGpt(_) => {
            let tokens =
                args.data.sharegpt_output_len.map(|n| i64::try_from(n).unwrap_or(i64::MAX));
            ("--sharegpt-output-len", tokens)
        }
        _ => ("--custom-output-len", args.data.custom_output_len.filter(|&tokens| tokens != -1)),
    };
    match tokens {
        None => Ok(None),
        Some(tokens) => match u64::try_from(tokens) {
            Ok(tokens @ 1..) if tokens <= Length::MAX.get() => Ok(Some(Tokens::new(tokens))),
            _ => Err(usage!("{flag} {tokens}: give at least 1 token")),
        },
    }
}

fn tokenizer(args: &WorkloadArgs) -> Option<TokenizerSpec> {
    args.tokenizer.as_deref().map(|name| TokenizerSpec::found(name, |name| std::env::var_os(name)))
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

/// What is wrong with an experiment, by the flag that its command has for arrivals.
pub(crate) fn refused(arrivals: &'static str) -> impl Fn(ExperimentError) -> Fail + Copy + use<> {
    move |error| {
        refusal::of_experiment(error, |field| match field {
            InputField::Arrivals => arrivals.to_owned(),
            field => refusal::flag(field),
        })
    }
}

/// Says what of the workload is not as one might think.
pub(crate) fn say_notes(work: &PreparedWorkload, args: &WorkloadArgs) -> Result<(), Fail> {
    work.repeated().map_or(Ok(()), |repeated| say(format!("note: {repeated}")))?;
    tell_notes(work.notes(), args);
    Ok(())
}

/// Tells these notes, and what vLLM's lines say beside that is not needed: its file of sonnets, flags of other data sets.
pub(crate) fn tell_notes(notes: Vec<String>, args: &WorkloadArgs) {
    let path = args.data.dataset_path.as_ref().filter(|_| args.dataset_name == "sonnet");
    let sonnets = path.map(|path| {
        format!(
            "--dataset-path {} is not needed: --dataset-name sonnet has the sonnets built in",
            path.display()
        )
    });
    let unread = sonnets.into_iter().chain(check::of_other_sets(args));
    notes.into_iter().chain(unread).for_each(|note| tell!("note: {note}"));
}

/// Whether the flags name a trace.
pub(crate) fn is_trace(args: &WorkloadArgs) -> bool {
    matches!(source(args), Ok(PromptSource::Trace(_)))
}

// The data sets by name.

/// Where prompts come from, with what no flag says as by default.
fn source(args: &WorkloadArgs) -> Result<PromptSource, Fail> {
    let name = &args.dataset_name;
    let path = args.data.dataset_path.clone().unwrap_or_default();
    PromptSource::named(name, path).ok_or_else(|| {
        let known = PromptSource::names();
        usage!("--dataset-name {name}: {}; the data sets are {known}", instead(name))
    })
}

/// Why there is no data set of that name, and what to take for those that vLLM has.
fn instead(name: &str) -> &'static str {
    match name {
        "hf" => {
            "nothing is downloaded; export the data set as JSON lines that have a `prompt` each, and take --dataset-name custom \
             --dataset-path FILE"
        }
        "random-mm" => {
            "no images are made up; write requests that have some as JSON lines, whole bodies, and take --dataset-name \
             openai-batch --dataset-path FILE"
        }
        "generated-shared-prefix" => "take random, with --prefix-groups N and --prefix-len TOKENS",
        _ => "this data set is not known",
    }
}

// What a run says of its prompts.

/// What a sweep says of its prompts: each level has a seed of its own.
pub(crate) fn describe_salt_of_levels(asked: PromptSalt, salt: Salt) -> String {
    match salt {
        Salt::NONE if !asked.is_reused() => {
            "prompts: drawn as vLLM does, from a seed for each level, the same in every run"
                .to_owned()
        }
        _ => describe_salt(asked, salt),
    }
}

/// What a run says of its prompts, in one line.
pub(crate) fn describe_salt(asked: PromptSalt, salt: Salt) -> String {
    match (salt, asked) {
        (Salt::NONE, _) if asked.is_reused() => {
            "prompts: the same in every run with this seed".to_owned()
        }
        (Salt::NONE, _) => "prompts: vLLM's own for this seed, the same in every run".to_owned(),
        (Salt(number), PromptSalt::Given(_)) => format!("prompts: those of --salt {number}"),
        (Salt(number), _) => format!("prompts: this run's own (--salt {number} repeats them)"),
    }
}

// Fields of the request body that say how to sample.

/// Sampling fields of the request body, as a JSON object; only those that were given.
pub(crate) fn sampling_body(args: &SamplingArgs) -> Result<String, Fail> {
    let mut body: serde_json::Map<String, serde_json::Value> = match &args.extra_body {
        None => serde_json::Map::new(),
        Some(text) => serde_json::from_str(text).map_err(|error| {
            usage!("--extra-body {text}: give a JSON object, such as {{\"top_k\": 20}} ({error})")
        })?,
    };
    let given = serde_json::to_value(args).map_err(Fail::broken)?;
    let given = given.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    body.extend(given.map(|(name, value)| (name.clone(), value.clone())));
    Ok(serde_json::Value::Object(body).to_string())
}
