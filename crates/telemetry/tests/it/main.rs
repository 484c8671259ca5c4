//! What the crate promises, from outside.
#![allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]

mod assessment;
mod device;
mod exposition;
mod fleet;
#[cfg(feature = "forward-pass")]
mod forward_pass;
mod history;
mod host;
mod light;
#[cfg(feature = "http")]
mod page_source;
mod pages;
mod scraper;
mod server;
mod steps;
mod window;
mod witness;
