//! A reply out of pieces of bytes, without a connection: for those who look for bytes that break its reading.

use super::head::{HeadReader, MalformedHead, ParsedHead};

/// The status and the body's content of a reply that came in these pieces; none if its head has no end. Not for use: it is here to
/// be given bytes of any kind.
///
/// # Errors
/// If the bytes are no reply over HTTP/1.1: in words, what is wrong with them.
pub fn read_http1(pieces: &[&[u8]]) -> Result<Option<(u16, Vec<u8>)>, String> {
    let words = |MalformedHead(why)| why;
    let (mut reader, mut pieces) = (HeadReader::default(), pieces.iter().copied());
    let ParsedHead { head, mut body, .. } = loop {
        let Some(piece) = pieces.next() else { return Ok(None) };
        if let Some(parsed) = reader.take(piece).map_err(words)? {
            break parsed;
        }
    };
    let (rest, mut content) = (reader.into_rest(), Vec::new());
    for mut bytes in std::iter::once(rest.as_slice()).chain(pieces) {
        while let Some(more) = body.next(&mut bytes).map_err(words)? {
            content.extend_from_slice(more);
        }
    }
    Ok(Some((head.status.as_u16(), content)))
}
