//! Heads and bodies of HTTP/1.1 as a server may send them, good and bad.

use fizeau_core::{Connection, FailureClass, Nanos, Outcome};

use crate::failures::{NO_LIMITS, ask_once, check_failure};
use crate::http::{ask, target, transport};
use crate::server::{STREAM, Server, Step, send};

/// The failure of a reply of `bytes`, behind which the connection ends.
async fn check(bytes: &[u8], class: FailureClass, words: &str) {
    let tape = ask_once(vec![Step::Request, send(bytes)], NO_LIMITS).await;
    let Outcome::Failed(failure) = &tape.outcome else { panic!("succeeded: {tape:?}") };
    check_failure(&tape, class, failure.status, words);
}

async fn malformed(head: impl AsRef<[u8]>, words: &str) {
    let words = format!("the reply's head is broken: {words}");
    check(head.as_ref(), FailureClass::Malformed, &words).await;
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\n";

#[tokio::test]
async fn what_is_no_head() {
    malformed(b"SSH-2.0-x\r\n", "it does not begin with HTTP/1").await;
    malformed(b"HTTP/2 200\r\n\r\n", "it does not begin with HTTP/1").await;
    malformed(b"HTTP/1.1 999999 OK\r\n\r\n", "invalid response status").await;
    malformed(b"HTTP/1.1 099 OK\r\n\r\n", "its status is not a number").await;
    malformed(b"HTTP/1.1 101 Switching\r\n\r\n", "it switches to another protocol (101)").await;
    malformed([OK, b"A: b\r\n folded\r\n\r\n"].concat(), "invalid header name").await;
    malformed([OK, b"A: b\x01\r\n\r\n"].concat(), "invalid header value").await;
    let several = b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n";
    malformed([OK, several].concat(), "its content-length is not one number").await;
    for wrong in ["-1", "+1", "", "1, 2", "0x1", "99999999999999999999"] {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {wrong}\r\n\r\n");
        malformed(head, "its content-length is not one number").await;
    }
}

#[tokio::test]
async fn a_head_has_an_end() {
    malformed([OK, b"A: ", &*vec![b'a'; 64 << 10]].concat(), "it is longer than 65536").await;
    malformed([OK, &b"A: b\r\n".repeat(129), b"\r\n"].concat(), "too many headers").await;
    malformed(b"HTTP/1.1 103 Early\r\n\r\n".repeat(4000), "interim replies exceed").await;
    // A body of any length may come with the head.
    let body = [OK, b"\r\n", &vec![b'a'; 128 << 10]].concat();
    check(&body, FailureClass::Truncated, "").await;
}

#[tokio::test]
async fn chunks_that_make_no_sense() {
    let cases = [
        ("x\r\n", "`x` in the line of a chunk's size"),
        ("\r\n", "in the line"),
        ("1\n", "in the line"),
        ("1 2\r\n", "in the line"),
        ("1;a\nb\r\n", "in the line"),
        ("1\r\nab", "`b` after a chunk"),
        ("1\r\na\n", "after a chunk"),
        ("0\r\n\n", "in the trailers"),
        ("11111111111111111\r\n", "64 bits"),
    ];
    for (wrong, words) in cases {
        check(format!("{STREAM}{wrong}").as_bytes(), FailureClass::Malformed, words).await;
    }
    let endless = vec![b'a'; (64 << 10) + 1];
    for start in ["1;", "0\r\n"] {
        let start = format!("{STREAM}{start}");
        let within = [start.as_bytes(), &endless[1..]].concat();
        check(&within, FailureClass::Truncated, "").await;
        let beyond = [start.as_bytes(), &endless].concat();
        check(&beyond, FailureClass::Malformed, "extensions or trailers").await;
    }
    let trailers = [STREAM.as_bytes(), b"0\r\n", &b"A: b\r\n".repeat((1 << 14) + 1)].concat();
    check(&trailers, FailureClass::Malformed, "extensions or trailers").await;
}

/// By its head, and by how its body ends: an encoding goes before a length, several equal lengths are one.
#[tokio::test]
async fn when_a_connection_is_kept() {
    let cases = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true),
        ("HTTP/1.1 200 OK\r\nContent-Length: 3, 3\r\n\r\nabc", true),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
            true,
        ),
        ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: foo, Close\r\n\r\n", false),
        ("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", false),
        ("HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: Keep-Alive\r\n\r\n", true),
        ("HTTP/1.1 200 OK\r\n\r\n", false),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", false),
        ("HTTP/1.1 204 No Content\r\n\r\n", true),
    ];
    for (reply, kept) in cases {
        let once = || vec![Step::Request, send(reply)];
        let twice = if kept { [once(), once()].concat() } else { once() };
        let server = Server::run(vec![twice, once()]);
        let transport = transport(target(&server.url()));
        ask(&transport).await;
        let expected = if kept { Connection::Reused } else { Connection::Fresh };
        assert_eq!(ask(&transport).await.connection, expected, "{reply}");
    }
}

/// Seconds, or a date, held against the server's own; the dates as `date -u -d ... +%s` gives them.
#[tokio::test]
async fn how_long_to_wait() {
    let now = "Sun, 06 Nov 1994 08:49:37 GMT";
    let epoch = "Thu, 01 Jan 1970 00:00:00 GMT";
    let good = [
        ("7", now, Nanos::from_secs(7)),
        ("0.5", now, Nanos::from_millis(500)),
        ("Mon, 06 Nov 1994 08:50:40 GMT", now, Nanos::from_secs(63)),
        ("Sun, 06 Nov 1994 08:50:40 GMT", now, Nanos::from_secs(63)),
        ("Sun, 06 Nov 1994 08:49:30 GMT", now, Nanos::ZERO),
        (now, epoch, Nanos::from_secs(784_111_777)),
        ("Tue, 29 Feb 2000 12:00:00 GMT", epoch, Nanos::from_secs(951_825_600)),
        ("Wed, 01 Mar 2000 00:00:00 GMT", epoch, Nanos::from_secs(951_868_800)),
        ("Fri, 31 Dec 2100 23:59:59 GMT", epoch, Nanos::from_secs(4_133_980_799)),
    ];
    let wrong = [
        "-1",
        "soon",
        "inf",
        "",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 06 Nov 0000 08:49:37 GMT",
        "Sun, +6 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:49:37:11 GMT",
    ];
    let good = good.map(|(after, date, expected)| (after, date, Some(expected)));
    let wrong = wrong.map(|after| (after, now, None));
    let undated = [("Sun, 06 Nov 1994 08:49:30 GMT", "today", None)];
    for (after, date, expected) in good.into_iter().chain(wrong).chain(undated) {
        let headers = format!("Retry-After: {after}\r\nDate: {date}\r\nContent-Length: 0");
        let reply = format!("HTTP/1.1 429 Too Many Requests\r\n{headers}\r\n\r\n");
        let tape = ask_once(vec![Step::Request, send(reply)], NO_LIMITS).await;
        let Outcome::Failed(failure) = tape.outcome else { unreachable!("it is a 429") };
        assert_eq!(failure.retry_after, expected, "{after}");
    }
}
