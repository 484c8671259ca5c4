//! What was measured at one level.

mod arrivals;
mod catalogue;
mod clocks;
mod e2el_parts;
mod goodput;
mod histograms;
mod json;
mod latencies;
mod lengths;
mod models;
mod output;
mod over_time;
mod probe;
mod slots;
mod tally;
mod tokens;
mod uncertainty;
mod windowed;

pub use arrivals::{ArrivalSummary, GapSummary};
pub use catalogue::{BetterDirection, Metric, MetricEntry, MetricTable, TableColumns};
pub use e2el_parts::E2elParts;
pub use goodput::{
    GoalAttainment, GoodputAttainment, GoodputError, GoodputGoals, GroupAttainment, RequestGoal,
    SimpleGoals,
};
pub use histograms::LevelHistograms;
pub use lengths::{LengthCheck, LengthChecks, LengthDifference};
pub use models::{ModelName, ModelSummary};
pub use output::{EventBin, EventHistogram, OutputSummary, RequestRates};
pub use over_time::{Occupancy, OccupancyOverTime};
pub use probe::ProbeSummary;
pub use tally::LevelTally;
pub use uncertainty::RateIntervals;
pub(crate) use uncertainty::RequestSeries;
pub use windowed::{WindowFigures, WindowMetrics, WindowThroughput, WindowedSummary};

use std::collections::BTreeMap;

use fizeau_core::{FailureClass, Millis, Outcome, PerSec, Seconds, Tape, TokenSource, Tokens};

use crate::Saturation;

/// What was measured at one level: the part of `summary.json` that comes from tapes alone.
///
/// In JSON a figure that is unknown is null, with the reason in a sibling `..._reason`.
///
/// ```
/// use fizeau_core::{Arrival, Channel, Nanos, Stamp, Tape};
/// use fizeau_metrics::{GoodputGoals, LevelSummary};
///
/// let ms = |n| Stamp::EPOCH + Nanos::from_millis(n);
/// let mut tape = Tape::sent_at(ms(0));
/// tape.arrivals.push(Arrival::tokens(ms(20), 1, Channel::Visible));
/// tape.arrivals.push(Arrival::tokens(ms(500), 9, Channel::Visible));
///
/// let level = LevelSummary::of([&tape], &GoodputGoals::default());
/// assert_eq!(level.requests.completed, 1);
/// assert_eq!(level.throughput.output_tokens_per_s.get(), 20.0); // ten tokens in half a second
/// assert_eq!(level.metrics.ttft.p99.value(), None); // one request supports no p99
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LevelSummary {
    /// How many requests went out, and how they ended.
    pub requests: RequestCounts,
    /// How many tokens went in and came out.
    pub tokens: TokenCounts,
    /// Latencies, of completed requests only.
    pub metrics: MetricTable,
    /// Spread of the latencies.
    pub jitter: Jitter,
    /// Rates of single requests: prefill, decode, text.
    pub rates: RequestRates,
    /// What the output was made of: reasoning, visible text, events.
    pub output: OutputSummary,
    /// Rates.
    pub throughput: Throughput,
    /// How many requests met which per-request goal; absent if no goal was given or nothing was sent.
    pub goodput: Option<GoodputAttainment>,
    /// How requests arrived. Computed from any tapes; whoever knows that the loop was closed leaves it out, since its
    /// arrivals are the endpoint's doing.
    pub arrivals: Option<ArrivalSummary>,
    /// Lengths that were asked for beside those that the server saw.
    pub lengths: LengthChecks,
    /// How much was going on at a time; absent if the level has no length.
    pub over_time: Option<OccupancyOverTime>,
    /// Whether the queue of an open loop grew. Computed from any tapes; whoever knows that the loop was closed leaves it out
    /// ([`LevelTally::of_closed_loop`]).
    pub saturation: Option<Saturation>,
    /// The figures of the part that was measured in its steady state. Those beside it are of the whole run.
    pub windowed: Box<WindowedSummary>,
    /// Figures of each model, in the order of their names; absent where all requests asked for the same.
    pub models: Option<Vec<ModelSummary>>,
    /// What a probe stream beside the load met; absent where there was none. No other figure has a part of it.
    pub probe: Option<Box<ProbeSummary>>,
}

impl LevelSummary {
    /// The summary of `tapes`, the whole of a level's in any order, in one pass.
    ///
    /// `goals` are those of goodput; where they are empty there is none. No tapes give counts of zero, rates
    /// of zero over a window of no length, and no latencies. A [`LevelTally`] does the same for tapes that come one by
    /// one and are not kept.
    #[must_use]
    pub fn of<'a>(tapes: impl IntoIterator<Item = &'a Tape>, goals: &GoodputGoals) -> Self {
        let mut tally = LevelTally::new(goals);
        for tape in tapes {
            tally.add(tape);
        }
        tally.summary()
    }

    /// Takes in that so many were due and never sent, which tapes do not say: the share of good requests is of them too.
    pub fn note_unsent(&mut self, unsent: u64) {
        self.requests.unsent = unsent;
        let Some(all) = &mut self.goodput else { return };
        let before = std::mem::replace(&mut all.unsent, unsent) + all.sent;
        let left = before as f64 / (all.sent + unsent) as f64;
        let share = all.share(all.good);
        let rates = &mut self.throughput;
        if let Some(goodput) = &mut rates.goodput {
            goodput.share = share;
        }
        if let Some(known) = &mut rates.intervals.good_share {
            *known = known.map(|ends| ends.map(|end| end * left));
        }
    }
}

/// How many requests went out, and how they ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(into = "WrittenCounts")]
#[non_exhaustive]
pub struct RequestCounts {
    /// All that were released.
    pub sent: u64,
    /// Those that succeeded by the strict rule.
    pub completed: u64,
    /// All others; `sent` is the sum of both.
    pub failed: u64,
    /// The failed ones by class.
    pub by_class: BTreeMap<FailureClass, u64>,
    /// Those that a cap on requests in flight held past their instant. Tapes do not say: whoever drove the level does, and
    /// until then it is zero, as is the next.
    pub held_back: u64,
    /// Planned ones that were never sent, because a turn before them failed. They are in no other count.
    pub abandoned: u64,
    /// Those that were due and never sent: the level ended while a cap on requests in flight held them, or the client was too slow.
    /// They are in no other count, and bad ones in the share of good requests: [`LevelSummary::note_unsent`].
    #[serde(default)]
    pub unsent: u64,
    /// Completed ones whose reply [came at once](fizeau_core::Tape::came_at_once), so that it was not streamed.
    #[serde(default)]
    pub at_once: u64,
}

/// The counts as they are written.
#[derive(serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "RequestCounts"))]
struct WrittenCounts {
    /// All that were released.
    sent: u64,
    /// Those that succeeded by the strict rule.
    completed: u64,
    /// All others; `sent` is the sum of both.
    failed: u64,
    /// The failed ones of all that were sent, 0 to 1, those that the client itself cancelled left out; absent where none failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed_share: Option<f64>,
    /// The failed ones by class.
    by_class: BTreeMap<FailureClass, u64>,
    /// Those that a cap on requests in flight held past their instant. Tapes do not say: whoever drove the level does, and
    /// until then it is zero, as is the next.
    held_back: u64,
    /// Planned ones that were never sent, because a turn before them failed. They are in no other count.
    abandoned: u64,
    /// Those that were due and never sent: the level ended while a cap on requests in flight held them, or the client was too slow.
    /// They are in no other count, and bad ones in the share of good requests; absent where there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    unsent: Option<u64>,
    /// Completed ones whose reply came at once, so that it was not streamed: after it had begun, all output within a hundredth of the
    /// time since the sending, and most events together; absent where there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    at_once: Option<u64>,
}

#[cfg(feature = "schema")]
fizeau_core::written_as!(RequestCounts, WrittenCounts);

impl From<RequestCounts> for WrittenCounts {
    fn from(counts: RequestCounts) -> Self {
        let failed_share = counts.failed_share().filter(|share| *share > 0.0);
        let RequestCounts {
            sent,
            completed,
            failed,
            by_class,
            held_back,
            abandoned,
            unsent,
            at_once,
        } = counts;
        let [unsent, at_once] = [unsent, at_once].map(|count| (count > 0).then_some(count));
        Self {
            sent,
            completed,
            failed,
            failed_share,
            by_class,
            held_back,
            abandoned,
            unsent,
            at_once,
        }
    }
}

impl RequestCounts {
    /// Those that the client itself cancelled, as at an interrupt. `failed` has them too, though they are no failures of the
    /// server's.
    #[must_use]
    pub fn cancelled(&self) -> u64 {
        self.by_class.get(&FailureClass::Cancelled).copied().unwrap_or_default()
    }

    /// The share of those that were due and never sent, of all that were due, 0 to 1; none where nothing was.
    #[must_use]
    pub(crate) fn unsent_share(&self) -> Option<f64> {
        let due = self.sent.saturating_add(self.unsent);
        (due > 0).then(|| self.unsent as f64 / due as f64)
    }

    /// The failed ones of all that were sent, 0 to 1, those that the client itself cancelled counted on neither side; none where
    /// there was nothing else.
    #[must_use]
    pub fn failed_share(&self) -> Option<f64> {
        let sent = self.answerable();
        (sent > 0).then(|| self.failures() as f64 / sent as f64)
    }

    /// Those that failed, without those that the client itself cancelled.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.failed.saturating_sub(self.cancelled())
    }

    /// Those that were sent and that the client did not cancel: what [`RequestCounts::failures`] are a share of.
    #[must_use]
    pub fn answerable(&self) -> u64 {
        self.sent.saturating_sub(self.cancelled())
    }

    fn add(&mut self, tape: &Tape) {
        self.sent += 1;
        match &tape.outcome {
            Outcome::Complete(_) => {
                self.completed += 1;
                self.at_once += u64::from(tape.came_at_once());
            }
            Outcome::Failed(failure) => {
                self.failed += 1;
                *self.by_class.entry(failure.class).or_default() += 1;
            }
        }
    }

    fn merge(&mut self, other: Self) {
        self.sent += other.sent;
        self.completed += other.completed;
        self.failed += other.failed;
        for (class, count) in other.by_class {
            *self.by_class.entry(class).or_default() += count;
        }
        self.held_back += other.held_back;
        self.abandoned += other.abandoned;
        self.at_once += other.at_once;
        self.unsent += other.unsent;
    }
}

/// How many tokens went in and came out, of completed requests.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct TokenCounts {
    /// Prompt tokens; absent if neither server nor plan knew them, even if only for a single request.
    pub input: Option<Tokens>,
    /// Generated tokens.
    pub output: Tokens,
    /// The worst source that any completed request's count came from; absent if none completed.
    pub source: Option<TokenSource>,
    /// Generation events.
    pub events: u64,
    /// Prompt tokens that the server took from a prefix cache; absent if it said so for no request. One for which it did
    /// not say counts as none: some servers (vLLM, Gemini) leave a zero out.
    pub cached_input: Option<Tokens>,
    /// Share of the prompt tokens that a prefix cache supplied, from 0 to 1: the measured hit rate, over the requests whose
    /// prompt length is known. Absent where there is none of those, and where the server said nothing of a cache.
    pub cached_share: Option<f64>,
    /// For how many completed requests the server said how many tokens it took from a cache.
    pub cached_reported: u64,
    /// Completed requests whose output had another length than was asked under
    /// [`fizeau_core::EosRule::Ignore`]. The length is what the server reports, else an exact count; where
    /// there is neither, the server's own word that the model stopped early counts, since an estimated length
    /// proves nothing.
    pub output_length_differs: u64,
    /// Completed requests under [`fizeau_core::EosRule::Stop`] whose output is longer than their limit, thoughts not counted: the server
    /// ignored it. The length is that of [`TokenCounts::output_length_differs`].
    pub output_limit_ignored: u64,
}

impl TokenCounts {
    /// Tokens per generation event: 1 where inter-chunk and inter-token latency are the same thing; absent
    /// without events.
    #[must_use]
    pub fn per_event(&self) -> Option<f64> {
        (self.events > 0).then(|| self.output.get() as f64 / self.events as f64)
    }
}

/// How evenly requests were served. A tail ratio is p99 / p50; absent where either is, or where p50 is zero.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Jitter {
    /// The standard deviation of ITL, as in [`MetricTable::itl`]; absent without gaps.
    pub itl_std: Option<Millis>,
    /// Tail ratio of ITL.
    pub itl_tail_ratio: Option<f64>,
    /// Tail ratio of TTFT.
    pub ttft_tail_ratio: Option<f64>,
    /// Tail ratio of TPOT.
    pub tpot_tail_ratio: Option<f64>,
    /// Tail ratio of E2EL.
    pub e2el_tail_ratio: Option<f64>,
    /// Share of inter-chunk gaps that are zero: events that came in one read. From 0 to 1; absent without
    /// gaps.
    pub zero_gap_share: Option<f64>,
    /// Share of inter-chunk gaps that are lost: a read came so late by the stream's own pace that several events had gathered, which
    /// share the stamp of the last. A server that sends several at once does so at its own pace, and is not meant. From 0 to 1;
    /// absent without gaps.
    pub merged_gap_share: Option<f64>,
}

/// Rates over a window. Only completed requests and their tokens count; the time that failed ones took stays
/// in the window. A window of no length has rates of zero here, and none (null, with the reason) in JSON.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Throughput {
    /// Which part of the level the rates are over.
    pub window: RateWindow,
    /// How long the window is.
    pub duration: Seconds,
    /// Requests completed in the window per second.
    pub requests_per_s: PerSec,
    /// Tokens received in the window per second.
    pub output_tokens_per_s: PerSec,
    /// Prompt and generated tokens per second; absent if prompt lengths are unknown.
    pub total_tokens_per_s: Option<PerSec>,
    /// Requests that met their goals; absent if no goal was given or nothing was sent.
    pub goodput: Option<Goodput>,
    /// Where the true rates lie.
    pub intervals: RateIntervals,
}

/// Goodput: what met every goal of at least one group; [`LevelSummary::goodput`] has it goal by goal.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Goodput {
    /// Good requests per second.
    pub rate: PerSec,
    /// Their share of all that were due: a failed request is a bad one, and so is one that was never sent. From 0 to 1.
    pub share: f64,
}

impl Goodput {
    /// `rate` good requests per second, and their share of all that were due.
    #[must_use]
    pub const fn new(rate: PerSec, share: f64) -> Self {
        Self { rate, share }
    }
}

/// Which part of a level rates are over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RateWindow {
    /// From the first release to the last end.
    WholeRun,
}
