//! A trace that is made as it is read.

use std::io::Read;

/// Lines in Mooncake's format, the same every time.
pub(crate) struct MadeUp {
    line: Vec<u8>,
    /// How many bytes of `line` were taken.
    taken: usize,
    /// How many bytes are still to come, about.
    left: u64,
    random: u64,
    millis: u64,
    next_id: u64,
}

impl MadeUp {
    pub(crate) const fn new(bytes: u64) -> Self {
        Self { line: Vec::new(), taken: 0, left: bytes, random: 1, millis: 0, next_id: 1 }
    }

    /// A number below `bound` (Knuth's MMIX generator; only its upper bits are used).
    fn below(&mut self, bound: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.random >> 33) % bound
    }

    /// A request of 1 to 48 blocks, of which the first few stand for a prompt that one of 1,000 users shares.
    fn make(&mut self) {
        let (blocks, user) = (1 + self.below(48), self.below(1_000));
        let shared = self.below(blocks);
        self.millis += self.below(2);
        let input = 512 * (blocks - 1) + 1 + self.below(512);
        self.line.clear();
        self.put(b"{\"timestamp\": ", self.millis);
        self.put(b", \"input_length\": ", input);
        let output = 1 + self.below(500);
        self.put(b", \"output_length\": ", output);
        self.line.extend_from_slice(b", \"hash_ids\": [");
        for n in 0..blocks {
            let id = if n < shared { user * 48 + n } else { 50_000 + self.next_id + n };
            self.put(if n == 0 { b"" } else { b", " }, id);
        }
        self.next_id += blocks - shared;
        self.line.extend_from_slice(b"]}\n");
    }

    fn put(&mut self, before: &[u8], number: u64) {
        self.line.extend_from_slice(before);
        let mut digits = [0; 20];
        let (mut number, mut first) = (number, digits.len());
        loop {
            first -= 1;
            digits[first] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.line.extend_from_slice(&digits[first..]);
    }
}

impl Read for MadeUp {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let mut written = 0;
        while written < into.len() {
            if self.taken == self.line.len() {
                if self.left == 0 {
                    break;
                }
                self.make();
                self.taken = 0;
                self.left = self.left.saturating_sub(self.line.len() as u64);
            }
            let rest = &self.line[self.taken..];
            let length = rest.len().min(into.len() - written);
            into[written..written + length].copy_from_slice(&rest[..length]);
            (self.taken, written) = (self.taken + length, written + length);
        }
        Ok(written)
    }
}
