//! Replies that the transport's own loop reads.

use std::future::{Future, poll_fn};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::pin::pin;
use std::sync::mpsc;
use std::task::Poll;

use fizeau_core::{EosRule, Prompt, Release, Stamp, Transport};

use crate::bodies::request;
use crate::http::{ask, target, transport};
use crate::server::{LAST, STREAM, Server, Step, chunk, send};
use crate::streams::{DONE, text};

const TOKENS: usize = 500;

/// Each token in a write of its own.
fn script() -> Vec<Step> {
    let token = text("a", "", "");
    let tokens = std::iter::repeat_n(&*token, TOKENS).chain([DONE]);
    let body = tokens.map(|event| Step::Send(chunk(event)));
    [Step::Request, send(STREAM)].into_iter().chain(body).chain([send(LAST)]).collect()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_request_is_woken_by_head_and_end_and_not_by_tokens() {
    /// Connection, head, the end marker's shorter limit, end; and twice as many for what nobody can rule out.
    const MOST_POLLS: usize = 20;
    let server = Server::run(vec![script()]);
    let transport = transport(target(&server.url()));
    let request = request(Prompt::Text("hi".into()), EosRule::Ignore);
    let mut sending = pin!(transport.send(&request, Release::at(Stamp::EPOCH)));
    let mut polls = 0;
    let tape = poll_fn(|cx| {
        polls += 1;
        sending.as_mut().poll(cx)
    });
    let tape = tape.await.unwrap();
    assert!(tape.is_success(), "{tape:?}");
    assert_eq!(tape.arrivals.len(), TOKENS);
    assert!(polls <= MOST_POLLS, "{polls} polls for {TOKENS} tokens");
}

#[tokio::test]
async fn a_request_that_is_dropped_closes_its_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (told, sent) = mpsc::channel();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        assert!(stream.read(&mut [0; 1 << 16]).unwrap() > 0);
        let begun = [STREAM.as_bytes(), &chunk(text("a", "", ""))].concat();
        stream.write_all(&begun).unwrap();
        told.send(()).unwrap();
        while stream.read(&mut [0; 1 << 16]).is_ok_and(|got| got > 0) {}
    });
    let transport = transport(target(&format!("http://{address}")));
    let request = request(Prompt::Text("hi".into()), EosRule::Ignore);
    let mut sending = Box::pin(transport.send(&request, Release::at(Stamp::EPOCH)));
    // Until it has been answered, and often enough then for the body to be on its way.
    let mut turns_left = 100;
    while turns_left > 0 {
        let polled = poll_fn(|cx| Poll::Ready(sending.as_mut().poll(cx))).await;
        assert!(polled.is_pending(), "the server goes on");
        tokio::task::yield_now().await;
        turns_left -= u32::from(turns_left < 100 || sent.try_recv().is_ok());
    }
    drop(sending);
    server.join().unwrap();
    assert!(format!("{transport:?}").contains("0 idle"));
}

/// The runtime that hears of the connections may end before the transport does.
#[test]
fn a_transport_outlives_its_runtime() {
    let server = Server::run(vec![script(), script()]);
    let transport = transport(target(&server.url()));
    for _ in 0..2 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let tape = runtime.block_on(ask(&transport));
        assert!(tape.is_success(), "{tape:?}");
    }
}
