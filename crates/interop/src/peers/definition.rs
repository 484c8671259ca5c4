//! What tools mean by a word, as data.

use super::{Peer, definitions};

/// A word that tools use for different things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Concept {
    /// Time to first token.
    Ttft,
    /// Time per output token.
    Tpot,
    /// Inter-token latency.
    Itl,
    /// End-to-end latency.
    E2el,
    /// Requests and tokens a second.
    Throughput,
    /// Requests a second that met their goals.
    Goodput,
    /// Requests in flight.
    Concurrency,
    /// The time that rates are over.
    Duration,
    /// How a percentile is read off a sample.
    Percentiles,
    /// What a failed request is, and where it counts.
    Failures,
    /// Where the number of output tokens comes from.
    Tokens,
}

/// What one tool means by a [`Concept`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Definition {
    /// Which tool.
    pub peer: Peer,
    /// Its name for it; empty where it has no such figure.
    pub name: &'static str,
    /// Its rule, in one line.
    pub rule: &'static str,
    /// Why it can differ from ours; empty where it cannot.
    pub differs: &'static str,
}

impl Concept {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Ttft,
        Self::Tpot,
        Self::Itl,
        Self::E2el,
        Self::Throughput,
        Self::Goodput,
        Self::Concurrency,
        Self::Duration,
        Self::Percentiles,
        Self::Failures,
        Self::Tokens,
    ];

    /// The word for it on a command line.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Ttft => "ttft",
            Self::Tpot => "tpot",
            Self::Itl => "itl",
            Self::E2el => "e2el",
            Self::Throughput => "throughput",
            Self::Goodput => "goodput",
            Self::Concurrency => "concurrency",
            Self::Duration => "duration",
            Self::Percentiles => "percentiles",
            Self::Failures => "failures",
            Self::Tokens => "tokens",
        }
    }

    /// The concept with this [`Concept::key`].
    #[must_use]
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|concept| concept.key() == key)
    }

    /// What we mean by it, in one line.
    ///
    /// Of the symbols used here and in each [`Definition`], s is the sending of the request's first byte, f and
    /// l the first and the last token's arrival, e the end of the reply, n the output tokens and k those of the
    /// first event.
    #[must_use]
    pub const fn ours(self) -> &'static str {
        match self {
            Self::Ttft => "f - s: to the first token on any channel",
            Self::Tpot => "(l - f) / (n - k), absent of one event",
            Self::Itl => "each gap shared over the tokens that it brought, weighted by tokens",
            Self::E2el => "l - s: usage event and end marker do not extend it",
            Self::Throughput => "of successes / (first release to last end)",
            Self::Goodput => "successes within every goal / the same time; share of all sent",
            Self::Concurrency => "requests in flight at each instant",
            Self::Duration => "first release to last end, failed requests included",
            Self::Percentiles => {
                "linear, as numpy; withheld unless a value is expected beyond: n (1 - p) >= 1"
            }
            Self::Failures => {
                "whatever is no whole, well-formed reply; out of latencies and tokens, its time stays"
            }
            Self::Tokens => "ids, usage or our tokenizer, else events: which of them is said",
        }
    }

    /// What each tool means by it, in the order of [`Peer::ALL`].
    ///
    /// ```
    /// use fizeau_interop::{Concept, Peer};
    /// let tpot = Concept::Tpot.definitions();
    /// let guidellm = tpot.iter().find(|tool| tool.peer == Peer::GuideLlm);
    /// assert_eq!(guidellm.map(|tool| tool.name), Some("inter_token_latency_ms"));
    /// ```
    #[must_use]
    pub const fn definitions(self) -> &'static [Definition; 11] {
        match self {
            Self::Ttft => &definitions::TTFT,
            Self::Tpot => &definitions::TPOT,
            Self::Itl => &definitions::ITL,
            Self::E2el => &definitions::E2EL,
            Self::Throughput => &definitions::THROUGHPUT,
            Self::Goodput => &definitions::GOODPUT,
            Self::Concurrency => &definitions::CONCURRENCY,
            Self::Duration => &definitions::DURATION,
            Self::Percentiles => &definitions::PERCENTILES,
            Self::Failures => &definitions::FAILURES,
            Self::Tokens => &definitions::TOKENS,
        }
    }
}
