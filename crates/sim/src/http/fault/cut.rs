//! Where writes are cut.

use fizeau_core::Nanos;

use super::Met;
use super::kind::Kind;

/// Where bytes are cut into writes, and how long to wait at each cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    at: At,
    pub(super) pause: Nanos,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Nowhere,
    EachByte,
    /// Before and behind each byte of white space.
    Spaces,
    /// Within a character is before each byte that goes on with one.
    Characters,
}

impl Cut {
    pub(super) const NEVER: Self = Self { at: At::Nowhere, pause: Nanos::ZERO };

    pub(super) fn of(met: &Met) -> Self {
        let kinds = [
            (Kind::Drip, At::EachByte),
            (Kind::Split, At::Spaces),
            (Kind::Utf8Cut, At::Characters),
        ];
        let cut = |(kind, at)| Some(Self { at, pause: met.get(kind)?.time()? });
        kinds.into_iter().find_map(cut).unwrap_or(Self::NEVER)
    }

    /// Where the write that begins at `from` ends.
    pub(super) fn next(self, bytes: &[u8], from: usize) -> usize {
        let is_cut = |pair: &[u8]| match (self.at, pair) {
            (At::EachByte, _) => true,
            (At::Spaces, [before, behind]) => {
                before.is_ascii_whitespace() || behind.is_ascii_whitespace()
            }
            (At::Characters, [_, behind]) => behind & 0xc0 == 0x80,
            _ => false,
        };
        let rest = bytes.get(from..).unwrap_or_default();
        match self.at {
            At::Nowhere => bytes.len(),
            _ => rest.windows(2).position(is_cut).map_or(bytes.len(), |at| from + at + 1),
        }
    }
}
