//! Figures of the probe stream beside a load.

use fizeau_core::Tape;

use super::RequestCounts;
use crate::distribution::Sample;
use crate::{Distribution, PooledSample, RequestMetrics};

/// What small requests beside the load met: a stream of its own, no part of which is in any other figure of the level.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ProbeSummary {
    /// How many went out, and how they ended.
    pub requests: RequestCounts,
    /// Send start to first token, in milliseconds, of completed ones, as all that follow.
    #[serde(rename = "ttft_ms")]
    pub ttft: Distribution,
    /// Intended release to first token.
    #[serde(rename = "ttft_scheduled_ms")]
    pub ttft_scheduled: Distribution,
    /// Mean pace after the first event.
    #[serde(rename = "tpot_ms")]
    pub tpot: Distribution,
    /// Send start to the last of the output.
    #[serde(rename = "e2el_ms")]
    pub e2el: Distribution,
}

#[derive(Debug, Clone, Default)]
pub(super) struct ProbeTally {
    requests: RequestCounts,
    ttft: PooledSample,
    ttft_scheduled: PooledSample,
    tpot: Sample,
    e2el: PooledSample,
}

impl ProbeTally {
    pub(super) fn add(&mut self, tape: &Tape) {
        self.requests.add(tape);
        let metrics = RequestMetrics::of(tape);
        let figures = [
            (&mut self.ttft, metrics.ttft),
            (&mut self.ttft_scheduled, metrics.ttft_scheduled),
            (&mut self.e2el, metrics.e2el),
        ];
        for (column, figure) in figures {
            figure.into_iter().for_each(|figure| column.push(figure));
        }
        metrics.tpot.into_iter().for_each(|tpot| self.tpot.push(tpot));
    }

    /// Takes in all that `other` has.
    pub(super) fn merge(&mut self, other: Self) {
        self.requests.merge(other.requests);
        self.ttft.merge(other.ttft);
        self.ttft_scheduled.merge(other.ttft_scheduled);
        self.tpot.append(other.tpot);
        self.e2el.merge(other.e2el);
    }

    pub(super) fn summary(&self) -> ProbeSummary {
        ProbeSummary {
            requests: self.requests.clone(),
            ttft: self.ttft.summary(),
            ttft_scheduled: self.ttft_scheduled.summary(),
            tpot: self.tpot.clone().pooled_summary(),
            e2el: self.e2el.summary(),
        }
    }
}
