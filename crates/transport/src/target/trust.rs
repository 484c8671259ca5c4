//! Which certificates are believed.

use std::fmt;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

/// The server certificates that are trusted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Trust {
    /// Those signed by an authority that Mozilla trusts (the `webpki-roots` package).
    #[default]
    WebPki,
    /// Those too that are signed by a certificate of this PEM text, or that stand in it themselves.
    Pem(Vec<u8>),
    /// Any: whoever sits on the way can read and change all, the API key among it. For tests in a network of
    /// one's own.
    Insecure,
}

/// Why certificates cannot be trusted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// One that is none.
    #[error("certificate {number} cannot be read: {why}")]
    Certificate {
        /// Its number, from 1.
        number: usize,
        /// What is wrong with it.
        why: String,
    },
    /// The text holds none.
    #[error("holds no certificate: give PEM text with `-----BEGIN CERTIFICATE-----`")]
    Empty,
    /// TLS cannot be set up at all.
    #[error("TLS cannot be set up: {0}")]
    Setup(String),
}

/// Settings for TLS, checked.
#[derive(Clone, Default)]
pub(crate) struct TlsSettings {
    /// None is [`Trust::WebPki`].
    config: Option<Arc<ClientConfig>>,
}

impl TlsSettings {
    pub(crate) fn new(trust: &Trust) -> Result<Self, TrustError> {
        Ok(Self { config: Some(Arc::new(config(trust)?)) })
    }

    /// The settings; those of [`Trust::WebPki`] where none were made.
    pub(crate) fn config(&self) -> Result<Arc<ClientConfig>, TrustError> {
        match &self.config {
            Some(config) => Ok(Arc::clone(config)),
            None => config(&Trust::WebPki).map(Arc::new),
        }
    }
}

impl fmt::Debug for TlsSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}

fn config(trust: &Trust) -> Result<ClientConfig, TrustError> {
    let setup = |error: Error| TrustError::Setup(error.to_string());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_safe_default_protocol_versions().map_err(setup)?;
    let mut roots = RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    let also = match trust {
        Trust::WebPki => return Ok(builder.with_root_certificates(roots).with_no_client_auth()),
        Trust::Pem(text) => ExtraTrust::Given(certificates(text, &mut roots)?),
        Trust::Insecure => ExtraTrust::All,
    };
    let inner = WebPkiServerVerifier::builder_with_provider(roots.into(), provider);
    let inner = inner.build().map_err(|error| TrustError::Setup(error.to_string()))?;
    let verifier = Arc::new(Verifier { inner, also });
    let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
    Ok(builder.with_no_client_auth())
}

/// Whether a server showed an authority's certificate as its own, as `openssl req -x509` makes them. The package
/// that finds this out names it in no type that could be asked.
pub(crate) fn is_authority(error: &CertificateError) -> bool {
    matches!(error, CertificateError::Other(_))
        && format!("{error:?}").contains("CaUsedAsEndEntity")
}

/// The certificates of `pem`, each of them added to `roots`.
fn certificates(
    pem: &[u8],
    roots: &mut RootCertStore,
) -> Result<Vec<CertificateDer<'static>>, TrustError> {
    let mut found = Vec::new();
    for (number, certificate) in (1..).zip(CertificateDer::pem_slice_iter(pem)) {
        let wrong = |why: String| TrustError::Certificate { number, why };
        let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
        roots.add(certificate.clone()).map_err(|error| wrong(error.to_string()))?;
        found.push(certificate);
    }
    if found.is_empty() { Err(TrustError::Empty) } else { Ok(found) }
}

/// Whom a [`Verifier`] believes beside those whom the roots vouch for.
#[derive(Debug)]
enum ExtraTrust {
    /// Servers whose own certificate was given.
    Given(Vec<CertificateDer<'static>>),
    /// Anybody.
    All,
}

/// Believes what the roots vouch for, and others too. The handshake's signature is checked in any case: it is what shows that
/// the server has the key of the certificate that it showed.
#[derive(Debug)]
struct Verifier {
    inner: Arc<WebPkiServerVerifier>,
    also: ExtraTrust,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let ExtraTrust::Given(given) = &self.also else {
            return Ok(ServerCertVerified::assertion());
        };
        let verified =
            self.inner.verify_server_cert(end_entity, intermediates, server_name, ocsp, now);
        match verified {
            Err(Error::InvalidCertificate(error))
                if is_authority(&error) && given.contains(end_entity) =>
            {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}
