//! The lines of a trace, and numbers as traces write them.

use std::io::{BufRead, Read as _};
use std::sync::Arc;

use fizeau_core::Nanos;

use super::error::{LineFault, TraceError};
use crate::seed::scramble;

/// The whole number that `text` is, digits only.
pub(super) fn whole(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0_u64, |number, byte| {
        let digit = digit(*byte)?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

/// The whole number that `text` is, also where a program that has missing values wrote `472.0`.
pub(super) fn count(text: &[u8]) -> Option<u64> {
    let point = text.iter().position(|byte| *byte == b'.');
    match point.and_then(|point| text.split_at_checked(point)) {
        Some((number, [_, zeros @ ..])) if !zeros.is_empty() => {
            zeros.iter().all(|zero| *zero == b'0').then(|| whole(number)).flatten()
        }
        _ => whole(text),
    }
}

/// The length of time that `text` is, a number of `unit`s with or without decimals and exponent. What is below
/// a nanosecond is cut.
pub(super) fn time(text: &[u8], unit: Nanos) -> Option<Nanos> {
    let unit = unit.as_nanos();
    if let Some(mark) = text.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        let (number, [_, exponent @ ..]) = text.split_at_checked(mark)? else { return None };
        return scaled(number, exponent, unit);
    }
    let point = text.iter().position(|byte| *byte == b'.').unwrap_or(text.len());
    let (number, decimals) = text.split_at_checked(point)?;
    let mut nanos = whole(number)?.checked_mul(unit)?;
    if let [_, decimals @ ..] = decimals {
        nanos = nanos.checked_add(fraction(decimals, unit)?)?;
    }
    Some(Nanos::from_nanos(nanos))
}

/// `number` times ten to the `exponent`, as programs write what they hold as a floating-point number.
fn scaled(number: &[u8], exponent: &[u8], unit: u64) -> Option<Nanos> {
    let (is_small, power) = match exponent {
        [b'-', power @ ..] => (true, whole(power)?),
        [b'+', power @ ..] | power => (false, whole(power)?),
    };
    let point = number.iter().position(|byte| *byte == b'.').unwrap_or(number.len());
    let (digits, decimals) = number.split_at_checked(point)?;
    let decimals = match decimals {
        [] => decimals,
        [_, decimals @ ..] if !decimals.is_empty() => decimals,
        _ => return None,
    };
    whole(digits)?;
    // Below 2^64 with all decimals, or not worth an exponent.
    let all = u128::from(whole(&[digits, decimals].concat())?) * u128::from(unit);
    let power = i64::try_from(power).ok().filter(|power| *power <= 400)?;
    let power = if is_small { -power } else { power } - i64::try_from(decimals.len()).ok()?;
    let ten = 10_u128.checked_pow(u32::try_from(power.unsigned_abs()).ok()?);
    let nanos = match (all, ten) {
        (0, _) => 0,
        (_, None) if power < 0 => 0,
        (_, None) => return None,
        (all, Some(ten)) if power < 0 => all / ten,
        (all, Some(ten)) => all.checked_mul(ten)?,
    };
    u64::try_from(nanos).ok().map(Nanos::from_nanos)
}

/// The part of `unit` that the digits after a decimal point stand for.
pub(super) fn fraction(decimals: &[u8], unit: u64) -> Option<u64> {
    if decimals.is_empty() {
        return None;
    }
    let mut place = unit;
    decimals.iter().try_fold(0, |sum, byte| {
        place /= 10;
        Some(sum + place * digit(*byte)?)
    })
}

fn digit(byte: u8) -> Option<u64> {
    byte.is_ascii_digit().then(|| u64::from(byte - b'0'))
}

// Bytes to numbered lines, in a buffer that is used again.

/// The longest line that is read, in bytes: with blocks of 16 tokens, a prompt of some 30 million tokens.
const LONGEST: u64 = 16 << 20;

/// The lines of a file, without blank ones, line endings and a byte-order mark.
#[derive(Debug)]
pub(super) struct TraceLines<R> {
    reader: R,
    file: Arc<str>,
    buffer: Vec<u8>,
    number: u64,
    checksum: u64,
}

impl<R: BufRead> TraceLines<R> {
    pub(super) const fn new(file: Arc<str>, reader: R) -> Self {
        Self { reader, file, buffer: Vec::new(), number: 0, checksum: 0 }
    }

    /// Goes to the next line; false at the end of the file.
    ///
    /// # Errors
    /// If the file cannot be read, or the line is beyond [`LONGEST`].
    pub(super) fn advance(&mut self) -> Result<bool, TraceError> {
        loop {
            self.buffer.clear();
            let read = self.reader.by_ref().take(LONGEST).read_until(b'\n', &mut self.buffer);
            let read = read.map_err(|error| read_error(&self.file, self.number, &error))?;
            if read == 0 {
                return Ok(false);
            }
            self.number += 1;
            if read as u64 == LONGEST && self.buffer.last() != Some(&b'\n') {
                let expected = format!("a line of less than {LONGEST} bytes");
                let fault = LineFault::at("line", &self.buffer, &expected);
                return Err(fault.in_line(&self.file, self.number));
            }
            if !self.line().is_empty() {
                self.checksum = checksum(self.checksum, self.line());
                return Ok(true);
            }
        }
    }

    /// The present line.
    pub(super) fn line(&self) -> &[u8] {
        let line = match self.number {
            1 => self.buffer.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&self.buffer),
            _ => &self.buffer,
        };
        line.trim_ascii()
    }

    /// The number of the present line, from 1.
    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    /// A figure that follows from all lines so far, and hardly ever is the same for other lines.
    pub(super) const fn checksum(&self) -> u64 {
        self.checksum
    }

    pub(super) const fn file(&self) -> &Arc<str> {
        &self.file
    }

    /// `fault` as one of the present line. Behind good lines, a last one that neither ends nor is whole was cut off.
    pub(super) fn fault(&self, fault: LineFault) -> TraceError {
        let is_whole = match self.line() {
            [b'{', .., end] => *end == b'}',
            _ => fault.field != "line",
        };
        match self.number > 1 && !is_whole && self.buffer.last() != Some(&b'\n') {
            true => TraceError::CutOff { file: Arc::clone(&self.file), line: self.number },
            false => fault.in_line(&self.file, self.number),
        }
    }
}

pub(super) fn read_error(file: &Arc<str>, line: u64, error: &std::io::Error) -> TraceError {
    TraceError::Read { file: Arc::clone(file), line, message: error.to_string() }
}

/// Eight bytes a step, because it goes over all of a file each time that it is read. Against slips, not against malice.
fn checksum(before: u64, line: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let (words, rest) = line.as_chunks::<8>();
    let step = |sum: u64, word: u64| {
        let mixed = (sum ^ word).wrapping_mul(ODD);
        mixed ^ (mixed >> 32)
    };
    let sum = words.iter().fold(before, |sum, word| step(sum, u64::from_le_bytes(*word)));
    let tail = rest.iter().fold(1, |word, byte| (word << 8) | u64::from(*byte));
    scramble(step(step(sum, tail), line.len() as u64))
}
