//! The dialects, one file each: how a request is read and its reply written.

pub(super) mod anthropic;
pub(super) mod openai;
pub(super) mod responses;
pub(super) mod sglang;

pub use sglang::SglangText;

use super::app::App;
use super::parsed_request::{ParsedRequest, Route};
use super::response::Refusal;

/// Reads the body of a request to generate.
pub(super) fn parse(app: &App, route: Route, body: &[u8]) -> Result<ParsedRequest, Refusal> {
    match route {
        Route::Chat | Route::Completions => openai::parse(app, route, body),
        Route::Generate => sglang::parse(app, body),
        Route::Messages => anthropic::parse(app, body),
        Route::Responses => responses::parse(app, body),
    }
}
