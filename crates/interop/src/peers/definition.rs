//! What tools mean by a word, as data.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::Peer;

/// A word that tools use for different things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PeerTerm {
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

/// What one tool means by a [`PeerTerm`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TermDefinition {
    /// Which tool.
    pub peer: Peer,
    /// Its name for it; empty where it has no such figure.
    pub name: &'static str,
    /// Its rule, in one line.
    pub rule: &'static str,
    /// Why it can differ from ours; empty where it cannot.
    pub differs: &'static str,
}

impl PeerTerm {
    /// The concept with this [`PeerTerm::key`].
    #[must_use]
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|concept| concept.key() == key)
    }

    /// What we mean by it, in one line.
    ///
    /// Of the symbols used here and in each [`TermDefinition`], s is the sending of the request's first byte, f and
    /// l the first and the last token's arrival, e the end of the reply, n the output tokens and k those of the
    /// first event.
    #[must_use]
    pub fn ours(self) -> &'static str {
        self.entry().rule
    }

    /// What each tool means by it, in the order of [`Peer::ALL`].
    ///
    /// ```
    /// use fizeau_interop::{PeerTerm, Peer};
    /// let tpot = PeerTerm::Tpot.definitions();
    /// let guidellm = tpot.iter().find(|tool| tool.peer == Peer::GuideLlm);
    /// assert_eq!(guidellm.map(|tool| tool.name), Some("inter_token_latency_ms"));
    /// ```
    #[must_use]
    pub fn definitions(self) -> Vec<TermDefinition> {
        let tools = &self.entry().tools;
        let definition = |peer: Peer| {
            let [name, rule, differs] = *tools.get(peer.key())?;
            Some(TermDefinition { peer, name, rule, differs })
        };
        Peer::ALL.into_iter().filter_map(definition).collect()
    }

    /// What it is, in a heading.
    pub(super) fn title(self) -> &'static str {
        self.entry().title
    }

    /// Our figure of it.
    pub(super) fn own_name(self) -> &'static str {
        self.entry().figure
    }

    fn entry(self) -> &'static Entry {
        static NONE: Entry = Entry { title: "", rule: "", figure: "", tools: BTreeMap::new() };
        ENTRIES.get(self.key()).unwrap_or(&NONE)
    }
}

fizeau_core::words! {
    /// The word for it on a command line.
    pub PeerTerm::key, all {
        Ttft = "ttft", Tpot = "tpot", Itl = "itl", E2el = "e2el", Throughput = "throughput",
        Goodput = "goodput", Concurrency = "concurrency", Duration = "duration",
        Percentiles = "percentiles", Failures = "failures", Tokens = "tokens",
    }
}

/// A concept in the table.
#[derive(Debug, Deserialize)]
struct Entry {
    title: &'static str,
    rule: &'static str,
    figure: &'static str,
    /// Name, rule and difference of each tool, by its key.
    tools: BTreeMap<&'static str, [&'static str; 3]>,
}

/// The table of definitions. Sources: the tools' own code in the versions of [`Peer::version`]. A test reads all of it.
static ENTRIES: LazyLock<BTreeMap<&str, Entry>> =
    LazyLock::new(|| serde_json::from_str(include_str!("definitions.json")).unwrap_or_default());
