//! TLS in front of the server: versions 1.2 and 1.3, for HTTP/1.1 alone.

use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;

use mio::net::TcpStream;
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};

/// A certificate and its key, for a server that is to be reached by `https://`.
///
/// ```
/// use fizeau_sim::http::Tls;
///
/// let tls = Tls::self_signed(&["localhost", "127.0.0.1"])?;
/// assert!(tls.certificate().starts_with("-----BEGIN CERTIFICATE-----"));
/// # Ok::<(), fizeau_sim::http::TlsError>(())
/// ```
#[derive(Clone)]
pub struct Tls {
    config: Arc<ServerConfig>,
    certificate: String,
}

/// A server cannot speak TLS with what it was given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// The first text holds no certificate.
    #[error(
        "the file holds no certificate: give PEM text with `-----BEGIN CERTIFICATE-----` ({0})"
    )]
    Certificate(String),
    /// The second text holds no private key.
    #[error(
        "the file holds no private key: give PEM text with `-----BEGIN PRIVATE KEY-----` ({0})"
    )]
    Key(String),
    /// Certificate and key do not go together, or the key is of a kind that is not known.
    #[error("the certificate and the key do not match: {0}")]
    Pair(String),
    /// A name that no certificate can be made for.
    #[error(
        "no certificate can be made for {names}: give names such as localhost, or addresses ({why})"
    )]
    Names {
        /// What was given.
        names: String,
        /// What is wrong.
        why: String,
    },
}

impl Tls {
    /// The server's certificate, its authorities behind it if there are any, and its key, both as PEM text.
    ///
    /// # Errors
    /// If either is not there or the two do not go together.
    pub fn from_pem(certificates: &str, key: &str) -> Result<Self, TlsError> {
        let chain = CertificateDer::pem_slice_iter(certificates.as_bytes());
        let chain: Vec<_> = chain
            .collect::<Result<_, _>>()
            .map_err(|error| TlsError::Certificate(format!("{error:?}")))?;
        if chain.is_empty() {
            return Err(TlsError::Certificate("the text holds none".to_owned()));
        }
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes())
            .map_err(|error| TlsError::Key(error.to_string()))?;
        let pair = |error: rustls::Error| TlsError::Pair(error.to_string());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider);
        let builder = builder.with_safe_default_protocol_versions().map_err(pair)?;
        let mut config =
            builder.with_no_client_auth().with_single_cert(chain, key).map_err(pair)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { config: Arc::new(config), certificate: certificates.to_owned() })
    }

    /// A certificate made on the spot and signed by itself, for host names and addresses. Clients must be told to
    /// trust it ([`Tls::certificate`]).
    ///
    /// # Errors
    /// If one of `names` is neither.
    pub fn self_signed(names: &[&str]) -> Result<Self, TlsError> {
        let wrong = |error: rcgen::Error| TlsError::Names {
            names: names.join(", "),
            why: error.to_string(),
        };
        let given: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let key = KeyPair::generate().map_err(wrong)?;
        let params = CertificateParams::new(given).map_err(wrong)?;
        let certificate = params.self_signed(&key).map_err(wrong)?;
        Self::from_pem(&certificate.pem(), &key.serialize_pem())
    }

    /// The certificate as PEM text, for clients to trust.
    #[must_use]
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    pub(super) fn session(&self, socket: TcpStream) -> io::Result<TlsSession> {
        let tls = ServerConnection::new(Arc::clone(&self.config)).map_err(io::Error::other)?;
        Ok(TlsSession { socket, tls, taken: 0 })
    }
}

fizeau_core::debug_in_part!(Tls {});

/// A connection under TLS.
pub(super) struct TlsSession {
    socket: TcpStream,
    tls: ServerConnection,
    /// Bytes that were taken and encrypted and not yet reported as written, for the socket was full.
    taken: usize,
}

impl TlsSession {
    pub(super) const fn socket(&mut self) -> &mut TcpStream {
        &mut self.socket
    }

    /// Says, as far as the socket takes it, that no more comes.
    pub(super) fn say_end(&mut self) {
        self.tls.send_close_notify();
        if let Err(error) = self.push() {
            tracing::debug!(%error, "the end of TLS could not be told");
        }
    }

    /// Hands what is encrypted to the socket.
    fn push(&mut self) -> io::Result<()> {
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut self.socket) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                written => drop(written?),
            }
        }
        Ok(())
    }

    /// Takes in what the socket has; false if that is nothing.
    fn pull(&mut self) -> io::Result<bool> {
        match self.tls.read_tls(&mut self.socket) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(true),
            read => drop(read?),
        }
        let processed = self.tls.process_new_packets();
        // The handshake's answers, or an alert. They are few, and nothing else is under way that could fill the
        // socket.
        match self.push() {
            Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
            _ => {}
        }
        processed.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
        Ok(true)
    }
}

impl Read for TlsSession {
    /// Fills `buffer` with all that there is: less than a full buffer means that the socket has no more.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        loop {
            let room = buffer.get_mut(filled..).unwrap_or_default();
            match self.tls.reader().read(room) {
                Ok(0) => return Ok(filled),
                Ok(read) => {
                    filled += read;
                    continue;
                }
                // The client is gone without a word of TLS; the requests say themselves whether they are whole.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(filled),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            if !self.pull()? {
                return if filled > 0 { Ok(filled) } else { Err(ErrorKind::WouldBlock.into()) };
            }
        }
    }
}

impl Write for TlsSession {
    /// Reports bytes as written once the socket has all of them, so that a token's stamp is of the write that took its
    /// end.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push()?;
        if self.taken == 0 {
            self.taken = self.tls.writer().write(bytes)?;
            self.push()?;
        }
        Ok(std::mem::take(&mut self.taken))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_certificate_or_key_is_named() {
        let (one, other) =
            (Tls::self_signed(&["localhost"]).unwrap(), KeyPair::generate().unwrap());
        let key = other.serialize_pem();
        assert!(matches!(Tls::from_pem("", &key), Err(TlsError::Certificate(_))));
        assert!(matches!(Tls::from_pem(one.certificate(), "x"), Err(TlsError::Key(_))));
        assert!(matches!(Tls::from_pem(one.certificate(), &key), Err(TlsError::Pair(_))));
        assert!(matches!(Tls::self_signed(&["\u{e9}"]), Err(TlsError::Names { .. })));
    }
}
