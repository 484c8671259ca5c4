//! Finding a device by its name.

use super::{Device, table};
use fizeau_core::spelling::edit_distance;

/// No device in the table has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no device is named {name:?}{}", hint(nearest))]
pub struct UnknownDevice {
    name: String,
    /// The known name most like it; empty if none is like it.
    pub nearest: &'static str,
}

impl UnknownDevice {
    fn new(name: &str, wanted: &str) -> Self {
        // Part of a name is the likeliest slip ("h100", "4090"), then a slip in a part ("h1000"); after that, the fewest edits.
        let cost = |device: &&Device| {
            let known = &device.name;
            let part = edits_to_part(wanted, known).filter(|edits| *edits <= NEAR_PART);
            let edits = edit_distance(wanted, known);
            (!known.contains(wanted), part.unwrap_or(edits).min(edits), edits)
        };
        let is_near = |device: &&Device| {
            let (is_no_part, least, _) = cost(device);
            !wanted.is_empty() && !is_no_part || least <= NEAR
        };
        let nearest = Device::all().iter().filter(is_near).min_by_key(cost);
        Self {
            name: name.chars().take(64).collect(),
            nearest: nearest.map_or("", |device| &device.name),
        }
    }
}

pub(super) fn find(name: &str) -> Result<&'static Device, UnknownDevice> {
    let wanted = canonical(name);
    let answers = |device: &&Device| device.name == wanted || device.aliases.contains(&wanted);
    Device::all().iter().find(answers).ok_or_else(|| UnknownDevice::new(name, &wanted))
}

pub(super) fn file(name: &str) -> Result<&'static str, UnknownDevice> {
    let device = find(name)?;
    let mut both = Device::all().iter().zip(table::FILES);
    let found = both.find(|(known, _)| known.name == device.name);
    found.map(|(_, text)| text).ok_or_else(|| UnknownDevice::new(name, &canonical(name)))
}

/// More edits than these make another name.
const NEAR: usize = 2;

/// The same of the first part of a name, which is shorter.
const NEAR_PART: usize = 1;

/// The edits that make `wanted` into what `known` begins with, up to a hyphen; none where that is so short that much is like it.
fn edits_to_part(wanted: &str, known: &str) -> Option<usize> {
    let parts = known.match_indices('-').filter_map(|(at, _)| known.get(..at));
    let parts = parts.filter(|part| part.len() > 2 * NEAR_PART + 1);
    parts.map(|part| edit_distance(wanted, part)).min()
}

fn hint(nearest: &str) -> String {
    match nearest {
        "" => String::new(),
        nearest => format!("; did you mean \"{nearest}\"?"),
    }
}

fn canonical(name: &str) -> String {
    name.trim().to_lowercase().replace(['_', ' '], "-")
}
