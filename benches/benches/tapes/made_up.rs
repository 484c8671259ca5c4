//! Tapes that are made up, and their lines.

use std::ops::Range;

use anyhow::Result;
use fizeau::core::{
    Arrival, Channel, Nanos, ReadLag, RequestId, SessionId, Stamp, StampSource, Tape, TokenSource,
    Tokens, Usage,
};

/// Tokens of a reply, one an event.
const TOKENS: usize = 250;

/// The lines of `requests`, which take the place of what is in `lines`.
pub(crate) fn lines(requests: Range<u64>, lines: &mut Vec<u8>) -> Result<()> {
    lines.clear();
    for id in requests {
        serde_json::to_writer(&mut *lines, &tape(id))?;
        lines.push(b'\n');
    }
    Ok(())
}

/// A request stamped by the kernel. A thousand leave a second; gaps are 4 to 6 ms, one in sixteen up to 22, lags 5 to 38 us.
fn tape(id: u64) -> Tape {
    let mut random = Random(id.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let sent = Stamp::EPOCH + Nanos::from_nanos(1_000_000 * id + random.below(900_000));
    let mut tape = Tape::sent_at(sent);
    (tape.request, tape.session) = (RequestId(id), SessionId(id));
    (tape.stamps, tape.token_source) = (StampSource::Kernel, TokenSource::ContinuousUsage);
    tape.requested.input_tokens = Some(Tokens::new(250));
    tape.requested.output_tokens = Tokens::new(TOKENS as u64);
    let mut at = sent + Nanos::from_nanos(18_000_000 + random.below(6_000_000));
    for read in 0..TOKENS as u32 {
        let bytes = 2 + random.below(6) as u32;
        let read_lag = ReadLag::of(Nanos::from_nanos(5_000 + random.below(33_000)));
        let arrival = Arrival::tokens(at, 1, Channel::Visible);
        tape.arrivals.push(Arrival { read, bytes, chars: bytes, read_lag, ..arrival });
        let pause = if random.below(16) == 0 { 16_000_000 } else { 0 };
        at += Nanos::from_nanos(4_000_000 + random.below(2_000_000) + pause);
    }
    let last = tape.last_token();
    (tape.marks.first_byte, tape.marks.headers, tape.marks.end) =
        (tape.first_token(), tape.first_token(), last);
    let (prompt_tokens, completion_tokens) = (Some(Tokens::new(250)), Some(tape.output_tokens()));
    tape.usage = Some(Usage { prompt_tokens, completion_tokens, ..Usage::default() });
    tape
}

/// Marsaglia's xorshift, of which the upper bits are used.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 32) * bound) >> 32
    }
}
