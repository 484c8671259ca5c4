//! The published traces that are tables of comma-separated values.

use csv_core::{ReadFieldResult, Reader, ReaderBuilder, Terminator};
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
    pub(super) fn read(&self, fields: &[Vec<u8>; 3]) -> Result<TraceRow, LineFault> {
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

/// Where the three wanted columns of a table are, and what takes its lines apart.
#[derive(Debug)]
pub(super) struct TraceColumns {
    places: [usize; 3],
    columns: usize,
    parser: LineParser,
    /// The wanted fields of the present row.
    row: [Vec<u8>; 3],
}

impl TraceColumns {
    /// The table with this `header`, out of which the columns `names` are wanted.
    pub(super) fn of(header: &[u8], names: [&'static str; 3]) -> Result<Self, LineFault> {
        let mut parser = LineParser::new();
        let mut places = [None; 3];
        let columns = parser.each_field(header, |column, field| {
            let wanted = names.iter().position(|name| field.eq_ignore_ascii_case(name.as_bytes()));
            if let Some(place) = wanted.and_then(|wanted| places.get_mut(wanted)) {
                *place = Some(column);
            }
        })?;
        let [Some(first), Some(second), Some(third)] = places else {
            let expected = format!("a header with the columns {}", names.join(", "));
            return Err(LineFault::at("header", header, &expected));
        };
        Ok(Self { places: [first, second, third], columns, parser, row: Default::default() })
    }

    /// The wanted fields of a row, without quotes and the space about them.
    pub(super) fn row(&mut self, line: &[u8]) -> Result<&[Vec<u8>; 3], LineFault> {
        let Self { places, parser, row, .. } = self;
        let columns = parser.each_field(line, |column, field| {
            // The columns may stand in any order.
            for (slot, _) in row.iter_mut().zip(&*places).filter(|(_, place)| **place == column) {
                slot.clear();
                slot.extend_from_slice(field);
            }
        })?;
        if columns != self.columns {
            let expected = format!("{} fields as in the header", self.columns);
            let found = format!("{columns} fields");
            return Err(LineFault { field: "line", found, expected });
        }
        Ok(&self.row)
    }
}

/// The parser beneath the `csv` crate, a line at a time: lines are numbered, bounded and summed here, and a quote that is never
/// closed is the fault of its line, where the crate's own reader would take all that follows for one field.
#[derive(Debug)]
struct LineParser {
    parser: Reader,
    /// Room for a field.
    field: Vec<u8>,
}

impl LineParser {
    fn new() -> Self {
        let parser = ReaderBuilder::new().terminator(Terminator::Any(b'\n')).build();
        Self { parser, field: Vec::new() }
    }

    /// Gives `each` the fields of `line` with their numbers, from 0, and says how many there are.
    fn each_field(
        &mut self,
        line: &[u8],
        mut each: impl FnMut(usize, &[u8]),
    ) -> Result<usize, LineFault> {
        let unclosed =
            || LineFault::at("line", line, "a closing quote, then a comma or the end of the line");
        let Self { parser, field } = self;
        parser.reset();
        // A field is no longer than its line and the end of that, and the parser always wants room for a byte more.
        field.resize(field.len().max(line.len() + 2), 0);
        let (mut rest, mut has_ended) = (line, false);
        let (mut columns, mut length) = (0, 0);
        loop {
            if rest.is_empty() {
                if has_ended {
                    return Err(unclosed());
                }
                rest = b"\n";
                has_ended = true;
            }
            let room = field.get_mut(length..).unwrap_or_default();
            let (result, read, written) = parser.read_field(rest, room);
            rest = rest.get(read..).unwrap_or_default();
            length += written;
            match result {
                ReadFieldResult::Field { record_end } => {
                    each(columns, unquoted(field.get(..length).unwrap_or_default()));
                    (columns, length) = (columns + 1, 0);
                    if record_end {
                        return Ok(columns);
                    }
                }
                ReadFieldResult::InputEmpty => {}
                ReadFieldResult::OutputFull | ReadFieldResult::End => return Err(unclosed()),
            }
        }
    }
}

/// `field` without space about it, and without quotes that stood behind a space, which are none to the parser.
fn unquoted(field: &[u8]) -> &[u8] {
    let field = field.trim_ascii();
    let quoted = field.strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\""));
    quoted.unwrap_or(field)
}
