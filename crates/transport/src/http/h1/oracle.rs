//! Our reading of replies against hyper's, and against itself over other splits.

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::Request;
use hyper_util::rt::TokioIo;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::body::ReplyBody;
use super::head::{HeadReader, MalformedHead, ParsedHead};

/// What a reading of a reply comes to.
#[derive(Debug, PartialEq)]
struct OracleReading {
    status: u16,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
    is_whole: bool,
    /// What is left once the body is over.
    rest: Vec<u8>,
}

/// Our reading; an error in words.
fn ours(pieces: &[&[u8]]) -> Result<Option<OracleReading>, String> {
    let words = |MalformedHead(why)| why;
    let mut reader = HeadReader::default();
    let mut pieces = pieces.iter();
    let parsed = loop {
        let Some(piece) = pieces.next() else {
            return Ok(None);
        };
        if let Some(parsed) = reader.take(piece).map_err(words)? {
            break parsed;
        }
    };
    let ParsedHead { head, mut body, .. } = parsed;
    let rest = reader.into_rest();
    let mut seen = OracleReading {
        status: head.status.as_u16(),
        headers: sorted(&head.headers),
        body: Vec::new(),
        is_whole: false,
        rest: Vec::new(),
    };
    for mut bytes in std::iter::once(&*rest).chain(pieces.copied()) {
        while let Some(content) = body.next(&mut bytes).map_err(words)? {
            seen.body.extend_from_slice(content);
        }
        seen.rest.extend_from_slice(bytes);
    }
    seen.is_whole = body.is_over() || body == ReplyBody::UntilClose;
    Ok(Some(seen))
}

/// hyper's reading of a valid reply.
async fn hypers(pieces: &[&[u8]]) -> hyper::Result<OracleReading> {
    let (near, mut far) = tokio::io::duplex(1 << 16);
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(near)).await?;
    let client = async {
        let request = Request::new(Empty::<Bytes>::new());
        let response = sender.send_request(request).await?;
        let (head, body) = response.into_parts();
        let (status, headers) = (head.status.as_u16(), sorted(&head.headers));
        let body = body.collect().await?.to_bytes().to_vec();
        Ok(OracleReading { status, headers, body, is_whole: true, rest: Vec::new() })
    };
    let server = async {
        let _ = far.read(&mut [0; 1024]).await;
        for piece in pieces {
            let _ = far.write_all(piece).await;
            tokio::task::yield_now().await;
        }
        let _ = far.shutdown().await;
        // Held until the client is done: what it would still write must go somewhere.
        std::future::pending::<()>().await;
    };
    tokio::select! {
        seen = async { tokio::join!(client, connection).0 } => seen,
        () = server => unreachable!(),
    }
}

fn sorted(headers: &hyper::HeaderMap) -> Vec<(String, Vec<u8>)> {
    let pairs = headers.iter().map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()));
    let mut pairs: Vec<_> = pairs.collect();
    // Values of one name stay in their order.
    pairs.sort_by(|a, b| a.0.cmp(&b.0));
    pairs
}

fn chunk() -> impl Strategy<Value = Vec<u8>> {
    let framing = select(vec!["", ";a", ";a=\"b c\"", " ", "\t;x"]);
    let content = prop::collection::vec(any::<u8>(), 1..300);
    (content, framing, 0..4_usize, any::<bool>()).prop_map(|(content, after, zeros, upper)| {
        let size = format!("{:x}", content.len());
        let size = if upper { size.to_uppercase() } else { size };
        let zeros = "0".repeat(zeros);
        [format!("{zeros}{size}{after}\r\n").as_bytes(), &content, b"\r\n"].concat()
    })
}

/// The last header lines of a reply, and its body.
fn framed() -> impl Strategy<Value = (String, Vec<u8>)> {
    let trailers = select(vec!["", "A: b\r\n", "x-y: z\r\nB:\r\n"]);
    let chunked =
        (prop::collection::vec(chunk(), 0..8), trailers).prop_map(|(chunks, trailers)| {
            let end = format!("0\r\n{trailers}\r\n");
            let header = "Transfer-Encoding: chunked\r\n".to_owned();
            (header, [chunks.concat(), end.into_bytes()].concat())
        });
    let content = || prop::collection::vec(any::<u8>(), 0..600);
    let length = content().prop_map(|body| (format!("Content-length:{}\r\n", body.len()), body));
    let until_close = content().prop_map(|body| ("Connection: close\r\n".to_owned(), body));
    prop_oneof![3 => chunked, 1 => length, 1 => until_close]
}

fn reply() -> impl Strategy<Value = Vec<u8>> {
    let interim =
        select(vec!["", "", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 E\r\nL: x\r\n\r\n"]);
    let status = select(vec!["200 OK", "200", "429 Too Many Requests", "503 \u{fc}", "299 Odd"]);
    let header = ("[a-zA-Z0-9!#-]{1,12}", "[ \t]{0,2}", "[ -~\u{e4}]{0,20}");
    let header = header.prop_map(|(name, blank, value)| format!("x{name}:{blank}{value}\r\n"));
    let headers = prop::collection::vec(header, 0..6);
    (interim, status, headers, framed()).prop_map(|(interim, status, headers, (last, body))| {
        let headers = headers.concat();
        let head = format!("{interim}HTTP/1.1 {status}\r\n{headers}{last}\r\n");
        [head.as_bytes(), &body].concat()
    })
}

/// What a reply comes to whose body in chunks is this.
fn in_chunks(body: &str) -> Result<Option<OracleReading>, String> {
    ours(&[b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", body.as_bytes()])
}

#[test]
fn extensions_of_a_chunk_and_trailers_are_passed_over_up_to_64_kib() {
    let most = 64 << 10;
    let extension = |length| format!(";{}\r\n", "x".repeat(length));
    // Each chunk may have as many; all trailers together.
    let chunks = |length| format!("1{e}a\r\n1{e}b\r\n0{e}", e = extension(length));
    let trailers = |length: usize| format!("0\r\na:b\r\nc:{}\r\n\r\n", "x".repeat(length - 5));
    for (body, content) in [(chunks(most) + "\r\n", "ab"), (trailers(most), "")] {
        let seen = in_chunks(&body).unwrap().unwrap();
        assert_eq!((seen.is_whole, &*seen.body, seen.rest.len()), (true, content.as_bytes(), 0));
    }
    for body in [chunks(most + 1), trailers(most + 1)] {
        assert!(in_chunks(&body).unwrap_err().contains("more than 65536 bytes"));
    }
}

#[test]
fn a_size_has_64_bits() {
    for size in ["ffffffffffffffff", "FFFFFFFFFFFFFFFF", "0000ffffffffffffffff", "8000000"] {
        let seen = in_chunks(&format!("{size}\r\nabc")).unwrap().unwrap();
        assert_eq!((seen.is_whole, &*seen.body), (false, &b"abc"[..]), "{size}");
    }
    for size in ["10000000000000000", "fffffffffffffffff"] {
        assert_eq!(in_chunks(&format!("{size}\r\n")), Err("a chunk's size exceeds 64 bits".into()));
    }
}

#[test]
fn a_head_has_64_kib_however_it_comes() {
    let head = |length: usize| {
        let (start, end) = ("HTTP/1.1 200 OK\r\nA: ", "\r\nContent-Length: 0\r\n\r\n");
        format!("{start}{}{end}", "a".repeat(length - start.len() - end.len())).into_bytes()
    };
    for length in [65535, 65536, 65537, 100_000] {
        let bytes = head(length);
        for at in [0, 1, length / 2, length - 1] {
            let (one, other) = bytes.split_at(at);
            let seen = ours(&[one, other]).map(|seen| seen.is_some_and(|seen| seen.is_whole));
            let expected = match length {
                ..=65536 => Ok(true),
                _ => Err("it is longer than 65536 bytes".to_owned()),
            };
            assert_eq!(seen, expected, "{length} at {at}");
        }
    }
}

fn cut<'b>(bytes: &'b [u8], at: &[Index]) -> Vec<&'b [u8]> {
    let mut at: Vec<usize> = at.iter().map(|at| at.index(bytes.len() + 1)).collect();
    at.extend([0, bytes.len()]);
    at.sort_unstable();
    let pieces = at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
    pieces.filter(|piece| !piece.is_empty()).collect()
}

fn cuts() -> impl Strategy<Value = Vec<Index>> {
    prop::collection::vec(any::<Index>(), 0..12)
}

proptest! {
    /// Bytes after the end are left, unless only the connection's own end is one.
    #[test]
    fn as_hyper_reads_it(bytes in reply(), cuts in cuts(), more in prop::collection::vec(any::<u8>(), 0..9)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut seen = runtime.block_on(hypers(&cut(&bytes, &cuts))).unwrap();
        let has_end = !seen.headers.contains(&("connection".to_owned(), b"close".to_vec()));
        if has_end { &mut seen.rest } else { &mut seen.body }.extend_from_slice(&more);
        prop_assert_eq!(ours(&cut(&[bytes, more].concat(), &cuts)), Ok(Some(seen)));
    }

    /// Bytes that may be anything, most of them nearly a reply: no split changes what they come to.
    #[test]
    fn any_split_comes_to_the_same(
        mut bytes in reply(),
        changes in prop::collection::vec((any::<Index>(), select(b"\r\n :;,0fx\x00\xff".to_vec())), 0..4),
        cuts in cuts(),
    ) {
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        prop_assert_eq!(ours(&cut(&bytes, &cuts)), ours(&[&bytes]));
    }

    #[test]
    fn noise_breaks_nothing(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 0..20)) {
        let after_a_head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        for start in [Vec::new(), b"HTTP/1.1 ".to_vec(), after_a_head] {
            let pieces: Vec<&[u8]> = std::iter::once(&start).chain(&pieces).map(|piece| &**piece).collect();
            let _ = ours(&pieces);
        }
    }
}

/// Whatever of it has come: an alert of TLS is known by its first byte, and what only begins like one is told alike.
#[test]
fn what_is_no_http_is_told_alike_in_any_pieces() {
    for reply in [&[21, 3, 3, 0, 2, 2, 70][..], &[21, 72, 0], b"SSH-2.0"] {
        let whole = ours(&[reply]).unwrap_err();
        for cut in 1..reply.len() {
            let (head, tail) = reply.split_at(cut);
            assert_eq!(ours(&[head, tail]).unwrap_err(), whole, "{reply:?} at {cut}");
        }
        assert_eq!(whole.contains("https://"), reply[0] == 21, "{reply:?}");
    }
}
