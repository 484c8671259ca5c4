//! JSON that is legal and yet refused by a strict parser, put into a form that it takes.
//!
//! RFC 8259 allows half a surrogate pair as an escape, a key that occurs twice, and numbers of any size, and warns
//! that parsers differ on them. Servers send them: a character cut in two by a tokenizer, a field added by a gateway
//! to one that was there. Here half a pair becomes the replacement character, the last of several equal keys wins
//! (as in most parsers), and a number beyond all bounds becomes null.
//!
//! Two things are no JSON and sent all the same: what is no number (Python writes it by its name), which becomes null too, and half
//! a character's bytes within a string, which become replacement characters.

use memchr::memchr2;
use serde_json::Value;

/// `data` without its oddities; none if it is no JSON even so.
pub(crate) fn plain(data: &[u8]) -> Option<Vec<u8>> {
    let mended = mended(data)?;
    let value: Value = serde_json::from_str(&String::from_utf8_lossy(&mended)).ok()?;
    serde_json::to_vec(&value).ok()
}

/// The names of what is no number, as Python's `json` writes them.
const NO_NUMBERS: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];

/// `data` with all its pairs whole and all its numbers finite.
fn mended(data: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(data.len());
    let mut rest = data;
    while let Some((first, behind)) = rest.split_first() {
        if let Some(next) = NO_NUMBERS.iter().find_map(|name| rest.strip_prefix(*name)) {
            out.extend_from_slice(b"null");
            rest = next;
            continue;
        }
        let len = match first {
            b'"' => {
                let len = 1 + string_len(behind)?;
                mend_escapes(rest.get(..len)?, &mut out);
                len
            }
            b'-' | b'0'..=b'9' => {
                let len = rest.iter().take_while(|byte| is_of_number(**byte)).count();
                let number = rest.get(..len)?;
                let value: Option<f64> = std::str::from_utf8(number).ok()?.parse().ok();
                let endless = value.is_some_and(f64::is_infinite);
                out.extend_from_slice(if endless { b"null" } else { number });
                len
            }
            _ => {
                out.push(*first);
                1
            }
        };
        rest = rest.get(len..)?;
    }
    Some(out)
}

const fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')
}

/// The length of the string whose inside begins `bytes`, its closing quote included.
fn string_len(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes.get(at) == Some(&b'"') {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// Copies `string` with the replacement character in place of every half of a pair.
fn mend_escapes(string: &[u8], out: &mut Vec<u8>) {
    let mut rest = string;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let (before, escape) = rest.split_at(at);
        out.extend_from_slice(before);
        let len = match unit(escape) {
            Some(0xD800..=0xDBFF) => {
                let next = escape.get(6..).and_then(unit);
                if matches!(next, Some(0xDC00..=0xDFFF)) { Escape::Whole(12) } else { Escape::Half }
            }
            Some(0xDC00..=0xDFFF) => Escape::Half,
            Some(_) => Escape::Whole(6),
            None => Escape::Whole(2),
        };
        let len = match len {
            Escape::Whole(len) => {
                out.extend_from_slice(escape.get(..len).unwrap_or(escape));
                len
            }
            Escape::Half => {
                out.extend_from_slice(b"\\ufffd");
                6
            }
        };
        rest = escape.get(len..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}

/// An escape sequence.
enum Escape {
    /// Half a surrogate pair, six bytes long.
    Half,
    /// Anything else, of this length.
    Whole(usize),
}

/// The UTF-16 unit of an escape of the form `\uXXXX` at the start of `bytes`.
fn unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    u16::from_str_radix(digits, 16).ok()
}
