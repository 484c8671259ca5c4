//! Pages over HTTP.

mod address;
mod error;
mod fetch;
mod trust;

pub use error::{FetchError, FetchErrorKind};
pub use fetch::{PageSettings, PageSource};
pub use trust::PageTrust;
#[cfg(feature = "tls")]
pub use trust::PageTrustError;
