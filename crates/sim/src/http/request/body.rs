//! The body of a request.

use super::head::{BodyLength, RequestHead};
use crate::http::response::{Refusal, Status};

/// The longest line of a chunk's size or of a trailer.
const LINE_LIMIT: usize = 4 << 10;

/// A body under way.
#[derive(Debug)]
pub(super) enum RequestBody {
    Chunked { state: ChunkPosition, body: Vec<u8> },
    Known(usize),
}

/// What comes next in a chunked body.
#[derive(Debug, Clone, Copy)]
pub(super) enum ChunkPosition {
    Size,
    /// So many bytes of data.
    Data(usize),
    /// The line break after the data.
    Break,
    /// Header lines up to an empty one.
    Trailer,
}

/// What some bytes were good for.
#[derive(Debug)]
pub(super) enum BodyProgress {
    Part { used: usize },
    Whole { used: usize, body: Vec<u8> },
}

impl RequestBody {
    /// The body that `head` announces.
    pub(super) fn of(head: &RequestHead, limit: usize) -> Result<Self, Refusal> {
        match head.length {
            BodyLength::Known(length) if length > limit => Err(too_large(limit)),
            BodyLength::Known(length) => Ok(Self::Known(length)),
            BodyLength::Chunked => {
                Ok(Self::Chunked { state: ChunkPosition::Size, body: Vec::new() })
            }
        }
    }

    /// Takes what it can of `bytes`.
    pub(super) fn take(&mut self, bytes: &[u8], limit: usize) -> Result<BodyProgress, Refusal> {
        match self {
            Self::Known(length) => Ok(match bytes.get(..*length) {
                Some(body) => BodyProgress::Whole { used: *length, body: body.to_vec() },
                // All at once in the end: no copy of every part.
                None => BodyProgress::Part { used: 0 },
            }),
            Self::Chunked { state, body } => {
                let mut used = 0;
                loop {
                    let rest = bytes.get(used..).unwrap_or_default();
                    match step(*state, rest, body, limit)? {
                        BodyStep::Next { took, then } => {
                            used += took;
                            *state = then;
                        }
                        BodyStep::End { took } => {
                            let body = std::mem::take(body);
                            return Ok(BodyProgress::Whole { used: used + took, body });
                        }
                        BodyStep::Starved => return Ok(BodyProgress::Part { used }),
                    }
                }
            }
        }
    }
}

enum BodyStep {
    /// `took` bytes were used; `then` comes next.
    Next {
        took: usize,
        then: ChunkPosition,
    },
    End {
        took: usize,
    },
    /// More bytes are needed.
    Starved,
}

fn step(
    state: ChunkPosition,
    rest: &[u8],
    body: &mut Vec<u8>,
    limit: usize,
) -> Result<BodyStep, Refusal> {
    match state {
        ChunkPosition::Size => size(rest, limit - body.len().min(limit), limit),
        ChunkPosition::Data(left) => {
            let (take, _) = rest.split_at(left.min(rest.len()));
            if take.is_empty() {
                return Ok(BodyStep::Starved);
            }
            body.extend_from_slice(take);
            let then = match left - take.len() {
                0 => ChunkPosition::Break,
                left => ChunkPosition::Data(left),
            };
            Ok(BodyStep::Next { took: take.len(), then })
        }
        ChunkPosition::Break => match rest {
            [b'\r', b'\n', ..] => Ok(BodyStep::Next { took: 2, then: ChunkPosition::Size }),
            [] | [b'\r'] => Ok(BodyStep::Starved),
            _ => Err(broken("a chunk is longer than its size")),
        },
        ChunkPosition::Trailer => match rest.iter().position(|&byte| byte == b'\n') {
            Some(end) if end < LINE_LIMIT => {
                let line = rest.get(..end).unwrap_or_default();
                let took = end + 1;
                match line {
                    [] | [b'\r'] => Ok(BodyStep::End { took }),
                    _ => Ok(BodyStep::Next { took, then: ChunkPosition::Trailer }),
                }
            }
            None if rest.len() < LINE_LIMIT => Ok(BodyStep::Starved),
            _ => Err(broken("a line after the last chunk is too long")),
        },
    }
}

/// Reads the size of a chunk of a body that may have `left` more bytes.
fn size(rest: &[u8], left: usize, limit: usize) -> Result<BodyStep, Refusal> {
    match httparse::parse_chunk_size(rest) {
        Ok(httparse::Status::Complete((took, _))) if took > LINE_LIMIT => {
            Err(broken("the line of a chunk's size is too long"))
        }
        Ok(httparse::Status::Complete((took, 0))) => {
            Ok(BodyStep::Next { took, then: ChunkPosition::Trailer })
        }
        Ok(httparse::Status::Complete((took, size))) => match usize::try_from(size) {
            Ok(size) if size <= left => {
                Ok(BodyStep::Next { took, then: ChunkPosition::Data(size) })
            }
            _ => Err(too_large(limit)),
        },
        Ok(httparse::Status::Partial) if rest.len() <= LINE_LIMIT => Ok(BodyStep::Starved),
        Ok(httparse::Status::Partial) => Err(broken("the line of a chunk's size is too long")),
        Err(_) => Err(broken("a chunk's size is no hexadecimal number")),
    }
}

fn broken(what: &str) -> Refusal {
    Refusal::bad_request(None, format!("the chunked body could not be read: {what}"))
}

fn too_large(limit: usize) -> Refusal {
    let message = format!("the body is larger than the {limit} bytes taken here");
    Refusal::bad_request(None, message).at(Status::BODY_TOO_LARGE)
}
