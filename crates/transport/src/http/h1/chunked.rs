//! The chunked transfer coding (RFC 9112, section 7.1).

use super::head::MalformedHead;

/// The most bytes of one chunk's extensions, and of all trailers. They are passed over, not kept; the bound only
/// stops a server that sends nothing else.
const MOST_SKIPPED: u32 = 64 << 10;

/// Finds the content in a chunked body, in place. Any split of the same bytes gives the same content.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ChunkedBody {
    state: ChunkState,
    /// The size of the chunk as far as it was read, then what is left of it.
    left: u64,
    skipped: u32,
}

/// What is expected next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum ChunkState {
    /// The first digit of a chunk's size.
    #[default]
    Size,
    /// More digits, or what ends them.
    Digits,
    /// Blanks after the size.
    Blanks,
    /// Extensions, up to the line's end.
    Extension,
    /// The LF after a size.
    SizeLf,
    /// Content.
    Content,
    /// The line end after a chunk.
    ContentCr,
    ContentLf,
    /// The start of a trailer, or the end.
    TrailerStart,
    Trailer,
    TrailerLf,
    EndLf,
    Over,
}

impl ChunkedBody {
    /// As [`Body::next`](super::body::ReplyBody::next).
    pub(super) fn next<'b>(
        &mut self,
        bytes: &mut &'b [u8],
    ) -> Result<Option<&'b [u8]>, MalformedHead> {
        loop {
            match self.state {
                ChunkState::Over => return Ok(None),
                ChunkState::Content => return Ok(self.content(bytes)),
                _ => {}
            }
            if !self.plain_line(bytes) {
                let Some((&byte, rest)) = bytes.split_first() else {
                    return Ok(None);
                };
                self.state = self.step(byte)?;
                *bytes = rest;
            }
        }
    }

    /// What `bytes` hold of the chunk's content.
    fn content<'b>(&mut self, bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
        let here = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
        let (content, rest) = bytes.split_at(here);
        *bytes = rest;
        self.left -= here as u64;
        if self.left == 0 {
            self.state = ChunkState::ContentCr;
        }
        Some(content).filter(|content| !content.is_empty())
    }

    /// Takes, in one go, what nearly all chunks have between their contents, where it is there in one piece: the line
    /// end after a chunk, or a size and nothing else. A matter of speed only: byte by byte gives the same.
    fn plain_line(&mut self, bytes: &mut &[u8]) -> bool {
        let line = match self.state {
            ChunkState::ContentCr if bytes.starts_with(b"\r\n") => {
                self.state = ChunkState::Size;
                2
            }
            ChunkState::Size => {
                let Some((size, line)) = plain_size(bytes) else {
                    return false;
                };
                self.left = size;
                self.end_size();
                line
            }
            _ => return false,
        };
        *bytes = bytes.get(line..).unwrap_or_default();
        true
    }

    /// The line of a chunk's size is over.
    const fn end_size(&mut self) {
        self.skipped = 0;
        self.state = if self.left == 0 { ChunkState::TrailerStart } else { ChunkState::Content };
    }

    pub(super) fn is_over(&self) -> bool {
        self.state == ChunkState::Over
    }

    /// The state after `byte`, which is not content.
    fn step(&mut self, byte: u8) -> Result<ChunkState, MalformedHead> {
        Ok(match (self.state, byte) {
            (ChunkState::Size | ChunkState::Digits, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                self.add_digit(byte)?;
                ChunkState::Digits
            }
            (ChunkState::Digits | ChunkState::Blanks, b' ' | b'\t') => ChunkState::Blanks,
            (ChunkState::Digits | ChunkState::Blanks, b';') => ChunkState::Extension,
            (ChunkState::Digits | ChunkState::Blanks | ChunkState::Extension, b'\r') => {
                ChunkState::SizeLf
            }
            (ChunkState::Extension, byte) if byte != b'\n' => self.skip(ChunkState::Extension)?,
            (ChunkState::SizeLf, b'\n') => {
                self.end_size();
                self.state
            }
            (ChunkState::ContentCr, b'\r') => ChunkState::ContentLf,
            (ChunkState::ContentLf, b'\n') => ChunkState::Size,
            (ChunkState::TrailerStart, b'\r') => ChunkState::EndLf,
            (ChunkState::Trailer, b'\r') => ChunkState::TrailerLf,
            (ChunkState::TrailerStart | ChunkState::Trailer, byte) if byte != b'\n' => {
                self.skip(ChunkState::Trailer)?
            }
            (ChunkState::TrailerLf, b'\n') => ChunkState::TrailerStart,
            (ChunkState::EndLf, b'\n') => ChunkState::Over,
            (state, byte) => return Err(unexpected(state, byte)),
        })
    }

    fn add_digit(&mut self, digit: u8) -> Result<(), MalformedHead> {
        let digit = char::from(digit).to_digit(16).unwrap_or_default();
        let size = self.left.checked_mul(16).map(|size| size + u64::from(digit));
        self.left =
            size.ok_or_else(|| MalformedHead("a chunk's size exceeds 64 bits".to_owned()))?;
        Ok(())
    }

    fn skip(&mut self, state: ChunkState) -> Result<ChunkState, MalformedHead> {
        self.skipped += 1;
        if self.skipped > MOST_SKIPPED {
            let why = format!("more than {MOST_SKIPPED} bytes of chunk extensions or trailers");
            return Err(MalformedHead(why));
        }
        Ok(state)
    }
}

/// The size that stands alone in a whole line at the start of `bytes`, and the line's length.
fn plain_size(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut size = 0;
    // Seven digits make a chunk of 256 MiB.
    for (digits, byte) in bytes.iter().take(8).enumerate() {
        match char::from(*byte).to_digit(16) {
            Some(digit) => size = size * 16 + u64::from(digit),
            None => {
                let ends = digits > 0 && bytes.get(digits..)?.starts_with(b"\r\n");
                return ends.then_some((size, digits + 2));
            }
        }
    }
    None
}

fn unexpected(state: ChunkState, byte: u8) -> MalformedHead {
    let place = match state {
        ChunkState::Size
        | ChunkState::Digits
        | ChunkState::Blanks
        | ChunkState::Extension
        | ChunkState::SizeLf => "in the line of a chunk's size",
        ChunkState::ContentCr | ChunkState::ContentLf => "after a chunk",
        _ => "in the trailers",
    };
    MalformedHead(format!("`{}` {place}", byte.escape_ascii()))
}
