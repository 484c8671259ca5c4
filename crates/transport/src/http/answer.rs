//! What a reply's head says of the reply.

use fizeau_core::Nanos;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, DATE, HeaderMap, HeaderName, RETRY_AFTER};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::framing::Framing;

/// What a reply is if it is not a stream of events.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PlainReply {
    Json,
    Other(String),
}

/// How the events are framed, judged by the content type and never by what was asked for. A reply without one
/// gets the benefit of the doubt.
pub(super) fn framing(headers: &HeaderMap, asked: Framing) -> Result<Option<Framing>, PlainReply> {
    // `none` and an empty one are how proxies are told not to compress.
    let encoding = text(headers, &CONTENT_ENCODING).filter(|name| {
        !["", "identity", "none"].iter().any(|plain| name.trim().eq_ignore_ascii_case(plain))
    });
    if let Some(encoding) = encoding {
        let detail =
            format!("the reply is compressed ({encoding:.40}) although it was asked not to be");
        return Err(PlainReply::Other(detail));
    }
    let Some(media) = text(headers, &CONTENT_TYPE).and_then(|of| of.split(';').next()) else {
        return Ok(None);
    };
    let media = media.trim().to_ascii_lowercase();
    match asked.answered(&media) {
        Some(framing) => Ok(Some(framing)),
        None if media == "application/json" => Err(PlainReply::Json),
        None if media == "text/html" => Err(PlainReply::Other(
            "the reply is a web page (text/html): are host, port and path of the base URL right?"
                .to_owned(),
        )),
        None => Err(PlainReply::Other(format!(
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
