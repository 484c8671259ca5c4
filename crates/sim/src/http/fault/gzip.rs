//! gzip that stores rather than compresses (RFC 1951 and RFC 1952).

/// The encoding of one body, part by part.
#[derive(Debug, Default)]
pub(super) struct Gzip {
    begun: Begun,
    crc: u32,
    size: u32,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Begun {
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
        match std::mem::replace(&mut self.begun, Begun::Yes) {
            Begun::No => HEAD.to_vec(),
            Begun::Yes => Vec::new(),
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
