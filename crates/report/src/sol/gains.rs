//! What a better resource would buy: the same query asked of systems that differ in one thing each.

use fizeau_roofline::{Deployment, Figures, Format, Gain, Link, System, WeightChoice};

use super::SolView;

/// One change, and what it buys by either account.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change {
    /// The name used in files.
    pub(super) key: &'static str,
    /// The name for a reader.
    pub(super) name: &'static str,
    pub(super) bound: Gain,
    pub(super) expected: Gain,
}

/// How a system is changed; none where the change changes nothing or cannot be.
type Variant = (&'static str, &'static str, fn(&System) -> Option<System>);

const VARIANTS: [Variant; 7] = [
    ("bandwidth_10_percent", "+10 % memory bandwidth", |system| system.with_bandwidth(1.1).ok()),
    ("arithmetic_10_percent", "+10 % arithmetic", |system| system.with_arithmetic(1.1).ok()),
    ("link_10_percent", "+10 % link bandwidth", faster_link),
    ("fp8_weights", "fp8 weights", |system| with_weights(system, Format::Fp8)),
    ("nvfp4_weights", "nvfp4 weights", |system| with_weights(system, Format::Nvfp4)),
    ("fp8_cache", "fp8 cache", |system| {
        let model = system.model().clone().with_kv_cache(Format::Fp8);
        let is_less = model.cache_bytes(1e4) < system.model().cache_bytes(1e4);
        if is_less { system.with_model(model).ok() } else { None }
    }),
    ("twice_the_ranks", "twice the tensor-parallel ranks", twice_the_ranks),
];

impl SolView<'_> {
    /// Every change that can be made, with the sequences that then run; the same question is asked of each.
    pub(super) fn changes(&self) -> Vec<Change> {
        let answer = self.answer;
        let change = |(key, name, vary): &Variant| {
            let other = vary(self.system)?;
            let after = self.scope.answer(&other, self.load, self.batch).ok()?;
            let gain = |before: &Figures, after: &Figures| Gain::between(before, after);
            Some(Change {
                key,
                name,
                bound: gain(&answer.bound, &after.bound),
                expected: gain(&answer.expected, &after.expected),
            })
        };
        VARIANTS.iter().filter_map(change).collect()
    }
}

fn with_weights(system: &System, format: Format) -> Option<System> {
    let model = system.model().clone().with_weights(&WeightChoice::all(format));
    let is_less = model.weight_bytes() < system.model().weight_bytes();
    if is_less { system.with_model(model).ok() } else { None }
}

fn faster_link(system: &System) -> Option<System> {
    let link = system.device().link().filter(|_| system.deployment().devices_per_replica() > 1)?;
    let link = Link { bandwidth: link.bandwidth * 1.1, ..*link };
    let device = system.device().clone().with_link(link).ok()?;
    if_different(System::new(system.model().clone(), device, *system.deployment()).ok(), system)
}

fn twice_the_ranks(system: &System) -> Option<System> {
    let deployment: Deployment = *system.deployment();
    let deployment = deployment.with_tensor(deployment.tensor().checked_mul(2)?).ok()?;
    if_different(
        System::new(system.model().clone(), system.device().clone(), deployment).ok(),
        system,
    )
}

/// `other`, served as `system` is.
fn if_different(other: Option<System>, system: &System) -> Option<System> {
    other.map(|other| other.with_serving(*system.serving()).with_routing(system.routing()))
}
