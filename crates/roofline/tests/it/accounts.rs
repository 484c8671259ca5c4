//! The evaluator reads what the model says that it has: two accounts of the same weights, made apart.

use fizeau_roofline::{
    ContextSpan, Deployment, Device, KnownModel, Model, Pass, System, TensorClass,
};

#[track_caller]
fn check(name: &str, model: Model) {
    let device = Device::named("h200-sxm").unwrap();
    let counted = model.streamed_weight_bytes().get();
    let model_tensors = model.tensors();
    let system = System::new(model, device.clone(), Deployment::SINGLE).unwrap();
    let step = system.bound_pass(&Pass::decode(1.0, ContextSpan::at(0.0)));
    let read = step.weights.get() * device.memory_bandwidth().get();
    // What an indexer chooses by is left out, whatever the context; the keys are not.
    let indexers = model_tensors.iter().filter(|tensors| tensors.class == TensorClass::Indexer);
    let choosing: f64 = indexers.map(|tensors| tensors.bytes().get()).sum();
    assert!(read <= counted * (1.0 + 1e-9), "{name}: {read}, counted {counted}");
    assert!(read >= (counted - choosing) * (1.0 - 1e-9), "{name}: {read}, counted {counted}");
}

#[test]
fn a_step_alone_reads_every_weight_that_streams() {
    for known in KnownModel::all() {
        check(known.name, known.model().unwrap());
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/configs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let text = std::fs::read_to_string(&path).unwrap();
            check(&path.display().to_string(), Model::from_config_json(&text).unwrap());
        }
    }
}
