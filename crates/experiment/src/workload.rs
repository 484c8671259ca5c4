//! From arguments to a workload.

mod ask;
mod check;
mod dataset;
mod describe;
mod lengths;
mod limit;
mod names;
mod records;
mod salt;
mod sampling;
mod sessions;
mod trace;
mod work;

pub(crate) use ask::Ask;
pub(crate) use describe::AskedLength;
pub(crate) use lengths::Nominal;
pub(crate) use limit::{Limit, limit};
pub(crate) use names::Source;
pub(crate) use salt::{
    describe as describe_salt, describe_of_levels as describe_salt_of_levels,
    of_probes as salt_of_probes,
};
pub(crate) use sampling::sampling_body;
pub(crate) use trace::pacing as replay;
pub(crate) use work::Work;

use std::num::NonZeroU64;

use fizeau::core::{EosRule, Tokens};
use fizeau::transport::{PromptKind, Target};
use fizeau::workload::{
    Arrivals, Content, Form, Order, PrefixRepetition, Repeat, Seed, Spec, TracePacing, VllmRandom,
    Wording,
};

use crate::args::WorkloadArgs;
use crate::exit::{Fail, Named};
use crate::tokenizer;
use ask::Flags;
use check::check_flags;

/// What the workload follows from, beside its own flags.
pub(crate) struct Wish<'a> {
    pub(crate) args: &'a WorkloadArgs,
    pub(crate) nominal: Nominal<'a>,
    /// How many requests; none for as many as there are.
    pub(crate) requests: Option<u64>,
    pub(crate) arrivals: Arrivals,
    /// The flag that says so.
    pub(crate) arrivals_flag: &'static str,
    /// When the requests of a trace leave.
    pub(crate) replay: TracePacing,
}

/// The most requests that are sent until a figure is known, where nobody says how many; none for as many as the data set has.
/// Synthetic ones are made as they are sent.
pub(crate) fn most_until_known(args: &WorkloadArgs) -> Option<u64> {
    let is_endless = matches!(&*args.dataset_name, "random" | "vllm-random" | "sonnet");
    is_endless.then_some(100_000)
}

/// The most requests where nobody says how many: vLLM's default.
const REQUESTS: u64 = 1000;

impl Wish<'_> {
    /// The workload for `target`. Files are read; nothing is sent.
    pub(crate) fn work(self, target: &Target) -> Result<Work, Fail> {
        let source = Source::named(&self.args.dataset_name)?;
        check_flags(self.args, source)?;
        if let Source::Times(format) = source {
            return trace::work(self.args, format, self.requests, self.replay, target);
        }
        let ask = self.ask(target)?;
        Ok(Work::Plan { plan: ask.plan()?, ask: Box::new(ask) })
    }

    /// The specification of the workload for `target`, of anything but a trace.
    pub(crate) fn ask(&self, target: &Target) -> Result<Ask, Fail> {
        let args = self.args;
        let source = Source::named(&args.dataset_name)?;
        check_flags(args, source)?;
        if let Source::Times(_) = source {
            return Err(Fail::usage(format!(
                "--dataset-name {}: a trace has its own load, which `fizeau bench` replays",
                args.dataset_name
            )));
        }
        let tokenizer = args.tokenizer.as_deref().map(tokenizer::load).transpose()?;
        let (dataset, file) = match source {
            Source::Records(format) => dataset::read(args, format, tokenizer.as_deref())
                .map(|(dataset, file)| (Some(dataset), Some(file)))?,
            _ => (None, None),
        };
        let has = dataset.as_ref().map_or(REQUESTS, |dataset| dataset::requests(dataset));
        let requests = self.requests.unwrap_or_else(|| has.min(REQUESTS));
        let form = form(target, tokenizer.is_some() || args.sessions.turns.is_some());
        let spec = Spec {
            arrivals: self.arrivals.clone(),
            lengths: match source {
                Source::Records(_) => dataset::lengths(self.nominal)?,
                _ => lengths::lengths(&args.laws, self.nominal)?,
            },
            prefix: sessions::prefix(&args.prefix)?,
            content: self.content(source, form, tokenizer.is_some())?,
            sessions: sessions::sessions(&args.sessions)?,
            models: sessions::models(&args.lora_modules)?,
            eos: eos(args, source),
            seed: Seed(args.seed),
            salt: salt::salt(args, source),
            ..Spec::new(requests).named("--num-prompts")?
        };
        let flags = Flags { arrivals: self.arrivals_flag, ..Flags::of(args, self.nominal) };
        let reuses = salt::is_reused(args);
        let ask = Ask { spec, tokenizer, dataset, file, reuses, flags };
        ask.check_think_time(&args.sessions)?;
        ask.check_sendable(target)?;
        Ok(ask)
    }

    fn content(&self, source: Source, form: Form, has_tokenizer: bool) -> Result<Content, Fail> {
        let (args, nominal) = (self.args, self.nominal);
        let wording = if has_tokenizer { Wording::Exact } else { Wording::Words };
        Ok(match source {
            Source::Random => synthetic(form, wording),
            Source::Sonnet => synthetic(text_form(form), Wording::Sonnet),
            Source::VllmRandom => {
                let (input_ratio, output_ratio) = lengths::ratios(&args.laws)?;
                Content::VllmRandom(VllmRandom {
                    form,
                    vocabulary: args.data.vocab_size,
                    input: lengths::fixed(nominal.input, "vllm-random")?,
                    output: lengths::fixed(nominal.output, "vllm-random")?,
                    prefix: Tokens::new(args.prefix.random_prefix_len),
                    input_ratio,
                    output_ratio,
                })
            }
            Source::PrefixRepetition => {
                let data = &args.data;
                let prefixes = NonZeroU64::new(data.prefix_repetition_num_prefixes);
                Content::PrefixRepetition(PrefixRepetition {
                    form,
                    vocabulary: data.vocab_size,
                    prefix: Tokens::new(data.prefix_repetition_prefix_len),
                    suffix: Tokens::new(data.prefix_repetition_suffix_len),
                    prefixes: prefixes.ok_or_else(|| {
                        Fail::usage("--prefix-repetition-num-prefixes 0: give at least 1")
                    })?,
                    output: Tokens::new(data.prefix_repetition_output_len),
                })
            }
            Source::Records(_) | Source::Times(_) => Content::Dataset {
                form: text_form(form),
                order: match args.data.disable_shuffle {
                    true => Order::AsGiven,
                    false => Order::Shuffled,
                },
                repeat: match args.data.refuses_repeats() {
                    true => Repeat::Refused,
                    false => Repeat::Allowed,
                },
            },
        })
    }
}

/// Token ids have a certain length and need no tokenizer, so they are taken wherever the endpoint does, unless text is
/// wanted.
fn form(target: &Target, wants_text: bool) -> Form {
    if target.takes_token_ids() && !wants_text {
        Form::TokenIds
    } else if target.route().takes(PromptKind::Chat) {
        Form::Chat
    } else {
        Form::Text
    }
}

/// The form of what is text already.
const fn text_form(form: Form) -> Form {
    match form {
        Form::Chat => Form::Chat,
        Form::Text | Form::TokenIds => Form::Text,
    }
}

fn synthetic(form: Form, wording: Wording) -> Content {
    match form {
        Form::TokenIds => Content::default(),
        Form::Chat => Content::Chat(wording),
        Form::Text => Content::Text(wording),
    }
}

/// What is made up has no natural end; what somebody wrote has.
const fn eos(args: &WorkloadArgs, source: Source) -> EosRule {
    match source {
        _ if args.no_ignore_eos => EosRule::Stop,
        Source::Records(_) if !args.ignore_eos => EosRule::Stop,
        _ => EosRule::Ignore,
    }
}

/// Made-up prompts of the lengths that `args` ask for, whatever their data set is.
pub(crate) fn made_up(
    args: &WorkloadArgs,
    nominal: Nominal<'_>,
    target: &Target,
) -> Result<Ask, Fail> {
    let tokenizer = args.tokenizer.as_deref().map(tokenizer::load).transpose()?;
    let wording = if tokenizer.is_some() { Wording::Exact } else { Wording::Words };
    let spec = Spec {
        lengths: lengths::lengths(&args.laws, nominal)?,
        prefix: sessions::prefix(&args.prefix)?,
        content: synthetic(form(target, tokenizer.is_some()), wording),
        seed: Seed(args.seed),
        ..Spec::new(REQUESTS).named("--num-prompts")?
    };
    let reuses = salt::is_reused(args);
    Ok(Ask { spec, tokenizer, dataset: None, file: None, reuses, flags: Flags::of(args, nominal) })
}

/// Prompts that need no tokenizer.
pub(crate) fn words_or_ids(target: &Target) -> Content {
    synthetic(form(target, false), Wording::Words)
}

/// Whether the flags name a trace.
pub(crate) fn is_trace(args: &WorkloadArgs) -> bool {
    matches!(Source::named(&args.dataset_name), Ok(Source::Times(_)))
}

/// Whether some request may be a later turn, which carries the replies to those before it. A file of one's own may hold
/// conversations.
pub(crate) fn may_have_turns(args: &WorkloadArgs) -> bool {
    args.sessions.turns.is_some() || args.sessions.multi_turn || args.dataset_name == "custom"
}
