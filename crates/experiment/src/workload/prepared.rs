//! A workload that is ready to be sent: a plan, or a trace that is read as it is replayed.

use std::num::NonZeroU64;
use std::sync::Arc;

use fizeau_core::{Nanos, PerSec, Seconds, Tokens};
use fizeau_metrics::CacheExpectation;
use fizeau_record::{
    self as record, ArrivalMoments, Json, RequestedLength, RequestedLengths, RequestedLoad,
};
use fizeau_workload::{
    ArrivalLaw, Plan, PlanSpec, PromptContent, Rescale, Salt, TextCodec, Trace, Workload,
};

use super::describe::{self, ArrivalUnit};
use super::limit::ContextLimit;
use super::{PlanParts, WorkloadSpec, records, trace};
use crate::input::{ExperimentError, InputError, InputField};

/// A workload that is ready to be sent.
#[derive(Clone)]
pub struct PreparedWorkload {
    /// The source's name, and its file's.
    name: String,
    /// As it was given.
    tokenizer_name: Option<String>,
    kind: PreparedKind,
    /// The mean rate of its arrivals, as far as it is gone through.
    rate: Option<PerSec>,
}

#[derive(Clone)]
enum PreparedKind {
    Plan { plan: Plan, parts: Box<PlanParts> },
    Trace { trace: Trace, tokenizer: Option<Arc<dyn TextCodec>> },
}

fizeau_core::debug_in_part!(PreparedWorkload { name });

impl PreparedWorkload {
    /// The plan of `parts`.
    ///
    /// # Errors
    /// If they cannot be planned.
    pub fn of(parts: PlanParts) -> Result<Self, InputError> {
        let (name, tokenizer_name) = (parts.name.clone(), parts.tokenizer_name.clone());
        let plan = parts.plan()?;
        let rate = mean_rate(&plan, None);
        let kind = PreparedKind::Plan { plan, parts: Box::new(parts) };
        Ok(Self { name, tokenizer_name, kind, rate })
    }

    pub(super) fn of_trace(
        trace: Trace,
        tokenizer: Option<Arc<dyn TextCodec>>,
        of: &WorkloadSpec,
    ) -> Result<Self, InputError> {
        Ok(Self {
            name: of.source.description(),
            tokenizer_name: of.tokenizer.as_ref().map(ToString::to_string),
            rate: trace::mean_rate(&trace, None)?,
            kind: PreparedKind::Trace { trace, tokenizer },
        })
    }

    /// The same for a level that releases nothing more after `end`, if anything ends it.
    ///
    /// # Errors
    /// If the file of a trace cannot be read again.
    pub(crate) fn ended_after(self, end: Option<Nanos>) -> Result<Self, InputError> {
        let rate = match &self.kind {
            PreparedKind::Plan { plan, .. } => mean_rate(plan, end),
            PreparedKind::Trace { trace, .. } => trace::mean_rate(trace, end)?,
        };
        Ok(Self { rate, ..self })
    }

    /// As a report names it, where this run has one share in `one_in`.
    pub fn described(&self, one_in: NonZeroU64) -> record::WorkloadRecord {
        let RequestedLengths { input, output } = self.requested_lengths();
        let words =
            |length: Option<RequestedLength>| length.map_or_else(String::new, |of| of.words());
        record::WorkloadRecord {
            dataset: self.name.clone(),
            input_tokens: words(input),
            output_tokens: words(output),
            seed: Some(self.seed()),
            arrivals: self.describe_arrivals(),
            requested: self.requested_load(one_in),
        }
    }

    /// As a driver sees it.
    pub fn plan(&self) -> &dyn Workload {
        match &self.kind {
            PreparedKind::Plan { plan, .. } => plan,
            PreparedKind::Trace { trace, .. } => trace,
        }
    }

    /// The same for whom a prompt that shares nothing with another is a length.
    ///
    /// # Errors
    /// If it cannot be planned so.
    pub fn unread(self) -> Result<Self, InputError> {
        match self.kind {
            PreparedKind::Plan { parts, .. } => {
                let plan = parts.plan_of(parts.unread_spec())?;
                Ok(Self { kind: PreparedKind::Plan { plan, parts }, ..self })
            }
            PreparedKind::Trace { .. } => Ok(self),
        }
    }

    /// How many requests it has.
    pub fn requests(&self) -> NonZeroU64 {
        self.plan().requests()
    }

    fn seed(&self) -> u64 {
        match &self.kind {
            PreparedKind::Plan { plan, .. } => plan.spec().seed.0,
            PreparedKind::Trace { trace, .. } => trace.spec().seed.0,
        }
    }

    /// What sets its prompts apart from those of other runs.
    pub fn salt(&self) -> Salt {
        match &self.kind {
            PreparedKind::Plan { plan, .. } => plan.spec().salt,
            PreparedKind::Trace { trace, .. } => trace.spec().salt,
        }
    }

    /// Counts where the server does not.
    pub fn tokenizer(&self) -> Option<Arc<dyn TextCodec>> {
        match &self.kind {
            PreparedKind::Plan { parts, .. } => parts.tokenizer.clone(),
            PreparedKind::Trace { tokenizer, .. } => tokenizer.clone(),
        }
    }

    /// How many requests come of an arrival, in the mean: the turns of a conversation.
    #[must_use]
    pub fn requests_per_arrival(&self) -> f64 {
        match &self.kind {
            PreparedKind::Plan { plan, .. } => plan.len().get() as f64 / arrivals(plan) as f64,
            PreparedKind::Trace { .. } => 1.0,
        }
    }

    /// The mean rate of arrivals that was asked for; of a level that ends by time, of those that come before its end.
    pub const fn mean_rate(&self) -> Option<PerSec> {
        self.rate
    }

    /// The time that its arrivals take, where they tell: all requests at the mean rate.
    #[must_use]
    pub fn arrival_time(&self) -> Option<Seconds> {
        let rate = self.mean_rate().filter(|rate| rate.get() > 0.0)?;
        Some(Seconds::new(self.requests().get() as f64 / rate.get()))
    }

    /// The prompt's nominal length, for servers that do not say how long it was.
    pub fn typical_prompt(&self) -> Tokens {
        match &self.kind {
            PreparedKind::Plan { plan, .. } => typical_prompt(plan.spec()),
            PreparedKind::Trace { trace, .. } => trace::typical_prompt(trace),
        }
    }

    /// The lengths that were asked for.
    pub(crate) fn requested_lengths(&self) -> RequestedLengths {
        match &self.kind {
            PreparedKind::Plan { plan, parts } => {
                let output = parts.file.as_ref().and_then(|file| file.output_tokens);
                describe::requested_lengths(plan.spec(), output)
            }
            PreparedKind::Trace { .. } => {
                let [input, output] = ["trace"; 2].map(|what| Some(describe::of_file(what)));
                RequestedLengths { input, output }
            }
        }
    }

    /// How requests arrive, in one line.
    pub(crate) fn describe_arrivals(&self) -> String {
        match &self.kind {
            PreparedKind::Plan { plan, parts } if parts.has_turns() => {
                let spec = plan.spec();
                let arrivals = describe::arrivals(&spec.arrivals, ArrivalUnit::Sessions);
                format!("{arrivals}; turns: {}", describe::turns(spec.sessions.as_ref()))
            }
            PreparedKind::Plan { plan, .. } => {
                describe::arrivals(&plan.spec().arrivals, ArrivalUnit::Requests)
            }
            PreparedKind::Trace { trace, .. } => trace::describe_arrivals(trace),
        }
    }

    /// The same workload as a level of a sweep asked it.
    #[must_use]
    pub fn of_level(&self, plan: Plan) -> Self {
        match &self.kind {
            PreparedKind::Plan { parts, .. } => Self {
                rate: mean_rate(&plan, None),
                kind: PreparedKind::Plan { plan, parts: parts.clone() },
                ..self.clone()
            },
            PreparedKind::Trace { .. } => self.clone(),
        }
    }

    /// What is asked of arrivals and of a cache, as figures, where every `one_in`-th session is ours.
    pub fn requested_load(&self, one_in: NonZeroU64) -> RequestedLoad {
        self.requested_share(one_in, None)
    }

    /// As [`Self::requested_load`], where only so many requests of the plan were `released`; none for all.
    pub(crate) fn requested_share(
        &self,
        one_in: NonZeroU64,
        released: Option<u64>,
    ) -> RequestedLoad {
        let asked = match &self.kind {
            PreparedKind::Plan { plan, parts } => {
                requested_of_plan(plan, parts, self.rate, released)
            }
            PreparedKind::Trace { trace, .. } => trace::requested_load(trace, self.rate, released),
        };
        if one_in == NonZeroU64::MIN {
            return asked;
        }
        let share = 1.0 / one_in.get() as f64;
        let arrivals = asked.arrivals.map(|whole| ArrivalMoments {
            rate: whole.rate.map(|rate| rate * share),
            // A gap of ours is the sum of so many of the whole, which is simple where those are independent.
            cv_squared: whole.cv_squared.filter(|_| self.is_renewal()).map(|cv| cv * share),
        });
        // What a share of the sessions finds in a cache depends on where the others are sent.
        let cache = match asked.cache {
            CacheExpectation::Share(_) => CacheExpectation::Reuse,
            other => other,
        };
        RequestedLoad { arrivals, cache }
    }

    /// Whether gaps are independent of each other.
    fn is_renewal(&self) -> bool {
        match &self.kind {
            PreparedKind::Plan { plan, .. } => match plan.spec().arrivals {
                ArrivalLaw::Constant { .. } => true,
                ArrivalLaw::Gamma { rescale, .. } => rescale == Rescale::None,
                _ => false,
            },
            PreparedKind::Trace { .. } => false,
        }
    }

    /// Refuses what is too long for the model.
    ///
    /// # Errors
    /// What the longest request takes, and who says that the model takes less.
    pub fn check(&self, limit: &ContextLimit) -> Result<(), InputError> {
        match &self.kind {
            PreparedKind::Plan { plan, parts } => check(plan.spec(), parts, limit),
            PreparedKind::Trace { trace, .. } => {
                let longest = trace.facts().longest;
                limit.check(longest.input, longest.output, |message| {
                    let message =
                        format!("{}, line {}: {message}", trace.spec().name, longest.line);
                    InputError::new(InputField::Workload, message)
                })
            }
        }
    }

    /// That records come more than once, in words.
    pub fn repeated(&self) -> Option<String> {
        match &self.kind {
            PreparedKind::Plan { plan, .. } => plan.repeats().map(|repeats| repeats.to_string()),
            PreparedKind::Trace { trace, .. } => trace::repeated(trace),
        }
    }

    /// What is not as one might think, in words: what of a file is not sent so, and what is not judged.
    pub fn notes(&self) -> Vec<String> {
        let notes = match &self.kind {
            PreparedKind::Plan { parts, .. } => {
                [parts.left_out(), parts.unjudged(), parts.of_one_length(), parts.other_range()]
            }
            PreparedKind::Trace { trace, .. } => [trace::left_out(trace), None, None, None],
        };
        notes.into_iter().flatten().collect()
    }

    /// What was asked, for the record: the whole specification, and which file its records were of.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn record(&self) -> Result<Json, ExperimentError> {
        let mut record = match &self.kind {
            PreparedKind::Plan { parts, .. } => parts.record(),
            PreparedKind::Trace { trace, .. } => trace::record(trace),
        }?;
        if let (Some(fields), Some(name)) = (record.as_object_mut(), &self.tokenizer_name) {
            fields.insert("tokenizer".to_owned(), name.as_str().into());
        }
        Json::of(&record).map_err(ExperimentError::broken)
    }
}

/// The rate of arrivals that the law of `plan` asks for, as far as they come before `end`.
fn mean_rate(plan: &Plan, end: Option<Nanos>) -> Option<PerSec> {
    plan.spec().arrivals.mean_rate_before(arrivals(plan), end.unwrap_or(Nanos::MAX))
}

/// How many sessions `plan` has.
fn arrivals(plan: &Plan) -> u64 {
    plan.schedule().size_hint().0 as u64
}

/// What is asked of `plan`'s arrivals, whose mean `rate` this is, and of a cache.
fn requested_of_plan(
    plan: &Plan,
    parts: &PlanParts,
    rate: Option<PerSec>,
    released: Option<u64>,
) -> RequestedLoad {
    let arrivals = match &plan.spec().arrivals {
        ArrivalLaw::ClosedLoop => None,
        law => Some(ArrivalMoments {
            rate,
            cv_squared: law.requested().and_then(|asked| asked.cv_squared),
        }),
    };
    RequestedLoad { arrivals, cache: cache(plan, parts, released) }
}

/// What a prefix cache may supply of `plan`, or of the requests of it that were `released`.
fn cache(plan: &Plan, parts: &PlanParts, released: Option<u64>) -> CacheExpectation {
    // vLLM's draws are never salted, and yet nobody asked for more than they share.
    if parts.reuses || parts.has_turns() {
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
fn check(spec: &PlanSpec, parts: &PlanParts, limit: &ContextLimit) -> Result<(), InputError> {
    match &spec.content {
        PromptContent::Dataset { .. } => records::check_limit(spec, parts, limit),
        _ => spec.check_context(limit.tokens).map_err(|error| limit.refusal(&error)),
    }
}

/// The median length of a prompt as the laws have it.
fn typical_prompt(spec: &PlanSpec) -> Tokens {
    match &spec.content {
        PromptContent::PrefixRepetition(of) => of.prefix + of.suffix,
        _ => spec.prefix_tokens() + spec.lengths.quantile(0.5).input,
    }
}
