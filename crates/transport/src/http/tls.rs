//! The handshake of TLS.

use std::sync::Arc;
use std::{fmt, io};

use fizeau_core::{Failure, FailureClass};
use rustls::client::Resumption;
use rustls::pki_types::ServerName;
use rustls::{AlertDescription, CertificateError, ClientConfig, Error};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::connect::why;
use crate::target::{
    ConnectionUse, HttpVersion, TlsSettings, TrustError, UrlAuthority, UrlHost, is_authority,
};

/// What makes the handshakes of one endpoint in one transport. Sessions are resumed within it, so that no lock is
/// shared between threads; where each request is to make its own connection, none are.
pub(super) struct Handshakes {
    connector: Result<TlsConnector, TrustError>,
    version: HttpVersion,
}

impl Handshakes {
    pub(super) fn new(tls: &TlsSettings, version: HttpVersion, usage: ConnectionUse) -> Self {
        let connector = tls.config().map(|config| {
            let mut config = ClientConfig::clone(&config);
            config.resumption = match usage {
                ConnectionUse::Reuse => Resumption::in_memory_sessions(SESSIONS),
                // As from clients that know nothing of each other.
                ConnectionUse::PerRequest => Resumption::disabled(),
            };
            config.alpn_protocols = vec![match version {
                HttpVersion::Http11 => b"http/1.1".to_vec(),
                HttpVersion::Http2 { .. } => H2.to_vec(),
            }];
            TlsConnector::from(Arc::new(config))
        });
        Self { connector, version }
    }
}

impl fmt::Debug for Handshakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handshakes")
    }
}

const H2: &[u8] = b"h2";

/// How many servers' sessions are kept for resumption.
const SESSIONS: usize = 64;

/// Makes the handshake on `stream` with `whom`.
pub(super) async fn handshake<S: AsyncRead + AsyncWrite + Unpin>(
    handshakes: &Handshakes,
    whom: &UrlAuthority,
    stream: S,
) -> Result<TlsStream<S>, Failure> {
    let failed = |why: String| Failure::new(FailureClass::Tls, why);
    let connector = handshakes.connector.as_ref().map_err(|error| failed(error.to_string()))?;
    let name = match &whom.host {
        UrlHost::Address(address) => ServerName::from(*address),
        UrlHost::Name(name) => ServerName::try_from(name.clone())
            .map_err(|_| failed(format!("`{name}` is not a name that a certificate can hold")))?,
    };
    let stream = connector
        .connect(name, stream)
        .await
        .map_err(|error| failed(format!("no TLS with {whom}: {}", words(&error))))?;
    let agreed = stream.get_ref().1.alpn_protocol();
    if handshakes.version != HttpVersion::Http11 && agreed != Some(H2) {
        return Err(failed(format!("{whom} does not support HTTP/2: use HTTP/1.1")));
    }
    Ok(stream)
}

/// What went wrong in a handshake, and what would help.
fn words(error: &io::Error) -> String {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    match inner {
        Some(Error::InvalidCertificate(error)) => certificate_words(error),
        Some(Error::InvalidMessage(_)) => {
            "the server does not answer in TLS (is it an http:// endpoint?)".to_owned()
        }
        Some(Error::AlertReceived(AlertDescription::NoApplicationProtocol)) => {
            "the server does not support this version of HTTP".to_owned()
        }
        Some(Error::AlertReceived(alert)) => {
            format!("the server refused the handshake ({alert:?})")
        }
        Some(error) => error.to_string(),
        None if error.kind() == io::ErrorKind::UnexpectedEof => {
            "the server closed the connection in the handshake (is it an http:// endpoint?)"
                .to_owned()
        }
        None => why(error),
    }
}

fn certificate_words(error: &CertificateError) -> String {
    match error {
        // A bad signature is that of an authority with the name of one that is trusted, and another key.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "no trusted authority signed its certificate; trust its authority's certificate, or \
             this one itself"
                .to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "its certificate has expired, or the clock of this machine is wrong".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "its certificate is not valid yet, or the clock of this machine is wrong".to_owned()
        }
        CertificateError::NotValidForName => "its certificate is for another name".to_owned(),
        CertificateError::NotValidForNameContext { presented, .. } => {
            let names = presented.iter().take(4).map(String::as_str).collect::<Vec<_>>();
            format!("its certificate is for another name: {}", names.join(", "))
        }
        error if is_authority(error) => {
            "its certificate is one of an authority, not of a server; trust this one itself, or give \
             the server another"
                .to_owned()
        }
        error => format!("its certificate is not good: {error}"),
    }
}
