//! Endpoints behind TLS, with certificates made on the spot.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, mpsc};
use std::thread;

use fizeau_core::{Connection, FailureClass, Nanos, Tape};
use fizeau_transport::{ConnectionUse, HttpVersion, Target, Trust, TrustError};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{
    HandshakeKind, ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion,
};

use crate::failures::check_failure;
use crate::http::{ask, good, target, transport};
use crate::relay::{TlsEnd, TunnelProxy, tls_before};
use crate::server::{LAST, STREAM, Server, chunk, stream};
use crate::tunnels::{YES, through};

/// An authority and a certificate that it signed.
struct Signed {
    authority: String,
    config: ServerConfig,
}

fn params(name: &str) -> CertificateParams {
    CertificateParams::new(vec![name.to_owned()]).unwrap()
}

fn authority() -> CertificateParams {
    let mut params = CertificateParams::new(vec![]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
}

fn signed(params: &CertificateParams, versions: &[&'static SupportedProtocolVersion]) -> Signed {
    let (key, ca_key) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    let ca = authority().self_signed(&ca_key).unwrap();
    let certificate = params.signed_by(&key, &Issuer::new(authority(), ca_key)).unwrap();
    Signed { authority: ca.pem(), config: config(&certificate, &key, versions) }
}

fn config(
    certificate: &rcgen::Certificate,
    key: &KeyPair,
    versions: &[&'static SupportedProtocolVersion],
) -> ServerConfig {
    let provider = rustls::crypto::ring::default_provider().into();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap()
}

fn trusting(address: SocketAddr, pem: &str) -> Target {
    let target = target(&format!("https://localhost:{}", address.port()));
    target.trust(&Trust::Pem(pem.as_bytes().to_vec())).unwrap()
}

async fn ask_once(target: Target) -> Tape {
    ask(&transport(target)).await
}

#[tokio::test]
async fn both_versions_of_tls_are_spoken_and_the_handshake_is_marked() {
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let signed = signed(&params("localhost"), &[version]);
        let server = Server::run(vec![[stream(&good()), stream(&good())].concat()]);
        let address = tls_before(server.address, signed.config).await;
        let transport = transport(trusting(address, &signed.authority));
        let (first, second) = (ask(&transport).await, ask(&transport).await);
        assert!(first.is_success() && second.is_success(), "{first:?} {second:?}");
        assert_eq!(second.connection, Connection::Reused);
        let connect = first.marks.connect.unwrap();
        assert!(
            connect.dns <= Some(connect.tcp) && Some(connect.tcp) <= connect.tls,
            "{connect:?}"
        );
        assert!(connect.tls <= first.marks.send_start);
        // Tickets come between the handshake and the reply; they are no part of it.
        assert!(first.marks.send_start < first.marks.first_byte, "{:?}", first.marks);
        assert!(server.requests()[0].contains(&format!("host: localhost:{}\r\n", address.port())));
    }
}

#[tokio::test]
async fn a_session_is_resumed() {
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let signed = signed(&params("localhost"), &[version]);
        let server = Server::run(vec![stream(&good()), stream(&good())]);
        let end = TlsEnd::before(server.address, signed.config).await;
        let target = trusting(end.address, &signed.authority);
        // The server closes after each reply, and what stands before it may have taken the next request by then.
        let transport = transport(target).racing_keep_alive(Nanos::ZERO, Nanos::from_secs(60));
        for _ in 0..2 {
            let tape = ask(&transport).await;
            assert!(tape.is_success(), "{tape:?}");
        }
        assert_eq!(end.handshakes(), [HandshakeKind::Full, HandshakeKind::Resumed]);
    }
}

#[tokio::test]
async fn connections_of_requests_own_resume_nothing() {
    let signed = signed(&params("localhost"), rustls::ALL_VERSIONS);
    let server = Server::run(vec![stream(&good()), stream(&good())]);
    let end = TlsEnd::before(server.address, signed.config).await;
    let target = trusting(end.address, &signed.authority);
    let transport = transport(target.connection_use(ConnectionUse::PerRequest));
    for _ in 0..2 {
        let tape = ask(&transport).await;
        assert!(tape.is_success(), "{tape:?}");
    }
    assert_eq!(end.handshakes(), [HandshakeKind::Full, HandshakeKind::Full]);
}

/// That the server has ended TLS shows only once the next request is on its way: nobody has asked the runtime since.
#[tokio::test]
async fn a_connection_whose_end_was_announced_while_idle_is_replaced() {
    let signed = signed(&params("localhost"), rustls::ALL_VERSIONS);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let config = Arc::new(signed.config);
    let (close, closing) = mpsc::channel::<()>();
    let server = thread::spawn(move || {
        let serve = || {
            let (socket, _) = listener.accept().unwrap();
            let session = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut tls = StreamOwned::new(session, socket);
            let mut request = Vec::new();
            while !request.ends_with(b"}") {
                let mut byte = [0];
                tls.read_exact(&mut byte).unwrap();
                request.push(byte[0]);
            }
            let reply = [STREAM.as_bytes(), &chunk(good()), LAST.as_bytes()].concat();
            tls.write_all(&reply).unwrap();
            tls
        };
        let mut first = serve();
        closing.recv().unwrap();
        first.conn.send_close_notify();
        first.flush().unwrap();
        drop(closing);
        // Both stay open, so that nothing but the notice tells the end.
        (first, serve())
    });
    let transport = transport(trusting(address, &signed.authority));
    let transport = transport.racing_keep_alive(Nanos::ZERO, Nanos::from_secs(60));
    assert!(ask(&transport).await.is_success());
    close.send(()).unwrap();
    while close.send(()).is_ok() {
        thread::yield_now();
    }
    let tape = ask(&transport).await;
    assert!(tape.is_success(), "{:?}", tape.outcome);
    assert_eq!(tape.connection, Connection::ReplacedStale);
    server.join().unwrap();
}

#[tokio::test]
async fn what_is_trusted_decides() {
    let good = || signed(&params("localhost"), rustls::ALL_VERSIONS);
    let other_name = signed(&params("elsewhere.test"), rustls::ALL_VERSIONS);
    let mut expired = params("localhost");
    expired.not_after = date_time_ymd(2020, 1, 1);
    let expired = signed(&expired, rustls::ALL_VERSIONS);
    let mut early = params("localhost");
    early.not_before = date_time_ymd(4000, 1, 1);
    let early = signed(&early, rustls::ALL_VERSIONS);
    let strange = Signed { authority: good().authority, ..good() };
    let cases = [
        (strange, "no trusted authority signed its certificate; trust its authority's certificate"),
        (other_name, "for another name: DnsName(\"elsewhere.test\")"),
        (expired, "has expired"),
        (early, "is not valid yet"),
    ];
    for (Signed { authority, config }, words) in cases {
        let server = Server::run(vec![stream(&crate::http::good())]);
        let address = tls_before(server.address, config).await;
        let tape = ask_once(trusting(address, &authority)).await;
        check_failure(&tape, FailureClass::Tls, None, words);
        let anybody = trusting(address, &authority).trust(&Trust::Insecure).unwrap();
        assert!(ask_once(anybody).await.is_success(), "{words}");
    }
}

/// As `openssl req -x509` makes them: a certificate of an authority, used by the server as its own.
#[tokio::test]
async fn a_servers_own_certificate_can_be_trusted_though_it_is_an_authoritys() {
    let make = |name: &str| {
        let key = KeyPair::generate().unwrap();
        let mut params = params(name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap();
        (certificate.pem(), config(&certificate, &key, rustls::ALL_VERSIONS))
    };
    let (pem, config) = make("localhost");
    let server = Server::run(vec![stream(&good())]);
    let address = tls_before(server.address, config).await;
    let tape = ask_once(trusting(address, &pem)).await;
    assert!(tape.is_success(), "{tape:?}");
    let (pem, config) = make("elsewhere.test");
    let address = tls_before(server.address, config).await;
    let tape = ask_once(trusting(address, &pem)).await;
    check_failure(&tape, FailureClass::Tls, None, "another name");
}

#[tokio::test]
async fn a_server_without_tls_is_told_apart() {
    // It answers the handshake as if it were a request.
    let answer = crate::server::send("HTTP/1.1 400 Bad Request\r\n\r\n");
    let server = Server::run(vec![vec![answer]]);
    let tape = ask_once(target(&format!("https://{}", server.address))).await;
    check_failure(&tape, FailureClass::Tls, None, "is it an http:// endpoint?");
}

#[tokio::test]
async fn tls_goes_through_a_tunnel() {
    let signed = signed(&params("llm.test"), rustls::ALL_VERSIONS);
    let server = Server::run(vec![stream(&good())]);
    let end = tls_before(server.address, signed.config).await;
    let proxy = TunnelProxy::run(end, YES).await;
    let trust = Trust::Pem(signed.authority.into_bytes());
    let target = target("https://llm.test").trust(&trust).unwrap();
    let tape = ask_once(target.proxy(through(proxy.address))).await;
    assert!(tape.is_success(), "{tape:?}");
    assert!(proxy.asked()[0].starts_with("CONNECT llm.test:443 HTTP/1.1\r\n"));
    let request = &server.requests()[0];
    assert!(request.starts_with("POST /v1/completions HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("host: llm.test\r\n"), "{request}");
    assert!(!request.contains("proxy-authorization"), "{request}");
}

#[tokio::test]
async fn http_2_is_agreed_upon_or_refused() {
    let mut signed = signed(&params("localhost"), rustls::ALL_VERSIONS);
    signed.config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let server = Server::run(vec![]);
    let address = tls_before(server.address, signed.config.clone()).await;
    let asking = || trusting(address, &signed.authority).http_version(HttpVersion::HTTP2);
    let tape = ask_once(asking()).await;
    check_failure(&tape, FailureClass::Tls, None, "this version of HTTP");

    signed.config.alpn_protocols = vec![b"h2".to_vec()];
    let server = crate::h2::Server::run(1).await;
    let address = tls_before(server.address, signed.config).await;
    let asking = trusting(address, &signed.authority).http_version(HttpVersion::HTTP2);
    let tape = ask_once(asking).await;
    assert!(tape.is_success(), "{tape:?}");
    assert!(tape.marks.connect.unwrap().tls.is_some());
}

#[test]
fn certificates_that_are_none_are_refused() {
    let trust = |pem: &str| {
        let target = target("https://h");
        target.trust(&Trust::Pem(pem.as_bytes().to_vec())).unwrap_err()
    };
    assert_eq!(trust(""), TrustError::Empty);
    assert_eq!(trust("hello"), TrustError::Empty);
    let garbage = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    assert!(matches!(trust(garbage), TrustError::Certificate { number: 1, .. }));
    let good = signed(&params("h"), rustls::ALL_VERSIONS).authority;
    assert!(matches!(
        trust(&format!("{good}{garbage}")),
        TrustError::Certificate { number: 2, .. }
    ));
}
