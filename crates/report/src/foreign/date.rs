//! Instants of the wall clock as ISO 8601 has them.

/// Seconds since 1970, UTC, as `2026-08-01T12:00:00Z`. Days by Howard Hinnant's `civil_from_days`.
pub(super) fn iso_of_unix(seconds: u64) -> String {
    let (day, rest) = (seconds / 86_400, seconds % 86_400);
    let since = day + 719_468;
    let (era, of_era) = (since / 146_097, since % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march = (5 * of_year + 2) / 153;
    let date = of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::iso_of_unix;

    #[test]
    fn days_are_those_of_the_calendar() {
        // `date -u -d @N`.
        let cases = [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_785_585_599, "2026-08-01T11:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ];
        for (seconds, date) in cases {
            assert_eq!(iso_of_unix(seconds), date);
        }
    }
}
