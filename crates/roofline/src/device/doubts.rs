//! What looks wrong with a device's figures.

use super::Device;

pub(super) fn of(_device: &Device) -> Vec<String> {
    Vec::new()
}
