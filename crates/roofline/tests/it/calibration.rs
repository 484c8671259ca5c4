//! A calibration on published serving results.

use std::collections::BTreeMap;

use fizeau_roofline::{
    Calibration, Device, Errors, Fit, KnownModel, MeasuredLevel, MeasuredTable, Sample, System,
};

/// Serving results of three models on four devices and two engines; see the folder's README.
const SERVING: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/measurements/serving.csv"));

fn levels() -> Vec<(MeasuredLevel, System)> {
    let table = MeasuredTable::read(SERVING).unwrap();
    assert_eq!(table.errors, []);
    let system = |level: MeasuredLevel| {
        let model = KnownModel::named(&level.model).unwrap().model().unwrap();
        let device = Device::named(&level.hardware).unwrap().clone();
        let system = level.system(model, device).unwrap();
        (level, system)
    };
    table.levels.into_iter().map(system).collect()
}

#[test]
fn explore() {
    let levels = levels();
    let samples: Vec<Sample> =
        levels.iter().map(|(level, system)| level.sample(system).unwrap()).collect();
    let start = std::time::Instant::now();
    let Fit { calibration, judged, .. } = Calibration::fit(&samples).unwrap();
    println!("fit took {:?}", start.elapsed());
    for group in calibration.groups() {
        print!("{:28} {:5}", group.scope.to_string(), group.levels);
        for estimate in &group.estimates {
            print!(" {:9.3e}", estimate.value);
        }
        println!();
    }
    println!("{:#?}", calibration.summary());
    let mut by: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, (level, _)) in levels.iter().enumerate() {
        let model = level.model.clone();
        let group = format!("{}/{}", level.hardware, level.engine.as_deref().unwrap());
        by.entry(format!("{group} {model}")).or_default().push(at);
        by.entry(format!("model {model}")).or_default().push(at);
        let doubtful = level.hardware == "h100-sxm" && level.load.concurrency.get() == 512;
        by.entry(format!("all doubtful={doubtful}")).or_default().push(at);
    }
    for (name, at) in by {
        let of = |f: fn(&fizeau_roofline::Judged) -> f64| {
            let e = Errors::of(at.iter().map(|at| f(&judged[*at]))).unwrap();
            format!("{:6.3} {:6.3} {:6.3}", e.mean, e.median, e.bias)
        };
        println!(
            "{name:50} {:4} in {} out {}",
            at.len(),
            of(|j| j.in_sample),
            of(|j| j.model_left_out.unwrap())
        );
    }
}

#[test]
fn dump() {
    for (level, system) in levels() {
        if [2, 60, 300, 700, 900, 1200].contains(&level.line) {
            println!(
                "{} {} {:?} {} {:?}",
                level.line, level.model, level.weights, level.deployment, level.load
            );
            println!("{:#?}", level.sample(&system).unwrap());
        }
    }
}
