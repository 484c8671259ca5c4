//! Faults in how events are encoded.

use super::AssignedFaults;
use super::event::{EventData, StreamEvent};
use super::kind::Kind;

/// Writes events as text.
pub(super) struct EventEncoder {
    met: AssignedFaults,
    encoded: u64,
}

/// The text of an event, or of what goes with events.
#[derive(Debug, Default)]
pub(super) struct EncodedEvent {
    pub(super) bytes: Vec<u8>,
    pub(super) tokens: u64,
}

impl EventEncoder {
    pub(super) fn new(met: &AssignedFaults) -> Self {
        Self { met: met.clone(), encoded: 0 }
    }

    pub(super) fn encode(&mut self, mut event: StreamEvent) -> EncodedEvent {
        self.pad(&mut event);
        let number = self.encoded;
        self.encoded += 1;
        let mut lines = Vec::new();
        if number == 0 && self.met.has(Kind::Bom) {
            lines.push("\u{feff}: begins".to_owned());
        }
        if self.met.has(Kind::Comments) {
            // Bare and not, each an event without data.
            lines.extend([":".to_owned(), String::new(), ": ping".to_owned(), String::new()]);
        }
        if self.met.has(Kind::GluedComments) {
            lines.push(": glued".to_owned());
        }
        if self.met.has(Kind::ExtraFields) {
            let alone = [format!("id: {number}"), "retry: 1000".to_owned(), String::new()];
            lines.extend(alone);
            lines.extend(["id".to_owned(), "unknown: field".to_owned()]);
        }
        if let Some(name) = &event.name {
            lines.push(format!("event: {name}"));
        }
        lines.extend(self.data(&event.data));
        lines.push(String::new());
        EncodedEvent { bytes: self.join(&lines).into_bytes(), tokens: event.tokens }
    }

    /// A comment for its own sake.
    pub(super) fn comment(&self, text: &str) -> EncodedEvent {
        let lines = [format!(": {text}"), String::new()];
        EncodedEvent { bytes: self.join(&lines).into_bytes(), tokens: 0 }
    }

    fn pad(&self, event: &mut StreamEvent) {
        let Some(fault) = self.met.get(Kind::Huge) else {
            return;
        };
        let size = usize::try_from(fault.count()).unwrap_or(usize::MAX);
        if let Some(object) = event.value().and_then(|value| value.as_object_mut()) {
            object.insert("padding".to_owned(), "x".repeat(size).into());
        }
    }

    fn data(&self, data: &EventData) -> Vec<String> {
        let text = match data {
            EventData::Json(value) if self.met.has(Kind::MultiData) => format!("{value:#}"),
            EventData::Json(value) => value.to_string(),
            EventData::Text(text) => text.clone(),
        };
        let no_space = self.met.has(Kind::NoSpace);
        let line = |line: &str| match (no_space, data) {
            (false, _) => format!("data: {line}"),
            (true, EventData::Json(_)) => format!("data:{line} "),
            (true, EventData::Text(_)) => format!("data:{line}"),
        };
        text.lines().map(line).collect()
    }

    fn join(&self, lines: &[String]) -> String {
        let end = match () {
            () if self.met.has(Kind::Cr) => "\r",
            () if self.met.has(Kind::Crlf) => "\r\n",
            () => "\n",
        };
        lines.iter().flat_map(|line| [line.as_str(), end]).collect()
    }
}

// gzip that stores rather than compresses (RFC 1951 and RFC 1952).

/// The encoding of one body, part by part.
#[derive(Debug, Default)]
pub(super) struct Gzip {
    begun: GzipStart,
    crc: u32,
    size: u32,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum GzipStart {
    #[default]
    No,
    Yes,
}

/// Method 8 (deflate), no flags, no time, no extras, an unknown system.
const HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

impl Gzip {
    /// The encoding of what comes next.
    pub(super) fn part(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = self.head();
        for block in bytes.chunks(usize::from(u16::MAX)) {
            store(&mut out, 0, block);
        }
        self.crc = crc32(self.crc, bytes);
        self.size = self.size.wrapping_add(bytes.len() as u32);
        out
    }

    /// The encoding of the end.
    pub(super) fn end(&mut self) -> Vec<u8> {
        let mut out = self.head();
        store(&mut out, 1, &[]);
        out.extend_from_slice(&self.crc.to_le_bytes());
        out.extend_from_slice(&self.size.to_le_bytes());
        out
    }

    fn head(&mut self) -> Vec<u8> {
        match std::mem::replace(&mut self.begun, GzipStart::Yes) {
            GzipStart::No => HEAD.to_vec(),
            GzipStart::Yes => Vec::new(),
        }
    }
}

/// Writes a stored block of up to 65,535 bytes; `last` is 1 for the last one.
fn store(out: &mut Vec<u8>, last: u8, block: &[u8]) {
    let size = block.len() as u16;
    out.push(last);
    out.extend_from_slice(&size.to_le_bytes());
    out.extend_from_slice(&(!size).to_le_bytes());
    out.extend_from_slice(block);
}

/// Goes on with a checksum of RFC 1952, bit by bit: nobody waits for these bodies.
fn crc32(crc: u32, bytes: &[u8]) -> u32 {
    let mut crc = !crc;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value of CRC-32/ISO-HDLC in Greg Cook's catalogue of parametrised CRC algorithms.
    #[test]
    fn the_checksum_is_that_of_the_catalogue() {
        assert_eq!(crc32(0, b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(crc32(0, b"1234"), b"56789"), 0xcbf4_3926);
    }

    /// Python's `gzip.decompress` gives `hello` for these bytes.
    #[test]
    fn a_small_body() {
        let mut gzip = Gzip::default();
        let body = [gzip.part(b"hel"), gzip.part(b"lo"), gzip.end()].concat();
        let (head, rest) = body.split_at(10);
        assert_eq!(head, HEAD);
        let expected =
            b"\0\x03\0\xfc\xffhel\0\x02\0\xfd\xfflo\x01\0\0\xff\xff\x86\xa6\x10\x36\x05\0\0\0";
        assert_eq!(rest, expected);
    }
}
