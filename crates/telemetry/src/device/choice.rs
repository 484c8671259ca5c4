//! Which of a page's devices are meant.

use std::collections::BTreeSet;

use super::window::DeviceWindow;

/// Why devices cannot be chosen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no device is {name:?}; the pages tell of {known}: name one by its number or its UUID")]
pub struct UnknownDevice {
    /// What was asked for.
    pub name: String,
    /// Those that there are.
    pub known: String,
}

/// Those of `devices` that `names` mean, each by its number on its host or by its UUID; all of them without a name. An exporter tells
/// of every device of its host, and a server has some of them.
///
/// # Errors
/// If a name means none of them.
pub fn chosen_devices(
    mut devices: Vec<DeviceWindow>,
    names: &[String],
) -> Result<Vec<DeviceWindow>, UnknownDevice> {
    let is_there = |name: &&String| devices.iter().any(|device| device.device.is_named(name));
    if let Some(name) = names.iter().find(|name| !is_there(name)) {
        return Err(UnknownDevice { name: name.clone(), known: known(&devices) });
    }
    let is_meant = |device: &DeviceWindow| names.iter().any(|name| device.device.is_named(name));
    devices.retain(|device| names.is_empty() || is_meant(device));
    Ok(devices)
}

/// Each by its number, else by its UUID.
fn known(devices: &[DeviceWindow]) -> String {
    let identities = devices.iter().map(|device| &device.device);
    let names: BTreeSet<String> =
        identities.filter_map(|one| one.index.clone().or_else(|| one.uuid.clone())).collect();
    match names.is_empty() {
        true => "none".to_owned(),
        false => names.into_iter().collect::<Vec<_>>().join(", "),
    }
}
