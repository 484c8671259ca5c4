//! Systems for what stands on their passes: known models on known devices, and made-up ones.

use std::fmt;
use std::num::NonZeroU64;
use std::ops::Deref;

use fizeau_core::Tokens;
use fizeau_roofline::{Deployment, Device, EstimateKind, KnownModel, Model, System, UniformLoad};
use proptest::prelude::*;

use crate::anything;

pub(crate) fn model(name: &str) -> Model {
    KnownModel::named(name).unwrap().model().unwrap()
}

pub(crate) fn device(name: &str) -> Device {
    Device::named(name).unwrap().clone()
}

/// A system that is printed by its names.
pub(crate) struct Any(System);

impl fmt::Debug for Any {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (model, device) = (&self.model().architecture, &self.device().name);
        write!(f, "{model} ({}) on {device} {}", self.model().hidden, self.deployment())
    }
}

impl Deref for Any {
    type Target = System;

    fn deref(&self) -> &System {
        &self.0
    }
}

/// Known ones and made-up ones.
pub(crate) fn systems() -> impl Strategy<Value = Any> {
    prop_oneof![2 => known(), 1 => anything::systems().prop_map(Any)]
}

/// Known models, each on so many of a known device that its weights fill two thirds of them at most.
fn known() -> impl Strategy<Value = Any> {
    let models = prop::sample::select(KnownModel::all());
    let devices = prop::sample::select(Device::all().iter().collect::<Vec<_>>());
    (models, devices, any::<prop::sample::Index>()).prop_filter_map(
        "no way to spread it",
        |(known, device, way)| {
            let model = known.model().unwrap();
            let fewest = 1.5 * model.weight_bytes().get() / device.memory().get();
            let count = (fewest.ceil() as u64).next_power_of_two();
            let ways = Deployment::candidates(&model, count);
            let one = ways.get(way.index(ways.len().max(1)))?;
            System::new(model, device.clone(), *one).ok().map(Any)
        },
    )
}

/// Requests of up to 16,384 input and 2,048 output tokens, up to 2,048 at once.
pub(crate) fn loads() -> impl Strategy<Value = UniformLoad> {
    (1_u32..=14, 1_u32..=11, 0_u32..=11, 0.0..0.99).prop_map(|(input, output, count, cached)| {
        let input = 1_u64 << input;
        let cached = (input as f64 * cached) as u64;
        let count = NonZeroU64::new(1 << count).unwrap();
        let load = UniformLoad::new(Tokens::new(input), Tokens::new(1 << output), count);
        load.with_cached(Tokens::new(cached))
    })
}

pub(crate) fn accounts() -> impl Strategy<Value = EstimateKind> {
    prop::sample::select(EstimateKind::ALL.to_vec())
}

/// Not above, but for rounding.
pub(crate) fn at_most(less: f64, more: f64) -> bool {
    less.is_finite() && more.is_finite() && less <= more * (1.0 + 1e-9)
}

#[test]
fn every_alias_means_one_model() {
    let mut seen = std::collections::HashSet::new();
    for known in KnownModel::all() {
        for name in known.aliases.iter().chain([&known.repository]) {
            assert!(seen.insert(name.to_ascii_lowercase()), "{name}");
            let short = name.rsplit('/').next().unwrap();
            for called in [*name, short] {
                assert_eq!(KnownModel::named(called).unwrap().name, known.name, "{called}");
            }
        }
    }
    assert_eq!(KnownModel::named("deepseek-ai/DeepSeek-R1").unwrap().name, "deepseek-v3");
}
