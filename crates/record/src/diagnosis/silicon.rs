//! Devices as they were measured.

use fizeau_roofline::{Device, System};

/// The devices of a run as a probe found them, at their best and as they typically are.
#[derive(Debug, Clone)]
pub struct ProbedSilicon {
    best: System,
    typical: System,
}

impl ProbedSilicon {
    /// `system` with what was measured of its devices. Links, which a probe of one device does not see, stay those of the data
    /// sheet.
    #[must_use]
    pub fn of(system: &System, measured: &Device) -> Self {
        let mut device = measured.clone();
        let printed = system.device();
        if let (None, Some(link)) = (device.link(), printed.link()) {
            device = device.clone().with_link(*link).unwrap_or(device);
        }
        if let (None, Some(network)) = (device.network(), printed.network()) {
            device = device.clone().with_network(*network).unwrap_or(device);
        }
        let share = |field: &str| {
            let cell = measured.cells().find(|cell| cell.field == field);
            cell.and_then(fizeau_roofline::PublishedFigure::low_over_value).unwrap_or(1.0)
        };
        let best = system.with_device(device);
        let slower = best.with_bandwidth(share("memory.bandwidth"));
        let slower = slower.and_then(|system| system.with_arithmetic(share("rates.bf16")));
        let typical = slower.unwrap_or_else(|_| best.clone());
        Self { best, typical }
    }

    /// The model on the devices at their best: what this silicon was seen to allow.
    #[must_use]
    pub const fn system(&self) -> &System {
        &self.best
    }

    /// The model on the devices as they typically are.
    #[must_use]
    pub const fn typical(&self) -> &System {
        &self.typical
    }
}
