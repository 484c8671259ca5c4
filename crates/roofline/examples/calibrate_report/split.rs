//! Every other level of each series fitted, the rest asked for, and the other way round.

use std::error::Error;

use fizeau_roofline::{Calibration, CalibrationSample};

use super::Level;

/// Relative errors of the levels, each by a fit that has its neighbours and not itself.
pub(crate) fn halves(
    levels: &[Level],
    samples: &[CalibrationSample],
) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut order: Vec<usize> = (0..levels.len()).collect();
    order.sort_by_key(|at| {
        let (row, _) = &levels[*at];
        let version = (row.hardware.clone(), row.engine.clone(), row.engine_version.clone());
        let weights = row.weights.as_ref().map(ToString::to_string);
        let lengths = (row.load.input_tokens.get(), row.load.output_tokens.get());
        let load = (row.deployment.to_string(), lengths, row.load.concurrency);
        (row.model.clone(), version, weights, load)
    });
    let mut errors = vec![0.0; levels.len()];
    for asked in [0, 1] {
        let fitted: Vec<CalibrationSample> =
            order.iter().skip(1 - asked).step_by(2).map(|at| samples[*at].clone()).collect();
        let calibration = Calibration::fit(&fitted)?.calibration;
        for at in order.iter().skip(asked).step_by(2) {
            let (row, system) = &levels[*at];
            let predictor = calibration.predictor(system, row.engine.as_deref());
            let predicted = predictor.predict(&row.load)?.tpot.value();
            errors[*at] = predicted / row.tpot - 1.0;
        }
    }
    Ok(errors)
}
