//! What a reply's head says of the reply.

use fizeau_core::Nanos;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, DATE, HeaderMap, HeaderName, RETRY_AFTER};

use super::date;
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
    let now = date::seconds(text(headers, &DATE)?)?;
    let then = date::seconds(after)?;
    Some(Nanos::from_secs(then.saturating_sub(now)))
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
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
        assert_eq!(after("Sun, 06 Nov 1994 08:50:40 GMT", now), Some(Nanos::from_secs(63)));
        assert_eq!(after("Sun, 06 Nov 1994 08:49:30 GMT", now), Some(Nanos::ZERO));
        assert_eq!(after("Sun, 06 Nov 1994 08:49:30 GMT", "today"), None);
        for wrong in ["-1", "soon", "inf"] {
            assert_eq!(after(wrong, now), None, "{wrong}");
        }
    }
}
