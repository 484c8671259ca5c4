//! The transport against a scripted server.

use std::net::TcpListener;
use std::sync::Mutex;

use fizeau_core::{
    CallOff, Connection, EosRule, FailureClass, Finish, Nanos, Outcome, Prompt, ReadLag, Release,
    Stamp, StampSource, Tape, Transport,
};
use fizeau_transport::{
    Backend, ExtraBody, HttpTransport, KeepText, MonotonicClock, Reply, Secret, StampChoice,
    Target, Timeouts,
};

use crate::bodies::request;
use crate::failures::{NO_LIMITS, ask_once, check_failure};
use crate::server::{LAST, STREAM, Server, Step, chunk, follow, plain, send, stream};
use crate::streams::{DONE, cases, text};

pub(crate) fn target(url: &str) -> Target {
    let target = Target::new(url, Backend::Vllm, "m").unwrap();
    target.keep_text(KeepText::Yes)
}

pub(crate) fn transport(target: Target) -> HttpTransport<MonotonicClock> {
    HttpTransport::new(target, MonotonicClock::new())
}

pub(crate) async fn ask(transport: &HttpTransport<MonotonicClock>) -> Tape {
    let request = request(Prompt::Text("hi".into()), EosRule::Ignore);
    transport.send(&request, Release::at(Stamp::EPOCH)).await.unwrap()
}

pub(crate) fn good() -> String {
    [&*text("Ga", "", ""), &*text(" bu", "", ""), DONE].concat()
}

/// What a tape says was asked for is what the server was told.
#[tokio::test]
async fn an_end_that_cannot_be_forced_is_the_models_own() {
    let cases = [
        (Backend::Vllm, "{}", EosRule::Ignore),
        (Backend::Vllm, r#"{"ignore_eos":false}"#, EosRule::Stop),
        (Backend::OpenAiChat, "{}", EosRule::Ignore),
        (Backend::DeepSeek, "{}", EosRule::Stop),
        (Backend::DeepSeek, r#"{"ignore_eos":true}"#, EosRule::Ignore),
        (Backend::Anthropic, "{}", EosRule::Stop),
        (Backend::OllamaChat, "{}", EosRule::Stop),
    ];
    for (backend, extra, expected) in cases {
        let server = Server::run(vec![vec![Step::Request, send("HTTP/1.1 500 No\r\n\r\n")]]);
        let target = Target::new(&server.url(), backend, "m").unwrap();
        let target = target.extra_body(ExtraBody::parse(extra).unwrap());
        let tape = ask(&transport(target)).await;
        assert_eq!(tape.requested.eos, expected, "{backend:?} {extra}");
    }
}

/// Every trap over a socket, chunks and writes cut without regard to events, each connection closed after its
/// reply without a word, as llama.cpp's server does.
#[tokio::test]
async fn every_trap_over_a_socket() {
    let cases = cases();
    let script = |bytes: &str| {
        let chunks: Vec<u8> = bytes.as_bytes().chunks(97).flat_map(chunk).collect();
        let body = [&chunks, LAST.as_bytes()].concat();
        let pieces = body.chunks(61).map(send);
        [Step::Request, send(STREAM)].into_iter().chain(pieces).collect()
    };
    let scripts = || cases.iter().map(|case| script(&case.bytes));
    let server = Server::run(scripts().chain(scripts()).collect());
    let ours = transport(target(&server.url()));
    let runtimes = transport(target(&server.url())).heard_by_runtime();
    let asked =
        [&ours, &runtimes].into_iter().flat_map(|by| cases.iter().map(move |case| (by, case)));
    for (done, (transport, case)) in asked.enumerate() {
        let tape = ask(transport).await;
        server.has_closed(done + 1);
        assert!(tape.arrivals.is_sorted_by_key(|arrival| arrival.at), "{}", case.name);
        assert!(tape.arrivals.is_sorted_by_key(|arrival| arrival.read), "{}", case.name);
        assert_eq!(tape.round_trip.is_some(), cfg!(target_os = "linux"), "{}", case.name);
        case.check(&Reply {
            arrivals: tape.arrivals,
            token_source: tape.token_source,
            usage: tape.usage,
            server_timing: tape.server_timing,
            outcome: tape.outcome,
            text: tape.text,
        });
    }
}

#[tokio::test]
async fn a_connection_is_reused_and_its_making_is_in_no_latency() {
    let script = [stream(&good()), stream(&good())].concat();
    let server = Server::run(vec![script]);
    let transport = transport(target(&server.url()));
    let (first, second) = (ask(&transport).await, ask(&transport).await);
    assert_eq!((first.connection, second.connection), (Connection::Fresh, Connection::Reused));
    let connect = first.marks.connect.unwrap();
    assert_eq!((connect.dns, connect.tls, second.marks.connect), (None, None, None));
    assert!(connect.start <= connect.tcp && Some(connect.tcp) <= first.marks.send_start);
    for tape in [&first, &second] {
        let marks = &tape.marks;
        let in_order = [
            marks.send_start,
            marks.first_byte,
            marks.headers,
            tape.first_token(),
            tape.last_token(),
            marks.end,
        ];
        assert!(in_order.iter().all(Option::is_some), "{marks:?}");
        assert!(in_order.is_sorted(), "{marks:?}");
        // Not held against the reply: the kernel may stamp that before the write call has returned.
        assert!(marks.send_start <= marks.send_end, "{marks:?}");
        assert_eq!(tape.outcome, Outcome::Complete(Finish::Unstated));
        assert_eq!((tape.request.0, tape.session.0, tape.turn), (3, 2, 1));
    }
    assert!(first.marks.end < second.marks.send_start);
    assert!(second.arrivals.iter().all(|arrival| arrival.read < 10), "reads count from 0 again");
}

/// The kernel needs a moment before it stamps, after the first in the whole system that asks it to; hence the
/// many requests.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_kernel_stamps_where_it_can() {
    const MOST: usize = 2_000;
    let server = Server::run(vec![vec![stream(&good()); MOST].concat()]);
    let transport = transport(target(&server.url()));
    let mut lagged = false;
    let mut stamped = 0;
    for _ in 0..MOST {
        let tape = ask(&transport).await;
        assert!(tape.is_success(), "{tape:?}");
        let marks = tape.marks;
        let in_order =
            [marks.send_start, marks.first_byte, marks.headers, tape.first_token(), marks.end];
        assert!(in_order.is_sorted(), "{marks:?}");
        stamped += usize::from(tape.stamps == StampSource::Kernel);
        lagged |= tape.arrivals.iter().any(|arrival| arrival.read_lag > ReadLag::ZERO);
        if stamped > 2 {
            break;
        }
    }
    assert!(stamped > 2 && lagged, "no stamps from the kernel");
}

#[tokio::test]
async fn stamps_of_our_own_on_demand() {
    let server = Server::run(vec![stream(&good())]);
    let transport = transport(target(&server.url()).stamps(StampChoice::User));
    let tape = ask(&transport).await;
    assert_eq!((tape.stamps, tape.arrivals.len()), (StampSource::User, 2));
    assert!(tape.arrivals.iter().all(|arrival| arrival.read_lag == ReadLag::ZERO));
}

#[tokio::test]
async fn what_is_sent() {
    let server = Server::run(vec![stream(&good())]);
    let target = target(&format!("{}/v1", server.url()));
    let target = target.header("X-Tag", "seven").unwrap();
    let target = target.api_key(Secret::new("sk-key")).unwrap();
    ask(&transport(target)).await;
    let requests = server.requests();
    let (head, body) = requests[0].split_once("\r\n\r\n").unwrap();
    let head = head.to_ascii_lowercase();
    assert!(head.starts_with("post /v1/completions http/1.1\r\n"), "{head}");
    for line in [
        &*format!("host: {}", server.address),
        &format!("content-length: {}", body.len()),
        "accept: text/event-stream",
        "accept-encoding: identity",
        "authorization: bearer sk-key",
        "content-type: application/json",
        "x-tag: seven",
    ] {
        assert!(head.lines().any(|has| has == line), "{line} in {head}");
    }
    assert!(body.contains(r#""prompt":"hi""#), "{body}");
}

#[tokio::test]
async fn a_server_that_closes_after_each_reply_fails_no_request() {
    let server = Server::run(vec![stream(&good()); 30]);
    let transport = transport(target(&server.url()));
    for done in 0..30 {
        let tape = ask(&transport).await;
        assert!(tape.is_success(), "{tape:?}");
        server.has_closed(done + 1);
    }
    assert_eq!(server.requests().len(), 30);
}

/// Answers one request, reads another and closes the connection.
fn dropping() -> Vec<Step> {
    [stream(&good()), vec![Step::Request]].concat()
}

#[tokio::test]
async fn a_request_that_the_server_took_and_dropped_is_a_failure() {
    // Its connections are kept, as many requests of one show.
    let answers = 17;
    let kept = std::iter::repeat_n(stream(&good()), answers).flatten().chain(dropping());
    let server = Server::run(vec![kept.collect(), stream(&good())]);
    let transport = transport(target(&server.url()));
    for _ in 0..=answers {
        assert!(ask(&transport).await.is_success());
    }
    let tape = ask(&transport).await;
    let detail = "closed the connection after the request was sent, without a reply";
    check_failure(&tape, FailureClass::Connect, None, detail);
    assert_eq!((server.requests().len(), tape.connection), (19, Connection::Reused));
    assert!(tape.marks.send_start.is_some() && tape.marks.connect.is_none(), "{:?}", tape.marks);
}

/// As [`transport`], for which each connection has rested long enough to be closed by its server at any time.
fn rested(url: &str) -> HttpTransport<MonotonicClock> {
    transport(target(url)).racing_keep_alive(Nanos::ZERO, Nanos::from_secs(60))
}

#[tokio::test]
async fn a_connection_that_rested_and_dies_as_the_request_is_written_is_replaced_once() {
    let server = Server::run(vec![dropping(), stream(&good())]);
    let transport = rested(&server.url());
    ask(&transport).await;
    let tape = ask(&transport).await;
    assert_eq!(tape.connection, Connection::ReplacedStale);
    assert!(tape.is_success(), "{tape:?}");
    let connect = tape.marks.connect.unwrap();
    assert!(tape.marks.send_start <= Some(connect.start), "latencies have the lost try in them");
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn nothing_else_is_tried_again() {
    // A fresh connection that dies, and the replacement of a dead one that dies too.
    let server = Server::run(vec![vec![Step::Request], stream(&good())]);
    let tape = ask(&transport(target(&server.url()))).await;
    check_failure(&tape, FailureClass::Connect, None, "closed the connection after the request");
    assert_eq!((server.requests().len(), tape.connection), (1, Connection::Fresh));

    let server = Server::run(vec![dropping(), vec![Step::Request], stream(&good())]);
    let transport = rested(&server.url());
    ask(&transport).await;
    let tape = ask(&transport).await;
    check_failure(&tape, FailureClass::Connect, None, "closed the connection after the request");
    assert_eq!((server.requests().len(), tape.connection), (3, Connection::ReplacedStale));
}

/// A connection that was opened ahead has had no reply after which a server could have closed it: what broke is the first wave of a run,
/// which a load balancer or an engine took and dropped.
#[tokio::test]
async fn a_request_on_a_connection_opened_ahead_is_not_tried_again() {
    let server = Server::run(vec![vec![Step::Request], stream(&good())]);
    let transport = transport(target(&server.url()));
    transport.preconnect(1).await.unwrap();
    let tape = ask(&transport).await;
    check_failure(&tape, FailureClass::Connect, None, "closed the connection after the request");
    assert_eq!((server.requests().len(), tape.connection), (1, Connection::Reused));
}

/// It was sent, and in flight until the connection for the second try was refused.
#[tokio::test]
async fn what_cannot_be_sent_again_was_sent_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (only, _) = listener.accept().unwrap();
        drop(listener);
        follow(&dropping(), &only, &Mutex::default());
    });
    let transport = rested(&format!("http://{address}"));
    assert!(ask(&transport).await.is_success());
    let tape = ask(&transport).await;
    check_failure(&tape, FailureClass::Connect, None, "connect");
    assert_eq!(tape.connection, Connection::ReplacedStale);
    assert!(tape.marks.send_start.is_some(), "{:?}", tape.marks);
    server.join().unwrap();
}

#[tokio::test]
async fn a_body_that_ends_with_its_connection() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    let tape = ask_once(vec![Step::Request, send(head), send(good())], NO_LIMITS).await;
    assert!(tape.is_success(), "{tape:?}");
    assert_eq!(tape.text.as_deref(), Some("Ga bu"));
}

/// Nobody waits for the end of a body that decides nothing, and the connection is used again once it has come; an error that comes
/// with it decides nothing either, since the reply was over by its end marker.
#[tokio::test]
async fn a_body_that_is_left_open_holds_nobody_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (end, ends) = std::sync::mpsc::channel();
    let (ended, is_ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let (first, _) = listener.accept().unwrap();
        let open = [STREAM.as_bytes(), &chunk(good())].concat();
        follow(&[Step::Request, Step::Send(open)], &first, &Mutex::default());
        ends.recv().unwrap();
        let late = chunk("data: {\"error\":\"late\"}\n\n");
        follow(&[send([&*late, LAST.as_bytes()].concat())], &first, &Mutex::default());
        ended.send(()).unwrap();
        follow(&stream(&good()), &first, &Mutex::default());
        // No other connection is taken.
        drop(listener);
    });
    let transport = transport(target(&format!("http://{address}")));
    let open = ask(&transport).await;
    assert!(open.is_success() && open.left_open, "{open:?}");
    assert_eq!(open.marks.end, open.last_output());
    end.send(()).unwrap();
    is_ended.recv().unwrap();
    // The runtime looks at its sockets every so often.
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    let tape = ask(&transport).await;
    assert!(tape.is_success() && !tape.left_open, "{tape:?}");
    assert_eq!(tape.connection, Connection::Reused);
    assert!(open.marks.end < tape.marks.send_start);
}

/// Each of the first few waits a little for the end of its body. Then the server is known for leaving it open, and its replies are
/// over as they were said.
#[tokio::test]
async fn a_server_that_leaves_all_bodies_open_gets_a_connection_for_each() {
    let open = [STREAM.as_bytes(), &chunk(good())].concat();
    let server = Server::run(vec![vec![Step::Request, Step::Send(open), Step::Hold]; 8]);
    let transport = transport(target(&server.url()));
    for _ in 0..8 {
        let tape = ask(&transport).await;
        assert!(tape.is_success() && tape.left_open, "{tape:?}");
        assert_eq!((tape.marks.end, tape.connection), (tape.last_output(), Connection::Fresh));
    }
}

/// What was seen of a request that is called off is on its tape.
#[tokio::test]
async fn a_request_that_is_called_off_leaves_what_was_seen() {
    let begun = [STREAM.as_bytes(), &chunk(text("Ga", "", ""))].concat();
    for (script, arrivals) in [(vec![], 0), (vec![Step::Send(begun)], 1)] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sent, is_sent) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            follow(&[vec![Step::Request], script].concat(), &stream, &Mutex::default());
            sent.send(()).unwrap();
            follow(&[Step::Hold], &stream, &Mutex::default());
        });
        let transport = transport(target(&format!("http://{address}")));
        let (request, off) =
            (request(Prompt::Text("hi".into()), EosRule::Ignore), CallOff::default());
        let mut sending =
            std::pin::pin!(transport.send_until(&request, Release::at(Stamp::EPOCH), &off));
        let mut looks = 0;
        let tape = std::future::poll_fn(|cx| {
            // The connection is made and the server has spoken, and the runtime has looked at its sockets since.
            looks += u32::from(looks > 0 || is_sent.try_recv().is_ok());
            if looks == 1_000 {
                off.throw();
            }
            cx.waker().wake_by_ref();
            sending.as_mut().poll(cx)
        });
        let tape = tape.await.unwrap();
        let status = (arrivals > 0).then_some(200);
        check_failure(&tape, FailureClass::Cancelled, status, "cancelled while this request");
        assert_eq!(tape.arrivals.len(), arrivals);
        let marks = tape.marks;
        assert!(marks.send_start.is_some() && marks.send_start < marks.end, "{marks:?}");
        assert_eq!(marks.first_byte.is_some(), arrivals > 0);
    }
}

/// A connection that the server means to close, or that holds bytes nobody asked for, is not used again.
#[tokio::test]
async fn connections_that_are_not_kept() {
    let closing = STREAM.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    let old = plain("200 OK", "Content-Type: text/event-stream\r\n", &good());
    let [_, Step::Send(old)] = &*old else { unreachable!() };
    let old = String::from_utf8_lossy(old).replace("HTTP/1.1", "HTTP/1.0");
    let more = [STREAM.as_bytes(), &chunk(good()), LAST.as_bytes(), b"HTTP/1.1 408 Gone"].concat();
    let close = [closing.as_bytes(), &chunk(good()), LAST.as_bytes()].concat();
    for reply in [close, old.into_bytes(), more] {
        let script = vec![Step::Request, Step::Send(reply), Step::Hold];
        let server = Server::run(vec![script, stream(&good())]);
        let transport = transport(target(&server.url()));
        assert!(ask(&transport).await.is_success());
        assert!(format!("{transport:?}").contains("0 idle"));
        assert_eq!(ask(&transport).await.connection, Connection::Fresh);
    }
}

#[tokio::test]
async fn connections_can_be_made_ahead() {
    let server = Server::run(vec![stream(&good()), stream(&good()), stream(&good())]);
    let transport = transport(target(&server.url()));
    transport.preconnect(2).await.unwrap();
    transport.preconnect(2).await.unwrap();
    assert!(format!("{transport:?}").contains("2 idle"), "not four");
    let tape = ask(&transport).await;
    assert_eq!((tape.connection, tape.marks.connect), (Connection::Reused, None));
}

#[tokio::test]
async fn a_dropped_request_takes_its_connection_with_it() {
    let server = Server::run(vec![vec![Step::Request, Step::Hold], stream(&good())]);
    let transport = transport(target(&server.url()));
    {
        let mut abandoned = std::pin::pin!(ask(&transport));
        while server.requests().is_empty() {
            tokio::select! {
                biased;
                tape = &mut abandoned => panic!("nothing was answered: {tape:?}"),
                () = tokio::task::yield_now() => {}
            }
        }
    }
    let tape = ask(&transport).await;
    assert_eq!(tape.connection, Connection::Fresh);
    assert!(tape.is_success());
}

#[tokio::test]
async fn a_name_is_resolved_and_the_time_it_takes_is_marked() {
    let server = Server::run(vec![stream(&good())]);
    let tape =
        ask(&transport(target(&format!("http://localhost:{}", server.address.port())))).await;
    let connect = tape.marks.connect.unwrap();
    assert!(Some(connect.start) <= connect.dns && connect.dns <= Some(connect.tcp));
    assert!(tape.is_success(), "{tape:?}");
}

/// The server has closed an idle connection, and that shows only once the request has been handed over: the
/// task's budget of reads was used up (tokio lets a task make 128 in a row), so the look at the socket before it
/// saw nothing. It was used just before, but the end acknowledges nothing of the request: that came too late.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_connection_seen_dead_after_the_request_was_handed_over_is_replaced() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (close, closing) = std::sync::mpsc::channel();
    let server = std::thread::spawn(move || {
        let (first, _) = listener.accept().unwrap();
        follow(&stream(&good()), &first, &Mutex::default());
        closing.recv().unwrap();
        drop(first);
        listener
    });
    let limits = Timeouts { total: Some(Nanos::from_secs(5)), ..NO_LIMITS };
    let transport = transport(target(&format!("http://{address}")).timeouts(limits));
    assert!(ask(&transport).await.is_success());
    close.send(()).unwrap();
    let listener = server.join().unwrap();
    std::thread::spawn(move || {
        let (second, _) = listener.accept().unwrap();
        follow(&stream(&good()), &second, &Mutex::default());
    });

    let mut second = std::pin::pin!(ask(&transport));
    std::future::poll_fn(|cx| {
        while std::pin::pin!(tokio::task::consume_budget()).poll(cx).is_ready() {}
        assert!(second.as_mut().poll(cx).is_pending());
        std::task::Poll::Ready(())
    })
    .await;
    let tape = second.await;
    assert!(tape.is_success(), "{:?}", tape.outcome);
    assert_eq!(tape.connection, Connection::ReplacedStale);
}
