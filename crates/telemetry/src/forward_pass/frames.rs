//! ZMTP 3 without I/O: the greeting, commands and parts of messages, as bytes.

/// The greeting of a peer without security: signature, version 3.0, the mechanism NULL, padding.
pub(super) const GREETING: [u8; 64] = greeting();
/// The command by which a subscriber says what it is, and asks for all topics.
pub(super) const READY_SUB: &[u8] = b"\x04\x19\x05READY\x0bSocket-Type\x00\x00\x00\x03SUB";
/// The same of a publisher.
pub(super) const READY_PUB: &[u8] = b"\x04\x19\x05READY\x0bSocket-Type\x00\x00\x00\x03PUB";
/// The subscription to every topic: a message of one part, 1 and no prefix.
pub(super) const SUBSCRIBE_ALL: &[u8] = b"\x00\x01\x01";

const fn greeting() -> [u8; 64] {
    let mut bytes = [0; 64];
    bytes[0] = 0xff;
    bytes[9] = 0x7f;
    bytes[10] = 3;
    bytes[12] = b'N';
    bytes[13] = b'U';
    bytes[14] = b'L';
    bytes[15] = b'L';
    bytes
}

const MORE: u8 = 1;
const LONG: u8 = 2;
const COMMAND: u8 = 4;

/// What a peer sends after its greeting.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// The greeting was fine.
    Greeting,
    /// A message with its parts.
    Message(Vec<Vec<u8>>),
    /// A command, by its name.
    Command(String),
}

/// Why the bytes of a peer are not ZMTP.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum FrameError {
    #[error("the peer does not use ZMTP 3: is this the port of forward-pass records?")]
    NotZmtp,
    #[error("the peer requires the security mechanism {0}; only NULL is supported")]
    Mechanism(String),
    #[error("a frame of {size} bytes, more than {limit}")]
    TooLong { size: u64, limit: usize },
    #[error("a message of more than {0} parts")]
    TooManyParts(usize),
}

/// The most bytes of a frame, and the most parts of a message: a forward pass has three of under 1 KiB.
const LONGEST: usize = 64 << 10;
const MOST_PARTS: usize = 16;

/// Takes what a peer sends, cut anywhere, and gives whole frames. Its memory is bounded.
#[derive(Debug, Default)]
pub(super) struct Frames {
    bytes: Vec<u8>,
    greeted: bool,
    parts: Vec<Vec<u8>>,
}

impl Frames {
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole frame; none until more has come.
    pub(super) fn next(&mut self) -> Result<Option<Frame>, FrameError> {
        if !self.greeted {
            return Ok(self.take_greeting()?.then_some(Frame::Greeting));
        }
        while let Some((flags, body)) = self.take_frame()? {
            if flags & COMMAND != 0 {
                let length = body.first().copied().map_or(0, usize::from);
                let name = body.get(1..=length).unwrap_or_default();
                return Ok(Some(Frame::Command(String::from_utf8_lossy(name).into_owned())));
            }
            if self.parts.len() == MOST_PARTS {
                return Err(FrameError::TooManyParts(MOST_PARTS));
            }
            self.parts.push(body);
            if flags & MORE == 0 {
                return Ok(Some(Frame::Message(std::mem::take(&mut self.parts))));
            }
        }
        Ok(None)
    }

    fn take_greeting(&mut self) -> Result<bool, FrameError> {
        let signature = [(0, 0xff), (9, 0x7f)];
        let differs =
            |(at, wanted): (usize, u8)| self.bytes.get(at).is_some_and(|byte| *byte != wanted);
        let is_old = self.bytes.get(10).is_some_and(|version| *version < 3);
        if signature.into_iter().any(differs) || is_old {
            return Err(FrameError::NotZmtp);
        }
        let Some(mechanism) = self.bytes.get(12..32).filter(|_| self.bytes.len() >= 64) else {
            return Ok(false);
        };
        let name: Vec<u8> = mechanism.iter().copied().take_while(|byte| *byte != 0).collect();
        if name != b"NULL" {
            return Err(FrameError::Mechanism(String::from_utf8_lossy(&name).into_owned()));
        }
        self.bytes.drain(..64);
        self.greeted = true;
        Ok(true)
    }

    fn take_frame(&mut self) -> Result<Option<(u8, Vec<u8>)>, FrameError> {
        let Some(flags) = self.bytes.first().copied() else { return Ok(None) };
        let (size, head) = if flags & LONG == 0 {
            (self.bytes.get(1).map(|size| u64::from(*size)), 2)
        } else {
            let size = self.bytes.get(1..9).and_then(|size| <[u8; 8]>::try_from(size).ok());
            (size.map(u64::from_be_bytes), 9)
        };
        let Some(size) = size else { return Ok(None) };
        let length = usize::try_from(size).ok().filter(|size| *size <= LONGEST);
        let length = length.ok_or(FrameError::TooLong { size, limit: LONGEST })?;
        let Some(body) = self.bytes.get(head..head + length).map(<[u8]>::to_vec) else {
            return Ok(None);
        };
        self.bytes.drain(..head + length);
        Ok(Some((flags, body)))
    }
}

/// The bytes of a message of these parts.
pub(super) fn message(parts: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let more = if at + 1 < parts.len() { MORE } else { 0 };
        match u8::try_from(part.len()) {
            Ok(size) => bytes.extend_from_slice(&[more, size]),
            Err(_) => {
                bytes.push(more | LONG);
                bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
            }
        }
        bytes.extend_from_slice(part);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_however_it_is_cut() {
        let long = vec![7; 300];
        let bytes =
            [&GREETING, READY_PUB, &message(&[b"", &[1, 2], &long]), &message(&[b"x"])].concat();
        let expected = [
            Frame::Greeting,
            Frame::Command("READY".to_owned()),
            Frame::Message(vec![Vec::new(), vec![1, 2], long]),
            Frame::Message(vec![b"x".to_vec()]),
        ];
        for size in [1, 3, 64, 1000] {
            let mut frames = Frames::default();
            let mut found = Vec::new();
            for piece in bytes.chunks(size) {
                frames.feed(piece);
                while let Some(frame) = frames.next().unwrap() {
                    found.push(frame);
                }
            }
            assert_eq!(found, expected, "pieces of {size}");
        }
    }

    #[test]
    fn other_protocols_are_refused() {
        let refused = |bytes: &[u8]| {
            let mut frames = Frames::default();
            frames.feed(bytes);
            match frames.next() {
                Ok(Some(Frame::Greeting)) => frames.next(),
                other => other,
            }
        };
        assert_eq!(refused(b"HTTP/1.1 400"), Err(FrameError::NotZmtp));
        let mut old = GREETING;
        old[10] = 1;
        assert_eq!(refused(&old), Err(FrameError::NotZmtp));
        let mut curve = GREETING;
        curve[12..17].copy_from_slice(b"CURVE");
        assert_eq!(refused(&curve), Err(FrameError::Mechanism("CURVE".to_owned())));
        let huge = [GREETING.as_slice(), &[2, 0xff, 0, 0, 0, 0, 0, 0, 0]].concat();
        assert!(matches!(refused(&huge), Err(FrameError::TooLong { .. })));
    }
}
