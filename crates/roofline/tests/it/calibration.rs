//! Calibrations: on published serving results, and on times that known constants make.

mod files;
mod gaps;
mod predictions;
mod recovery;
mod serving;
mod tables;

use std::collections::HashMap;
use std::sync::LazyLock;

use fizeau_roofline::{
    Calibration, CalibrationFit, CalibrationSample, Constant, Device, KnownModel, MeasuredRow,
    MeasuredTable, Model, RowExclusion, System,
};

/// Serving results of seven model families on five devices and three engines; see the folder's README.
const SERVING: [&str; 2] = [
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/measurements/serving.csv")),
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/measurements/serving-2.csv")),
];

/// The levels of the serving results with their systems; without those whose model cannot be spread as they say.
fn all_levels() -> Vec<(MeasuredRow, System)> {
    let mut models: HashMap<String, Model> = HashMap::new();
    let mut all = Vec::new();
    for text in SERVING {
        let table = MeasuredTable::read(text).unwrap();
        assert_eq!(table.errors, []);
        for mut level in table.levels {
            level.model = family(&level.model);
            let named = || KnownModel::named(&level.model).unwrap().model().unwrap();
            let model = models.entry(level.model.clone()).or_insert_with(named).clone();
            let device = Device::named(&level.hardware).unwrap().clone();
            if let Ok(system) = level.system(model, device) {
                all.push((level, system));
            }
        }
    }
    all
}

/// A checkpoint's name without owner, revision and precision.
fn family(name: &str) -> String {
    let name = name.rsplit('/').next().unwrap();
    name.trim_end_matches("-NVFP4").trim_end_matches("-FP8").replace("V3.1", "V3")
}

/// Those that nothing is doubtful about.
fn levels() -> Vec<(MeasuredRow, System)> {
    let levels = all_levels();
    let doubts = RowExclusion::screen(&levels);
    levels
        .into_iter()
        .zip(doubts)
        .filter(|(_, doubt)| doubt.is_none())
        .map(|(level, _)| level)
        .collect()
}

/// The levels, and a calibration fitted on all of them.
struct Published {
    levels: Vec<(MeasuredRow, System)>,
    samples: Vec<CalibrationSample>,
    fit: CalibrationFit,
}

static PUBLISHED: LazyLock<Published> = LazyLock::new(|| {
    let levels = levels();
    let samples = samples(&levels);
    let fit = Calibration::fit(&samples).unwrap();
    Published { levels, samples, fit }
});

fn samples(levels: &[(MeasuredRow, System)]) -> Vec<CalibrationSample> {
    levels.iter().map(|(level, system)| level.sample(system).unwrap()).collect()
}

#[test]
fn constants_are_in_the_order_of_their_variants() {
    assert!(Constant::all().enumerate().all(|(n, constant)| constant as usize == n));
    assert_eq!(Constant::PerStep.as_str(), "per_step");
    assert_eq!(Constant::PromptQueue.as_str(), "prompt_queue");
}
