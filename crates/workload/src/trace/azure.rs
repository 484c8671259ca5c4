//! The traces of LLM inference that Azure published: CSV with a wall-clock time for each request.

use fizeau_core::Nanos;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::error::Fault;
use super::number::count;
use super::reader::Row;

pub(super) const COLUMNS: [&str; 3] = ["TIMESTAMP", "ContextTokens", "GeneratedTokens"];

pub(super) fn read(fields: [&[u8]; 3]) -> Result<Row, Fault> {
    let ([at, input, output], [stamp, context, generated]) = (fields, COLUMNS);
    let tokens = "a whole number of tokens";
    Ok(Row {
        at: instant(at)
            .ok_or_else(|| Fault::at(stamp, at, "a time such as 2023-11-16 18:15:46.6805900"))?,
        input: count(input).ok_or_else(|| Fault::at(context, input, tokens))?,
        output: count(output).ok_or_else(|| Fault::at(generated, output, tokens))?,
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn nanos(text: &str) -> Option<u64> {
        instant(text.as_bytes()).map(Nanos::as_nanos)
    }

    #[test]
    fn times_of_the_published_files_are_read_to_the_last_digit() {
        // `date -u -d '2023-11-16 18:15:46' +%s` says 1700158546.
        assert_eq!(nanos("2023-11-16 18:15:46.6805900"), Some(1_700_158_546_680_590_000));
        assert_eq!(nanos("2023-11-16T18:15:46Z"), Some(1_700_158_546_000_000_000));
        assert_eq!(nanos("2023-11-16 19:15:46.5+01:00"), Some(1_700_158_546_500_000_000));
        assert_eq!(nanos("1970-01-01 00:00:00"), Some(0));
        // `date -u -d '2024-02-29' +%s` says 1709164800.
        assert_eq!(nanos("2024-02-29 00:00:00.000001+00:00"), Some(1_709_164_800_000_001_000));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for wrong in [
            "",
            "2023-11-16",
            "2023-02-29 00:00:00",
            "2023-13-01 00:00:00",
            "2023-11-16 24:00:00",
            "2023-11-16 18:15:46.",
            "2023-11-16 18:15:46.1x",
            "16/11/2023 18:15:46",
            "1969-12-31 00:00:00",
            "1970-01-01 00:00:00+01:00",
            "9999-01-01 00:00:00",
        ] {
            assert_eq!(nanos(wrong), None, "{wrong}");
        }
    }
}
