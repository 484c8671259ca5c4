//! Energy and tokens: pure functions.

use std::collections::BTreeMap;

use fizeau_core::{Joules, PerJoule, Tokens, Watts};

use super::window::DeviceWindow;

/// What a token took; none without tokens.
///
/// ```
/// use fizeau_core::{Joules, Tokens};
/// use fizeau_telemetry::joules_per_token;
/// let (energy, tokens) = (Joules::new(7_000.0), Tokens::new(10_000));
/// assert_eq!(joules_per_token(energy, tokens), Some(Joules::new(0.7)));
/// assert_eq!(joules_per_token(energy, Tokens::ZERO), None);
/// ```
#[must_use]
pub fn joules_per_token(energy: Joules, tokens: Tokens) -> Option<Joules> {
    let each = energy.get() / tokens.get() as f64;
    each.is_finite().then(|| Joules::new(each))
}

/// How many tokens a joule gave, the reciprocal of [`joules_per_token`]; none without energy.
///
/// ```
/// use fizeau_core::{Joules, PerJoule, Tokens};
/// use fizeau_telemetry::tokens_per_joule;
/// let (energy, tokens) = (Joules::new(4_000.0), Tokens::new(10_000));
/// assert_eq!(tokens_per_joule(energy, tokens), Some(PerJoule::new(2.5)));
/// assert_eq!(tokens_per_joule(Joules::new(0.0), tokens), None);
/// ```
#[must_use]
pub fn tokens_per_joule(energy: Joules, tokens: Tokens) -> Option<PerJoule> {
    let each = tokens.get() as f64 / energy.get();
    each.is_finite().then(|| PerJoule::new(each))
}

/// The energy of all devices together by their counters; none if one of them does not count, or there are none, since a part
/// would pass for the whole. A device that is divided, or on two pages, counts once: each slice tells the counter of the whole.
#[must_use]
pub fn total_energy(devices: &[DeviceWindow]) -> Option<Joules> {
    let each = whole_devices(devices);
    let told = |of: &Vec<&DeviceWindow>| {
        of.iter().find_map(|device| device.counted_energy()).map(Joules::get)
    };
    let total: Option<f64> = each.values().map(told).sum();
    total.filter(|_| !each.is_empty()).map(Joules::new)
}

/// The mean power of all devices together, as they tell it themselves; none if one of them does not, or there are none. A device that is
/// on two pages counts once.
#[must_use]
pub fn total_power(devices: &[DeviceWindow]) -> Option<Watts> {
    let each = whole_devices(devices);
    let told = |of: &Vec<&DeviceWindow>| {
        of.iter().find_map(|device| device.power.as_ref()).map(|told| told.figure.mean)
    };
    let total: Option<f64> = each.values().map(told).sum();
    total.filter(|_| !each.is_empty()).map(Watts::new)
}

/// How many devices those are, slices of one and pages that tell of the same one taken together.
#[must_use]
pub fn device_count(devices: &[DeviceWindow]) -> usize {
    whole_devices(devices).len()
}

/// What is told of each device: whole, or slice by slice.
pub(crate) fn whole_devices(
    devices: &[DeviceWindow],
) -> BTreeMap<(Option<&str>, &str), Vec<&DeviceWindow>> {
    let mut each: BTreeMap<_, Vec<&DeviceWindow>> = BTreeMap::new();
    for device in devices {
        each.entry(device.device.whole()).or_default().push(device);
    }
    each
}
