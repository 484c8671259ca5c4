//! The server's own record of what it did and when.

use std::collections::VecDeque;
use std::fmt;
use std::net::IpAddr;

use fizeau_core::{Millis, Nanos, Stamp, Tokens};
use serde::Serialize;

use super::length::ReplyEnding;
use super::parsed_request::{Delivery, ParsedRequest};
use super::time_scale::TimeScale;
use crate::serve::{Emission, Gauges};

/// The last requests that ended well, and those that were made to end badly.
#[derive(Debug, Serialize)]
pub(super) struct Truth {
    schema: &'static str,
    /// The wall-clock time of nanosecond zero.
    epoch: String,
    /// Requests that were given up by their clients.
    cancelled: u64,
    /// Records that had to make room for later ones.
    forgotten: u64,
    #[serde(skip)]
    requests: VecDeque<TruthRecord>,
    #[serde(skip)]
    limit: usize,
    /// Stamped tokens in `requests`.
    #[serde(skip)]
    tokens: usize,
}

/// The most tokens remembered, whatever the number of requests: 64 MiB of stamps. One request alone may have more.
const MOST_TOKENS: usize = 4 << 20;

/// The most tokens that a record has room for from the start.
const USUAL_TOKENS: usize = 4 << 10;

/// One request. Stamps are nanoseconds since the epoch.
#[derive(Debug, Serialize)]
pub(super) struct TruthRecord {
    /// The reply's id on the wire.
    pub(super) id: String,
    /// The address that it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) client: Option<IpAddr>,
    /// What was made to go wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fault: Option<String>,
    /// Whether its tokens left one by one; else `token_ns` is when the server had them.
    pub(super) streamed: bool,
    pub(super) prompt_tokens: u64,
    /// How many of them the engine's prefix cache held; absent where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cached_tokens: Option<u64>,
    /// Absent where something else came instead of a reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) finish_reason: Option<TruthFinish>,
    /// How often it lost its place in the engine to others.
    pub(super) preemptions: u32,
    /// How long it waited for its place, by the server's clock.
    pub(super) queue_ns: Nanos,
    /// Which of several engines gave its last token.
    pub(super) rank: u32,
    /// When its last byte had been received.
    pub(super) arrived_ns: Stamp,
    pub(super) first_token_ns: Option<Stamp>,
    /// For each token, the instant just before the write that took its last byte.
    pub(super) token_ns: Vec<Stamp>,
    /// When the engine meant each to leave. Those that leave together have one instant.
    pub(super) scheduled_ns: Vec<Stamp>,
}

/// Why a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum TruthFinish {
    Length,
    Stop,
    /// With an error, as it was made to.
    Error,
    /// Before its end, as it was made to.
    Abort,
}

impl From<ReplyEnding> for TruthFinish {
    fn from(ending: ReplyEnding) -> Self {
        match ending {
            ReplyEnding::Length => Self::Length,
            ReplyEnding::Stop => Self::Stop,
        }
    }
}

/// The most bytes of a reply's id that are remembered: a client may have chosen it.
const LONGEST_ID: usize = 256;

/// How much is told of each request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TruthDetail {
    Requests,
    Summary,
}

impl TruthRecord {
    /// The record of a request that arrived at `arrived_ns`, has no token yet and is to end for `finish`.
    pub(super) fn new(
        ask: &ParsedRequest,
        id: String,
        arrived_ns: Stamp,
        finish: TruthFinish,
    ) -> Self {
        // Room for all of a usual reply at once; a longer one grows.
        let room = usize::try_from(ask.max_tokens.get()).unwrap_or(usize::MAX).min(USUAL_TOKENS);
        Self {
            token_ns: Vec::with_capacity(room),
            scheduled_ns: Vec::with_capacity(room),
            finish_reason: Some(finish),
            ..Self::unanswered(ask, id, arrived_ns)
        }
    }

    /// The record of a request that gets no reply.
    pub(super) fn unanswered(ask: &ParsedRequest, mut id: String, arrived_ns: Stamp) -> Self {
        id.truncate(id.floor_char_boundary(LONGEST_ID));
        Self {
            id,
            client: None,
            fault: None,
            streamed: ask.delivery == Delivery::Streamed,
            prompt_tokens: ask.prompt_tokens.get(),
            cached_tokens: ask.cached_tokens.map(Tokens::get),
            finish_reason: None,
            preemptions: 0,
            queue_ns: Nanos::ZERO,
            rank: 0,
            arrived_ns,
            first_token_ns: None,
            token_ns: Vec::new(),
            scheduled_ns: Vec::new(),
        }
    }

    /// The same of a request from that address.
    pub(super) fn of_client(self, client: Option<IpAddr>) -> Self {
        Self { client, ..self }
    }

    /// The same of a request that was made to go wrong.
    pub(super) fn with_fault(self, fault: Option<&impl ToString>) -> Self {
        Self { fault: fault.map(ToString::to_string), ..self }
    }

    /// Notes that the engine lets tokens go; all instants are the server's.
    pub(super) fn emitted(&mut self, emission: &Emission) {
        let timing = &emission.timing;
        if self.scheduled_ns.is_empty() {
            self.queue_ns = timing.queue();
            if let Some(cached) = &mut self.cached_tokens {
                *cached = timing.cached_tokens.get();
            }
        }
        self.preemptions = timing.preemptions;
        self.rank = emission.rank;
        let count = usize::try_from(emission.count).unwrap_or(usize::MAX);
        self.scheduled_ns.extend(std::iter::repeat_n(emission.at, count));
    }

    /// Notes that the next `tokens` tokens were handed over at `at`.
    pub(super) fn hand(&mut self, tokens: u64, at: Stamp) {
        if tokens > 0 {
            self.first_token_ns.get_or_insert(at);
            let tokens = usize::try_from(tokens).unwrap_or(usize::MAX);
            self.token_ns.extend(std::iter::repeat_n(at, tokens));
        }
    }

    fn ttft(&self) -> Option<Nanos> {
        self.first_token_ns?.since(self.arrived_ns)
    }

    fn gaps(&self) -> impl Iterator<Item = Nanos> {
        let pairs = self.token_ns.iter().zip(self.token_ns.iter().skip(1));
        pairs.filter_map(|(earlier, later)| later.since(*earlier))
    }

    fn lateness(&self) -> impl Iterator<Item = Nanos> {
        let pairs = self.scheduled_ns.iter().zip(&self.token_ns);
        pairs.map(|(scheduled, handed)| handed.saturating_since(*scheduled))
    }
}

impl Truth {
    /// An empty record that keeps `limit` requests.
    pub(super) const fn new(epoch: String, limit: usize) -> Self {
        Self {
            schema: "fizeau.truth/1",
            epoch,
            cancelled: 0,
            forgotten: 0,
            requests: VecDeque::new(),
            limit,
            tokens: 0,
        }
    }

    pub(super) fn push(&mut self, record: TruthRecord) {
        self.tokens += record.token_ns.len();
        self.requests.push_back(record);
        let too_much = |truth: &Self| truth.tokens > MOST_TOKENS && truth.requests.len() > 1;
        while self.requests.len() > self.limit || too_much(self) {
            let forgotten = self.requests.pop_front();
            self.tokens -= forgotten.map_or(0, |record| record.token_ns.len());
            self.forgotten += 1;
        }
    }

    pub(super) const fn cancelled(&mut self) {
        self.cancelled += 1;
    }

    pub(super) fn clear(&mut self) {
        self.requests.clear();
        self.tokens = 0;
        self.cancelled = 0;
        self.forgotten = 0;
    }

    /// The record as `detail` says, and a summary of it; `gauges` are the engine's, whose time runs at `scale`.
    ///
    /// # Errors
    /// None that can happen: all keys are texts, and memory takes every byte.
    pub(super) fn to_json(
        &self,
        detail: TruthDetail,
        scale: TimeScale,
        gauges: &Gauges,
    ) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(&TruthAnswer {
            truth: self,
            time_scale: scale.get(),
            engine: gauges,
            remembered: self.requests.len(),
            ttft_ms: TimeSummary::of(self.streamed().filter_map(TruthRecord::ttft).collect()),
            itl_ms: TimeSummary::of(self.streamed().flat_map(TruthRecord::gaps).collect()),
            lateness_ms: self.lateness(),
            requests: (detail == TruthDetail::Requests).then_some(&self.requests),
        })
    }

    /// How late tokens were handed over, of all streamed ones remembered.
    pub(super) fn lateness(&self) -> Option<TimeSummary> {
        TimeSummary::of(self.streamed().flat_map(TruthRecord::lateness).collect())
    }

    fn streamed(&self) -> impl Iterator<Item = &TruthRecord> {
        // What was held up on purpose says nothing of how well the schedule was kept.
        self.requests.iter().filter(|record| record.streamed && record.fault.is_none())
    }
}

/// What `GET /truth` says.
#[derive(Serialize)]
struct TruthAnswer<'a> {
    #[serde(flatten)]
    truth: &'a Truth,
    /// How many times faster than life the engine's time runs. All stamps are of real time.
    time_scale: f64,
    engine: &'a Gauges,
    /// How many requests the figures below are of.
    remembered: usize,
    ttft_ms: Option<TimeSummary>,
    itl_ms: Option<TimeSummary>,
    lateness_ms: Option<TimeSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requests: Option<&'a VecDeque<TruthRecord>>,
}

// How a number of times are spread.

/// How a number of times are spread, exactly: percentiles are interpolated linearly between ranks, as numpy does by
/// default.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TimeSummary {
    /// How many there are, at least 1.
    pub n: usize,
    /// Half of them are at most this.
    pub p50: Millis,
    /// 99 in 100 of them are at most this.
    pub p99: Millis,
    /// The longest.
    pub max: Millis,
}

impl fmt::Display for TimeSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [p50, p99, max] = [self.p50, self.p99, self.max].map(Millis::get);
        write!(f, "p50 {p50:.3} ms, p99 {p99:.3} ms, max {max:.3} ms")
    }
}

impl TimeSummary {
    /// None of no times.
    pub(super) fn of(mut times: Vec<Nanos>) -> Option<Self> {
        Some(Self {
            n: times.len(),
            max: times.iter().max()?.to_millis(),
            p99: percentile(&mut times, 99)?,
            p50: percentile(&mut times, 50)?,
        })
    }
}

/// The percentile `percent`; puts `times` out of order. Selects rather than sorts: there may be millions.
fn percentile(times: &mut [Nanos], percent: usize) -> Option<Millis> {
    let rank = times.len().checked_sub(1)? * percent;
    let (below, share) = (rank / 100, (rank % 100) as f64 / 100.0);
    let (_, low, above) = times.select_nth_unstable(below);
    let low = low.as_millis_f64();
    let high = above.iter().min().map_or(low, |high| high.as_millis_f64());
    Some(Millis::new(low + (high - low) * share))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(id: &str, tokens: usize) -> TruthRecord {
        TruthRecord {
            rank: 0,
            id: id.to_owned(),
            client: None,
            fault: None,
            streamed: true,
            prompt_tokens: 1,
            cached_tokens: None,
            finish_reason: Some(TruthFinish::Length),
            preemptions: 0,
            queue_ns: Nanos::ZERO,
            arrived_ns: Stamp::EPOCH,
            first_token_ns: None,
            token_ns: vec![Stamp::EPOCH; tokens],
            scheduled_ns: Vec::new(),
        }
    }

    #[test]
    fn long_replies_make_room_by_their_tokens() {
        let mut truth = Truth::new(String::new(), 10);
        for (id, tokens) in [("a", MOST_TOKENS / 2), ("b", MOST_TOKENS / 2), ("c", 1), ("d", 7)] {
            truth.push(record(id, tokens));
        }
        let kept: Vec<_> = truth.requests.iter().map(|record| &record.id).collect();
        assert_eq!(kept, ["b", "c", "d"]);
        truth.push(record("e", 2 * MOST_TOKENS));
        assert_eq!(truth.requests.len(), 1, "the last one stays, however long");
        assert_eq!(truth.forgotten, 4);
    }

    /// Values from `numpy.percentile([1, 2, 4, 8, 16], [50, 99])`.
    #[test]
    fn percentiles_are_numpys() {
        let times = [16, 1, 8, 2, 4].map(Nanos::from_millis);
        let spread = TimeSummary::of(times.into()).unwrap();
        assert_eq!((spread.n, spread.p50, spread.max), (5, Millis::new(4.0), Millis::new(16.0)));
        assert!((spread.p99.get() - 15.68).abs() < 1e-9, "{spread:?}");
        assert_eq!(TimeSummary::of(Vec::new()), None);
    }
}
