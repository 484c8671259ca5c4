//! What tokens cost.

use std::num::{NonZeroU32, NonZeroU64};

use fizeau_record::text::hourly;
use fizeau_roofline::{
    Cost, DeploymentError, Disaggregation, EstimateKind, Figures, HourlyRate, InstanceCounts,
    PriceOrigin, Speculation, System, UsdRange,
};

use super::{SolExtra, SolSubject, by_each};

/// How the requests whose cost is asked are served.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum SolServing<'a> {
    /// Prompts and replies on the same devices, a token at a time.
    Plain,
    /// With drafts of so many tokens; of the length that is expected to generate most where none is said.
    Drafts(&'a Speculation, Option<NonZeroU32>),
    /// Prompts and replies on devices of their own.
    Apart(&'a Disaggregation<'a>),
}

impl SolServing<'_> {
    /// The system that drafts, or that has as many devices as prefill and decode apart, and the bound of the load on it; none of plain
    /// serving.
    pub(super) fn bound(
        &self,
        of: &SolSubject<'_>,
    ) -> Result<Option<(System, Figures)>, DeploymentError> {
        Ok(Some(match self {
            Self::Plain => return Ok(None),
            Self::Drafts(drafts, length) => {
                let [bound, _] = drafts.answer(of.system, of.load, of.batch, *length).speculated;
                let mut serving = *of.system.serving();
                serving.tokens_per_step = NonZeroU64::MIN.saturating_add(bound.drafted.into());
                (of.system.clone().with_serving(serving), bound.figures)
            }
            Self::Apart(apart) => {
                let (prefill, decode) = (apart.prefill_instances, apart.decode_instances);
                let all = InstanceCounts { prefill, decode }.together(of.system)?;
                (all, apart.answer(of.load).bound)
            }
        }))
    }

    /// By each account what tokens cost, and what the reader should know of how they are served.
    fn costs(&self, of: &SolSubject<'_>, rate: &HourlyRate) -> ([Cost; 2], Option<String>) {
        let SolSubject { system, load, batch } = *of;
        match self {
            Self::Plain => (by_each(|by| system.cost(by, load, batch, rate)), None),
            Self::Drafts(drafts, length) => {
                let answer = drafts.answer(system, load, batch, *length);
                let [bound, expected] = &answer.speculated;
                let costs = [(EstimateKind::Bound, bound), (EstimateKind::Expected, expected)]
                    .map(|(by, found)| drafts.cost(system, by, load, found, rate));
                (costs, Some(format!("With drafts of {} tokens.", expected.drafted)))
            }
            Self::Apart(apart) => {
                let costs = by_each(|by| apart.cost(by, load, rate));
                let all = apart.devices();
                let (read, decode) = (apart.prefill_instances, apart.decode_instances);
                let note = format!(
                    "Of all {all} devices, prefill on {read} and decode on {decode} instances."
                );
                (costs, Some(note))
            }
        }
    }
}

impl SolExtra {
    /// What tokens cost at `rate` served so, by the lowest and, where it differs, the highest price.
    #[must_use]
    pub fn cost(of: &SolSubject<'_>, serving: SolServing<'_>, rate: &HourlyRate) -> Self {
        let (costs, served) = serving.costs(of, rate);
        let mut aside = Self::new("cost", format!("USD, at {}", hourly(rate)));
        let is_range = rate.low < rate.high;
        let mut add = |names: [&'static str; 4], part: fn(&Cost) -> UsdRange| {
            aside.both(names[0], names[1], |i| part(&costs[i]).low.get());
            if is_range {
                aside.both(names[2], names[3], |i| part(&costs[i]).high.get());
            }
        };
        add(MILLION_OUTPUT_ALONE, |cost| cost.per_million_output_alone);
        add(MILLION_INPUT, |cost| cost.per_million_input);
        add(MILLION_OUTPUT, |cost| cost.per_million_output);
        if costs.iter().all(|cost| cost.per_million_cached.is_some()) {
            add(MILLION_CACHED, |cost| cost.per_million_cached.unwrap_or(cost.per_million_input));
        }
        aside
            .both("prompt_share", "share of the time that prompts take", |i| costs[i].prompt_share);
        match &rate.origin {
            PriceOrigin::Published { kind, source, date } => {
                aside.note(format!(
                    "The price: {kind}, {source}, {date}. This is not an offer: give the price \
                     that you pay."
                ));
            }
            _ => aside.word("price_from", "price", "as given"),
        }
        served.into_iter().for_each(|served| aside.note(served));
        aside
    }
}

/// Key and name at the low price, key and name at the high one.
const MILLION_OUTPUT_ALONE: [&str; 4] = [
    "per_million_output_alone",
    "1 M output tokens, all cost on output",
    "per_million_output_alone_high",
    "  at the high price",
];
const MILLION_INPUT: [&str; 4] = [
    "per_million_input",
    "a million input tokens",
    "per_million_input_high",
    "  at the high price",
];
const MILLION_CACHED: [&str; 4] = [
    "per_million_cached",
    "a million cached input tokens",
    "per_million_cached_high",
    "  at the high price",
];
const MILLION_OUTPUT: [&str; 4] = [
    "per_million_output",
    "a million output tokens, decode's share",
    "per_million_output_high",
    "  at the high price",
];
