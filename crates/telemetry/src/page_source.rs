//! Pages over HTTP.

mod address;
mod error;
mod fetch;

pub use error::{FetchError, FetchErrorKind};
pub use fetch::{PageSettings, PageSource};
