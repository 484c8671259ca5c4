//! Devices as they were measured.

use fizeau_roofline::{Device, System};

/// The devices of a run as a probe found them, at their best and as they typically are.
#[derive(Debug, Clone)]
pub struct ProbedSilicon {
    best: System,
    typical: System,
    assumption: Option<String>,
    is_measured: bool,
}

/// That what was measured is another part than a run is of.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it measured {measured}, but the run used {of_run}")]
#[non_exhaustive]
pub struct OtherDevice {
    /// The title of what was measured.
    pub measured: String,
    /// The title of the run's device.
    pub of_run: String,
    /// The name of the run's device in the table.
    pub name: String,
}

/// Of the sheet's bandwidth of memory what was measured reaches as much, if it is of the same part at all.
const LEAST_SHARE: f64 = 0.1;

impl ProbedSilicon {
    /// `system` with what was measured of its devices. Links, which a probe of one device does not see, stay those of the data
    /// sheet.
    ///
    /// # Errors
    /// If it is of another part than the system's, as far as its data sheet or its bandwidth shows it. Of a device that is not in the table
    /// that cannot be told.
    pub fn of(system: &System, measured: &Device) -> Result<Self, OtherDevice> {
        let assumption = same_part(measured, system.device())?;
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
        let sheet = measured.specification().or_else(|| Device::named(&measured.name).ok());
        let is_measured = sheet.is_none_or(|sheet| !measured.cells().eq(sheet.cells()));
        Ok(Self { best, typical, assumption, is_measured })
    }

    /// Where the devices of `system` are measured ones that name their data sheet: the system by that data sheet, and what was measured.
    #[must_use]
    pub fn of_measured(system: &System) -> Option<(System, Self)> {
        let printed = system.with_device(system.device().specification()?.clone());
        let own = Self::of(&printed, system.device()).ok()?;
        Some((printed, own))
    }

    /// What had to be assumed, in words: that measurements which do not name their part are of the run's.
    #[must_use]
    pub fn assumption(&self) -> Option<&str> {
        self.assumption.as_deref()
    }

    /// Whether its memory or its arithmetic was measured: of a device of which collectives alone were, both are its data sheet's.
    #[must_use]
    pub const fn is_measured(&self) -> bool {
        self.is_measured
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

/// By which way a probe comes by rows of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProbeWay {
    /// It measures a GPU, through its driver.
    Gpu,
    /// It measures the machine's own processor, which a device that is in no table may be.
    Processor,
    /// It reads what other tools print, since it has no driver for such devices.
    Import,
}

impl ProbeWay {
    /// The way to rows of `device`.
    ///
    /// ```
    /// use fizeau_record::ProbeWay;
    /// use fizeau_roofline::Device;
    /// assert_eq!(ProbeWay::of(Device::named("h100-sxm")?), ProbeWay::Gpu);
    /// assert_eq!(ProbeWay::of(Device::named("mi300x")?), ProbeWay::Import);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn of(device: &Device) -> Self {
        let vendor = device.vendor.as_deref().unwrap_or_default();
        match Device::named(&device.name) {
            Err(_) => Self::Processor,
            Ok(_) if vendor.eq_ignore_ascii_case("nvidia") => Self::Gpu,
            Ok(_) => Self::Import,
        }
    }
}

/// What is assumed where `measured` is taken for the part that `run` is; refuses another one.
fn same_part(measured: &Device, run: &Device) -> Result<Option<String>, OtherDevice> {
    let Ok(sheet) = Device::named(&run.name) else { return Ok(None) };
    let share = measured.memory_bandwidth().get() / sheet.memory_bandwidth().get();
    let own = measured.specification();
    if own.is_some_and(|own| own.name != sheet.name) || share < LEAST_SHARE {
        let measured = own.filter(|own| own.name != sheet.name).unwrap_or(measured);
        return Err(OtherDevice {
            measured: measured.title.clone(),
            of_run: sheet.title.clone(),
            name: sheet.name.clone(),
        });
    }
    let unnamed =
        || format!("the measurements do not name the device; it is assumed to be {}", sheet.title);
    Ok((own.is_none() && measured.name != sheet.name).then(unnamed))
}
