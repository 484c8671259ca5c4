//! Faults in when bytes leave and how they are cut.

use fizeau_core::Nanos;

use super::AssignedFaults;
use super::encoding::{EncodedEvent, Gzip};
use super::kind::Kind;
use super::play::{FaultAction, WritePiece};
use crate::http::response::StreamFraming;

/// Gathers the text of events into writes, and cuts those into pieces.
pub(super) struct WriteCutter {
    met: AssignedFaults,
    framing: StreamFraming,
    gzip: Option<Gzip>,
    held: Vec<EncodedEvent>,
    cut: CutRule,
}

/// Whether what is held back must go now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flush {
    /// Only if it is enough.
    IfEnough,
    Now,
}

impl WriteCutter {
    pub(super) fn new(met: &AssignedFaults, framing: StreamFraming) -> Self {
        let gzip = met.has(Kind::Gzip).then(Gzip::default);
        Self { met: met.clone(), framing, gzip, held: Vec::new(), cut: CutRule::of(met) }
    }

    /// Takes texts; what is to be done now.
    pub(super) fn take(
        &mut self,
        texts: impl IntoIterator<Item = EncodedEvent>,
        flush: Flush,
    ) -> Option<FaultAction> {
        self.held.extend(texts);
        if flush == Flush::IfEnough && !self.is_enough() {
            return None;
        }
        let mut bytes = Vec::new();
        let mut ends = Vec::new();
        for text in std::mem::take(&mut self.held) {
            let body = match &mut self.gzip {
                Some(gzip) => gzip.part(&text.bytes),
                None => text.bytes,
            };
            self.frame(&body, &mut bytes);
            ends.push((bytes.len(), text.tokens));
        }
        self.piece(bytes, ends)
    }

    /// What ends the body as it should.
    pub(super) fn last(&mut self) -> Option<FaultAction> {
        let mut bytes = Vec::new();
        if let Some(gzip) = &mut self.gzip {
            let end = gzip.end();
            self.frame(&end, &mut bytes);
        }
        if self.framing == StreamFraming::Chunked {
            bytes.extend_from_slice(b"0\r\n\r\n");
        }
        self.piece(bytes, Vec::new())
    }

    fn is_enough(&self) -> bool {
        let tokens: u64 = self.held.iter().map(|text| text.tokens).sum();
        let bytes: u64 = self.held.iter().map(|text| text.bytes.len() as u64).sum();
        let of = |kind, have: u64| self.met.get(kind).is_none_or(|fault| have >= fault.count());
        bytes > MOST_HELD
            || of(Kind::Coalesce, tokens) && of(Kind::Filter, tokens) && of(Kind::Burst, bytes)
    }

    fn frame(&self, body: &[u8], to: &mut Vec<u8>) {
        let mut chunk = |body: &[u8]| {
            to.extend_from_slice(format!("{:x}\r\n", body.len()).as_bytes());
            to.extend_from_slice(body);
            to.extend_from_slice(b"\r\n");
        };
        match self.framing {
            // An empty chunk would end the body.
            StreamFraming::Chunked if body.is_empty() => {}
            StreamFraming::Chunked if self.met.has(Kind::ChunkBytes) => {
                body.chunks(1).for_each(chunk)
            }
            StreamFraming::Chunked => chunk(body),
            StreamFraming::UntilClose => to.extend_from_slice(body),
        }
    }

    /// One write, of which `ends` says how many tokens end where.
    fn piece(&self, bytes: Vec<u8>, ends: Vec<(usize, u64)>) -> Option<FaultAction> {
        (!bytes.is_empty()).then_some(FaultAction::Write(WritePiece { bytes, ends, cut: self.cut }))
    }
}

/// No more is held back than so many bytes, whatever a fault says.
const MOST_HELD: u64 = 4 << 20;

// Where writes are cut.

/// Where bytes are cut into writes, and how long to wait at each cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CutRule {
    at: CutPoint,
    pub(super) pause: Nanos,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CutPoint {
    Nowhere,
    EachByte,
    /// Before and behind each byte of white space.
    Spaces,
    /// Within a character is before each byte that goes on with one.
    Characters,
}

impl CutRule {
    pub(super) const NEVER: Self = Self { at: CutPoint::Nowhere, pause: Nanos::ZERO };

    pub(super) fn of(met: &AssignedFaults) -> Self {
        let kinds = [
            (Kind::Drip, CutPoint::EachByte),
            (Kind::Split, CutPoint::Spaces),
            (Kind::Utf8Cut, CutPoint::Characters),
        ];
        let cut = |(kind, at)| Some(Self { at, pause: met.get(kind)?.time()? });
        kinds.into_iter().find_map(cut).unwrap_or(Self::NEVER)
    }

    /// Where the write that begins at `from` ends.
    pub(super) fn next(self, bytes: &[u8], from: usize) -> usize {
        let is_cut = |pair: &[u8]| match (self.at, pair) {
            (CutPoint::EachByte, _) => true,
            (CutPoint::Spaces, [before, behind]) => {
                before.is_ascii_whitespace() || behind.is_ascii_whitespace()
            }
            (CutPoint::Characters, [_, behind]) => behind & 0xc0 == 0x80,
            _ => false,
        };
        let rest = bytes.get(from..).unwrap_or_default();
        match self.at {
            CutPoint::Nowhere => bytes.len(),
            _ => rest.windows(2).position(is_cut).map_or(bytes.len(), |at| from + at + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::iter;

    use proptest::prelude::*;

    use super::*;

    /// The bytes of all writes, and the tokens that end with them.
    fn written(acts: &[FaultAction]) -> (Vec<u8>, u64) {
        let (mut all, mut sum) = (Vec::new(), 0);
        for act in acts {
            if let FaultAction::Write(piece) = act {
                assert!(piece.ends.iter().all(|(end, _)| *end <= piece.bytes.len()));
                all.extend_from_slice(&piece.bytes);
                sum += piece.ends.iter().map(|(_, tokens)| tokens).sum::<u64>();
            }
        }
        (all, sum)
    }

    proptest! {
        /// However bytes are held back and cut, the same bytes leave, and every token with them.
        #[test]
        fn no_byte_and_no_token_is_lost(
            texts in prop::collection::vec(("[ -~\u{e9}\u{4e16}\n]{1,40}", 0u64..3), 1..20),
            fault in prop::sample::select(vec!["coalesce:3", "burst:50", "filter:2", "split", "utf8-cut", "drip"]),
            chunked: bool,
        ) {
            let framing = if chunked { StreamFraming::Chunked } else { StreamFraming::UntilClose };
            let write = |fault: &str| {
                let mut cutter = WriteCutter::new(&fault.parse().unwrap(), framing);
                let mut acts = Vec::new();
                for (text, tokens) in &texts {
                    let text = EncodedEvent { bytes: text.clone().into_bytes(), tokens: *tokens };
                    acts.extend(cutter.take([text], Flush::IfEnough));
                }
                acts.extend(cutter.take([], Flush::Now));
                acts.extend(cutter.last());
                acts
            };
            let plain = write("crlf");
            let acts = write(fault);
            prop_assert_eq!(written(&acts), written(&plain));
            // What holds back leaves in fewer writes, what cuts in no fewer.
            let writes = |acts: &[FaultAction]| -> usize {
                acts.iter().map(|act| match act {
                    FaultAction::Write(WritePiece { bytes, cut, .. }) => {
                        let ends = iter::successors(Some(cut.next(bytes, 0)), |end| {
                            (*end < bytes.len()).then(|| cut.next(bytes, *end))
                        });
                        ends.count()
                    }
                    _ => 0,
                }).sum()
            };
            let holds = ["coalesce:3", "burst:50", "filter:2"].contains(&fault);
            prop_assert_eq!(writes(&acts) <= writes(&plain), holds || writes(&acts) == writes(&plain));
        }
    }
}
