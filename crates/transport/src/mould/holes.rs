//! Where an event holds what may differ in its twins.

use std::ops::Range;

use memchr::{memchr, memchr2};

use super::scan;

/// What may differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) kind: Kind,
    /// Where it lies in the event: a string without its quotes, a list without its brackets.
    pub(super) at: Range<usize>,
}

/// What kind of value it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
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
pub(super) fn find(data: &[u8], text: &Range<usize>, keys: &[&str]) -> Option<Vec<Found>> {
    let mut found = Vec::new();
    let mut at = 0;
    // Keys and texts are strings, so that nothing else needs to be understood.
    while let Some(quote) = data.get(at..).and_then(|rest| memchr(b'"', rest)) {
        let string = at + quote + 1..string_end(data, at + quote + 1)?;
        at = string.end + 1;
        if string == *text {
            found.push(Found { kind: Kind::Text, at: string });
            continue;
        }
        let Some(value) = behind_colon(data, at) else {
            continue;
        };
        let key = data.get(string)?;
        if keys.iter().any(|name| name.as_bytes() == key)
            && let Some(hole) = hole(data, value, text)
        {
            at = hole.at.end + usize::from(hole.kind == Kind::Word);
            found.push(hole);
        } else {
            at = value;
        }
    }
    let texts = found.iter().filter(|found| found.kind == Kind::Text).count();
    (texts == 1).then_some(found)
}

/// The hole for the value that begins at `at`, if it is of a kind that may differ.
fn hole(data: &[u8], at: usize, text: &Range<usize>) -> Option<Found> {
    let (first, behind) = data.get(at..)?.split_first()?;
    let (kind, from, len) = match first {
        b'"' if at + 1 == text.start => return None,
        b'"' => (Kind::Word, at + 1, scan::text(behind)?.0.len()),
        b'[' => (Kind::List, at + 1, scan::list(behind)?.1),
        _ => (Kind::Number, at, scan::number(data.get(at..)?)?),
    };
    let at = from..from + len;
    let is_zero = kind == Kind::Number && data.get(at.clone()) == Some(b"0");
    (!is_zero).then_some(Found { kind, at })
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

#[cfg(test)]
mod tests {
    use super::{Kind, find};

    #[track_caller]
    fn check(data: &str, text: &str, expected: &[(Kind, &str)]) {
        let from = data.find(&format!("\"{text}\"")).unwrap() + 1;
        let found = find(data.as_bytes(), &(from..from + text.len()), &["n", "l", "w"]).unwrap();
        let seen: Vec<_> = found.iter().map(|hole| (hole.kind, &data[hole.at.clone()])).collect();
        assert_eq!(seen, expected, "{data}");
    }

    #[test]
    fn holes_behind_keys() {
        let text = (Kind::Text, "T");
        check(
            r#"{"a":"T","n":5,"b":{"n" : -1.5}}"#,
            "T",
            &[text, (Kind::Number, "5"), (Kind::Number, "-1.5")],
        );
        check(
            r#"{"l":[1,2],"w":"x","t":"T"}"#,
            "T",
            &[(Kind::List, "1,2"), (Kind::Word, "x"), text],
        );
        // Values and texts that look like keys, zeros, other kinds.
        check(r#"{"x":"n","y":"\"n\":5","t":"T"}"#, "T", &[text]);
        check(r#"{"n":0,"n":null,"l":[],"l":[1, 2],"w":"","t":"T"}"#, "T", &[text]);
        // A key that is the text's own.
        check(r#"{"w":"T"}"#, "T", &[text]);
    }

    #[test]
    fn a_text_that_is_no_whole_string_makes_no_mould() {
        assert_eq!(find(br#"{"t":"TT"}"#, &(6..7), &[]), None);
        assert_eq!(find(br#"{"t":5}"#, &(5..6), &[]), None);
    }
}
