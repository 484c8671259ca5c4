//! Tests of the public interface.
#![allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]

mod accounts;
mod answers;
mod anything;
mod bound_violation;
mod bounds;
mod calibration;
mod collectives;
mod compare;
mod configs;
mod counted;
mod deployments;
mod devices;
mod devices_data;
mod devices_doubts;
mod devices_toml;
mod edges;
mod exchanges;
mod families;
mod formats;
mod golden;
mod known;
mod least_work;
mod mechanisms;
mod mixes;
mod models;
mod page;
mod pass_times;
mod prefixes;
mod quantization;
mod quantization_refused;
mod quantizers;
mod random_models;
mod soundness;
mod spread;
mod systems;
mod terms;
mod unchanged;
mod understood;
mod weights;
mod worked;

use fizeau_roofline::{Deployment, Device, Model, System};
use proptest::test_runner::{Config, RngSeed};

/// The text of a built-in config.
macro_rules! config {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/data/models/", $name, ".json"))
    };
}
pub(crate) use config;

/// The same cases in every run.
pub(crate) fn fixed() -> Config {
    Config { rng_seed: RngSeed::Fixed(1849), failure_persistence: None, ..Config::default() }
}

pub(crate) fn llama_8b() -> Model {
    Model::from_config_json(config!("llama-3.1-8b")).unwrap()
}

/// A model on one device.
pub(crate) fn single(model: Model, device: &Device) -> System {
    System::new(model, device.clone(), Deployment::SINGLE).unwrap()
}
