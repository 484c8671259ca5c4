//! The dialects, one file each: how a request is read and its reply written.

pub(super) mod anthropic;
pub(super) mod openai;
pub(super) mod responses;
pub(super) mod sglang;

pub use sglang::SglangText;

use super::app::App;
use super::parsed_request::{GeneratingRoute, ParsedRequest};
use super::response::Refusal;

/// Refuses all but one sample.
fn one_sample(n: Option<u64>) -> Result<(), Refusal> {
    if n.is_some_and(|n| n != 1) {
        let message = "`n` must be 1: the simulated engine gives one sample a request";
        return Err(Refusal::bad_request(Some("n"), message));
    }
    Ok(())
}

/// Reads the body of a request to generate.
pub(super) fn parse(
    app: &App,
    route: GeneratingRoute,
    body: &[u8],
) -> Result<ParsedRequest, Refusal> {
    match route {
        GeneratingRoute::Chat | GeneratingRoute::Completions => openai::parse(app, route, body),
        GeneratingRoute::Generate => sglang::parse(app, body),
        GeneratingRoute::Messages => anthropic::parse(app, body),
        GeneratingRoute::Responses => responses::parse(app, body),
    }
}
