//! The calibration that ships, with what it rests on.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::Path;

use fizeau_roofline::{Calibration, ErrorSummary, JudgedFit};
use serde_json::json;

use super::Level;

/// Where the measurements are from.
const SOURCE: &str = "sample file of ai-dynamo/aiconfigurator at commit 095f58a51 (Apache-2.0), which records results of InferenceX \
                      (Apache-2.0)";
/// When they were taken over.
const DATE: &str = "2026-11-22";

/// Writes `calibration` and, of each engine on each device, what it was fitted on.
pub(crate) fn write(
    path: &Path,
    levels: &[Level],
    calibration: &Calibration,
    judged: &[JudgedFit],
) -> Result<(), Box<dyn Error>> {
    let mut pairs: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (at, (row, _)) in levels.iter().enumerate() {
        let engine = row.engine.as_deref().unwrap_or_default();
        pairs.entry((&row.hardware, engine)).or_default().push(at);
    }
    let evidence: Vec<_> = pairs
        .into_iter()
        .map(|((device, engine), places)| {
            let versions: BTreeSet<&str> =
                places.iter().filter_map(|at| levels[*at].0.engine_version.as_deref()).collect();
            let over = |of: fn(&JudgedFit) -> Option<f64>| {
                ErrorSummary::of(places.iter().filter_map(|at| of(&judged[*at])))
            };
            json!({
                "device": device,
                "engine": engine,
                "engine_versions": versions,
                "levels": places.len(),
                "tpot_family_left_out": over(|judged| judged.model_left_out),
                "ttft_family_left_out": over(|judged| judged.ttft_model_left_out),
                "output_tokens_per_s_family_left_out": over(|judged| judged.output_model_left_out),
            })
        })
        .collect();
    let calibration: serde_json::Value = serde_json::from_str(&calibration.to_json())?;
    let file = json!({
        "source": SOURCE, "date": DATE, "evidence": evidence, "calibration": calibration,
    });
    std::fs::write(path, format!("{}\n", serde_json::to_string_pretty(&file)?))?;
    Ok(())
}
