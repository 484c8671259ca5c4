//! Generation events as they arrived.

use serde::{Deserialize, Serialize};

use crate::{ReadLag, Stamp};

/// One generation event: output that came at one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// When the bytes that completed it came. Events that came in one read share their stamp.
    pub at: Stamp,
    /// The number of that read within the request, from 0: tells "arrived together" from "spaced".
    pub read: u32,
    /// Tokens that it carried, by the tape's token source.
    pub tokens: u32,
    /// UTF-8 bytes of its text.
    pub bytes: u32,
    /// Characters of its text (Unicode scalar values).
    pub chars: u32,
    /// On which channel it came.
    pub channel: Channel,
    /// How long after `at` the read call that brought it returned: what a stamp taken by this process would have been
    /// late by. Zero where `at` is such a stamp.
    pub read_lag: ReadLag,
}

impl Arrival {
    /// An arrival of `tokens` tokens at `at`, with no text and in a read of unknown number (0).
    #[must_use]
    pub const fn tokens(at: Stamp, tokens: u32, channel: Channel) -> Self {
        Self { at, read: 0, tokens, bytes: 0, chars: 0, channel, read_lag: ReadLag::ZERO }
    }
}

/// The channel that output came on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Channel {
    /// An embedding: the whole reply at once, and no token in it.
    Embedding,
    /// Thoughts, kept apart from the answer.
    Reasoning,
    /// The model declines.
    Refusal,
    /// Tokens without text: bytes not yet printable, or special tokens.
    Silent,
    /// A tool call's name or arguments.
    ToolCall,
    /// The answer's text.
    Visible,
}

impl Channel {
    /// Whether what comes on it is made of tokens.
    #[must_use]
    pub const fn has_tokens(self) -> bool {
        !matches!(self, Self::Embedding)
    }

    /// Whether a reader would see it: text, a tool call or a refusal.
    #[must_use]
    pub const fn is_visible(self) -> bool {
        matches!(self, Self::Visible | Self::ToolCall | Self::Refusal)
    }
}

/// Arrivals by column: stamps as differences, what hardly changes as runs. A tenth of the size of a list of objects, and
/// exact.
pub(super) mod columns {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Arrival, Channel};
    use crate::{Nanos, ReadLag, Stamp};

    #[derive(Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
    pub(crate) struct Columns {
        /// Nanoseconds since the previous arrival; the first since the epoch.
        gap_ns: Vec<u64>,
        /// How many reads later than the previous arrival; the first counts from read 0.
        read_step: Runs<u32>,
        tokens: Runs<u32>,
        bytes: Vec<u32>,
        /// Bytes that begin no character: those less the characters.
        continuation_bytes: Runs<u32>,
        channel: Runs<Channel>,
        /// Nanoseconds from the stamp to the return of the read call; left out where all are zero.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        read_lag_ns: Vec<ReadLag>,
    }

    pub(crate) fn serialize<S: Serializer>(arrivals: &[Arrival], to: S) -> Result<S::Ok, S::Error> {
        Columns::of(arrivals).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<Arrival>, D::Error> {
        let arrivals = Columns::deserialize(from)?.arrivals();
        arrivals.ok_or_else(|| D::Error::custom("the columns of `arrivals` differ in length"))
    }

    impl Columns {
        fn of(arrivals: &[Arrival]) -> Self {
            let mut previous = Stamp::EPOCH;
            let gap = |arrival: &Arrival| {
                let gap = arrival.at.saturating_since(previous).as_nanos();
                previous = arrival.at;
                gap
            };
            let mut last_read = 0;
            let read_step = |arrival: &Arrival| {
                let step = arrival.read.wrapping_sub(last_read);
                last_read = arrival.read;
                step
            };
            let lagged = arrivals.iter().any(|a| a.read_lag != ReadLag::ZERO);
            Self {
                gap_ns: arrivals.iter().map(gap).collect(),
                read_step: arrivals.iter().map(read_step).collect(),
                tokens: arrivals.iter().map(|a| a.tokens).collect(),
                bytes: arrivals.iter().map(|a| a.bytes).collect(),
                continuation_bytes: arrivals
                    .iter()
                    .map(|a| a.bytes.wrapping_sub(a.chars))
                    .collect(),
                channel: arrivals.iter().map(|a| a.channel).collect(),
                read_lag_ns: arrivals.iter().filter(|_| lagged).map(|a| a.read_lag).collect(),
            }
        }

        /// Nothing where the columns differ in length.
        fn arrivals(&self) -> Option<Vec<Arrival>> {
            let n = self.gap_ns.len();
            let lengths = [
                self.read_step.len(),
                self.tokens.len(),
                self.continuation_bytes.len(),
                self.channel.len(),
                Some(self.bytes.len()),
            ];
            let lags = self.read_lag_ns.len();
            if lengths.iter().any(|len| *len != Some(n)) || (lags != n && lags != 0) {
                return None;
            }
            let counts = self.read_step.values().zip(self.tokens.values());
            let kinds = self.continuation_bytes.values().zip(self.channel.values());
            let mut lags = self.read_lag_ns.iter();
            let (mut at, mut read) = (Stamp::EPOCH, 0_u32);
            let mut arrivals = Vec::with_capacity(n);
            let rows = self.gap_ns.iter().zip(&self.bytes).zip(counts.zip(kinds));
            for ((&gap, &bytes), ((step, tokens), (continuation, channel))) in rows {
                at += Nanos::from_nanos(gap);
                read = read.wrapping_add(step);
                let chars = bytes.wrapping_sub(continuation);
                let read_lag = lags.next().copied().unwrap_or_default();
                arrivals.push(Arrival { at, read, tokens, bytes, chars, channel, read_lag });
            }
            Some(arrivals)
        }
    }

    /// A column as runs of equal values: (value, how many).
    #[derive(Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
    pub(crate) struct Runs<T>(Vec<(T, usize)>);

    impl<T: Copy> Runs<T> {
        /// How many values there are. Counted without building them: a run length from a file may be absurd.
        fn len(&self) -> Option<usize> {
            self.0.iter().try_fold(0_usize, |sum, run| sum.checked_add(run.1))
        }

        fn values(&self) -> impl Iterator<Item = T> {
            self.0.iter().flat_map(|&(value, count)| std::iter::repeat_n(value, count))
        }
    }

    impl<T: PartialEq> FromIterator<T> for Runs<T> {
        fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
            let mut runs: Vec<(T, usize)> = Vec::new();
            for value in values {
                match runs.last_mut() {
                    Some((last, count)) if *last == value => *count += 1,
                    _ => runs.push((value, 1)),
                }
            }
            Self(runs)
        }
    }
}
