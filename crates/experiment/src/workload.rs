//! What is asked: from typed values to a workload that is ready to be sent.

mod dataset;
mod describe;
mod lengths;
mod limit;
mod parts;
mod prepared;
mod records;
mod salt;
mod source;
mod trace;

use std::num::NonZeroU64;

use fizeau_core::{EosRule, Nanos, Tokens};
use fizeau_harness::TextAfter;
use fizeau_transport::{KeepText, PromptKind, Target};
use fizeau_workload::{
    ArrivalLaw, Length, Lengths, ModelShare, PlanSpec, PromptContent, PromptForm, Rescale, Seed,
    Sessions, SharedPrefix, TextSource, ThinkTime, Turns,
};

pub use dataset::DataFile;
pub use lengths::{LengthsSpec, LengthsSpecError};
pub use limit::{CacheBlocks, ContextLimit};
pub use parts::PlanParts;
pub use prepared::PreparedWorkload;
pub use salt::PromptSalt;
pub use source::{PromptSource, RecordFormat, RecordsSource, TraceKind, TraceSource};

use crate::hint::InputHint;
use crate::input::{Blame, InputError, InputField};
use crate::tokenizer::TokenizerSpec;

/// The most requests by default, as in vLLM.
const REQUESTS: u64 = 1000;

/// What is asked of an endpoint, before the endpoint and any file is looked at.
///
/// ```
/// use fizeau_experiment::WorkloadSpec;
/// use fizeau_transport::{Backend, Target};
/// use fizeau_workload::Lengths;
///
/// let mut spec = WorkloadSpec::default();
/// spec.lengths = Lengths::fixed(250, 50);
/// spec.requests = std::num::NonZeroU64::new(100);
/// let target = Target::new("http://127.0.0.1:8000", Backend::Vllm, "llama")?;
/// assert_eq!(spec.prepare(&target)?.requests().get(), 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WorkloadSpec {
    /// Where prompts come from.
    pub source: PromptSource,
    /// How many requests; none for a thousand, of a smaller data set as many as it has, of a trace all.
    pub requests: Option<NonZeroU64>,
    /// The most requests where nobody says how many; none for a thousand.
    pub(crate) most: Option<NonZeroU64>,
    /// When they leave. A trace has its own times.
    pub arrivals: ArrivalLaw,
    /// How long they are, where the source does not say.
    pub lengths: Lengths,
    /// What prompts begin with that others begin with too.
    pub prefix: SharedPrefix,
    /// The turns of made-up conversations; none where each request stands alone.
    pub turns: Option<Turns>,
    /// The time between a reply and the next turn; none for what the data set says.
    pub think_time: Option<ThinkTime>,
    /// The models to ask in place of the endpoint's own, by weight, one for each session.
    pub models: Vec<ModelShare>,
    /// What to do when the model wants to stop early; none for what suits the source: what is made up has no natural end, what
    /// somebody wrote has.
    pub eos: Option<EosRule>,
    /// What the randomness starts from.
    pub seed: Seed,
    /// What sets the prompts apart from those of other runs.
    pub salt: PromptSalt,
    /// A tokenizer of the client's own; prompts are then text of exact length.
    pub tokenizer: Option<TokenizerSpec>,
    /// The most tokens that the model takes, prompt and output together, where it is given.
    pub max_context: Option<Tokens>,
}

impl Default for WorkloadSpec {
    /// Made-up prompts and outputs of the usual lengths in a closed loop, of this run alone.
    fn default() -> Self {
        Self::new(PromptSource::Random)
    }
}

impl WorkloadSpec {
    /// The usual length of a prompt: vLLM's 1024 tokens as the mean, with a spread, since requests that are all alike march in step,
    /// and wait for one another as those of real users do not.
    pub const USUAL_INPUT: Length =
        Length::Between { least: Tokens::new(512), most: Tokens::new(1536) };

    /// The usual length of an output: vLLM's 128 tokens as the mean, with a spread.
    pub const USUAL_OUTPUT: Length =
        Length::Between { least: Tokens::new(64), most: Tokens::new(192) };

    /// Prompts of `source`; all else as by default.
    pub fn new(source: PromptSource) -> Self {
        Self {
            source,
            requests: None,
            most: None,
            arrivals: ArrivalLaw::ClosedLoop,
            lengths: Lengths::Independent { input: Self::USUAL_INPUT, output: Self::USUAL_OUTPUT },
            prefix: SharedPrefix::None,
            turns: None,
            think_time: None,
            models: Vec::new(),
            eos: None,
            seed: Seed::default(),
            salt: PromptSalt::Fresh,
            tokenizer: None,
            max_context: None,
        }
    }

    /// The workload for `target`. Files are read; nothing is sent.
    ///
    /// # Errors
    /// If an input is wrong, a file cannot be read, or `target` does not take what a file has.
    pub fn prepare(&self, target: &Target) -> Result<PreparedWorkload, InputError> {
        match &self.source {
            PromptSource::Trace(source) => trace::prepare(self, source, target),
            _ => PreparedWorkload::of(self.parts(target)?),
        }
    }

    /// What the plans of the workload for `target` are made of, of anything but a trace. Files are read; nothing is sent.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare), and if the source is a trace, which has its own load.
    pub fn parts(&self, target: &Target) -> Result<PlanParts, InputError> {
        let tokenizer = self.tokenizer.as_ref().map(TokenizerSpec::load).transpose()?;
        let (dataset, file) = match &self.source {
            PromptSource::Records(source) => dataset::read(source, tokenizer.as_deref())
                .map(|(dataset, file)| (Some(dataset), Some(file)))?,
            PromptSource::Trace(source) => {
                let error = InputError::new(InputField::Dataset, "a trace has its own load");
                return Err(error.given(source.kind.name()).hint(InputHint::TraceIsOneLevel));
            }
            _ => (None, None),
        };
        let has = dataset.as_ref().map_or(u64::MAX, |dataset| dataset::requests(dataset));
        let most = self.most.map_or(REQUESTS, NonZeroU64::get);
        let requests = self.requests.map_or_else(|| has.min(most), NonZeroU64::get);
        let form = form(target, tokenizer.is_some() || self.turns.is_some());
        let spec = PlanSpec {
            arrivals: self.arrivals.clone(),
            lengths: self.lengths.clone(),
            prefix: self.prefix,
            content: self.content(form, tokenizer.is_some()),
            sessions: self.sessions(),
            models: self.models.clone(),
            eos: self.eos_rule(),
            seed: self.seed,
            salt: self.drawn_salt(),
            ..PlanSpec::new(requests).blame(InputField::Requests)?
        };
        let parts = PlanParts {
            spec,
            tokenizer,
            dataset,
            name: self.source.description(),
            tokenizer_name: self.tokenizer.as_ref().map(ToString::to_string),
            file,
            reuses: self.salt.is_reused(),
            has_own_turns: self.turns.is_some(),
            is_sglang: target.backend().as_str().starts_with("sglang"),
        };
        parts.check_think_time(self)?;
        parts.check_sendable(target)?;
        Ok(parts)
    }

    fn content(&self, form: PromptForm, has_tokenizer: bool) -> PromptContent {
        let wording = if has_tokenizer { TextSource::Exact } else { TextSource::Words };
        match &self.source {
            PromptSource::Random | PromptSource::Trace(_) => synthetic(form, wording),
            PromptSource::Sonnet => synthetic(text_form(form), TextSource::Sonnet),
            PromptSource::VllmRandom(random) => {
                let mut random = *random;
                random.form = form;
                PromptContent::VllmRandom(random)
            }
            PromptSource::PrefixRepetition(repetition) => {
                let mut repetition = *repetition;
                repetition.form = form;
                PromptContent::PrefixRepetition(repetition)
            }
            PromptSource::Records(records) => PromptContent::Dataset {
                form: text_form(form),
                order: records.order,
                repeat: records.repeat,
            },
        }
    }

    /// The conversations of made-up prompts; none where each stands alone. A think time by itself is for the conversations of
    /// a data set.
    fn sessions(&self) -> Option<Sessions> {
        (self.turns.is_some() || self.think_time.is_some()).then(|| Sessions {
            turns: self.turns.unwrap_or(Turns::Fixed(std::num::NonZeroU32::MIN)),
            think: self.think_time.unwrap_or(ThinkTime::None),
        })
    }

    fn eos_rule(&self) -> EosRule {
        self.eos.unwrap_or(match self.source {
            PromptSource::Records(_) => EosRule::Stop,
            _ => EosRule::Ignore,
        })
    }

    /// Whether some request may be a later turn, which carries the replies to those before it. A file of one's own may hold
    /// conversations.
    pub(crate) fn may_have_turns(&self) -> bool {
        self.turns.is_some()
            || matches!(&self.source, PromptSource::Records(records) if records.format.may_have_turns())
    }

    /// Whether conversations were asked for.
    pub(crate) fn asks_for_turns(&self) -> bool {
        let takes_all = |records: &RecordsSource| records.format.takes_conversations();
        self.turns.is_some()
            || matches!(&self.source, PromptSource::Records(records) if takes_all(records))
    }

    /// Whether the generated text is needed: for a file, for a tokenizer to count, or for the next turn of a conversation.
    pub fn keep_text(&self, after: TextAfter) -> KeepText {
        match after {
            TextAfter::Drop if self.tokenizer.is_none() && !self.may_have_turns() => KeepText::No,
            _ => KeepText::Yes,
        }
    }

    /// The most requests that are sent until a figure is known, by default; none for as many as the data set
    /// has. Synthetic ones are made as they are sent.
    pub(crate) fn most_until_known(&self) -> Option<NonZeroU64> {
        self.source.is_endless().then_some(PromptSource::MOST_UNTIL_KNOWN)
    }

    /// The most requests that are sent in `time`, where nobody says how many: those that come in it at the highest rate, all turns
    /// counted, or in a closed loop more than anybody serves; none for as many as the data set has. Arrivals that are stretched to
    /// a rate are those that come in it, of a data set too.
    pub(crate) fn most_in(&self, time: Nanos) -> Option<NonZeroU64> {
        let Some(peak) = self.arrivals.peak() else {
            return self.source.is_endless().then(|| self.source.most_in(time));
        };
        let come = peak.get() * time.as_secs_f64();
        let [mean, most] = self.turns.map_or([1.0; 2], turns_of);
        if matches!(self.arrivals, ArrivalLaw::Gamma { rescale: Rescale::ToMean, .. }) {
            let most = if self.source.is_endless() { u64::MAX } else { REQUESTS };
            return NonZeroU64::new(((come * mean) as u64).clamp(1, most));
        }
        // Some come closer together than on average: a fifth more is hardly ever reached.
        let come = NonZeroU64::new(((come * most * 1.2).ceil() as u64).saturating_add(100));
        come.filter(|_| self.source.is_endless())
    }
}

/// How many turns a conversation has in the mean, and at most.
fn turns_of(turns: Turns) -> [f64; 2] {
    let most = f64::from(turns.most().get());
    match turns {
        Turns::Fixed(_) => [most; 2],
        Turns::Uniform { least, .. } => [0.5 * (f64::from(least.get()) + most), most],
    }
}

/// Token ids have a certain length and need no tokenizer, so they are taken wherever the endpoint does, unless text is
/// wanted.
fn form(target: &Target, wants_text: bool) -> PromptForm {
    if target.takes_token_ids() && !wants_text {
        PromptForm::TokenIds
    } else if target.route().takes(PromptKind::Chat) {
        PromptForm::Chat
    } else {
        PromptForm::Text
    }
}

/// The form of what is text already.
const fn text_form(form: PromptForm) -> PromptForm {
    match form {
        PromptForm::Chat => PromptForm::Chat,
        PromptForm::Text | PromptForm::TokenIds => PromptForm::Text,
    }
}

fn synthetic(form: PromptForm, wording: TextSource) -> PromptContent {
    match form {
        PromptForm::TokenIds => PromptContent::default(),
        PromptForm::Chat => PromptContent::Chat(wording),
        PromptForm::Text => PromptContent::Text(wording),
    }
}

/// Prompts for `target` that need no tokenizer.
pub(crate) fn words_or_ids(target: &Target) -> PromptContent {
    synthetic(form(target, false), TextSource::Words)
}
