//! Levels beside the speed of light: what the data sheet would allow, and what a model's numbers are stored in.

use std::collections::BTreeMap;

use fizeau_record::{ReferenceParts, RunSetup, SpeedOfLight, SpeedOfLightReference, StoredRun};
use fizeau_roofline::{Deployment, Device, KnownModel, Model, System, TensorClass};

use crate::reading::fixture;

pub(crate) fn reference(model: &str, device: &str) -> SpeedOfLightReference {
    let mut parts = ReferenceParts::default();
    parts.model_name = Some(model.to_owned());
    parts.device_name = Some(device.to_owned());
    assert!(parts.has_model() && parts.has_device());
    parts.load().unwrap()
}

/// The formats of a model's matrices and of its cache, each once, those of most bytes first.
#[test]
fn a_model_is_stored_in_the_formats_of_its_matrices() {
    for known in KnownModel::all() {
        let model = known.model().unwrap();
        let mut bytes = BTreeMap::<String, f64>::new();
        for tensors in model.tensors() {
            if !matches!(tensors.class, TensorClass::Vectors | TensorClass::ExpertBiases) {
                *bytes.entry(tensors.format.to_string()).or_default() += tensors.bytes().get();
            }
        }
        let mut setup = RunSetup::default();
        reference(known.name, "h100-sxm").describe_in(&mut setup);
        let said = setup.precision.unwrap();
        let (weights, cache) = said.split_once(", KV cache ").unwrap();
        assert_eq!(cache, model.kv_cache().to_string());
        let weights: Vec<&str> = weights.strip_prefix("weights ").unwrap().split(" and ").collect();
        assert!(
            weights.iter().map(|name| bytes[*name]).is_sorted_by(|a, b| a >= b),
            "{}: {said}",
            known.name
        );
        assert_eq!(weights.len(), bytes.len(), "{}: {said}", known.name);
        assert_eq!(setup.model_config.as_deref(), Some(known.name));
        assert_eq!(setup.hardware.as_deref(), Some("h100-sxm"));
    }
    let mut setup = RunSetup::default();
    setup.precision = Some("as somebody said".to_owned());
    reference("llama-3.1-8b", "h100-sxm").describe_in(&mut setup);
    assert_eq!(setup.precision.as_deref(), Some("as somebody said"));
}

#[test]
fn a_measured_device_has_the_bound_of_its_data_sheet_beside_its_own() {
    let run = StoredRun::open(fixture("simulated")).unwrap();
    let reader = run.reader().unwrap();
    let levels = reader.levels().unwrap();
    let reference = run.reference().unwrap().unwrap();
    let sheet = Device::named("h100-sxm").unwrap();
    let system = reference.reference().system.with_device(sheet.clone());
    let cell = |value: f64| format!("{{ value = {value:.0}, source = \"probe\" }}");
    let text = format!(
        "name = \"a\"\ntitle = \"a part as measured\"\ndata_sheet = \"h100-sxm\"\n[sources]\nprobe = {{ name = \"a probe\" }}\n\
         [memory]\ncapacity = {}\nbandwidth = {}\n[rates]\nbf16 = {}\n",
        cell(8e10),
        cell(1e12),
        cell(3e14)
    );
    let measured = system.with_device(Device::from_toml(&text).unwrap());
    for level in &levels {
        let light = |system: &System| {
            let reference = SpeedOfLightReference::new("a model", system.clone());
            let (load, summary) = (level.report.load, &level.report.summary);
            let lengths = level.lengths.as_ref().unwrap();
            SpeedOfLight::of(reference.reference(), lengths, load, summary)
                .comparison()
                .unwrap()
                .clone()
        };
        let (own, whole) = (light(&measured), light(&system));
        assert_eq!(whole.data_sheet, None, "its figures are those of the data sheet");
        let beside = own.data_sheet.unwrap();
        assert_eq!(beside.device, sheet.title);
        assert_eq!(beside.output_tokens_per_s, whole.bound.output_tokens_per_s);
        assert_eq!(beside.share, whole.shares.output_tokens_per_s);
        assert!(own.bound.output_tokens_per_s < beside.output_tokens_per_s);
    }
}

/// What is beyond the bound shows that something is wrong, and decides nothing where the model's config was not understood whole.
#[test]
fn beyond_the_bound_of_a_model_that_was_not_understood_nothing_is_decided() {
    let run = StoredRun::open(fixture("simulated")).unwrap();
    let reader = run.reader().unwrap();
    let levels = reader.levels().unwrap();
    let level = levels.first().unwrap();
    let slow =
        "name = \"slow\"\n[memory]\ncapacity = \"80 GB\"\nbandwidth = 1e10\n[rates]\nbf16 = 1e12\n";
    let light = |config: &str| {
        let model = Model::from_config_json(config).unwrap();
        let device = Device::from_toml(slow).unwrap();
        let system = System::new(model, device, Deployment::SINGLE).unwrap();
        let reference = SpeedOfLightReference::new("a model", system);
        let (load, summary) = (level.report.load, &level.report.summary);
        SpeedOfLight::of(reference.reference(), level.lengths.as_ref().unwrap(), load, summary)
    };
    let config = KnownModel::named("llama-3.1-8b").unwrap().config;
    let whole = light(config);
    assert!(whole.violation().is_some() && whole.undecided().is_none());
    let doubted = light(&config.replacen('{', "{\"layer_skips\": 2,", 1));
    assert!(doubted.violation().is_none());
    let undecided = doubted.undecided().unwrap();
    assert_eq!(undecided.unread, ["`layer_skips`"]);
    assert_eq!(undecided.times, whole.violation().unwrap().times);
    assert!(undecided.to_string().contains("decides nothing"), "{undecided}");
}
