//! Where witnesses differ, and what that means.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::share::{LightWitness, WitnessInput, WitnessShare};
use crate::ServerWindow;

/// Two witnesses that differ by more than both are uncertain.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct WitnessDisagreement {
    /// Who says more.
    pub higher: LightWitness,
    /// Who says less.
    pub lower: LightWitness,
    /// How many times as much.
    pub times: f64,
    /// What that means.
    pub cause: WitnessCause,
}

/// What a disagreement means, the most likely first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum WitnessCause {
    /// Drafts were verified: engines book a request with more than one token a step as prefill, and count drafts that are not accepted.
    DraftsBookedAsPrefill,
    /// One is a whole number of times the other: the number of devices is not as given.
    DeviceCount,
    /// Part of the prompts came from a cache: who counts them as computed says more.
    CachedPrompts,
    /// Batches were less full than the load allows: steps read the weights for fewer requests than the bound of the whole level does.
    PartlyFullBatches,
    /// Each group of attention reads weights of its own, which the bound of the client's rate shares among all of them.
    WeightsOfEachGroup,
    /// Devices also do what the other does not count: activations, padding, another program.
    UncountedWork,
    /// None of these.
    Unknown,
}

fizeau_core::words! {
    WitnessCause, shown {
        DraftsBookedAsPrefill = "drafts were verified, which engines book as prefill whether they are accepted or not",
        DeviceCount = "one is a whole number of times the other: check how many devices serve",
        CachedPrompts = "part of the prompts came from a cache, and one of them counts it as computed",
        PartlyFullBatches = "batches ran partly empty, so each read of the weights served fewer requests",
        WeightsOfEachGroup = "each group of attention reads weights of its own, which the bound shares among all groups",
        UncountedWork = "devices do what the other does not count: activations, padding, or another program",
        Unknown = "the cause is not known",
    }
}

impl fmt::Display for WitnessDisagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { higher, lower, times, cause } = self;
        write!(
            f,
            "by the {higher} the share of the speed of light is {times:.2} times that by the {lower}: {cause}"
        )
    }
}

/// Witnesses count by different rules, embeddings and norms among them: less than this is no finding.
const RULES: f64 = 0.05;

/// Each of `shares` held against the one on the firmest ground: steps, else the client.
pub(super) fn disagreements(
    shares: &[WitnessShare],
    input: &WitnessInput<'_>,
) -> Vec<WitnessDisagreement> {
    let of = |witness| shares.iter().find(|told| told.witness == witness);
    let Some(base) = of(LightWitness::ForwardPasses).or_else(|| of(LightWitness::ClientThroughput))
    else {
        return Vec::new();
    };
    let others = shares.iter().filter(|told| told.witness != base.witness);
    others.filter_map(|other| between(base, other, input)).collect()
}

fn between(
    one: &WitnessShare,
    other: &WitnessShare,
    input: &WitnessInput<'_>,
) -> Option<WitnessDisagreement> {
    let (higher, lower) = if one.share >= other.share { (one, other) } else { (other, one) };
    if higher.low <= lower.high * (1.0 + RULES) {
        return None;
    }
    let times = higher.share / lower.share;
    let (higher, lower) = (higher.witness, lower.witness);
    times.is_finite().then(|| WitnessDisagreement {
        higher,
        lower,
        times,
        cause: cause(higher, lower, times, input),
    })
}

fn cause(
    higher: LightWitness,
    lower: LightWitness,
    times: f64,
    input: &WitnessInput<'_>,
) -> WitnessCause {
    use LightWitness::{ClientThroughput, DeviceActivity, EngineCounters, ForwardPasses};
    let server = input.server;
    let groups = input.system.deployment().attention_groups();
    let has_drafts = server
        .and_then(|server| server.draft_tokens.as_ref())
        .is_some_and(|told| told.figure.delta > 0.0);
    let is_cached = server.and_then(ServerWindow::cached_share).is_some_and(|share| share > 0.01);
    let is_whole = times.round() >= 2.0 && (times / times.round() - 1.0).abs() <= RULES;
    match (higher, lower) {
        (EngineCounters, _) if has_drafts => WitnessCause::DraftsBookedAsPrefill,
        (EngineCounters, ForwardPasses) | (ForwardPasses, EngineCounters) if is_whole => {
            WitnessCause::DeviceCount
        }
        (ClientThroughput, _) if is_cached => WitnessCause::CachedPrompts,
        (EngineCounters, ClientThroughput) if groups > 1 => WitnessCause::WeightsOfEachGroup,
        (ForwardPasses | EngineCounters, ClientThroughput) => WitnessCause::PartlyFullBatches,
        (DeviceActivity, _) => WitnessCause::UncountedWork,
        _ => WitnessCause::Unknown,
    }
}
