//! Requests through proxies.

use fizeau_core::FailureClass;
use fizeau_transport::{HttpVersion, Proxy};

use crate::failures::check_failure;
use crate::http::{ask, good, target, transport};
use crate::relay::TunnelProxy;
use crate::server::{Server, plain, stream};

pub(crate) const YES: &str = "HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n";

/// A proxy for everything, with a user and a password that must never be shown.
pub(crate) fn through(address: impl std::fmt::Display) -> Proxy {
    let url = format!("http://me:s3cr%65t@{address}");
    Proxy::from_variables(|name| (name == "all_proxy").then(|| url.clone()))
}

/// `me:s3cret` in base 64.
const CREDENTIALS: &str = "Basic bWU6czNjcmV0";

#[tokio::test]
async fn a_plaintext_endpoint_is_asked_for_in_absolute_form() {
    let proxy = Server::run(vec![[stream(&good()), stream(&good())].concat()]);
    let transport = transport(target("http://llm.test:8000/v1").proxy(through(proxy.address)));
    assert_eq!(transport.target().proxies().unwrap(), [format!("http://***@{}", proxy.address)]);
    for _ in 0..2 {
        let tape = ask(&transport).await;
        assert!(tape.is_success(), "{tape:?}");
    }
    for request in proxy.requests() {
        assert!(request.starts_with("POST http://llm.test:8000/v1/completions HTTP/1.1\r\n"));
        assert!(request.contains("host: llm.test:8000\r\n"), "{request}");
        assert!(request.contains(&format!("proxy-authorization: {CREDENTIALS}\r\n")), "{request}");
    }
}

/// In base 64 (RFC 4648), once its escapes are resolved; what is no escape stays. The host's own port is left out.
#[tokio::test]
async fn user_and_password_as_they_are_sent() {
    let cases = [
        ("f", "Zjo="),
        ("fo:o", "Zm86bw=="),
        ("fo:ob", "Zm86b2I="),
        ("fo:oba", "Zm86b2Jh"),
        ("a%40b%", "YUBiJTo="),
        ("%zz%2:%+1", "JXp6JTI6JSsx"),
    ];
    for (user, coded) in cases {
        let proxy = Server::run(vec![stream(&good())]);
        let url = format!("{user}@{}", proxy.address);
        let via = Proxy::from_variables(|name| (name == "http_proxy").then(|| url.clone()));
        ask(&transport(target("http://llm.test:80").proxy(via))).await;
        let request = &proxy.requests()[0];
        assert!(request.contains(&format!("proxy-authorization: Basic {coded}\r\n")), "{request}");
        assert!(request.contains("host: llm.test\r\n"), "{request}");
    }
}

#[tokio::test]
async fn what_a_proxy_repeats_of_its_password_is_not_kept() {
    let body = format!("not allowed: me s3cret {CREDENTIALS}");
    let proxy = Server::run(vec![plain("407 Proxy Authentication Required", "", &body)]);
    let tape = ask(&transport(target("http://llm.test").proxy(through(proxy.address)))).await;
    check_failure(&tape, FailureClass::Status, Some(407), "not allowed: me *** Basic ***");
}

#[tokio::test]
async fn a_proxy_that_is_not_there_is_named_without_its_password() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let tape = ask(&transport(target("http://llm.test").proxy(through(nobody)))).await;
    let words = format!("could not connect to the proxy {nobody}: connection refused");
    check_failure(&tape, FailureClass::Connect, None, &words);
}

/// HTTP/2 needs a tunnel without TLS too, so that this needs no certificates.
async fn ask_through(answer: &'static str) -> (fizeau_core::Tape, Vec<String>) {
    let upstream = Server::run(vec![]);
    let proxy = TunnelProxy::run(upstream.address, answer).await;
    let target = target("http://llm.test").proxy(through(proxy.address));
    let tape = ask(&transport(target.http_version(HttpVersion::HTTP2))).await;
    (tape, proxy.asked())
}

#[tokio::test]
async fn a_tunnel_is_asked_for_with_the_credentials() {
    let (_, asked) = ask_through("HTTP/1.1 502 Bad Gateway\r\n\r\n").await;
    let expected = format!(
        "CONNECT llm.test:80 HTTP/1.1\r\nHost: llm.test:80\r\nProxy-Authorization: {CREDENTIALS}\r\n\r\n"
    );
    assert_eq!(asked, [expected]);
}

#[tokio::test]
async fn a_tunnel_that_is_refused_is_a_failed_connection_with_the_reason() {
    let endless: &str =
        Box::leak(format!("HTTP/1.1 200 OK\r\n{}", "a: b\r\n".repeat(9_000)).into());
    let cases = [
        ("HTTP/1.1 502 Bad Gateway\r\n\r\n", "refused the tunnel with status 502"),
        ("HTTP/1.1 407 Who\r\n\r\n", "wants another user and password"),
        ("SSH-2.0-OpenSSH_9.6\r\n\r\n", "something other than HTTP"),
        ("HTTP/1.1 502 Bad Gateway\r\n", "broke off before the tunnel was set up"),
        (endless, "its answer has no end"),
    ];
    for (answer, words) in cases {
        let (tape, _) = ask_through(answer).await;
        check_failure(&tape, FailureClass::Connect, None, words);
        check_failure(&tape, FailureClass::Connect, None, "cannot reach llm.test:80");
    }
}

/// The server speaks first here: not a byte of it may go astray with the proxy's answer.
#[tokio::test]
async fn http_2_goes_through_a_tunnel_without_tls_too() {
    let server = crate::h2::Server::run(1).await;
    let proxy = TunnelProxy::run(server.address, YES).await;
    let target = target("http://llm.test").proxy(through(proxy.address));
    let tape = ask(&transport(target.http_version(HttpVersion::HTTP2))).await;
    assert!(tape.is_success(), "{tape:?}");
}
