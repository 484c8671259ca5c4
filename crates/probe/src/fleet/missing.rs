//! What most of a fleet has and one of it lacks: operations that were not measured, and devices that are not there.

use std::collections::{BTreeMap, BTreeSet};

use super::{FleetFault, member_name};
use crate::document::ProbeDocument;

/// How many have something.
type Counts<K> = BTreeMap<K, usize>;

/// What was measured on each device of a fleet, right or wrong.
pub(super) struct MeasuredFleet<'a> {
    devices: Vec<DeviceOperations<'a>>,
}

struct DeviceOperations<'a> {
    machine: &'a str,
    name: &'a str,
    /// In the order of its document.
    operations: Vec<String>,
}

impl<'a> MeasuredFleet<'a> {
    pub(super) fn of(documents: &'a [(String, &'a ProbeDocument)]) -> Self {
        let mut devices: Vec<DeviceOperations<'a>> = Vec::new();
        for (machine, document) in documents {
            let first = devices.len();
            for row in &document.rows {
                let (name, subject) = (row.measured.device.as_str(), row.measured.subject());
                match devices[first..].iter_mut().find(|known| known.name == name) {
                    Some(known) => known.operations.push(subject),
                    None => {
                        devices.push(DeviceOperations { machine, name, operations: vec![subject] });
                    }
                }
            }
        }
        Self { devices }
    }

    /// A fault of each of `members` that lacks operations which more than half of its like have: of the devices of its name, as a copy
    /// to one of several GPUs is, or of those of its kind.
    pub(super) fn operations(&self, is_member: impl Fn(&str) -> bool) -> Vec<FleetFault> {
        let (mut alike, mut having) = (Counts::new(), Counts::new());
        for device in &self.devices {
            let own: BTreeSet<&str> = device.operations.iter().map(String::as_str).collect();
            for group in device.groups() {
                *alike.entry(group).or_default() += 1;
                own.iter().for_each(|of| *having.entry((group, *of)).or_default() += 1);
            }
        }
        let is_usual = |group: &Group<'_>, of: &str| {
            let having = having.get(&(*group, of)).copied().unwrap_or_default();
            2 * having > alike.get(group).copied().unwrap_or_default()
        };
        // The order of the document that has it first.
        let (mut known, mut usual) = (BTreeSet::new(), Vec::new());
        for device in &self.devices {
            for group in device.groups() {
                let own = device.operations.iter().map(String::as_str);
                let new = own.filter(|of| is_usual(&group, of) && known.insert((group, *of)));
                usual.extend(new.map(|of| (group, of)));
            }
        }
        let members = self.devices.iter().filter(|device| is_member(&device.member()));
        let fault = |device: &DeviceOperations<'_>| {
            let own: BTreeSet<&str> = device.operations.iter().map(String::as_str).collect();
            let groups = device.groups();
            let expected = usual.iter().filter(|(group, _)| groups.contains(group));
            let missing: Vec<&str> =
                expected.map(|(_, of)| *of).filter(|of| !own.contains(of)).collect();
            let count = missing.iter().collect::<BTreeSet<_>>().len();
            let reason = match count {
                1 => {
                    format!("{} was measured of most others and not of this one", missing.first()?)
                }
                _ => format!(
                    "{count} operations were measured of most others and not of this one, the first {}",
                    missing.first()?
                ),
            };
            Some(FleetFault { member: device.member(), bad_rows: 0, reason })
        };
        members.filter_map(fault).collect()
    }

    /// The fault of a machine of which fewer devices were measured than of most.
    pub(super) fn devices_of(&self, machine: &str) -> Option<FleetFault> {
        let mut counts: Counts<&str> = Counts::new();
        self.devices.iter().for_each(|device| *counts.entry(device.machine).or_default() += 1);
        let own = *counts.get(machine)?;
        let mut sorted: Vec<usize> = counts.values().copied().collect();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        // More than half of the machines have as many at least.
        let most = *sorted.get(counts.len() / 2)?;
        if own >= most {
            return None;
        }
        let have = |name: &str| self.devices.iter().filter(|device| device.name == name).count();
        let names: BTreeSet<&str> = self.devices.iter().map(|device| device.name).collect();
        let is_own =
            |name: &str| self.devices.iter().any(|of| of.machine == machine && of.name == name);
        let missing: Vec<&str> = names
            .into_iter()
            .filter(|name| 2 * have(name) > counts.len() && !is_own(name))
            .collect();
        let named = match missing.as_slice() {
            [] => String::new(),
            missing => format!(", and it has no {}", missing.join(", ")),
        };
        let reason = format!("{own} of its devices were measured, {most} of most machines{named}");
        Some(FleetFault { member: machine.to_owned(), bad_rows: 0, reason })
    }
}

/// The devices that one is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group<'a> {
    /// Of one name: `gpu3` of each machine.
    Name(&'a str),
    /// Of one kind: every GPU.
    Kind(&'a str),
}

impl<'a> DeviceOperations<'a> {
    fn member(&self) -> String {
        member_name(self.machine, self.name)
    }

    fn groups(&self) -> [Group<'a>; 2] {
        let kind = self.name.trim_end_matches(|c: char| c.is_ascii_digit());
        [Group::Name(self.name), Group::Kind(kind)]
    }
}
