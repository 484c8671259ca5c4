//! Where a reply's body ends, and what of its bytes is content.

use hyper::header::{CONTENT_LENGTH, HeaderMap, TRANSFER_ENCODING};
use hyper::{StatusCode, Version};

use super::chunked::ChunkedBody;
use super::head::MalformedHead;

/// A body on its way, by the kind of its end (RFC 9112, section 6.3).
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReplyBody {
    /// In chunks, of which the last is empty.
    Chunked(ChunkedBody),
    /// After this many bytes more.
    Length(u64),
    /// With the connection.
    UntilClose,
}

impl ReplyBody {
    /// The body that follows a head.
    pub(super) fn of(
        status: StatusCode,
        version: Version,
        headers: &HeaderMap,
    ) -> Result<Self, MalformedHead> {
        if [StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED].contains(&status) {
            return Ok(Self::Length(0));
        }
        // An encoding goes before a length, but only the later version knows it.
        if let Some(coding) = headers.get_all(TRANSFER_ENCODING).into_iter().next_back() {
            if version == Version::HTTP_10 {
                return Err(MalformedHead("HTTP/1.0 has no transfer-encoding".to_owned()));
            }
            let last = coding.to_str().ok().and_then(|line| line.rsplit(',').next());
            let chunked = last.is_some_and(|last| last.trim().eq_ignore_ascii_case("chunked"));
            return Ok(if chunked {
                Self::Chunked(ChunkedBody::default())
            } else {
                Self::UntilClose
            });
        }
        if headers.contains_key(CONTENT_LENGTH) {
            return length(headers)
                .map(Self::Length)
                .ok_or_else(|| MalformedHead("its content-length is not one number".to_owned()));
        }
        Ok(Self::UntilClose)
    }

    /// The next content at the start of `bytes`, which then lose it; none if they have no more. Bytes that are left
    /// when the body is over are not the body's.
    pub(super) fn next<'b>(
        &mut self,
        bytes: &mut &'b [u8],
    ) -> Result<Option<&'b [u8]>, MalformedHead> {
        let content = match self {
            Self::Chunked(chunks) => return chunks.next(bytes),
            Self::Length(left) => {
                let here = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                let (content, rest) = bytes.split_at(here);
                *left -= here as u64;
                *bytes = rest;
                content
            }
            Self::UntilClose => std::mem::take(bytes),
        };
        Ok(Some(content).filter(|content| !content.is_empty()))
    }

    /// Whether all of it has come.
    pub(super) fn is_over(&self) -> bool {
        match self {
            Self::Chunked(chunks) => chunks.is_over(),
            Self::Length(left) => *left == 0,
            Self::UntilClose => false,
        }
    }
}

/// The length that all headers of that name agree on. Several, or a list of them, are allowed where all are equal.
fn length(headers: &HeaderMap) -> Option<u64> {
    let mut length = None;
    for line in headers.get_all(CONTENT_LENGTH) {
        for item in line.to_str().ok()?.split(',') {
            let digits = item.trim();
            // A sign is none of HTTP's, though Rust would take it.
            if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            let item: u64 = digits.parse().ok()?;
            if length.is_some_and(|length| length != item) {
                return None;
            }
            length = Some(item);
        }
    }
    length
}
