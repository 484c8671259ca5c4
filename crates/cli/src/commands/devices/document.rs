//! Devices as JSON.

use fizeau::roofline::Device;
use serde::Serialize;

use crate::exit::Fail;

/// The document of `fizeau devices --json`.
pub(super) fn of(devices: &[&Device]) -> Result<String, Fail> {
    let document =
        Document { schema: "fizeau.devices/1", version: env!("CARGO_PKG_VERSION"), devices };
    serde_json::to_string_pretty(&document).map_err(Fail::broken)
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: &'static str,
    devices: &'a [&'a Device],
}
