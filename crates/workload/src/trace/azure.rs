//! The traces of LLM inference that Azure published: CSV with a wall-clock time for each request.

use fizeau_core::Nanos;

use super::error::Fault;
use super::number::{count, fraction, whole};
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

/// The time since 1970 of a date and time of day. Without a zone it is as good as UTC: only differences count.
fn instant(text: &[u8]) -> Option<Nanos> {
    let (date, rest) = text.split_at_checked(10)?;
    let (clock, rest) = rest.split_at_checked(9)?;
    let ([b' ' | b'T', clock @ ..], Some(days)) = (clock, days(date)) else {
        return None;
    };
    let [h1, h2, b':', m1, m2, b':', s1, s2] = clock else {
        return None;
    };
    let (hours, minutes) = (whole(&[*h1, *h2])?, whole(&[*m1, *m2])?);
    let seconds = whole(&[*s1, *s2])?;
    if hours > 23 || minutes > 59 || seconds > 60 {
        return None;
    }
    let digits = match rest {
        [b'.', decimals @ ..] => decimals.iter().take_while(|byte| byte.is_ascii_digit()).count(),
        _ => 0,
    };
    let (decimals, zone) = match rest {
        [b'.', rest @ ..] => rest.split_at_checked(digits)?,
        _ => (&b"0"[..], rest),
    };
    let local = ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
    let seconds = local.checked_add_signed(-east_of_utc(zone)?)?;
    let nanos = seconds.checked_mul(1_000_000_000)?;
    nanos.checked_add(fraction(decimals, 1_000_000_000)?).map(Nanos::from_nanos)
}

/// How many seconds a zone is ahead of UTC; the files of 2024 have `+00:00`.
fn east_of_utc(zone: &[u8]) -> Option<i64> {
    let (sign, hours, minutes) = match zone {
        [] | b"Z" => return Some(0),
        [sign, h1, h2, b':', m1, m2] => (sign, [*h1, *h2], [*m1, *m2]),
        _ => return None,
    };
    let seconds = i64::try_from((whole(&hours)? * 60 + whole(&minutes)?) * 60).ok()?;
    match sign {
        b'+' => Some(seconds),
        b'-' => Some(-seconds),
        _ => None,
    }
}

/// Days from 1970-01-01 to a date of the Gregorian calendar. Counted in years that begin in March, so that the leap day
/// is their last (Hinnant, "chrono-compatible low-level date algorithms").
fn days(date: &[u8]) -> Option<u64> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = date else {
        return None;
    };
    let year = whole(&[*y1, *y2, *y3, *y4])?;
    let (month, day) = (whole(&[*m1, *m2])?, whole(&[*d1, *d2])?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        2 => 28 + u64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if year < 1970 || day == 0 || day > longest {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - 719_468)
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
