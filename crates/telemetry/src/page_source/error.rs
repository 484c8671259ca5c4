//! Why a page did not come.

use crate::exposition::PageError;

/// Why no page of metrics came from an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{address}: {kind}")]
#[non_exhaustive]
pub struct FetchError {
    /// The address, without user, password and query.
    pub address: String,
    /// What was wrong, which is in the text: no source of it besides.
    pub kind: FetchErrorKind,
}

/// What was wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchErrorKind {
    /// There is no such page.
    #[error(
        "there is no page of metrics (status 404); vLLM has one always, at /metrics, SGLang only where it was started with \
         --enable-metrics, and TensorRT-LLM may have it at /prometheus/metrics"
    )]
    NotFound,
    /// The page is behind a key.
    #[error("the page requires a key (status {status}); give the header that the server expects")]
    Refused {
        /// 401 or 403.
        status: u16,
    },
    /// Another status.
    #[error("the server answered with status {status}; a page of metrics comes with 200")]
    Status {
        /// Which.
        status: u16,
    },
    /// It did not come in time.
    #[error("no page within {limit}; the server is too busy, or the address is not its own")]
    TooSlow {
        /// How long was waited.
        limit: fizeau_core::Nanos,
    },
    /// The page is shorter than was announced.
    #[error("the page stopped half way: the connection ended before all of it had come")]
    CutShort,
    /// No connection, or one that broke.
    #[error("{0}; is the server up, and is this the address of its metrics?")]
    Connection(String),
    /// What came is no page of metrics.
    #[error(transparent)]
    Page(#[from] PageError),
}
