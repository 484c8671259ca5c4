//! What a reply's head says of the reply.

use fizeau_core::Nanos;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, DATE, HeaderMap, HeaderName, RETRY_AFTER};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::framing::Framing;

/// What a reply is if it is not a stream of events.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unstreamed {
    Json,
    Other(String),
}

/// How the events are framed, judged by the content type and never by what was asked for. A reply without one
/// gets the benefit of the doubt.
pub(super) fn framing(headers: &HeaderMap, asked: Framing) -> Result<Option<Framing>, Unstreamed> {
    let encoding = text(headers, &CONTENT_ENCODING).filter(|name| *name != "identity");
    if let Some(encoding) = encoding {
        let detail =
            format!("the reply is compressed ({encoding:.40}) although it was asked not to be");
        return Err(Unstreamed::Other(detail));
    }
    let Some(media) = text(headers, &CONTENT_TYPE).and_then(|of| of.split(';').next()) else {
        return Ok(None);
    };
    let media = media.trim().to_ascii_lowercase();
    match asked.answered(&media) {
        Some(framing) => Ok(Some(framing)),
        None if media == "application/json" => Err(Unstreamed::Json),
        None => Err(Unstreamed::Other(format!(
            "the reply is of type `{media:.80}`, not what was asked for ({})",
            asked.media()
        ))),
    }
}

/// `Retry-After`: seconds, or a date, which is held against the reply's own `Date`, so that no wall clock but the
/// server's is asked.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Nanos> {
    let after = text(headers, &RETRY_AFTER)?.trim();
    if let Ok(secs) = after.parse() {
        return Nanos::from_secs_f64(secs).ok();
    }
    let now = seconds(text(headers, &DATE)?)?;
    let then = seconds(after)?;
    Some(Nanos::from_secs(u64::try_from(then - now).unwrap_or_default()))
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// Seconds since 1970 of a date as `Sun, 06 Nov 1994 08:49:37 GMT`, the one form that servers still send (RFC 9110,
/// section 5.6.7), whatever its day of the week; none for any other text.
fn seconds(date: &str) -> Option<i64> {
    let (_, date) = date.trim().split_once(", ")?;
    let at = DateTime::strptime("%d %b %Y %H:%M:%S GMT", date).ok()?;
    let at = Some(at).filter(|at| at.year() > 0)?;
    Some(at.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(value: &'static str, date: &'static str) -> Option<Nanos> {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, value.parse().unwrap());
        headers.insert(DATE, date.parse().unwrap());
        retry_after(&headers)
    }

    #[test]
    fn how_long_to_wait() {
        let now = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(after("7", now), Some(Nanos::from_secs(7)));
        assert_eq!(after("0.5", now), Some(Nanos::from_millis(500)));
        assert_eq!(after("Mon, 06 Nov 1994 08:50:40 GMT", now), Some(Nanos::from_secs(63)));
        assert_eq!(after("Sun, 06 Nov 1994 08:50:40 GMT", now), Some(Nanos::from_secs(63)));
        assert_eq!(after("Sun, 06 Nov 1994 08:49:30 GMT", now), Some(Nanos::ZERO));
        assert_eq!(after("Sun, 06 Nov 1994 08:49:30 GMT", "today"), None);
        for wrong in ["-1", "soon", "inf"] {
            assert_eq!(after(wrong, now), None, "{wrong}");
        }
    }

    /// From 1970 on, as `date -u -d ... +%s` gives them.
    #[test]
    fn known_dates() {
        let epoch = seconds("Thu, 01 Jan 1970 00:00:00 GMT").unwrap();
        for (date, unix) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600),
            ("Wed, 01 Mar 2000 00:00:00 GMT", 951_868_800),
            ("Fri, 31 Dec 2100 23:59:59 GMT", 4_133_980_799),
        ] {
            assert_eq!(seconds(date).map(|at| at - epoch), Some(unix), "{date}");
        }
    }

    #[test]
    fn other_text_is_no_date() {
        for text in [
            "",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Nov 0000 08:49:37 GMT",
            "Sun, +6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 1994 08:49:37:11 GMT",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
