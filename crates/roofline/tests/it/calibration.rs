//! Calibrations: on published serving results, and on times that known constants make.

mod files;
mod predictions;
mod recovery;
mod serving;
mod tables;

use std::collections::HashMap;
use std::sync::LazyLock;

use fizeau_roofline::{
    Calibration, CalibrationFit, CalibrationSample, Constant, Device, KnownModel, MeasuredRow,
    MeasuredTable, Model, System,
};

/// Serving results of three models on four devices and two engines; see the folder's README.
const SERVING: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/measurements/serving.csv"));

/// The levels of the serving results with their systems.
fn levels() -> Vec<(MeasuredRow, System)> {
    let table = MeasuredTable::read(SERVING).unwrap();
    assert_eq!(table.errors, []);
    let mut models: HashMap<String, Model> = HashMap::new();
    let system = |level: MeasuredRow| {
        let named = || KnownModel::named(&level.model).unwrap().model().unwrap();
        let model = models.entry(level.model.clone()).or_insert_with(named).clone();
        let device = Device::named(&level.hardware).unwrap().clone();
        let system = level.system(model, device).unwrap();
        (level, system)
    };
    table.levels.into_iter().map(system).collect()
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

/// gpt-oss-120b on H100 with vLLM at concurrency 512: faster than the bound, so its concurrency cannot be what the table
/// says.
fn is_doubtful(level: &MeasuredRow) -> bool {
    level.hardware == "h100-sxm"
        && level.model.contains("gpt-oss")
        && level.engine.as_deref() == Some("vllm")
        && level.load.concurrency.get() == 512
}

#[test]
fn constants_are_in_the_order_of_their_variants() {
    assert!(Constant::all().enumerate().all(|(n, constant)| constant as usize == n));
    assert_eq!(Constant::PerStep.as_str(), "per_step");
    assert_eq!(Constant::PromptQueue.as_str(), "prompt_queue");
}
