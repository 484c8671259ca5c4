//! How far off each level is, as a table for plots.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use fizeau_roofline::{Calibration, Constant, JudgedFit};

use super::Level;

/// Writes a line for each level: what it is, relative errors of its time per output token fitted and with its family left out, the latter also
/// in multiples of how unsure the prediction is, and the share of that time that is owed to each constant.
pub(crate) fn write(
    path: &Path,
    levels: &[Level],
    calibration: &Calibration,
    judged: &[JudgedFit],
) -> Result<(), Box<dyn Error>> {
    let constants: Vec<&str> = Constant::all().map(Constant::as_str).collect();
    let mut text = format!(
        "model,hardware,engine,weights,spread,isl,osl,concurrency,fitted,left_out,score,{}\n",
        constants.join(",")
    );
    for ((row, system), judged) in levels.iter().zip(judged) {
        let engine = row.engine.as_deref().unwrap_or_default();
        let weights = row.weights.as_ref().map(ToString::to_string).unwrap_or_default();
        let load = row.load;
        write!(
            text,
            "{},{},{engine},{},{},{},{},{},{:.4},{:.4},{:.4}",
            row.model,
            row.hardware,
            weights.replace(',', ";"),
            row.deployment,
            load.input_tokens.get(),
            load.output_tokens.get(),
            load.concurrency,
            judged.in_sample,
            judged.model_left_out.unwrap_or(f64::NAN),
            judged.model_left_out_score().unwrap_or(f64::NAN)
        )?;
        for used in calibration.predictor(system, row.engine.as_deref()).uses(&load) {
            write!(text, ",{:.4}", used.tpot_share.unwrap_or_default())?;
        }
        text.push('\n');
    }
    Ok(std::fs::write(path, text)?)
}
