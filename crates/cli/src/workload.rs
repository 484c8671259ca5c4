//! From arguments to a workload.

mod dataset;
mod describe;
mod lengths;
mod limit;
mod names;
mod salt;
mod sampling;
mod sessions;
mod trace;
mod work;

pub(crate) use describe::AskedLength;
pub(crate) use lengths::Nominal;
pub(crate) use limit::{Limit, limit};
pub(crate) use salt::{describe as describe_salt, fresh as fresh_salt};
pub(crate) use sampling::sampling_body;
pub(crate) use trace::pacing as replay;
pub(crate) use work::Work;

use std::num::NonZeroU64;
use std::sync::Arc;

use fizeau::core::{EosRule, Prompt, Tokens};
use fizeau::transport::{PromptKind, Target};
use fizeau::workload::{
    Arrivals, Content, Dataset, Form, Order, Plan, PrefixRepetition, Repeat, Seed, Spec, SpecError,
    TextCodec, TracePacing, VllmRandom, Wording,
};

use crate::args::WorkloadArgs;
use crate::exit::{Fail, Named};
use crate::tokenizer;
use names::Source;

/// What to ask, and what to make it with.
#[derive(Clone)]
pub(crate) struct Ask {
    pub(crate) spec: Spec,
    pub(crate) tokenizer: Option<Arc<dyn TextCodec>>,
    pub(crate) dataset: Option<Arc<Dataset>>,
}

/// What the workload follows from, beside its own flags.
pub(crate) struct Wish<'a> {
    pub(crate) args: &'a WorkloadArgs,
    pub(crate) nominal: Nominal<'a>,
    /// How many requests; none for as many as there are.
    pub(crate) requests: Option<u64>,
    pub(crate) arrivals: Arrivals,
    /// When the requests of a trace leave.
    pub(crate) replay: TracePacing,
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
        Ok(Work::Plan { plan: ask.plan()?, ask })
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
        let dataset = match source {
            Source::Records(format) => Some(dataset::read(args, format, tokenizer.as_deref())?),
            _ => None,
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
        let ask = Ask { spec, tokenizer, dataset };
        ask.check_route(target)?;
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
                repeat: match args.data.no_repeat {
                    true => Repeat::Refused,
                    false => Repeat::Allowed,
                },
            },
        })
    }
}

impl Ask {
    /// The plan of this workload.
    pub(crate) fn plan(&self) -> Result<Plan, Fail> {
        let mut builder = Plan::builder(self.spec.clone());
        if let Some(tokenizer) = &self.tokenizer {
            builder = builder.tokenizer(Arc::clone(tokenizer));
        }
        if let Some(dataset) = &self.dataset {
            builder = builder.dataset(Arc::clone(dataset));
        }
        builder.build().map_err(|error| match error {
            SpecError::TooFewRecords { .. } => Fail::usage(format!("--no-repeat: {error}")),
            error => Fail::usage(error),
        })
    }

    /// Whether some request is a later turn, which carries the replies to those before it.
    fn has_turns(&self) -> bool {
        let has_turns = |dataset: &Arc<Dataset>| {
            dataset.conversations.iter().any(|conversation| conversation.turns.len() > 1)
        };
        match &self.dataset {
            Some(dataset) => has_turns(dataset),
            None => self.spec.sessions.is_some(),
        }
    }

    /// Refuses records that `target`'s route does not take, before any is sent.
    fn check_route(&self, target: &Target) -> Result<(), Fail> {
        let Content::Dataset { form, .. } = &self.spec.content else {
            return Ok(());
        };
        let Some(dataset) = &self.dataset else { return Ok(()) };
        for (number, conversation) in (1_u64..).zip(&dataset.conversations) {
            for turn in &conversation.turns {
                let (kind, what) = match (&turn.prompt, form) {
                    (Prompt::Body(_), _) => (PromptKind::Body, "a whole body"),
                    (Prompt::Chat(_), _) | (Prompt::Text(_), Form::Chat) => {
                        (PromptKind::Chat, "messages")
                    }
                    (Prompt::Text(_), _) => (PromptKind::Text, "text"),
                    (Prompt::TokenIds(_), _) => (PromptKind::TokenIds, "token ids"),
                };
                if !target.route().takes(kind) {
                    let (name, url) = (&dataset.name, target.url());
                    return Err(Fail::usage(format!(
                        "--dataset-path: {name}, record {number} has {what}, which {url} does not take: choose another \
                         --endpoint"
                    )));
                }
            }
        }
        Ok(())
    }

    /// Whether some request is a body that goes out as it stands, without a salt.
    fn has_bodies(&self) -> bool {
        let mut conversations = self.dataset.iter().flat_map(|dataset| &dataset.conversations);
        conversations.any(|conversation| {
            conversation.turns.iter().any(|turn| matches!(turn.prompt, Prompt::Body(_)))
        })
    }
}

/// Flags that this source has no use for are refused where they are ours; vLLM's of other data sets do nothing, as there.
fn check_flags(args: &WorkloadArgs, source: Source) -> Result<(), Fail> {
    let name = &args.dataset_name;
    match &args.data.dataset_path {
        None if source.is_file() => {
            return Err(Fail::usage(format!(
                "--dataset-path: name the file of --dataset-name {name}"
            )));
        }
        Some(path) if !source.is_file() => {
            let path = path.display();
            return Err(Fail::usage(format!(
                "--dataset-path {path}: --dataset-name {name} is made up, and reads no file"
            )));
        }
        _ => {}
    }
    let has_own_lengths = !matches!(source, Source::Random | Source::Sonnet);
    let is_times = matches!(source, Source::Times(_));
    let refused = [
        (args.laws.length_preset.is_some() && has_own_lengths, "--length-preset"),
        (args.laws.length_pairs.is_some() && has_own_lengths, "--length-pairs"),
        (args.prefix.prefix_groups.is_some() && has_own_lengths, "--prefix-groups"),
        (args.sessions.turns.is_some() && has_own_lengths, "--turns"),
        (args.sessions.think_time.is_some() && is_times, "--think-time"),
        (args.sessions.multi_turn && !matches!(source, Source::Records(_)), "--multi-turn"),
        (!args.lora_modules.is_empty() && is_times, "--lora-modules"),
        (args.data.disable_shuffle && !matches!(source, Source::Records(_)), "--disable-shuffle"),
        (args.data.no_repeat && !source.is_file(), "--no-repeat"),
    ];
    match refused.into_iter().find(|(is_refused, _)| *is_refused) {
        Some((_, flag)) => {
            Err(Fail::usage(format!("{flag}: --dataset-name {name} has no use for it")))
        }
        None => Ok(()),
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
    Ok(Ask { spec, tokenizer, dataset: None })
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
