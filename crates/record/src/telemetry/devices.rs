//! The devices that pages tell of, and whether they are those that serve.

use fizeau_core::{Joules, Nanos};
use fizeau_telemetry::{
    DeviceWindow, Exporter, TelemetryFinding, Window, device_count, total_energy,
};

use super::ScrapedPages;

/// Which of the devices that pages tell of serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ServingDevices {
    /// So many, by the deployment.
    Count(u64),
    /// All that are read: they were named.
    Named,
    /// Nobody said.
    #[default]
    Unknown,
}

/// The devices of a level.
pub(super) struct LevelDevices {
    /// Without those that did nothing.
    pub(super) devices: Vec<DeviceWindow>,
    /// What those that serve took; none where it is not known which do.
    pub(super) energy: Option<Joules>,
    pub(super) findings: Vec<TelemetryFinding>,
}

impl LevelDevices {
    pub(super) fn of(
        pages: &[ScrapedPages],
        level: Window,
        hold: Nanos,
        serving: ServingDevices,
    ) -> Self {
        let of_page = |page: &ScrapedPages| DeviceWindow::all(&page.report.history, level, hold);
        let (devices, idle) = without_idle(pages.iter().flat_map(of_page).collect(), serving);
        let others = match serving {
            ServingDevices::Count(count) => TelemetryFinding::other_devices(&devices, count),
            ServingDevices::Named => None,
            ServingDevices::Unknown => unnamed(pages, &devices),
        };
        // Energy of devices that do not serve would be laid to the tokens of those that do.
        let energy = total_energy(&devices).filter(|_| others.is_none());
        let is_due = energy.is_none() && others.is_none() && !devices.is_empty();
        let unknown =
            |page: &ScrapedPages| DeviceWindow::unknown_energy(&page.report.history, level);
        let unknown = pages.iter().filter(|_| is_due).find_map(unknown);
        let unknown = unknown.map(|told| TelemetryFinding::EnergyUnknown {
            pages: told.figure.pages,
            changes: told.figure.changes,
            metric: told.metric,
        });
        Self { devices, energy, findings: idle.into_iter().chain(others).chain(unknown).collect() }
    }
}

/// Those of `devices` that serve, by what was found of the level: none where they are others.
pub(super) fn serving_of<'a>(
    devices: &'a [DeviceWindow],
    findings: &[TelemetryFinding],
) -> &'a [DeviceWindow] {
    let are_others =
        findings.iter().any(|found| matches!(found, TelemetryFinding::OtherDevices { .. }));
    if are_others { &[] } else { devices }
}

/// A machine may have more devices than serve: those that did nothing all the time are left out, unless they were named or too few would
/// be left.
fn without_idle(
    all: Vec<DeviceWindow>,
    serving: ServingDevices,
) -> (Vec<DeviceWindow>, Option<TelemetryFinding>) {
    let (idle, busy): (Vec<_>, Vec<_>) = all.iter().cloned().partition(is_idle);
    let is_enough = match serving {
        ServingDevices::Count(count) => device_count(&busy) as u64 >= count,
        ServingDevices::Named => false,
        ServingDevices::Unknown => true,
    };
    if idle.is_empty() || !is_enough {
        return (all, None);
    }
    let (idle, left) = (device_count(&idle) as u64, device_count(&busy) as u64);
    (busy, Some(TelemetryFinding::IdleDevices { idle, busy: left }))
}

/// Whether no page of the level saw it at work, of several that each had a look of their own: power never stands still.
fn is_idle(device: &DeviceWindow) -> bool {
    const LOOKS: u32 = 3;
    let is_unused = device
        .utilization
        .as_ref()
        .is_some_and(|told| told.figure.peak == Some(0.0) && told.figure.pages >= LOOKS);
    is_unused && device.power.as_ref().is_some_and(|told| told.figure.changes + 1 >= LOOKS)
}

/// That several GPUs were found on this machine, of which others may do something else.
fn unnamed(pages: &[ScrapedPages], devices: &[DeviceWindow]) -> Option<TelemetryFinding> {
    let is_found =
        pages.iter().any(|page| Exporter::of_history(&page.report.history) == Some(Exporter::Nvml));
    let found = device_count(devices) as u64;
    (is_found && found > 1).then_some(TelemetryFinding::DevicesUnnamed { found })
}
