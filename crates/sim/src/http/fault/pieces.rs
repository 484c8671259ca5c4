//! Faults in when bytes leave and how they are cut.

use fizeau_core::Nanos;

use super::Met;
use super::gzip::Gzip;
use super::kind::Kind;
use super::play::Act;
use super::spell::Spelt;
use crate::http::response::Framing;

/// Gathers the text of events into writes, and cuts those into pieces.
pub(super) struct Cutter {
    met: Met,
    framing: Framing,
    gzip: Option<Gzip>,
    held: Vec<Spelt>,
}

/// Whether what is held back must go now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flush {
    /// Only if it is enough.
    IfEnough,
    Now,
}

impl Cutter {
    pub(super) fn new(met: &Met, framing: Framing) -> Self {
        let gzip = met.has(Kind::Gzip).then(Gzip::default);
        Self { met: met.clone(), framing, gzip, held: Vec::new() }
    }

    /// Takes texts; what is to be done now.
    pub(super) fn take(
        &mut self,
        texts: impl IntoIterator<Item = Spelt>,
        flush: Flush,
    ) -> Vec<Act> {
        self.held.extend(texts);
        if flush == Flush::IfEnough && !self.is_enough() {
            return Vec::new();
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
        self.cut(&bytes, &ends)
    }

    /// What ends the body as it should.
    pub(super) fn last(&mut self) -> Vec<Act> {
        let mut bytes = Vec::new();
        if let Some(gzip) = &mut self.gzip {
            let end = gzip.end();
            self.frame(&end, &mut bytes);
        }
        if self.framing == Framing::Chunked {
            bytes.extend_from_slice(b"0\r\n\r\n");
        }
        self.cut(&bytes, &[])
    }

    fn is_enough(&self) -> bool {
        let tokens: u64 = self.held.iter().map(|text| text.tokens).sum();
        let bytes: u64 = self.held.iter().map(|text| text.bytes.len() as u64).sum();
        let of = |kind, have: u64| self.met.get(kind).is_none_or(|fault| have >= fault.count());
        of(Kind::Coalesce, tokens) && of(Kind::Filter, tokens) && of(Kind::Burst, bytes)
    }

    fn frame(&self, body: &[u8], to: &mut Vec<u8>) {
        let mut chunk = |body: &[u8]| {
            to.extend_from_slice(format!("{:x}\r\n", body.len()).as_bytes());
            to.extend_from_slice(body);
            to.extend_from_slice(b"\r\n");
        };
        match self.framing {
            // An empty chunk would end the body.
            Framing::Chunked if body.is_empty() => {}
            Framing::Chunked if self.met.has(Kind::ChunkBytes) => body.chunks(1).for_each(chunk),
            Framing::Chunked => chunk(body),
            Framing::UntilClose => to.extend_from_slice(body),
        }
    }

    /// One write, or several with pauses between them. `ends` says how many tokens end where.
    fn cut(&self, bytes: &[u8], ends: &[(usize, u64)]) -> Vec<Act> {
        let (cuts, pause) = self.cuts(bytes);
        let mut acts = Vec::new();
        let mut from = 0;
        for to in cuts.into_iter().chain([bytes.len()]) {
            let Some(piece) = bytes.get(from..to).filter(|piece| !piece.is_empty()) else {
                continue;
            };
            if from > 0 {
                acts.push(Act::Pause(Some(pause)));
            }
            let within = ends.iter().filter(|(end, _)| *end > from && *end <= to);
            let tokens = within.map(|(_, tokens)| tokens).sum();
            acts.push(Act::Write { bytes: piece.to_vec(), tokens });
            from = to;
        }
        acts
    }

    /// Where `bytes` are cut, and how long to wait at each cut.
    fn cuts(&self, bytes: &[u8]) -> (Vec<usize>, Nanos) {
        let all = bytes.iter().enumerate();
        for kind in [Kind::Drip, Kind::Split, Kind::Utf8Cut] {
            let Some(pause) = self.met.get(kind).and_then(|fault| fault.time()) else {
                continue;
            };
            let cuts = match kind {
                Kind::Drip => (1..bytes.len()).collect(),
                Kind::Split => {
                    let edges = all.filter(|(_, byte)| byte.is_ascii_whitespace());
                    let mut cuts: Vec<_> = edges.flat_map(|(at, _)| [at, at + 1]).collect();
                    cuts.dedup();
                    cuts
                }
                // Within a character is before each byte that goes on with one.
                _ => all.filter(|(_, byte)| **byte & 0xc0 == 0x80).map(|(at, _)| at).collect(),
            };
            return (cuts, pause);
        }
        (Vec::new(), Nanos::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The bytes of all writes, and the tokens that end with them.
    fn written(acts: &[Act]) -> (Vec<u8>, u64) {
        let (mut all, mut sum) = (Vec::new(), 0);
        for act in acts {
            if let Act::Write { bytes, tokens } = act {
                all.extend_from_slice(bytes);
                sum += tokens;
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
            let framing = if chunked { Framing::Chunked } else { Framing::UntilClose };
            let write = |fault: &str| {
                let mut cutter = Cutter::new(&fault.parse().unwrap(), framing);
                let mut acts = Vec::new();
                for (text, tokens) in &texts {
                    let text = Spelt { bytes: text.clone().into_bytes(), tokens: *tokens };
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
            let writes = |acts: &[Act]| acts.iter().filter(|act| matches!(act, Act::Write { .. })).count();
            let holds = ["coalesce:3", "burst:50", "filter:2"].contains(&fault);
            prop_assert_eq!(writes(&acts) <= writes(&plain), holds || writes(&acts) == writes(&plain));
        }
    }
}
