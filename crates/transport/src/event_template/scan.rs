//! The few kinds of JSON value that fill a hole, by their bytes. Each is taken only in its plain form: what is
//! refused here is read by a real parser.

use std::ops::Range;

use memchr::{memchr, memchr2};

/// The most digits of a number: all such fit a `u64`.
const DIGITS: usize = 18;

/// Up to this length bytes are looked at one by one, which for the few of a token is faster than any search.
const SHORT: usize = 24;

/// The text up to the closing quote at the start of `bytes`, if it is not empty and stands for itself (no escape,
/// no control character, valid UTF-8), and how many characters it has.
pub(super) fn text(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | ..b' ');
    let end = match bytes.iter().take(SHORT).position(is_special) {
        Some(end) => end,
        None => memchr2(b'"', b'\\', bytes)?,
    };
    let (text, quote) = bytes.split_at_checked(end)?;
    let plain = quote.first() == Some(&b'"') && !text.is_empty();
    if !plain || (end > SHORT && text.iter().min() < Some(&b' ')) {
        return None;
    }
    let chars = if text.is_ascii() { end } else { std::str::from_utf8(text).ok()?.chars().count() };
    Some((text, chars))
}

/// The positive integer at the start of `bytes`, and its length.
pub(super) fn count(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0u64;
    let mut len = 0;
    for digit in bytes.iter().map(|byte| byte.wrapping_sub(b'0')).take_while(|digit| *digit < 10) {
        value = value.wrapping_mul(10).wrapping_add(digit.into());
        len += 1;
    }
    let plain = (1..=DIGITS).contains(&len) && bytes.first() != Some(&b'0');
    plain.then_some((value, len))
}

/// The length of the number at the start of `bytes`: an integer or a decimal fraction, without an exponent.
pub(super) fn number(bytes: &[u8]) -> Option<usize> {
    let sign = usize::from(bytes.first() == Some(&b'-'));
    let unsigned = bytes.get(sign..)?;
    let whole = digits(unsigned);
    if !(1..=DIGITS).contains(&whole) || (whole > 1 && unsigned.first() == Some(&b'0')) {
        return None;
    }
    let fraction = match unsigned.get(whole..)?.split_first() {
        Some((b'.', fraction)) => match digits(fraction) {
            0 => return None,
            digits => digits + 1,
        },
        _ => 0,
    };
    Some(sign + whole + fraction)
}

/// How many integers stand between commas, and nothing else, at the start of `bytes`, and their length.
pub(super) fn list(bytes: &[u8]) -> Option<(u64, usize)> {
    let (mut items, mut len) = (0, 0);
    loop {
        let item = bytes.get(len..)?;
        let digits = digits(item);
        if !(1..=DIGITS).contains(&digits) || (digits > 1 && item.first() == Some(&b'0')) {
            return None;
        }
        items += 1;
        len += digits;
        if bytes.get(len) != Some(&b',') {
            return Some((items, len));
        }
        len += 1;
    }
}

fn digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

// Where an event holds what may differ in other events of its template.

/// What may differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VariablePart {
    pub(super) kind: VariableKind,
    /// Where it lies in the event: a string without its quotes, a list without its brackets.
    pub(super) at: Range<usize>,
}

/// What kind of value it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VariableKind {
    /// A list of integers.
    List,
    /// A number other than zero. Zeros stay as they are: a count of none is often read as no count.
    Number,
    /// The event's text.
    Text,
    /// A string behind one of the keys.
    Word,
}

/// All that may differ in `data`, which is JSON: the text at `text`, and what is behind `keys`. None if the text is not a
/// whole string.
pub(super) fn find(data: &[u8], text: &Range<usize>, keys: &[&str]) -> Option<Vec<VariablePart>> {
    let mut found = Vec::new();
    let mut at = 0;
    // Keys and texts are strings, so that nothing else needs to be understood.
    while let Some(quote) = data.get(at..).and_then(|rest| memchr(b'"', rest)) {
        let string = at + quote + 1..string_end(data, at + quote + 1)?;
        at = string.end + 1;
        if string == *text {
            found.push(VariablePart { kind: VariableKind::Text, at: string });
            continue;
        }
        let Some(value) = behind_colon(data, at) else {
            continue;
        };
        let key = data.get(string)?;
        if keys.iter().any(|name| name.as_bytes() == key)
            && let Some(hole) = hole(data, value, text)
        {
            at = hole.at.end + usize::from(hole.kind == VariableKind::Word);
            found.push(hole);
        } else {
            at = value;
        }
    }
    let texts = found.iter().filter(|found| found.kind == VariableKind::Text).count();
    (texts == 1).then_some(found)
}

/// The hole for the value that begins at `at`, if it is of a kind that may differ.
fn hole(data: &[u8], at: usize, shown: &Range<usize>) -> Option<VariablePart> {
    let (first, behind) = data.get(at..)?.split_first()?;
    let (kind, from, len) = match first {
        b'"' if at + 1 == shown.start => return None,
        b'"' => (VariableKind::Word, at + 1, text(behind)?.0.len()),
        b'[' => (VariableKind::List, at + 1, list(behind)?.1),
        _ => (VariableKind::Number, at, number(data.get(at..)?)?),
    };
    let at = from..from + len;
    let is_zero = kind == VariableKind::Number && data.get(at.clone()) == Some(b"0");
    (!is_zero).then_some(VariablePart { kind, at })
}

/// Where the string ends that begins at `from`.
fn string_end(data: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += memchr2(b'"', b'\\', data.get(at..)?)?;
        if data.get(at) == Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

/// Where the value begins whose key ended before `at`; none if it was no key.
fn behind_colon(data: &[u8], at: usize) -> Option<usize> {
    let rest = data.get(at..)?.trim_ascii_start();
    let value = rest.strip_prefix(b":")?.trim_ascii_start();
    Some(data.len() - value.len())
}
