//! Devices: all of them in a table, one with the source of each figure, and as JSON.

mod list;
mod one;

use fizeau_record::JsonError;
use fizeau_roofline::Device;
use serde::Serialize;

use crate::Shown;

impl Shown<'_, Vec<&Device>> {
    /// A table with a line for each, and what its columns are.
    #[must_use]
    pub fn text(&self) -> String {
        list::of(self)
    }

    /// The document of schema `fizeau.devices/1`.
    ///
    /// # Errors
    /// Never, as long as memory lasts.
    pub fn to_json(&self) -> Result<String, JsonError> {
        let (schema, version) = ("fizeau.devices/1", env!("CARGO_PKG_VERSION"));
        serde_json::to_string_pretty(&Document { schema, version, devices: self })
            .map_err(JsonError::new)
    }
}

impl Shown<'_, Device> {
    /// Each figure with its source and date, the prices, and what is in doubt. Ends with a newline.
    ///
    /// ```
    /// use fizeau_report::Shown;
    /// use fizeau_roofline::Device;
    ///
    /// let device = Device::named("h100-sxm")?;
    /// assert!(Shown(device).text().contains("memory.bandwidth"));
    /// assert!(Shown(&vec![device]).text().contains("\nh100-sxm "));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn text(&self) -> String {
        one::of(self)
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: &'static str,
    devices: &'a [&'a Device],
}
