//! Whose certificates are good.

/// Which certificates of servers behind `https://` are trusted; by default those of the authorities that browsers trust.
#[derive(Debug, Clone, Default)]
pub struct PageTrust {
    #[cfg(feature = "tls")]
    tls: ureq::tls::TlsConfig,
}

/// Why certificates cannot be trusted.
#[cfg(feature = "tls")]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no certificates in PEM: {0}")]
pub struct PageTrustError(String);

impl PageTrust {
    /// Those in this PEM text, or signed by one of them, and no others.
    ///
    /// # Errors
    /// If it is no PEM text of certificates.
    #[cfg(feature = "tls")]
    pub fn pem(text: &[u8]) -> Result<Self, PageTrustError> {
        use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
        let mut certificates = Vec::new();
        for item in parse_pem(text) {
            if let PemItem::Certificate(found) =
                item.map_err(|error| PageTrustError(error.to_string()))?
            {
                certificates.push(found);
            }
        }
        if certificates.is_empty() {
            return Err(PageTrustError("it holds no certificate".to_owned()));
        }
        let roots = RootCerts::new_with_certs(&certificates);
        Ok(Self { tls: TlsConfig::builder().root_certs(roots).build() })
    }

    /// Any: whoever sits on the way can read and change everything, keys among it.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn unchecked() -> Self {
        Self { tls: ureq::tls::TlsConfig::builder().disable_verification(true).build() }
    }

    /// `config` with it.
    #[cfg(feature = "tls")]
    pub(super) fn apply(&self, config: AgentConfig) -> AgentConfig {
        config.tls_config(self.tls.clone())
    }

    /// `config`, which knows no TLS.
    #[cfg(not(feature = "tls"))]
    pub(super) fn apply(&self, config: AgentConfig) -> AgentConfig {
        config
    }
}

/// The settings of an agent, under way.
type AgentConfig = ureq::config::ConfigBuilder<ureq::typestate::AgentScope>;
