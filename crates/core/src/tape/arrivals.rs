//! Generation events as they arrived.

use serde::{Deserialize, Serialize};

use crate::Stamp;

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
}

impl Arrival {
    /// An arrival of `tokens` tokens at `at`, with no text and in a read of unknown number (0).
    #[must_use]
    pub const fn tokens(at: Stamp, tokens: u32, channel: Channel) -> Self {
        Self { at, read: 0, tokens, bytes: 0, chars: 0, channel }
    }
}

/// On which channel output came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Channel {
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
    /// Whether a reader would see it: text, a tool call or a refusal.
    #[must_use]
    pub const fn is_visible(self) -> bool {
        matches!(self, Self::Visible | Self::ToolCall | Self::Refusal)
    }
}

/// Arrivals by column, stamps as differences: a tenth of the size of a list of objects, and exact.
pub(super) mod columns {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Arrival, Channel};
    use crate::{Nanos, Stamp};

    #[derive(Serialize, Deserialize)]
    struct Columns {
        /// Nanoseconds since the previous arrival; the first since the epoch.
        gap_ns: Vec<u64>,
        read: Vec<u32>,
        tokens: Vec<u32>,
        bytes: Vec<u32>,
        chars: Vec<u32>,
        /// Runs of equal channels, in order.
        channel: Vec<(Channel, usize)>,
    }

    pub(crate) fn serialize<S: Serializer>(arrivals: &[Arrival], to: S) -> Result<S::Ok, S::Error> {
        let mut previous = Stamp::EPOCH;
        let gap = |arrival: &Arrival| {
            let gap = arrival.at.saturating_since(previous).as_nanos();
            previous = arrival.at;
            gap
        };
        let mut channel: Vec<(Channel, usize)> = Vec::new();
        for arrival in arrivals {
            match channel.last_mut() {
                Some((last, count)) if *last == arrival.channel => *count += 1,
                _ => channel.push((arrival.channel, 1)),
            }
        }
        let columns = Columns {
            gap_ns: arrivals.iter().map(gap).collect(),
            read: arrivals.iter().map(|a| a.read).collect(),
            tokens: arrivals.iter().map(|a| a.tokens).collect(),
            bytes: arrivals.iter().map(|a| a.bytes).collect(),
            chars: arrivals.iter().map(|a| a.chars).collect(),
            channel,
        };
        columns.serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<Arrival>, D::Error> {
        let columns = Columns::deserialize(from)?;
        let n = columns.gap_ns.len();
        let others = [&columns.read, &columns.tokens, &columns.bytes, &columns.chars];
        // Checked without building the expansion: a run length from a file may be absurd.
        let channels = columns.channel.iter().try_fold(0usize, |sum, run| sum.checked_add(run.1));
        if others.iter().any(|column| column.len() != n) || channels != Some(n) {
            return Err(D::Error::custom("the columns of `arrivals` differ in length"));
        }
        let runs = columns.channel.iter();
        let mut channel = runs.flat_map(|&(channel, count)| std::iter::repeat_n(channel, count));
        let mut at = Stamp::EPOCH;
        let arrival = |i: usize| {
            at += Nanos::from_nanos(columns.gap_ns[i]);
            Arrival {
                at,
                read: columns.read[i],
                tokens: columns.tokens[i],
                bytes: columns.bytes[i],
                chars: columns.chars[i],
                channel: channel.next().unwrap_or(Channel::Visible),
            }
        };
        Ok((0..n).map(arrival).collect())
    }
}
