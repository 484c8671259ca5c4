//! `--calibration`, or else what ships for `--engine`.

use std::fs;

use fizeau::experiment::{CalibrationChoice, PreparedSystem};
use fizeau::report::SolExtra;
use fizeau::roofline::{Calibration, UniformLoad};

use crate::args::CalibrationArgs;
use crate::exit::{Fail, Named};

/// Whose constants the flags ask for.
pub(super) fn choice(args: &CalibrationArgs) -> Result<CalibrationChoice, Fail> {
    if args.constants.is_declined() {
        return Ok(CalibrationChoice::None);
    }
    let Some(path) = args.constants.file() else { return Ok(CalibrationChoice::Shipped) };
    let flag = format!("--calibration {}", path.display());
    let text = fs::read_to_string(path).named(&flag)?;
    let calibration = Calibration::from_json(&text).named(&flag)?;
    Ok(CalibrationChoice::Given(Box::new(calibration)))
}

/// Where the constants of a prediction are from, and with `--explain-calibration` each of them.
pub(super) fn asides(
    args: &CalibrationArgs,
    of: &PreparedSystem,
    load: &UniformLoad,
) -> Result<Vec<SolExtra>, Fail> {
    let Some(predictor) = &of.predictor else {
        return match args.explain_calibration {
            true => Err(Fail::usage(
                "--explain-calibration: there is no calibration; name an engine that one ships for with --engine, or a \
                 file with --calibration",
            )),
            false => Ok(Vec::new()),
        };
    };
    let shipped = of.shipped.iter().map(|shipped| SolExtra::calibration(shipped, predictor));
    let explained = args.explain_calibration.then(|| SolExtra::constants(predictor, load));
    Ok(shipped.chain(explained).collect())
}

/// What to say of an engine for which there are no constants, where some were asked for.
pub(super) fn unknown(args: &CalibrationArgs, of: &PreparedSystem) -> Option<String> {
    let engine = args.constants.engine().filter(|_| args.constants.file().is_none())?;
    let device = &of.system.device().name;
    let none = || {
        format!(
            "no calibration ships for {engine} on {device}: nothing is predicted of it; sglang, trtllm and vllm have one"
        )
    };
    of.predictor.is_none().then(none)
}
