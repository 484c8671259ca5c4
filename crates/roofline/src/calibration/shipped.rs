//! The calibration that ships.

use std::sync::LazyLock;

use serde::Deserialize;

use super::{Calibration, ErrorSummary, engine};

/// What is known of an engine on a device from published measurements.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ShippedCalibration {
    /// The constants, of all devices and engines that were measured.
    pub calibration: &'static Calibration,
    /// Where the measurements are from.
    pub source: &'static str,
    /// When they were taken over, as `2026-11-22`.
    pub date: &'static str,
    /// What of them is of this engine on this device; none where the two were measured only apart.
    pub evidence: Option<&'static CalibrationEvidence>,
}

/// What the constants of an engine on a device rest on.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct CalibrationEvidence {
    /// The device's name.
    pub device: String,
    /// The engine's name.
    pub engine: String,
    /// Its versions, as far as they were published.
    pub engine_versions: Vec<String>,
    /// Measured levels.
    pub levels: u64,
    /// How far off times per output token are with constants from other model families only.
    #[serde(rename = "tpot_family_left_out")]
    pub tpot_left_out: Option<ErrorSummary>,
    /// The same of times to first token, of the levels that tell theirs.
    #[serde(rename = "ttft_family_left_out")]
    pub ttft_left_out: Option<ErrorSummary>,
    /// The same of output rates, of the levels that tell their time to first token.
    #[serde(rename = "output_tokens_per_s_family_left_out")]
    pub output_left_out: Option<ErrorSummary>,
}

#[derive(Deserialize)]
struct ShippedFile {
    source: String,
    date: String,
    evidence: Vec<CalibrationEvidence>,
    calibration: serde_json::Value,
}

struct Shipped {
    file: ShippedFile,
    calibration: Calibration,
}

/// Of fewer levels nothing is learnt of a device or an engine: one level of a GB200 left it 164 % off.
const FEWEST_LEVELS: u64 = 50;

const SERVING: &str = include_str!("../../data/calibrations/serving.json");

static SHIPPED: LazyLock<Option<Shipped>> = LazyLock::new(|| {
    let file: ShippedFile = serde_json::from_str(SERVING).ok()?;
    let calibration = Calibration::from_json(&file.calibration.to_string()).ok()?;
    Some(Shipped { file, calibration })
});

impl Calibration {
    /// The engine that a line in somebody's own words names, as calibrations that ship call it: of `vLLM 0.17 on 2 H100` that is
    /// `vllm`. None where it names none of them, or several.
    ///
    /// ```
    /// use fizeau_roofline::Calibration;
    /// assert_eq!(Calibration::engine_named_in("TensorRT-LLM 1.3 on 8 B200"), Some("trtllm"));
    /// ```
    #[must_use]
    pub fn engine_named_in(text: &str) -> Option<&'static str> {
        engine::named_in(text)
    }

    /// What ships for `engine` on `device`, by their names (an engine's as people write it: `vLLM`, `TensorRT-LLM`): fitted on published results of serving engines. An engine and a device
    /// that were measured only apart have constants put together from those of either, with wider intervals; none where either
    /// was measured at fewer than fifty levels.
    ///
    /// ```
    /// use fizeau_roofline::Calibration;
    /// let shipped = Calibration::shipped("vllm", "h100-sxm").ok_or("vLLM on H100 ships")?;
    /// assert!(shipped.evidence.is_some_and(|evidence| evidence.levels > 100));
    /// assert!(Calibration::shipped("TensorRT-LLM", "h100-sxm").is_some());
    /// assert!(Calibration::shipped("vllm", "tpu-v6e").is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn shipped(engine: &str, device: &str) -> Option<ShippedCalibration> {
        let Shipped { file, calibration } = SHIPPED.as_ref()?;
        let engine = engine::canonical(engine).unwrap_or(engine);
        let mut known = file.evidence.iter();
        let evidence = known.find(|pair| pair.engine == engine && pair.device == device);
        let has = |of: fn(&CalibrationEvidence) -> &str, name: &str| {
            let own = file.evidence.iter().filter(|pair| of(pair) == name);
            own.map(|pair| pair.levels).sum::<u64>() >= FEWEST_LEVELS
        };
        let is_known = has(|pair| &pair.engine, engine) && has(|pair| &pair.device, device);
        is_known.then_some(ShippedCalibration {
            calibration,
            source: &file.source,
            date: &file.date,
            evidence,
        })
    }
}
