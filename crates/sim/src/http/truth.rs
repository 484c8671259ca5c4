//! The server's own record of what it did and when.

use std::collections::VecDeque;

use fizeau_core::{Nanos, Stamp};
use serde::Serialize;

/// The last requests that ended well.
#[derive(Debug, Serialize)]
pub(super) struct Truth {
    schema: &'static str,
    /// The wall-clock time of nanosecond zero.
    epoch: String,
    /// Requests that were given up by their clients.
    cancelled: u64,
    /// Records that had to make room for later ones.
    forgotten: u64,
    requests: VecDeque<Record>,
    #[serde(skip)]
    limit: usize,
    /// Tokens in `requests`.
    #[serde(skip)]
    tokens: usize,
}

/// The most tokens remembered, whatever the number of requests: 64 MiB of stamps. One request alone may have more.
const MOST_TOKENS: usize = 4 << 20;

/// One request. Stamps are nanoseconds since the epoch.
#[derive(Debug, Serialize)]
pub(super) struct Record {
    /// The reply's id on the wire.
    pub(super) id: String,
    /// Whether its tokens left one by one; else `token_ns` is when the server had them.
    pub(super) streamed: bool,
    pub(super) prompt_tokens: u64,
    /// When its last byte had been received.
    pub(super) arrived_ns: Stamp,
    pub(super) first_token_ns: Option<Stamp>,
    /// When each token was handed over for writing to the socket.
    pub(super) token_ns: Vec<Stamp>,
    /// When the engine meant each to leave.
    pub(super) scheduled_ns: Vec<Stamp>,
}

impl Record {
    /// Notes a token that was `scheduled` to leave and was handed over at `handed`.
    pub(super) fn token(&mut self, scheduled: Stamp, handed: Stamp) {
        self.first_token_ns.get_or_insert(handed);
        self.scheduled_ns.push(scheduled);
        self.token_ns.push(handed);
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

    pub(super) fn push(&mut self, record: Record) {
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

    /// The record and a summary of it.
    ///
    /// # Errors
    /// None that can happen: all keys are texts, and memory takes every byte.
    pub(super) fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        #[derive(Serialize)]
        struct Answer<'a> {
            #[serde(flatten)]
            truth: &'a Truth,
            ttft_ms: Option<Spread>,
            itl_ms: Option<Spread>,
            lateness_ms: Option<Spread>,
        }
        let streamed = || self.requests.iter().filter(|record| record.streamed);
        serde_json::to_vec(&Answer {
            truth: self,
            ttft_ms: Spread::of(streamed().filter_map(Record::ttft)),
            itl_ms: Spread::of(streamed().flat_map(Record::gaps)),
            lateness_ms: Spread::of(streamed().flat_map(Record::lateness)),
        })
    }
}

/// How a number of times are spread, in milliseconds.
#[derive(Debug, PartialEq, Serialize)]
struct Spread {
    n: usize,
    p50: f64,
    p99: f64,
    max: f64,
}

impl Spread {
    /// None of no times.
    fn of(times: impl Iterator<Item = Nanos>) -> Option<Self> {
        let mut times: Vec<_> = times.collect();
        times.sort_unstable();
        Some(Self {
            n: times.len(),
            p50: percentile(&times, 50)?,
            p99: percentile(&times, 99)?,
            max: times.last()?.as_millis_f64(),
        })
    }
}

/// The percentile `percent` of sorted times, interpolated linearly between ranks as numpy does by default.
fn percentile(sorted: &[Nanos], percent: usize) -> Option<f64> {
    let rank = sorted.len().checked_sub(1)? * percent;
    let (below, share) = (rank / 100, (rank % 100) as f64 / 100.0);
    let low = sorted.get(below)?.as_millis_f64();
    let high = sorted.get(below + 1).map_or(low, |high| high.as_millis_f64());
    Some(low + (high - low) * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from `numpy.percentile([1, 2, 4, 8, 16], [50, 99])`.
    #[test]
    fn percentiles_are_numpys() {
        let times = [16, 1, 8, 2, 4].map(Nanos::from_millis);
        let spread = Spread::of(times.into_iter()).unwrap();
        assert_eq!((spread.n, spread.p50, spread.max), (5, 4.0, 16.0));
        assert!((spread.p99 - 15.68).abs() < 1e-9, "{}", spread.p99);
        assert_eq!(Spread::of(std::iter::empty()), None);
    }

    fn record(id: &str, tokens: usize) -> Record {
        Record {
            id: id.to_owned(),
            streamed: true,
            prompt_tokens: 1,
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

    #[test]
    fn the_oldest_records_make_room() {
        let mut truth = Truth::new(String::new(), 2);
        for id in ["a", "b", "c"] {
            truth.push(record(id, 0));
        }
        let kept: Vec<_> = truth.requests.iter().map(|record| &record.id).collect();
        assert_eq!(kept, ["b", "c"]);
        assert_eq!(truth.forgotten, 1);
    }
}
