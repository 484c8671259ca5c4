//! The published traces that are tables of comma-separated values.

use fizeau_core::Nanos;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::error::LineFault;
use super::lines::{count, time};
use super::reader::TraceRow;

/// A published trace of this kind: the columns of time, prompt and reply, how times are read, and what one looks like.
pub(super) struct PublishedTrace {
    pub(super) columns: [&'static str; 3],
    time: fn(&[u8]) -> Option<Nanos>,
    example: &'static str,
}

/// The traces of LLM inference that Azure published, with a wall-clock time for each request.
pub(super) const AZURE: PublishedTrace = PublishedTrace {
    columns: ["TIMESTAMP", "ContextTokens", "GeneratedTokens"],
    time: instant,
    example: "a time such as 2023-11-16 18:15:46.6805900",
};

/// BurstGPT, with seconds since the start of the recording.
pub(super) const BURSTGPT: PublishedTrace = PublishedTrace {
    columns: ["Timestamp", "Request tokens", "Response tokens"],
    time: |text| time(text, Nanos::from_secs(1)),
    example: "a number of seconds such as 5 or 5.25",
};

impl PublishedTrace {
    pub(super) fn read(&self, fields: [&[u8]; 3]) -> Result<TraceRow, LineFault> {
        let ([at, input, output], [stamp, context, generated]) = (fields, self.columns);
        let tokens = "a whole number of tokens";
        Ok(TraceRow {
            at: (self.time)(at).ok_or_else(|| LineFault::at(stamp, at, self.example))?,
            input: count(input).ok_or_else(|| LineFault::at(context, input, tokens))?,
            output: count(output).ok_or_else(|| LineFault::at(generated, output, tokens))?,
        })
    }
}

/// The time since 1970 of a date and time of day. Without a zone it is as good as UTC: only differences count. The files of
/// 2024 have `+00:00`.
fn instant(text: &[u8]) -> Option<Nanos> {
    let text = str::from_utf8(text).ok()?;
    let clock = text.get(10..).filter(|clock| clock.starts_with([' ', 'T']) && clock.len() > 8)?;
    let at: Timestamp = match clock.ends_with('Z') || clock.contains(['+', '-']) {
        true => text.parse().ok()?,
        false => text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp(),
    };
    u64::try_from(at.as_nanosecond()).ok().map(Nanos::from_nanos)
}

// Rows of comma-separated fields, as RFC 4180 has them, but for line breaks within quotes: the traces have none.

/// Where the three wanted columns of a table are.
#[derive(Debug, Clone, Copy)]
pub(super) struct TraceColumns {
    places: [usize; 3],
    columns: usize,
}

impl TraceColumns {
    /// The table with this `header`, out of which the columns `names` are wanted.
    pub(super) fn of(header: &[u8], names: [&'static str; 3]) -> Result<Self, LineFault> {
        let mut places = [None; 3];
        let mut columns = 0;
        for field in fields(header) {
            let field = field?;
            let wanted = names.iter().position(|name| field.eq_ignore_ascii_case(name.as_bytes()));
            if let Some(place) = wanted.and_then(|wanted| places.get_mut(wanted)) {
                *place = Some(columns);
            }
            columns += 1;
        }
        let [Some(first), Some(second), Some(third)] = places else {
            let expected = format!("a header with the columns {}", names.join(", "));
            return Err(LineFault::at("header", header, &expected));
        };
        Ok(Self { places: [first, second, third], columns })
    }

    /// The wanted fields of a row, without quotes and the space about them.
    pub(super) fn row<'a>(&self, line: &'a [u8]) -> Result<[&'a [u8]; 3], LineFault> {
        let [first, second, third] = self.places;
        let mut row = [&b""[..]; 3];
        let mut columns = 0;
        for field in fields(line) {
            let field = field?;
            // The columns may stand in any order.
            for (slot, place) in row.iter_mut().zip([first, second, third]) {
                if place == columns {
                    *slot = field;
                }
            }
            columns += 1;
        }
        if columns != self.columns {
            let expected = format!("{} fields as in the header", self.columns);
            let found = format!("{columns} fields");
            return Err(LineFault { field: "line", found, expected });
        }
        Ok(row)
    }
}

fn fields(line: &[u8]) -> impl Iterator<Item = Result<&[u8], LineFault>> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let line = rest?;
        let (field, after) = match line.trim_ascii_start() {
            [b'"', quoted @ ..] => match unquoted(quoted) {
                Some(found) => found,
                None => {
                    rest = None;
                    let expected = "a closing quote, then a comma or the end of the line";
                    return Some(Err(LineFault::at("line", line, expected)));
                }
            },
            line => match line.iter().position(|byte| *byte == b',') {
                Some(comma) => (line.get(..comma)?, line.get(comma + 1..)),
                None => (line, None),
            },
        };
        rest = after;
        Some(Ok(field.trim_ascii()))
    })
}

/// What stands between the quote before `quoted` and the one that closes it, and what follows after the comma. A doubled
/// quote within is left doubled: no field that is read has one.
fn unquoted(quoted: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    let mut from = 0;
    loop {
        let close = from + quoted.get(from..)?.iter().position(|byte| *byte == b'"')?;
        let after = quoted.get(close + 1..)?;
        match after.trim_ascii_start() {
            [b'"', ..] if after.first() == Some(&b'"') => from = close + 2,
            [] => return Some((quoted.get(..close)?, None)),
            [b',', next @ ..] => return Some((quoted.get(..close)?, Some(next))),
            _ => return None,
        }
    }
}
