//! All measurements of one machine, as `probe.json`.

use serde::{Deserialize, Serialize};

use crate::device::DeviceFacts;
use crate::fit::{self, CollectiveFit};
use crate::host::ProbeHost;
use crate::measurement::Measurement;
use crate::plateau::{self, Plateau};
use crate::row::ProbeRow;
use fizeau_core::Verdict;
use fizeau_roofline::Device;

/// What the file says it is.
pub(crate) const SCHEMA: &str = "fizeau.probe/2";

/// The one before it, whose keys `told`, `asked` and `beside_bytes_per_s` are `reported`, `requested` and `background_bytes_per_s` now.
const EARLIER: &str = "fizeau.probe/1";

/// `probe.json` (schema `fizeau.probe/2`): what a machine really does, measured part by part.
///
/// Figures, shares and verdicts are written for readers. They are computed from the measurements alone, and again when a
/// file is read, so that all files are judged by the same rules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Probe"))]
pub struct ProbeDocument {
    #[cfg_attr(feature = "schema", schemars(extend("const" = SCHEMA)))]
    schema: String,
    version: String,
    /// When it was begun, in UTC: `2026-11-23T06:00:00Z`; absent where that is not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun: Option<String>,
    /// The machine.
    pub host: ProbeHost,
    /// Its devices.
    pub devices: Vec<DeviceFacts>,
    /// What must be known of files that were imported: rows that were left out and why, where one is torn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The worst verdict of any row; null where there is none.
    pub verdict: Option<Verdict>,
    /// The rows, in the order in which they were measured.
    pub rows: Vec<ProbeRow>,
    /// What collectives take by size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub collectives: Vec<CollectiveFit>,
    /// The levels of memory as curves by size show them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plateaus: Vec<Plateau>,
}

impl ProbeDocument {
    /// The measurements of `host` on `devices`, judged.
    #[must_use]
    pub fn new(host: ProbeHost, devices: Vec<DeviceFacts>, measured: Vec<Measurement>) -> Self {
        let of = |name: &str| devices.iter().find(|device| device.name == name);
        let rows = measured.into_iter().map(|seen| {
            let device = of(&seen.device);
            ProbeRow::of(seen, device)
        });
        let rows = ProbeRow::among(rows.collect());
        let plateaus = plateau::plateaus(&rows, of);
        Self {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            begun: None,
            host,
            devices,
            notes: Vec::new(),
            plateaus,
            verdict: rows.iter().map(|row| row.verdict).max(),
            collectives: fit::collectives(&rows),
            rows,
        }
    }

    /// The same, with its GPUs held against what the vendor of `device` prints; where it has none, with its processor.
    #[must_use]
    pub fn specified_by(self, device: &Device) -> Self {
        let mut devices = self.devices;
        for row in &self.rows {
            let name = &row.measured.device;
            if devices.iter().all(|known| known.name != *name) {
                devices.push(DeviceFacts::new(name, &device.title));
            }
        }
        let has_gpu = devices.iter().any(|facts| !facts.is_processor());
        let specified = |facts: DeviceFacts| match facts.is_processor() && has_gpu {
            true => facts,
            false => facts.specified_by(device),
        };
        let devices = devices.into_iter().map(specified).collect();
        let measured = self.rows.into_iter().map(|row| row.measured).collect();
        let judged = Self::new(self.host, devices, measured);
        Self { version: self.version, begun: self.begun, notes: self.notes, ..judged }
    }

    /// The version of this crate that wrote it.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The row of that key.
    #[must_use]
    pub fn row(&self, key: &str) -> Option<&ProbeRow> {
        self.rows.iter().find(|row| row.key == key)
    }

    /// The document as JSON, with a newline at its end.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Only maps with keys that are not text, and writers, can fail.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Reads what [`ProbeDocument::to_json`] wrote, of this version or an earlier one, and judges it anew.
    ///
    /// # Errors
    /// If the text is not such a document.
    pub fn from_json(text: &str) -> Result<Self, ProbeDocumentError> {
        let value: serde_json::Value =
            serde_json::from_str(text).map_err(|error| ProbeDocumentError(error.to_string()))?;
        let schema = value.get("schema").and_then(serde_json::Value::as_str).unwrap_or("missing");
        if ![SCHEMA, EARLIER].contains(&schema) {
            let schema: String = schema.chars().take(80).collect();
            return Err(ProbeDocumentError(format!(
                "its schema is `{schema}`; it must be `{SCHEMA}`"
            )));
        }
        let read: Self =
            serde_json::from_value(value).map_err(|error| ProbeDocumentError(error.to_string()))?;
        let measured = read.rows.into_iter().map(|row| row.measured).collect();
        let judged = Self::new(read.host, read.devices, measured);
        Ok(Self { version: read.version, begun: read.begun, notes: read.notes, ..judged })
    }
}

/// Why a text is no `probe.json`. The message says what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not the results of a probe: {0}")]
pub struct ProbeDocumentError(String);
