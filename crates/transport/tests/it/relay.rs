//! Go-betweens on loopback: a proxy that opens tunnels, and an end of TLS, both before a server without either.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

/// A proxy that answers each CONNECT with `answer`, and then, if that is a yes, leads to one server, whatever the
/// name. Keeps what it was asked.
pub(crate) struct TunnelProxy {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl TunnelProxy {
    pub(crate) async fn run(upstream: SocketAddr, answer: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let seen = Arc::clone(&seen);
                tokio::spawn(async move {
                    let mut head = Vec::new();
                    while !head.ends_with(b"\r\n\r\n") {
                        head.push(client.read_u8().await.unwrap());
                    }
                    seen.lock().unwrap().push(String::from_utf8(head).unwrap());
                    // A slow one: the answer comes in pieces.
                    for piece in answer.as_bytes().chunks(7) {
                        client.write_all(piece).await.unwrap();
                        tokio::task::yield_now().await;
                    }
                    if answer.contains(" 200 ") {
                        let mut server = TcpStream::connect(upstream).await.unwrap();
                        let _ = copy_bidirectional(&mut client, &mut server).await;
                    }
                });
            }
        });
        Self { address, asked }
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// The end of TLS before the server at `upstream`.
#[cfg(feature = "tls")]
pub(crate) async fn tls_before(upstream: SocketAddr, config: rustls::ServerConfig) -> SocketAddr {
    TlsEnd::before(upstream, config).await.address
}

/// An end of TLS that remembers how each of its handshakes went.
#[cfg(feature = "tls")]
pub(crate) struct TlsEnd {
    pub(crate) address: SocketAddr,
    handshakes: Arc<Mutex<Vec<rustls::HandshakeKind>>>,
}

#[cfg(feature = "tls")]
impl TlsEnd {
    pub(crate) async fn before(upstream: SocketAddr, config: rustls::ServerConfig) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let handshakes: Arc<Mutex<Vec<_>>> = Arc::default();
        let seen = Arc::clone(&handshakes);
        let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (acceptor, seen) = (acceptor.clone(), Arc::clone(&seen));
                tokio::spawn(async move {
                    // A client that refuses the certificate is part of the tests.
                    let Ok(mut client) = acceptor.accept(client).await else {
                        return;
                    };
                    seen.lock().unwrap().extend(client.get_ref().1.handshake_kind());
                    let mut server = TcpStream::connect(upstream).await.unwrap();
                    let _ = copy_bidirectional(&mut client, &mut server).await;
                });
            }
        });
        Self { address, handshakes }
    }

    pub(crate) fn handshakes(&self) -> Vec<rustls::HandshakeKind> {
        self.handshakes.lock().unwrap().clone()
    }
}
