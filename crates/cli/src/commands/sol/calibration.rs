//! `--calibration`, or else what ships for `--engine`.

use fizeau::experiment::{CalibrationChoice, PreparedSystem};
use fizeau::report::SolExtra;
use fizeau::roofline::UniformLoad;

use crate::args::CalibrationArgs;
use crate::commands::shared::hardware;
use crate::exit::Fail;

/// Whose constants the flags ask for.
pub(super) fn choice(args: &CalibrationArgs) -> Result<CalibrationChoice, Fail> {
    if args.constants.is_declined() {
        return Ok(CalibrationChoice::None);
    }
    let Some(path) = args.constants.file() else { return Ok(CalibrationChoice::Shipped) };
    Ok(CalibrationChoice::Given(Box::new(hardware::calibration(path)?)))
}

/// Where the constants of a prediction are from, and with `--explain-calibration` each of them.
pub(super) fn asides(
    args: &CalibrationArgs,
    of: &PreparedSystem,
    load: &UniformLoad,
) -> Result<Vec<SolExtra>, Fail> {
    let Some(predictor) = &of.predictor else {
        refuse_if!(
            args.explain_calibration,
            "--explain-calibration: there is no calibration; name an engine that one ships for with --engine, or a \
             file with --calibration"
        );
        return Ok(Vec::new());
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
