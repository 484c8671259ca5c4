//! One level's result, ready to be written down.

mod client;
mod document;
mod import_unknowns;
mod run;
mod speed;
mod tapes;
mod until;

use fizeau_core::{Estimate, LevelLoad, Millis, PerSec, Tape, WarmUp};
use fizeau_metrics::{
    ClientProof, Distribution, GoodputGoals, LevelShape, LevelSummary, Saturation, Statistic,
    Validity, Verdict, VerdictConcern, VerdictReason,
};

use crate::{
    Checklist, ImportUnknowns, LevelTelemetry, PeerComparison, RequestedLoad, ShardsReport,
};

pub(crate) use document::SUMMARY;
pub use document::SummaryDocument;
pub use run::{LevelContext, LevelOutcome};
pub use speed::{
    CalibratedBlock, CalibratedComparison, CalibratedPrediction, DataSheetBound,
    DecodeStepComparison, EvenRouting, JsonNumber, NoReference, PredictedFigures, PredictedRange,
    SpeedOfLight, SpeedOfLightComparison,
};
pub use until::{UntilPrecise, UntilPreciseDocument, UntilPreciseGoal};

/// All that is known of one level: its load, what was measured, whether to believe it, and the bound beside it.
///
/// A [`SummaryDocument`] is made of it, which is `summary.json`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LevelReport {
    /// The operating condition.
    pub load: LevelLoad,
    /// What was asked for of the load, to stand beside what was sent.
    pub requested: RequestedLoad,
    /// What was measured.
    pub summary: LevelSummary,
    /// What the client saw of itself.
    pub client: ClientProof,
    /// Whether to believe it.
    pub validity: Validity,
    /// How far it is from the best that the hardware could do.
    pub speed_of_light: SpeedOfLight,
    /// Whether it ran to its end.
    pub status: LevelStatus,
    /// How well is known what it was to find out; absent if nothing was asked for.
    pub until: Option<UntilPrecise>,
    /// What was sent before it; absent where that is not recorded.
    pub warm_up: Option<WarmUp>,
    /// The checklist of what it must show before it is believed. Absent at a level of a sweep, which has one for all of them.
    pub checklist: Option<Checklist>,
    /// What is not known of it since another tool measured it; absent where none did. See [`LevelReport::with_unseen`].
    pub unseen: Option<Box<ImportUnknowns>>,
    /// The level's folder, relative to the report; absent if none was written.
    pub folder: Option<String>,
    /// The clients that measured it together; absent where one did alone.
    pub shards: Option<Box<ShardsReport>>,
    /// What its servers, their devices and the client's host said meanwhile; absent where nobody asked them.
    pub telemetry: Option<Box<LevelTelemetry>>,
    /// What pages and pictures show of its tapes; absent where those were not read for it. It is no part of `summary.json`.
    pub detail: Option<Box<LevelDetail>>,
}

/// What a level's tapes show beside its figures.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LevelDetail {
    /// Distributions, the timeline, time to first token by prompt length.
    pub shape: LevelShape,
    /// What other tools would have said of the same tapes, a table a tool; empty where there were too many for that.
    pub peers: Vec<PeerComparison>,
}

/// Adds up what the tapes of a level show beside its figures, one by one: as a run is measured, or when it is read again.
pub trait LevelDetailTally: Default {
    /// Takes in the tape of a request that was measured, or of a probe.
    fn add(&mut self, tape: &Tape);

    /// What they show, by these goals of single requests, of a level with at most so many in flight if there was a limit. `summary` is of
    /// the same tapes.
    fn finish(
        self,
        summary: &LevelSummary,
        goals: &GoodputGoals,
        max_in_flight: Option<u32>,
    ) -> LevelDetail;
}

/// Whether a level ran to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LevelStatus {
    /// It did.
    Finished,
    /// It was cut short; what it has is kept and marked, and compared with nothing.
    Partial {
        /// What cut it short, in plain words.
        reason: String,
    },
}

/// The tail of a latency: its 99th percentile, or what stands in for it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct TailLatency {
    /// It.
    pub value: Millis,
    /// What it was taken from.
    pub basis: LatencyBasis,
}

/// What a tail latency was taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum LatencyBasis {
    /// The 99th percentile.
    P99,
    /// The greatest value seen, because the sample is too small for a 99th percentile. It is at least as great
    /// as any percentile of the same sample.
    Max,
}

impl TailLatency {
    /// The tail of a sample; none if the sample is empty.
    #[must_use]
    pub fn of(sample: &Distribution) -> Option<Self> {
        let of = sample.value_or_max(Statistic::P99)?;
        let basis = of.stand_in.map_or(LatencyBasis::P99, |_| LatencyBasis::Max);
        Some(Self { value: of.value, basis })
    }

    /// Milliseconds.
    #[must_use]
    pub const fn ms(&self) -> f64 {
        self.value.get()
    }
}

impl LevelReport {
    /// Those of the verdict's notes that one has to know: what its server did, and what was sent again.
    #[must_use]
    pub fn finding_notes(&self) -> Vec<String> {
        let told = self.telemetry.as_ref().map(|said| said.notes()).unwrap_or_default();
        told.into_iter().chain(self.client.sent_again()).collect()
    }

    /// The 99th percentile of the end-to-end latency, with its interval where it has one; none where there are too few values.
    #[must_use]
    pub fn p99_e2el(&self) -> Option<Estimate<Millis>> {
        let sample = &self.summary.metrics.e2el;
        Some(Estimate::widened(sample.p99.value()?, sample.interval(Statistic::P99)))
    }

    /// Whether the queue of an open loop grew; a closed one has none.
    #[must_use]
    pub const fn is_saturated(&self) -> bool {
        let found = self.summary.saturation;
        self.requested.arrivals.is_some() && matches!(found, Some(Saturation::Saturated(_)))
    }

    /// Whether a closed loop had fewer requests than slots: then its load was never there, and the level is one of a lower load.
    #[must_use]
    pub fn is_never_full(&self) -> bool {
        let sent = self.summary.requests.sent;
        self.load.concurrency().is_some_and(|slots| sent < u64::from(slots.get()))
    }

    /// The sessions that were asked to begin each second, where some have several requests: the rate of the load counts those all.
    #[must_use]
    pub fn sessions_per_s(&self) -> Option<PerSec> {
        let came = self.summary.arrivals.as_ref()?;
        let rate = self.requested.arrivals?.rate?;
        (came.intended.n + 1 < self.summary.requests.sent).then_some(rate)
    }

    /// The rate at which requests of an open loop left, where it is more than a tenth off the one that was asked for: of few requests
    /// the gaps come out short or long. None where sessions have several requests, whose later ones follow from replies.
    #[must_use]
    pub fn differing_sent_rate(&self) -> Option<PerSec> {
        let LevelLoad::Rate(asked) = self.load else { return None };
        let came = self.summary.arrivals.as_ref()?.sent;
        let is_of_all = came.n + 1 >= self.summary.requests.sent;
        came.rate
            .filter(|sent| is_of_all && (sent.get() / asked.get() - 1.0).abs() > run::DRAWN_OFF)
    }

    /// Whether a reason of the verdict is that something was measured beyond the speed of light.
    #[must_use]
    pub fn is_of_light(&self, reason: &VerdictReason) -> bool {
        let violation = self.speed_of_light.violation().map(ToString::to_string);
        violation.is_some_and(|violation| reason.text.ends_with(&violation))
    }

    /// The reason why this level may not be compared with others; none if it may.
    #[must_use]
    pub fn left_out(&self) -> Option<String> {
        if let LevelStatus::Partial { reason } = &self.status {
            return Some(format!("partial: {reason}"));
        }
        if self.summary.requests.completed == 0 {
            return Some("no request completed".to_owned());
        }
        if self.validity.verdict != Verdict::Invalid {
            return None;
        }
        Some(self.invalid_by(|_| true).unwrap_or_else(|| "invalid: the verdict".to_owned()))
    }

    /// The reason why this level tells nothing of what the server can carry; none if it does. It is that of [`Self::left_out`], but
    /// for failures: they are the server's, and show that it cannot carry the load.
    #[must_use]
    pub fn no_evidence(&self) -> Option<String> {
        let of_client = |reason: &VerdictReason| reason.about != VerdictConcern::Failures;
        (self.summary.requests.completed > 0).then(|| self.invalid_by(of_client)).flatten()
    }

    /// Whether so many of its requests failed that it may be compared with nothing. It is evidence all the same: the server does not
    /// carry the load. One that was cut short, or whose client was at its limit, is none.
    #[must_use]
    pub fn is_failed(&self) -> bool {
        self.status == LevelStatus::Finished
            && self.summary.requests.failed_share().is_some_and(|share| share > 0.0)
            && self.left_out().is_some()
            && self.invalid_by(|reason| reason.about != VerdictConcern::Failures).is_none()
    }

    /// The first of some reasons for which it is invalid.
    fn invalid_by(&self, counts: impl Fn(&VerdictReason) -> bool) -> Option<String> {
        let mut reasons = self.validity.reasons.iter();
        let reason = reasons.find(|one| one.verdict == Verdict::Invalid && counts(one))?;
        // What it could be is said once, among the reasons.
        let text =
            if self.is_of_light(reason) { "beyond the speed of light" } else { &reason.text };
        Some(format!("invalid: {text}"))
    }
}
