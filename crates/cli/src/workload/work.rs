//! What a run asks: a plan, or a trace that is read as it is replayed.

use std::num::NonZeroU64;
use std::sync::Arc;

use fizeau::core::{PerSec, Tokens};
use fizeau::metrics::CacheExpectation;
use fizeau::record;
use fizeau::record::{Asked, AskedArrivals};
use fizeau::workload::{Arrivals, Content, Plan, Rescale, Salt, Spec, TextCodec, Trace, Workload};
use serde_json::Value;

use super::describe::{self, Arriving, AskedLength};
use super::limit::Limit;
use super::{Ask, records, trace};
use crate::args::WorkloadArgs;
use crate::exit::Fail;

/// What a run asks.
pub(crate) enum Work {
    Plan { plan: Plan, ask: Box<Ask> },
    Trace { trace: Trace, tokenizer: Option<Arc<dyn TextCodec>> },
}

impl Work {
    /// As a report names it, where this run has one share in `one_in`.
    pub(crate) fn described(&self, args: &WorkloadArgs, one_in: NonZeroU64) -> record::Workload {
        let (input, output) = self.asked_lengths();
        record::Workload {
            dataset: self.dataset(args),
            input_tokens: input.words(),
            output_tokens: output.words(),
            seed: Some(args.seed),
            arrivals: self.describe_arrivals(),
            asked: self.asked(one_in),
        }
    }

    /// As a driver sees it.
    pub(crate) fn plan(&self) -> &dyn Workload {
        match self {
            Self::Plan { plan, .. } => plan,
            Self::Trace { trace, .. } => trace,
        }
    }

    /// The same for whom a prompt that shares nothing with another is a length.
    pub(crate) fn unread(self) -> Result<Self, Fail> {
        match self {
            Self::Plan { ask, .. } => Ok(Self::Plan { plan: ask.plan_of(ask.unread_spec())?, ask }),
            trace @ Self::Trace { .. } => Ok(trace),
        }
    }

    pub(crate) fn requests(&self) -> NonZeroU64 {
        self.plan().requests()
    }

    pub(crate) fn salt(&self) -> Salt {
        match self {
            Self::Plan { plan, .. } => plan.spec().salt,
            Self::Trace { trace, .. } => trace.spec().salt,
        }
    }

    /// Counts where the server does not.
    pub(crate) fn tokenizer(&self) -> Option<Arc<dyn TextCodec>> {
        match self {
            Self::Plan { ask, .. } => ask.tokenizer.clone(),
            Self::Trace { tokenizer, .. } => tokenizer.clone(),
        }
    }

    /// How many requests come of an arrival, in the mean: the turns of a conversation.
    pub(crate) fn requests_an_arrival(&self) -> f64 {
        match self {
            Self::Plan { plan, .. } => plan.len().get() as f64 / arrivals(plan) as f64,
            Self::Trace { .. } => 1.0,
        }
    }

    /// The mean rate of arrivals that was asked for.
    pub(crate) fn mean_rate(&self) -> Option<PerSec> {
        match self {
            Self::Plan { plan, .. } => mean_rate(plan),
            Self::Trace { trace, .. } => trace::mean_rate(trace),
        }
    }

    /// The prompt's nominal length, for servers that do not say how long it was, and the output's.
    pub(crate) fn typical(&self) -> (u64, u64) {
        match self {
            Self::Plan { plan, .. } => typical(plan.spec()),
            Self::Trace { trace, .. } => trace::typical(trace),
        }
    }

    pub(crate) fn asked_lengths(&self) -> (AskedLength, AskedLength) {
        match self {
            Self::Plan { plan, ask } => {
                let output = ask.file.as_ref().and_then(|file| file.output_tokens);
                describe::asked_lengths(plan.spec(), output)
            }
            Self::Trace { .. } => (AskedLength::of_file("trace"), AskedLength::of_file("trace")),
        }
    }

    /// How requests arrive, in one line.
    pub(crate) fn describe_arrivals(&self) -> String {
        match self {
            Self::Plan { plan, ask } if ask.has_turns() => {
                let spec = plan.spec();
                let arrivals = describe::arrivals(&spec.arrivals, Arriving::Sessions);
                format!("{arrivals}; turns: {}", describe::turns(spec.sessions.as_ref()))
            }
            Self::Plan { plan, .. } => {
                describe::arrivals(&plan.spec().arrivals, Arriving::Requests)
            }
            Self::Trace { trace, .. } => trace::describe_arrivals(trace),
        }
    }

    /// The data set's name, and its file's.
    pub(crate) fn dataset(&self, args: &WorkloadArgs) -> String {
        describe::dataset(args)
    }

    /// The same workload as a level of a sweep asked it.
    pub(crate) fn of_level(&self, plan: Plan) -> Self {
        match self {
            Self::Plan { ask, .. } => Self::Plan { plan, ask: ask.clone() },
            Self::Trace { trace, tokenizer } => {
                Self::Trace { trace: trace.clone(), tokenizer: tokenizer.clone() }
            }
        }
    }

    /// What is asked of arrivals and of a cache, as figures, where every `one_in`-th session is ours.
    pub(crate) fn asked(&self, one_in: NonZeroU64) -> Asked {
        self.asked_of(one_in, None)
    }

    /// As [`Self::asked`], where only so many requests of the plan were `released`; none for all.
    pub(crate) fn asked_of(&self, one_in: NonZeroU64, released: Option<u64>) -> Asked {
        let asked = match self {
            Self::Plan { plan, ask } => asked(plan, ask, released),
            Self::Trace { trace, .. } => trace::asked(trace, released),
        };
        if one_in == NonZeroU64::MIN {
            return asked;
        }
        let share = 1.0 / one_in.get() as f64;
        let arrivals = asked.arrivals.map(|whole| AskedArrivals {
            rate: whole.rate.map(|rate| rate * share),
            // A gap of ours is the sum of so many of the whole, which is simple where those are independent.
            cv_squared: whole.cv_squared.filter(|_| self.is_renewal()).map(|cv| cv * share),
        });
        // What a share of the sessions finds in a cache depends on where the others are sent.
        let cache = match asked.cache {
            CacheExpectation::Share(_) => CacheExpectation::Reuse,
            other => other,
        };
        Asked { arrivals, cache }
    }

    /// Whether gaps are independent of each other.
    fn is_renewal(&self) -> bool {
        match self {
            Self::Plan { plan, .. } => match plan.spec().arrivals {
                Arrivals::Constant { .. } => true,
                Arrivals::Gamma { rescale, .. } => rescale == Rescale::None,
                _ => false,
            },
            Self::Trace { .. } => false,
        }
    }

    /// Refuses what is too long for the model.
    pub(crate) fn check(&self, limit: &Limit) -> Result<(), Fail> {
        match self {
            Self::Plan { plan, ask } => check(plan.spec(), ask, limit),
            Self::Trace { trace, .. } => {
                let longest = trace.facts().longest;
                let what = || format!("{}, line {}", trace.spec().name, longest.line);
                limit.check(what, longest.input, longest.output)
            }
        }
    }

    /// That records come more than once, in words.
    pub(crate) fn repeated(&self) -> Option<String> {
        match self {
            Self::Plan { plan, .. } => plan.repeats().map(|repeats| repeats.to_string()),
            Self::Trace { trace, .. } => trace::repeated(trace),
        }
    }

    /// What is not as one might think, in words: what of a file is not sent so, and what is not judged.
    pub(crate) fn notes(&self, args: &WorkloadArgs) -> Vec<String> {
        let notes = match self {
            Self::Plan { ask, .. } => [ask.left_out(), ask.unjudged(), unread(args)],
            Self::Trace { trace, .. } => [trace::left_out(trace), None, None],
        };
        notes.into_iter().flatten().collect()
    }

    /// What was asked, for the record, and with which `tokenizer`.
    pub(crate) fn record(&self, tokenizer: Option<&str>) -> Result<Value, Fail> {
        let mut record = match self {
            Self::Plan { ask, .. } => ask.record(),
            Self::Trace { trace, .. } => trace::record(trace),
        }?;
        if let (Some(fields), Some(name)) = (record.as_object_mut(), tokenizer) {
            fields.insert("tokenizer".to_owned(), name.into());
        }
        Ok(record)
    }
}

/// vLLM's lines name its file of sonnets.
fn unread(args: &WorkloadArgs) -> Option<String> {
    let path = args.data.dataset_path.as_ref().filter(|_| args.dataset_name == "sonnet")?;
    let path = path.display();
    Some(format!("--dataset-path {path}: not read; --dataset-name sonnet has the sonnets already"))
}

/// The rate of arrivals that the law of `plan` asks for.
fn mean_rate(plan: &Plan) -> Option<PerSec> {
    plan.spec().arrivals.mean_rate(arrivals(plan))
}

/// How many sessions `plan` has.
fn arrivals(plan: &Plan) -> u64 {
    plan.schedule().size_hint().0 as u64
}

/// What is asked of `plan`'s arrivals and of a cache.
fn asked(plan: &Plan, ask: &Ask, released: Option<u64>) -> Asked {
    let arrivals = match &plan.spec().arrivals {
        Arrivals::ClosedLoop => None,
        law => Some(AskedArrivals {
            rate: mean_rate(plan),
            cv_squared: law.asked().and_then(|asked| asked.cv_squared),
        }),
    };
    Asked { arrivals, cache: cache(plan, ask, released) }
}

/// What a prefix cache may supply of `plan`, or of the requests of it that were `released`.
fn cache(plan: &Plan, ask: &Ask, released: Option<u64>) -> CacheExpectation {
    // vLLM's draws are never salted, and yet nobody asked for more than they share.
    if ask.reuses || ask.has_turns() {
        return CacheExpectation::Reuse;
    }
    let expected = match released {
        None => plan.expected_cache(),
        Some(requests) => plan.expected_cache_of(requests),
    };
    match expected {
        Some(share) if share.cached > Tokens::ZERO => CacheExpectation::Share(share.share()),
        _ => CacheExpectation::None,
    }
}

/// Refuses what is longer than `limit`: by the laws of lengths, or in a record of the data set that says its length.
fn check(spec: &Spec, ask: &Ask, limit: &Limit) -> Result<(), Fail> {
    match &spec.content {
        Content::Dataset { .. } => records::check_limit(spec, ask, limit),
        _ => spec.check_context(limit.tokens).map_err(|error| limit.refusal(&error)),
    }
}

/// The median lengths as the laws have them.
fn typical(spec: &Spec) -> (u64, u64) {
    let median = spec.lengths.quantile(0.5);
    match &spec.content {
        Content::PrefixRepetition(of) => ((of.prefix + of.suffix).get(), of.output.get()),
        _ => ((spec.prefix_tokens() + median.input).get(), median.output.get()),
    }
}
