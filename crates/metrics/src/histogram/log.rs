//! Interval logs, read back.

use std::io::Cursor;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

use super::{DIGITS, HistogramError};

/// All histograms of an interval log, added up.
pub(super) fn read(text: &str) -> Result<Option<Histogram<u64>>, HistogramError> {
    let mut sum: Option<Histogram<u64>> = None;
    for (entry, number) in IntervalLogIterator::new(text.as_bytes()).zip(1_u64..) {
        let entry = entry.map_err(|_| {
            HistogramError(format!("entry {number} is not an entry of an interval log"))
        })?;
        let LogEntry::Interval(interval) = entry else { continue };
        let failed = |what: &str| HistogramError(format!("entry {number}: {what}"));
        let bytes = base64(interval.encoded_histogram().as_bytes())
            .ok_or_else(|| failed("its histogram is not in base64"))?;
        let mut histogram: Histogram<u64> = Deserializer::new()
            .deserialize(&mut Cursor::new(bytes))
            .map_err(|error| failed(&error.to_string()))?;
        if histogram.sigfig() != DIGITS {
            return Err(failed(&format!("{} digits, and {DIGITS} are read", histogram.sigfig())));
        }
        histogram.auto(true);
        match &mut sum {
            None => sum = Some(histogram),
            Some(sum) => sum.add(&histogram).map_err(|error| failed(&error.to_string()))?,
        }
    }
    Ok(sum)
}

/// The bytes of base64 (RFC 4648, section 4), with or without its padding; none for anything else.
fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let text = text.strip_suffix(b"==").or_else(|| text.strip_suffix(b"=")).unwrap_or(text);
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for group in text.chunks(4) {
        let mut word = 0_u32;
        for &letter in group {
            word = word << 6 | sextet(letter)?;
        }
        let whole = match group.len() {
            4 => 3,
            3 => 2,
            2 => 1,
            _ => return None,
        };
        let [_, first, second, third] = (word << (6 * (4 - group.len()))).to_be_bytes();
        bytes.extend([first, second, third].into_iter().take(whole));
    }
    Some(bytes)
}

fn sextet(letter: u8) -> Option<u32> {
    let value = match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(value.into())
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        // Section 10 of the RFC.
        let vectors =
            [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYmFy", "foobar")];
        for (text, bytes) in vectors {
            assert_eq!(base64(text.as_bytes()).as_deref(), Some(bytes.as_bytes()), "{text}");
        }
        assert_eq!(base64(b"+/+/"), Some(vec![0xFB, 0xFF, 0xBF]));
        for text in ["Z", "Zm9vY", "Zm9 v", "Zg=a"] {
            assert_eq!(base64(text.as_bytes()), None, "{text}");
        }
    }
}
